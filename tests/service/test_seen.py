"""A verdict is on what was seen: the question and the version it was compared with; it keeps digest and evidence."""

from __future__ import annotations

import pytest
from team_console.store.contract.transaction import ChangedError
from team_console.store.model.message import Message
from team_console.store.protocol.verdicts import (
    EVIDENCE,
    seen_of,
)
from team_console.store.service import requests
from team_console.store.service.questions import live_question

from tests.console.conftest import rewrite
from tests.equipment.memory_team import MemoryTeam
from tests.service.conftest import SeatOf


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
