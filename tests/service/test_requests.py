"""Plans, shutdowns and their answers: one answer each, by whom it is for (D8, D10, D14, D17)."""

from __future__ import annotations

from team_console.store.model.errors import Code
from team_console.store.protocol.verdicts import digest_of
from team_console.store.service import inbox, requests, sending

from tests.equipment.asking import refusal
from tests.equipment.memory_team import MemoryTeam
from tests.equipment.teams import FakeClock
from tests.service.conftest import SeatOf


def _plan(caller: SeatOf, text: str = "1. Split\n2. Test") -> str:
    request_id = requests.submit_plan(
        caller("task-manager"), content=text, summary="Refactor the report generator"
    ).request_id
    assert request_id is not None
    return request_id


def test_the_first_answer_stands_and_the_second_is_told_who_and_when(team: MemoryTeam, caller: SeatOf) -> None:
    request_id = _plan(caller)
    first = requests.approve(caller("ceo"), request_id=request_id)
    caught = refusal(requests.reject, caller("ceo"), request_id=request_id, reason="too late")
    assert caught.code is Code.ALREADY_ANSWERED
    assert caught.facts["answered_by"] == "ceo"
    assert caught.facts["answered_at"] == first.messages[0].created
    assert len(team.snapshot().messages) == 2


def test_the_first_answer_stands_even_when_both_have_left_the_queue(
    team: MemoryTeam, caller: SeatOf, clock: FakeClock
) -> None:
    request_id = _plan(caller)
    requests.approve(caller("ceo"), request_id=request_id)
    inbox.receive(caller("task-manager"), agent="task-manager")
    waits = _plan(caller, "Another")
    inbox.receive(caller("ceo"), agent="ceo")
    clock.advance(9 * 86_400)
    sending.send(caller("ceo"), to="file-manager", content="later", summary="later")
    inbox.receive(caller("file-manager"), agent="file-manager")
    assert {message.request_id for message in team.snapshot().messages} & {request_id, waits} == {waits}
    assert (
        refusal(requests.reject, caller("ceo"), request_id=request_id, reason="too late").code is Code.ALREADY_ANSWERED
    )


def test_an_answer_to_a_question_that_changed_since_it_was_seen_is_refused(team: MemoryTeam, caller: SeatOf) -> None:
    request_id = _plan(caller)
    question = team.snapshot().messages[0]
    seen = digest_of(question)
    with team.transaction(actor="x", action="edit", wait=1.0) as tx:
        live = tx.everything()[0]
        tx.replace(live, live.with_changes(payload={**live.payload, "content": "rm -rf /"}))
        tx.record("edit")
    assert refusal(requests.approve, caller("ceo"), request_id=request_id, seen=seen).code is Code.INVALID_REQUEST_ID
