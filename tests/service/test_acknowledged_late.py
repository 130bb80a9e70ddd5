"""A message that left the queue before its reader acknowledged it: the reader is told, in one line."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from team_console.store.model.errors import Code, TeamError
from team_console.store.service.caller import Caller
from team_console.store.service.deliveries import Remedy, treat
from team_console.store.service.inbox import acknowledge, read_message

from tests.memory_team import MemoryTeam
from tests.store.contract import make_message, put

ONE = make_message(1).message_id
WAYS: dict[str, Callable[[Caller], object]] = {
    "acknowledge": lambda caller: acknowledge(caller, ids=[ONE]),
    "read": lambda caller: read_message(caller, agent=caller.actor, message_id=ONE),
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_what_was_discarded_cannot_be_acknowledged(way: Callable[[Caller], object]) -> None:
    team = MemoryTeam()
    put(team, make_message(1).with_changes(status="failed", attempts=4))
    treat(Caller(team, "ceo"), Remedy.DISCARD, [ONE], reason="nobody needs it")
    with pytest.raises(TeamError) as refused:
        way(Caller(team, make_message(1).recipients[0]))
    assert (refused.value.code, f"history --grep {ONE}" in refused.value.hint) == (Code.NOT_PERMITTED, True)
    assert team.audit()[0].action == "discard"
