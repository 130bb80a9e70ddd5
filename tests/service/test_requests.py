"""What is bound to a request: what was seen of it, what must stay for it, and remarks on its lines."""

from __future__ import annotations

import json

import pytest
from team_console.store.contract.team import Snapshot
from team_console.store.contract.transaction import ChangedError
from team_console.store.model.clock import to_text
from team_console.store.model.errors import Code
from team_console.store.model.message import Message, new_record
from team_console.store.protocol.remarks import Remark, placed
from team_console.store.protocol.verdicts import EVIDENCE, Face, Seen, digest_of, seen_of
from team_console.store.service import agents, requests, sending
from team_console.store.service.compaction import still_needed

from tests.console.conftest import rewrite
from tests.equipment.asking import agent, lead, plan, refusal, row
from tests.equipment.memory_team import MemoryTeam
from tests.equipment.teams import START, FakeClock, config


@pytest.fixture
def team(clock: FakeClock) -> MemoryTeam:
    return MemoryTeam(config=config(), clock=clock)


@pytest.mark.parametrize("bad", ["\ud83d", {"n": float("nan")}, {"k": object()}, {1: "a"}])
def test_what_could_not_be_read_back_is_refused_with_its_place(team: MemoryTeam, bad: object) -> None:
    refused = refusal(sending.send, lead(team), to="file-manager", content="c", summary="s", payload={"extra": bad})
    assert (refused.code, "payload.extra" in refused.message) == (Code.INVALID_FIELD, True)


def test_a_large_sprint_message_stays_whole_and_what_is_too_large_is_refused(team: MemoryTeam) -> None:
    body = {"msg_type": "AGENT_COMPLETE", "status": "success", "results": {"log": "x" * 70_000}}
    content = f"AGENT_COMPLETE: {json.dumps(body)}"
    sending.send(agent(team), to="file-manager", content=content, summary="Story 3-1 is complete and tested")
    assert team.snapshot().messages[0].content == content
    to = ["file-manager", "task-manager"]
    assert refusal(sending.send, lead(team), to=to, content="x" * 1_100_000, summary="s").code is Code.CONTENT_TOO_LARGE
    assert refusal(agents.trigger_course_correction, lead(team), user_input="x" * 2001).code is Code.INVALID_FIELD
    assert len(team.snapshot().messages) == 1


def test_an_answer_to_a_question_that_changed_since_it_was_seen_is_refused(team: MemoryTeam) -> None:
    request_id = plan(team)
    question = row(team, request_id).question
    rewrite(team, question.message_id, content="rm -rf /")
    seen = Seen(digest_of(question), face=Face.HANDED)
    assert refusal(requests.approve, lead(team), request_id=request_id, seen=seen).code is Code.INVALID_REQUEST_ID


def test_another_former_version_beside_it_is_refused(team: MemoryTeam) -> None:
    first = plan(team, "1. Split")
    before = row(team, first).question
    refusal = requests.reject(lead(team), request_id=first, reason="Say how").messages[0]
    second = plan(team, "1. Split\n2. Say how")
    seen = seen_of(row(team, second).question, before=[(first, before), (first, refusal)])
    rewrite(team, refusal.message_id, content="Go ahead")
    with pytest.raises(ChangedError):
        requests.approve(lead(team), request_id=second, seen=seen)
    rewrite(team, refusal.message_id, content=refusal.content)
    requests.approve(lead(team), request_id=second, seen=seen)


def test_everything_shown_is_in_the_digest_and_little_of_it_is_kept(team: MemoryTeam) -> None:
    question, other = (row(team, plan(team, text)).question for text in ("1. Split", "1. Split it"))
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


def kept(*messages: Message, leaving: tuple[str, ...]) -> frozenset[str]:
    """Ids of messages that must stay when these leave."""
    return still_needed(Snapshot("", START, None, config(), messages), leaving=leaving)


def stored(message_id: str, type: str, sender: str, **payload: object) -> Message:
    """A record as a queue may hold it."""
    to = "ceo" if sender != "ceo" else "task-manager"
    envelope = {"sender": sender, "to": to, "created": to_text(START), "priority": "high"}
    return new_record(message_id=message_id, type=type, payload=payload, **envelope).with_changes(status="read")


def test_a_superseded_plan_too_young_to_leave_keeps_its_successor() -> None:
    old, new = (stored(f"Q{item}", PLAN, "task-manager", request_id=f"r{item}") for item in (1, 2))
    no = stored("V2", RESPONSE, "ceo", request_id="r2", approve=False)
    assert kept(old, new, no, leaving=("Q2", "V2")) >= {"Q2", "V2"}
    assert kept(old.with_changes(status="pending"), new, no, leaving=("Q2", "V2")) == {"Q1", "Q2", "V2"}
    assert kept(old, new, no, leaving=("Q1", "Q2", "V2")) == frozenset()


def test_an_answer_of_somebody_who_may_not_give_it_settles_nothing_and_a_withdrawal_does() -> None:
    asked = stored("Q1", PLAN, "task-manager", request_id="r1")
    forged = stored("V1", RESPONSE, "file-manager", request_id="r1", approve=True)
    gone = stored("W1", "request_withdrawn", "task-manager", request_id="r1", reason="timed out")
    assert kept(asked, forged, leaving=("Q1", "V1")) == {"Q1", "V1"}
    assert kept(asked, gone, leaving=("Q1", "W1")) == frozenset()


def test_a_remark_whose_line_is_gone_says_so_and_is_never_moved_silently() -> None:
    remarks = [Remark(3, "1. Copy the table", "a"), Remark(4, "2. Switch", "b"), Remark(5, "3. Drop the old one", "c")]
    found = placed(remarks, ["# Move it", "", "1. Copy the table", "2. Wait", "2. Switch", "x", "x"])
    assert [one.words for one in found] == ["line 3", "was line 4, now 5", "line 5 is gone"]
    twice = placed([Remark(1, "x", "which?")], ["a", "x", "x"])
    assert twice[0].words == "line 1 is gone"
