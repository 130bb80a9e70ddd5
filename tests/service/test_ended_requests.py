"""What leaves the queue opens nothing again, and a clock that was ahead holds nothing for ever."""

from __future__ import annotations

from datetime import timedelta

import pytest
from team_console.store.contract.team import Snapshot
from team_console.store.model.clock import to_text
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message, new_record
from team_console.store.model.schedule import MAX_LEASE, is_due, is_held
from team_console.store.service.caller import Caller
from team_console.store.service.compaction import still_needed
from team_console.store.service.inbox import acknowledge, receive
from team_console.store.service.maintenance import clear
from team_console.store.service.requests import approve, reject, submit_plan

from tests.equipment.asking import refusal
from tests.equipment.memory_team import MemoryTeam
from tests.equipment.teams import START, FakeClock, config, make_message, put
from tests.service.conftest import SeatOf

PLAN, RESPONSE = "plan_approval_request", "plan_approval_response"


def plan(caller: Caller, clock: FakeClock, text: str) -> str:
    """Hand in a plan; its request id."""
    clock.advance(1)
    return str(submit_plan(caller, content=text, summary="A plan of five words").request_id)


def kept(messages: tuple[Message, ...], leaving: list[str]) -> frozenset[str]:
    """Ids of messages that must stay when these leave."""
    return still_needed(Snapshot("", START, None, config(), messages), leaving=leaving)


def stored(message_id: str, type: str, sender: str, *, status: str = "read", **payload: object) -> Message:
    """A record as a queue may hold it."""
    to = "ceo" if sender != "ceo" else "task-manager"
    message = new_record(
        message_id=message_id,
        type=type,
        sender=sender,
        to=to,
        created=to_text(START),
        priority="high",
        payload=payload,
    )
    return message.with_changes(status=status)


def test_a_superseded_plan_stays_superseded_after_a_clearing(
    team: MemoryTeam, caller: SeatOf, clock: FakeClock
) -> None:
    old = plan(caller("task-manager"), clock, "Old")
    new = plan(caller("task-manager"), clock, "New")
    receive(caller("ceo"), agent="ceo")
    reject(caller("ceo"), request_id=new, reason="Both are bad")
    receive(caller("task-manager"), agent="task-manager")
    clock.advance(10)
    clear(caller("ceo"), older_than_days=0)
    assert {message.type for message in team.snapshot().messages} <= {"message"}
    assert refusal(approve, caller("ceo"), request_id=old).code is Code.INVALID_REQUEST_ID


def test_a_superseded_plan_too_young_to_leave_keeps_its_successor() -> None:
    old, new = (stored(f"Q{item}", PLAN, "task-manager", request_id=f"r{item}") for item in (1, 2))
    no = stored("V2", RESPONSE, "ceo", request_id="r2", approve=False)
    assert kept((old, new, no), leaving=["Q2", "V2"]) >= {"Q2", "V2"}
    assert kept((old.with_changes(status="pending"), new, no), leaving=["Q2", "V2"]) == {"Q1", "Q2", "V2"}
    assert kept((old, new, no), leaving=["Q1", "Q2", "V2"]) == frozenset()


def test_an_answer_of_somebody_who_may_not_give_it_settles_nothing_and_a_withdrawal_does() -> None:
    asked = stored("Q1", PLAN, "task-manager", request_id="r1")
    forged = stored("V1", RESPONSE, "file-manager", request_id="r1", approve=True)
    gone = stored("W1", "request_withdrawn", "task-manager", request_id="r1", reason="timed out")
    assert kept((asked, forged), leaving=["Q1", "V1"]) == {"Q1", "V1"}
    assert kept((asked, gone), leaving=["Q1", "W1"]) == frozenset()


def test_a_lease_of_a_clock_that_was_ahead_is_over(team: MemoryTeam, caller: SeatOf, clock: FakeClock) -> None:
    put(team, make_message(1))
    clock.advance(10 * 365 * 86_400)
    receive(caller("task-manager"), agent="task-manager", lease=600)
    clock.now = START + timedelta(minutes=1)
    assert not is_held(team.snapshot().messages[0], clock.now)
    with pytest.raises(TeamError, match="up to"):
        receive(caller("task-manager"), agent="task-manager", lease=MAX_LEASE.total_seconds() + 1)
    assert is_due(team.snapshot().messages[0], clock.now)
    again = receive(caller("task-manager"), agent="task-manager", lease=600)
    assert [message.message_id for message in again.messages] == [make_message(1).message_id]
    acknowledge(caller("task-manager"), ids=[make_message(1).message_id])
