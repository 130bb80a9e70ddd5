"""Plans, shutdowns, messages and their answers: one answer each, by whom it is for, about one life of an agent."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from team_console.store.contract.team import Snapshot
from team_console.store.contract.transaction import ChangedError
from team_console.store.model.clock import to_text
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message, new_record
from team_console.store.model.schedule import MAX_LEASE, is_due, is_held
from team_console.store.protocol.verdicts import EVIDENCE, Face, Seen, digest_of, seen_of
from team_console.store.service import requests, sending
from team_console.store.service.compaction import still_needed
from team_console.store.service.inbox import acknowledge, receive
from team_console.store.service.questions import live_question

from tests.console.conftest import rewrite
from tests.equipment.asking import refusal
from tests.equipment.memory_team import MemoryTeam
from tests.equipment.teams import START, FakeClock, config, make_message, put
from tests.service.conftest import SeatOf


def _plan(caller: SeatOf, text: str = "1. Split\n2. Test") -> str:
    request_id = requests.submit_plan(
        caller("task-manager"), content=text, summary="Refactor the report generator"
    ).request_id
    assert request_id is not None
    return request_id


def test_an_answer_to_a_question_that_changed_since_it_was_seen_is_refused(team: MemoryTeam, caller: SeatOf) -> None:
    request_id = _plan(caller)
    question = team.snapshot().messages[0]
    seen = Seen(digest_of(question), face=Face.HANDED)
    with team.transaction(actor="x", action="edit", wait=1.0) as tx:
        live = tx.everything()[0]
        tx.replace(live, live.with_changes(payload={**live.payload, "content": "rm -rf /"}))
        tx.record("edit")
    assert refusal(requests.approve, caller("ceo"), request_id=request_id, seen=seen).code is Code.INVALID_REQUEST_ID


@pytest.mark.parametrize("bad", ["\ud83d", {"n": float("nan")}, {"k": object()}, {1: "a"}])
def test_what_could_not_be_read_back_is_refused_with_its_place(team: MemoryTeam, caller: SeatOf, bad: object) -> None:
    payload = {"extra": bad}
    refused = refusal(sending.send, caller("ceo"), to="file-manager", content="c", summary="s", payload=payload)
    assert (refused.code, "payload.extra" in refused.message) == (Code.INVALID_FIELD, True)


def test_a_large_sprint_message_stays_whole_and_one_above_the_limit_is_refused(
    team: MemoryTeam, caller: SeatOf
) -> None:
    body = {"msg_type": "AGENT_COMPLETE", "status": "success", "results": {"log": "x" * 70_000}}
    content = f"AGENT_COMPLETE: {json.dumps(body)}"
    sending.send(caller("task-manager"), to="file-manager", content=content, summary="Story 3-1 is complete and tested")
    assert team.snapshot().messages[0].content == content
    caught = refusal(
        sending.send, caller("ceo"), to=["file-manager", "task-manager"], content="x" * 1_100_000, summary="s"
    )
    assert (caught.code, len(team.snapshot().messages)) == (Code.CONTENT_TOO_LARGE, 1)


def plan(team: MemoryTeam, caller: SeatOf, text: str) -> tuple[str, Message]:
    request_id = requests.submit_plan(caller("task-manager"), content=text).request_id
    assert request_id is not None
    question = live_question(team.snapshot(), request_id)
    assert question is not None
    return request_id, question


def test_another_former_version_beside_it_is_refused(team: MemoryTeam, caller: SeatOf) -> None:
    first, before = plan(team, caller, "1. Split")
    refusal = requests.reject(caller("ceo"), request_id=first, reason="Say how").messages[0]
    request_id, question = plan(team, caller, "1. Split\n2. Say how")
    seen = seen_of(question, before=[(first, before), (first, refusal)])
    rewrite(team, refusal.message_id, content="Go ahead")
    with pytest.raises(ChangedError):
        requests.approve(caller("ceo"), request_id=request_id, seen=seen)
    rewrite(team, refusal.message_id, content=refusal.content)
    requests.approve(caller("ceo"), request_id=request_id, seen=seen)


def test_everything_shown_is_in_the_digest_and_little_of_it_is_kept(team: MemoryTeam, caller: SeatOf) -> None:
    _, question = plan(team, caller, "1. Split")
    _, other = plan(team, caller, "1. Split it")
    lines = [f"piece {number}" + "x" * 1000 for number in range(100)]
    digests = {
        seen_of(question).sha256,
        seen_of(other).sha256,
        seen_of(question, before=[("r", other)]).sha256,
        seen_of(question, evidence=lines).sha256,
        seen_of(question, evidence=[*lines[:-1], "another"]).sha256,
        seen_of(question, evidence=["a\nb"]).sha256,
        seen_of(question, evidence=["a", "b"]).sha256,
    }
    assert len(digests) == 7
    kept = seen_of(question, evidence=lines).as_recorded[EVIDENCE]
    assert len(kept) == 41
    assert kept[-1] == "60 more were shown"
    assert max(map(len, kept)) <= 241


PLAN, RESPONSE = "plan_approval_request", "plan_approval_response"


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
