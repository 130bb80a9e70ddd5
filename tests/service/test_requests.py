"""What is bound to a request: what was seen of it, what must stay for it, and remarks on its lines."""

from __future__ import annotations

import json
from typing import Any

import pytest
from team_console.store.contract.snapshot import Snapshot
from team_console.store.contract.transaction import ChangedError
from team_console.store.model.clock import to_text
from team_console.store.model.errors import Code
from team_console.store.model.message import new_record
from team_console.store.protocol.remarks import Remark, place_remarks
from team_console.store.protocol.shown_when_decided import EVIDENCE, Face, Seen, digest_of, seen_of
from team_console.store.service import requests, sending
from team_console.store.service.compaction import still_needed

from tests.console.conftest import rewrite
from tests.equipment.asking import agent, lead, plan, refusal, row
from tests.equipment.cases import cases
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
    assert refusal(sending.trigger_course_correction, lead(team), user_input="x" * 2001).code is Code.INVALID_FIELD
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


@cases
def test_what_leaves_takes_no_answer_along_that_is_still_needed(
    messages: list[tuple[str, str, str, dict[str, Any], str]], leaving: list[str], wanted: list[str]
) -> None:
    envelope = {"created": to_text(START), "priority": "high"}
    stored = [
        new_record(
            message_id=name,
            type=kind,
            sender=by,
            to="ceo" if by != "ceo" else "task-manager",
            payload=payload,
            **envelope,
        ).with_changes(status=status)
        for name, kind, by, payload, status in messages
    ]
    assert sorted(still_needed(Snapshot("", START, None, config(), tuple(stored)), leaving=leaving)) == wanted


@cases
def test_a_remark_whose_line_is_gone_says_so_and_is_never_moved_silently(
    remarks: list[tuple[int, str, str]], lines: list[str], told: list[str]
) -> None:
    assert [one.words for one in place_remarks([Remark(*remark) for remark in remarks], lines)] == told
