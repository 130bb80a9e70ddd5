"""`init` and `member` with a database: a file or a server becomes a team, and its settings are changed in it."""

from __future__ import annotations

import pytest

from tests.equipment.command_line import CommandLine
from tests.sql.conftest import Open

pytestmark = pytest.mark.slow


def test_an_empty_database_becomes_a_team_with_members(elsewhere: CommandLine, empty_place: str, opened: Open) -> None:
    made = elsewhere.ok("-t", empty_place, "init", "--name", "crew", "--agent", "a1:slave", "--json").json
    assert (made["team"], made["agents"]) == ("crew", ["ceo", "a1"])
    elsewhere.ok("-t", empty_place, "member", "add", "a2:resident:plan")
    team = opened(empty_place)
    config = team.config()
    assert {name: agent.role for name, agent in config.agents.items()} == {
        "ceo": "master",
        "a1": "slave",
        "a2": "resident",
    }
    assert [line.action for line in team.audit()] == ["member_add"]
    again = elsewhere("-t", empty_place, "init", "--json")
    assert (again.status, again.json["error"]) == (1, "NOT_PERMITTED")
