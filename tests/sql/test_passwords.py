"""No password from any part of a location is ever shown: not on a screen, in an error, in the audit trail or a log."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from team_console.console.cli.main import run
from team_console.store.backends.open import create_database

from tests.equipment.cases import cases
from tests.sql.conftest import SETTINGS, Open

pytestmark = pytest.mark.slow

SECRET = "HUNTER2"
VERBS = ("status", "status --json", "check", "send --to a --summary x", "watch --for 0.01", "migrate {} away.db")


@cases
def test_no_verb_shows_a_password(location: str, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    pytest.importorskip("psycopg")
    for verb in VERBS:
        run(["-t", location, *(word.format(location) for word in verb.split())])
        printed = capfd.readouterr()
        assert printed.out + printed.err
        assert SECRET not in printed.out + printed.err, verb
    run(["migrate", location, str(tmp_path / "b.db")])
    run(["migrate", str(tmp_path), location])
    assert SECRET not in "".join(capfd.readouterr())


def test_a_password_in_the_query_opens_the_team_and_stays_out_of_its_trail(
    postgres: str, opened: Open, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    create_database(postgres, SETTINGS)
    location = f"{postgres}?password={SECRET}"
    team = opened(location)
    assert SECRET not in team.location
    assert (
        run(["-t", location, "send", "--to", "architect", "--summary", "one two three four five", "--content", "c"])
        == 0
    )
    assert run(["-t", location, "status", "--json"]) == 0
    assert run(["migrate", location, str(tmp_path / "copy.db")]) == 0
    assert SECRET not in "".join(capfd.readouterr())
    copy = opened(str(tmp_path / "copy.db"))
    trail = [json.dumps(dict(line.facts)) for line in (*team.audit(), *copy.audit())]
    assert any("migrate" in line.action for line in copy.audit())
    assert SECRET not in "".join(trail)
