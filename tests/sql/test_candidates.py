"""Messages of some types: read as few rows, and the same as when everything is read."""

from __future__ import annotations

import pytest
from team_console.store.contract.team import Team

from tests.equipment.statements import SEED, execute, insert
from tests.equipment.teams import make_message, put
from tests.sql.conftest import Open

pytestmark = pytest.mark.slow

TYPES = ("spec_ready", "message", "shutdown_request", "")


def _selected(team: Team, kind: str, *, all_first: bool) -> list[str]:
    with team.transaction(actor="ceo", action="look", wait=5.0) as tx:
        if all_first:
            tx.everything()
        return [message.message_id for message in tx.select(types=(kind,))]


def _same(team: Team) -> dict[str, list[str]]:
    """The ids by type, which must not depend on what was read before."""
    selected = {kind: _selected(team, kind, all_first=True) for kind in TYPES}
    assert {kind: _selected(team, kind, all_first=False) for kind in TYPES} == selected
    return selected


def test_messages_of_a_type_come_in_stored_order(place: str, opened: Open) -> None:
    team = opened(place)
    for number, kind in enumerate(("spec_ready", "message", "spec_ready", "shutdown_request")):
        put(team, make_message(number, type=kind))
    selected = _same(team)
    assert [len(selected[kind]) for kind in TYPES] == [2, 1, 1, 0]


def test_rows_of_others_have_their_place_and_no_type_means_a_message(empty_place: str, opened: Open) -> None:
    execute(empty_place, SEED.format(more=""))
    insert(empty_place, "theirs", "2026-02-24 11:00:00")
    execute(empty_place, "UPDATE agent_message SET message_type = NULL")
    team = opened(empty_place)
    put(team, make_message(1, type="message"))
    insert(empty_place, "later", "2036-02-24 11:00:00")
    execute(empty_place, "UPDATE agent_message SET message_type = '' WHERE message_id = 'later'")
    assert len(_same(team)["message"]) == 3
