"""Databases from another time: tables of a later or an earlier team-console."""

from __future__ import annotations

import pytest
from team_console.store.backends.sql.schema import VERSION
from team_console.store.backends.sql.team import SqlTeam
from team_console.store.contract.team import Condition
from team_console.store.model.errors import Code, TeamError

from tests.equipment.command_line import CommandLine
from tests.equipment.statements import execute
from tests.equipment.teams import make_message, put
from tests.sql.conftest import Open

pytestmark = pytest.mark.slow


def _later(place: str) -> None:
    execute(place, f"UPDATE team_console_config SET value = '{VERSION + 1}' WHERE key = 'version'")


def test_tables_of_a_later_version_are_refused_and_left_alone(
    place: str, team: SqlTeam, opened: Open, elsewhere: CommandLine
) -> None:
    put(team, make_message(1))
    _later(place)
    for item in (team, opened(place), opened(place, read_only=True)):
        snapshot = item.snapshot()
        assert snapshot.condition is Condition.UNREADABLE
        assert f"version {VERSION + 1}" in snapshot.problems[0].message
        assert "Update team-console" in snapshot.problems[0].hint
    for each in (team, opened(place)):
        with pytest.raises(TeamError) as caught:
            put(each, make_message(2))
        assert caught.value.code is Code.STORE_UNREADABLE
    refused = elsewhere("-t", place, "status", "--json")
    assert (refused.status, refused.json["condition"]) == (4, "unreadable")
    assert execute(place, "SELECT count(*) FROM agent_message")[0][0] == 1
    assert execute(place, "SELECT count(*) FROM team_console_audit")[0][0] == 1
