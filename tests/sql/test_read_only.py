"""A team opened to look is not touched: no lock, no file, no row, not even on a medium that cannot be written."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from team_console.store.backends.sql.open import create_database
from team_console.store.contract.team import Condition
from team_console.store.model.errors import Code, TeamError
from team_console.store.service import inbox
from team_console.store.service.caller import Caller

from tests.equipment.command_line import clean_environment
from tests.equipment.teams import ids, make_message, put
from tests.sql.conftest import SETTINGS, Open

pytestmark = pytest.mark.slow

LOOK = """
import os, sys
from team_console.store.backends.sql.open import open_database
if sys.argv[3:]:
    open_database(sys.argv[1], read_only=True).snapshot()  # what is imported late, while it may still be read
    os.setgroups([]), os.setresgid(65534, 65534, 65534), os.setresuid(65534, 65534, 65534)
team = open_database(sys.argv[1], read_only=sys.argv[2] == "ro")
snapshot = team.snapshot()
print(snapshot.condition, len(snapshot.messages), len(team.history().messages), len(team.audit()))
print(team.obstacle())
team.close()
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "folder" / "team.db"
    path.parent.mkdir()
    create_database(str(path), SETTINGS)
    return path


def _state(folder: Path) -> list[tuple[str, bytes, int]]:
    return sorted((path.name, path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir())


def _look(file: Path, *, how: str = "ro", as_nobody: bool = False) -> str:
    """Look at the team in a process of its own: a line of what it sees, one of why it may not write.

    It becomes nobody itself: another user need not be able to run this Python, in a home that is closed to others.
    """
    command = [sys.executable, "-c", LOOK, str(file), how, *(["as nobody"] if as_nobody else [])]
    return subprocess.run(command, env=clean_environment(), capture_output=True, text=True, check=True).stdout


def _writer_that_dies(file: Path) -> None:
    script = (
        "import os, sqlite3, sys; from team_console.store.backends.sql.open import open_database;"
        "from tests.equipment.teams import make_message, put;"
        "keeps = sqlite3.connect(sys.argv[1]); keeps.execute('SELECT count(*) FROM agent_message').fetchone();"
        "put(open_database(sys.argv[1]), make_message(1)); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", script, str(file)], env=clean_environment(), check=True)


def test_every_write_is_refused(place: str, opened: Open) -> None:
    team = opened(place, read_only=True)
    with pytest.raises(TeamError) as caught, team.transaction(actor="ceo", action="send", wait=0.1):
        pass
    assert (caught.value.code, caught.value.exit_code) == (Code.READ_ONLY, 5)
    assert team.read_only
    got = inbox.receive(Caller(team, "architect"), agent="architect", mark_read=False)
    assert got.as_json()["count"] == 0


def test_the_server_itself_refuses_writes_of_a_read_only_connection(postgres: str, opened: Open) -> None:
    create_database(postgres, SETTINGS)
    team = opened(postgres, read_only=True)
    with pytest.raises(TeamError) as caught, team.connect() as connection:
        connection.change("DELETE FROM agent_message")
    assert caught.value.code is Code.READ_ONLY


def test_a_resting_database_is_not_touched(file: Path, opened: Open) -> None:
    writer = opened(str(file))
    put(writer, make_message(1))
    writer.close()
    before = _state(file.parent)
    assert _look(file).startswith("ok 1 0 1")
    assert _state(file.parent) == before


def test_a_database_whose_writer_died_is_read_with_its_log_and_not_touched(file: Path) -> None:
    _writer_that_dies(file)
    assert Path(f"{file}-wal").stat().st_size > 0
    before = _state(file.parent)
    assert _look(file).startswith("ok 1 0 1")
    assert _state(file.parent) == before


def test_a_log_without_its_index_is_told_with_the_next_step_and_not_touched(file: Path, opened: Open) -> None:
    _writer_that_dies(file)
    Path(f"{file}-shm").unlink()
    before = _state(file.parent)
    snapshot = opened(str(file), read_only=True).snapshot()
    assert snapshot.condition is Condition.UNREADABLE
    assert "has no index beside it" in snapshot.problems[0].message
    assert "right to write" in snapshot.problems[0].hint
    assert _state(file.parent) == before
    assert len(ids(opened(str(file)))) == 1


def test_what_a_living_writer_does_is_seen(file: Path, opened: Open) -> None:
    writer = opened(str(file))
    reader = opened(str(file), read_only=True)
    assert reader.snapshot().condition is Condition.EMPTY
    for number in range(1, 6):
        put(writer, make_message(number))
        assert len(ids(reader)) == number


@pytest.fixture
def sealed(file: Path) -> Iterator[Path]:
    """The folder on a read-only mount; the log of a dead writer beside the database."""
    _writer_that_dies(file)
    mount = ["mount", "--bind", str(file.parent), str(file.parent)]
    if os.getuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("mounting needs root")
    subprocess.run(["mount", "-o", "remount,ro,bind", str(file.parent)], check=True)
    yield file
    subprocess.run(["umount", str(file.parent)], check=True)


@pytest.mark.parametrize("how", ["ro", "rw"])
def test_a_read_only_mount_is_no_obstacle_to_looking(sealed: Path, how: str) -> None:
    told = f"no write permission on {sealed}" if how == "rw" else ""
    assert _look(sealed, how=how).splitlines() == ["ok 1 0 1", told]


def test_a_user_without_rights_can_look_and_is_refused_to_write() -> None:
    if os.getuid() != 0:
        pytest.skip("needs root to become another user")
    with tempfile.TemporaryDirectory() as place:  # not below pytest's folder, which it closes to others
        os.chmod(place, 0o755)
        file = Path(place) / "team.db"
        create_database(str(file), SETTINGS)
        _writer_that_dies(file)
        for item in file.parent.iterdir():
            item.chmod(0o644)
        before = _state(file.parent)
        assert _look(file, how="rw", as_nobody=True).splitlines() == ["ok 1 0 1", f"no write permission on {file}"]
        assert _state(file.parent) == before
