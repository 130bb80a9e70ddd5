"""Clients' hooks on a team in PostgreSQL: presence by heartbeat, verdicts, mail and waits; with real processes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from team_console.store.backends.open import create_database, open_team
from team_console.store.contract.team import Presence, Team, new_presence_name
from team_console.store.service.waiting import announce_presence, human_present

from tests.equipment.cases import cases
from tests.equipment.statements import execute
from tests.equipment.waiting import until
from tests.store.test_presence import another_process

pytestmark = pytest.mark.slow

BASH = "claude: PermissionRequest"
STOP = "claude: Stop"
SETTINGS = "team: sprint-42\nlead: ceo\nagents: [ceo, alice, ben]\n"


@pytest.fixture
def server_team(postgres: str) -> Iterator[Team]:
    """A team on a PostgreSQL server."""
    create_database(postgres, SETTINGS)
    team = open_team(postgres)
    yield team
    team.close()


def seen(postgres: str) -> Any:
    """When each process that is present was last heard of, by the server's clock."""
    return execute(postgres, "SELECT presence, name, seen_at FROM team_console_presence")


def test_a_process_is_present_as_long_as_it_beats(server_team: Team, postgres: str) -> None:
    with another_process(postgres, Presence.ASKER, name := new_presence_name()):
        (before,) = seen(postgres)
        assert before[:2] == ("asker", name)
        until(lambda: seen(postgres)[0][2] > before[2])
        assert not server_team.attendance(Presence.ASKER).is_gone(name)


def test_a_heartbeat_waits_for_no_disk_and_no_other_server(server_team: Team, postgres: str) -> None:
    """A commit that is to reach another server waits for ever here, because that server does not exist."""
    with announce_presence(server_team):  # which makes the table
        until(lambda: human_present(server_team))
    ((database,),) = execute(postgres, "SELECT current_database()")
    execute(postgres, f"ALTER DATABASE {database} SET synchronous_commit = on")
    with another_process(postgres, Presence.ASKER, new_presence_name()):
        (before,) = seen(postgres)
        until(lambda: seen(postgres)[0][2] > before[2])


@cases
def test_an_asker_that_was_cut_off_for_a_while_is_not_gone(
    server_team: Team, postgres: str, seconds: int, is_gone: bool
) -> None:
    name = new_presence_name()
    with announce_presence(server_team):
        until(lambda: human_present(server_team))
    row = f"VALUES ('asker', '{name}', clock_timestamp() - interval '{seconds} seconds')"
    execute(postgres, f"INSERT INTO team_console_presence (presence, name, seen_at) {row}")
    attendance = server_team.attendance(Presence.ASKER)
    assert (attendance.is_gone(name), attendance.names) == (is_gone, frozenset())
