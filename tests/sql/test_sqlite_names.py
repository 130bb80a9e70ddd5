"""Names around a SQLite database that are no text."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from team_console.store.backends.open import open_team
from team_console.store.backends.sql.open_database import create_database
from team_console.store.contract.team import Team
from team_console.store.desk.caller import Caller
from team_console.store.desk.mail import send

SETTINGS = "team: t\nlead: ceo\nagents:\n- {name: bob}\n- {name: BOB}\n"


@pytest.fixture
def made(tmp_path: Path) -> Callable[[str], Team]:
    """A new team in this file of a folder."""

    def make(name: str) -> Team:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        create_database(str(path), SETTINGS)
        return open_team(str(path))

    return make


def test_a_database_in_a_folder_whose_name_is_no_utf8(made: Callable[[str], Team]) -> None:
    team = made(os.fsdecode(b"\xff/team.db"))
    send(Caller(team, "ceo"), to="bob", content="hello", summary="A line for bob alone")
    assert [message.recipients for message in team.snapshot().messages] == [("bob",)]
    team.close()
