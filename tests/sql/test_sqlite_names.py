"""Names that SQLite would take for others, or that are no text: of tables and of folders."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from team_console.store.backends.open import open_team
from team_console.store.backends.sql.open import create_database
from team_console.store.contract.team import Team
from team_console.store.service.caller import Caller
from team_console.store.service.router import deliver
from team_console.store.service.sending import send

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


def test_nothing_is_pushed_into_the_inbox_table_of_an_agent_whose_name_differs_in_case(
    made: Callable[[str], Team],
) -> None:
    team = made("team.db")
    with closing(sqlite3.connect(team.location)) as connection:
        connection.execute("CREATE TABLE bob_inbox (message_id TEXT, payload TEXT)")
    for name in ("bob", "BOB"):
        send(Caller(team, "ceo"), to=name, content="hello", summary=f"A line for {name} alone", message_id=name)
    deliver(Caller(team, "ceo"))
    with closing(sqlite3.connect(team.location)) as connection:
        assert connection.execute("SELECT message_id FROM bob_inbox").fetchall() == [("bob",)]
        assert connection.execute("SELECT agent FROM team_console_inbox").fetchall() == [("BOB",)]
    team.close()
