"""Clearing: what ended long ago leaves the queue, archived first (requirements 236-237, 250-253)."""

from __future__ import annotations

import pytest
from team_console.store.model.errors import Code, TeamError
from team_console.store.service import maintenance
from team_console.store.service.caller import Caller

from tests.equipment.memory_team import MemoryTeam
from tests.equipment.teams import FakeClock, make_message, put

DAY = 86400


def _old_queue(team: MemoryTeam, clock: FakeClock) -> None:
    statuses = ("delivered", "read", "failed", "expired", "recalled", "pending", "retry", "claimed")
    for number, status in enumerate(statuses, start=1):
        put(team, make_message(number, to="architect").with_changes(status=status, error_message="boom"))
    clock.advance(8 * DAY)


def test_what_ended_is_archived_and_removed_and_what_still_waits_stays(
    team: MemoryTeam, caller: Caller, clock: FakeClock
) -> None:
    _old_queue(team, clock)
    before, shown = team.snapshot().revision, maintenance.clearing_forecast(caller)
    assert team.snapshot().revision == before
    cleared = maintenance.clear(caller)
    assert shown == cleared
    assert [message.status for message in team.snapshot().messages] == ["pending", "retry", "claimed"]
    assert dict(cleared.statuses) == {"delivered": 1, "read": 1, "failed": 1, "expired": 1, "recalled": 1}
    assert cleared.deleted == 5
    assert len(team.history(agent="architect").messages) == 5
    (logged,) = team.audit()[0].facts["failed"]
    assert (logged["message_id"], logged["error_message"]) == (make_message(3).message_id, "boom")
    clock.advance(31 * DAY)
    assert maintenance.clear(caller).archives == 0
    assert maintenance.clear(caller, delete_archived=True).archives == 5
    assert team.history().messages == ()
    assert team.audit()[0].action == "delete_archived"


def test_a_plan_that_nobody_answered_stays(team: MemoryTeam, caller: Caller, clock: FakeClock) -> None:
    plan = make_message(
        1, sender="architect", to="ceo", type="plan_approval_request", payload={"request_id": "p-1", "content": "x"}
    )
    put(team, plan.with_changes(status="read"))
    clock.advance(8 * DAY)
    cleared = maintenance.clear(caller)
    assert (cleared.deleted, cleared.kept) == (0, 1)


@pytest.mark.parametrize("days", [-1, float("nan"), float("inf")])
def test_an_age_that_is_none_is_refused(caller: Caller, days: float) -> None:
    with pytest.raises(TeamError) as caught:
        maintenance.clear(caller, older_than_days=days)
    assert caught.value.code is Code.INVALID_FIELD
