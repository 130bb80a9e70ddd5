"""SQLite keeps a value of any type in any column: such a row is damaged, or is read, and stops nobody."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from team_console.console.cli.main import run

from tests.equipment.cases import cases
from tests.equipment.command_line import CommandLine
from tests.equipment.samples import rotated

pytestmark = pytest.mark.slow

VALUES = (b"\x00\xff", "xyz", 7, None)
MESSAGE = ("--summary", "one two three four five", "--content", "c")
LOOKS = (("check",), ("show", "BIG"), ("receive", "--agent", "a1", "--peek"))
WRITES = (("send", "--to", "a2", *MESSAGE), ("receive", "--agent", "a1"), ("check", "--heal"))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with something in every table."""
    folder = tmp_path_factory.mktemp("mixed")
    team, place = CommandLine(folder), ("-t", str(folder / "team.db"))
    team.ok("init", "team.db", "--lead", "ceo", "--agent", "a1", "--agent", "a2")
    team.ok(*place, "send", "--to", "a1", *MESSAGE)
    team.ok(*place, "receive", "--agent", "a1")
    large = "It goes on and on. " * 5_000
    team.ok(*place, "send", "--to", "a2", "--id", "BIG", "--summary", "one two three", "--content", "-", stdin=large)
    team.ok(*place, "--as", "a1", "plan", *MESSAGE)
    team.ok(*place, "send", "--to", "a1", *MESSAGE)
    team.ok(*place, "deliver")
    team.ok(*place, "send", "--to", "a1", *MESSAGE)
    with closing(sqlite3.connect(folder / "team.db")) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return folder / "team.db"


def _harmed(made: Path, table: str, copy: Path) -> Iterator[str]:
    """A copy of the database for each column with a value that can be put there; says which it is."""
    with closing(sqlite3.connect(made)) as connection:
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
    for column, value in rotated(columns, VALUES):
        for path in copy.parent.glob("copy.db*"):
            path.unlink()
        shutil.copy(made, copy)
        with closing(sqlite3.connect(copy)) as connection:
            last = f"rowid = (SELECT max(rowid) FROM {table})"
            try:
                connection.execute(f"UPDATE {table} SET {column} = ? WHERE {last}", (value,))
            except sqlite3.Error:
                continue
            connection.commit()
        yield f"{table}.{column} = {value!r}"


@pytest.mark.slow
@cases
def test_a_value_of_another_type_is_never_a_defect(
    made: Path, tmp_path: Path, table: str, capfd: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / "copy.db"
    for harm in _harmed(made, table, copy):
        for words in (*LOOKS, *WRITES):
            status = run(["-t", str(copy), *words])
            printed = capfd.readouterr()
            assert status in (0, 1, 4), (harm, words, printed)
            assert "defect" not in printed.err, (harm, words, printed.err)
