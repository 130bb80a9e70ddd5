"""The ledger: asked, seen, answered, ended, also by clients, and everything that can be odd about it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from team_console.store.model.clock import to_text
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message, from_record
from team_console.store.model.recorded_facts import RecordedFacts
from team_console.store.service import requests
from team_console.store.service.caller import Caller
from team_console.store.views.projection import Projection
from team_console.store.views.rows import Flag, RequestState

from tests.equipment.chronicle import LEAD, Chronicle, row
from tests.equipment.counting import calls_of
from tests.equipment.memory_team import MemoryTeam
from tests.equipment.teams import FakeClock, config
from tests.equipment.yaml_folder import QUEUE, open_yaml


def test_the_first_of_two_contradictory_verdicts_stands_wherever_the_file_lists_it() -> None:
    story = Chronicle()
    story.plan()
    first = story.verdict(approve=True)
    story.verdict(approve=False, content="No")
    story.messages.append(first.with_changes(status="read"))  # a second copy of it is no second answer
    for _ in range(2):
        plan = row(story.view(), "plan-1")
        assert plan.verdict is not None
        assert (plan.state, plan.verdict.message_id) == (RequestState.APPROVED, first.message_id)
        assert set(plan.flags) == {Flag.CONTRADICTORY, Flag.ANSWERED_TWICE}
        assert len(plan.answers) == 2
        story.messages.append(story.messages.pop(1))


_ASKED = 'BROWSER_REQUEST: {"request_id": "B-1", "operation": "open"}'
_ANSWERS: Mapping[str, Mapping[str, Any]] = {
    "named": {"request_id": "B-1", "approve": True, "request_sha256": "a" * 64},
    "by their place": {"request_id": "B-1", "approve": True},
    "taking back": {"request_id": "B-1", "reason": "not needed"},
}


def pairs(number: int, kind: str, answer: Mapping[str, Any]) -> tuple[Message, ...]:
    """Questions of one agent under one id, each followed by what may answer it."""
    envelope = {"created": "2026-02-24T10:30:15.123Z", "status": "pending", "priority": "high"}
    ways = (("dev", "ceo", "message", {"content": _ASKED}), ("ceo", "dev", kind, answer))
    return tuple(
        from_record(
            {**envelope, "message_id": f"M-{place}", "from": sender, "to": to, "type": name, "payload": dict(payload)}
        )
        for place, (sender, to, name, payload) in enumerate(ways * number)
    )


@pytest.mark.parametrize("answer", _ANSWERS)
def test_twice_as_many_are_asked_about_twice_as_often(answer: str) -> None:
    seen = []
    for number in (40, 80):
        team = MemoryTeam(config=config(), clock=FakeClock())
        team._state.messages = pairs(number, "message", _ANSWERS[answer])
        seen.append(calls_of(partial(Projection("ceo").update, team.snapshot(), team.clock())))
    assert seen[1] <= 2.5 * seen[0]


SETTINGS = "team: sprint-42\nlead: ceo\nagents: [ceo, task-manager]\n"


@pytest.mark.parametrize("how", [b"  broken: [\n", b"\t- {\n", b"  a: \x07\n"])
def test_a_damaged_question_says_so_until_it_is_repaired_and_is_not_answered(tmp_path: Path, how: bytes) -> None:
    (tmp_path / "messenger-config.yaml").write_text(SETTINGS)
    team, queue = open_yaml(tmp_path), tmp_path / QUEUE
    asked = requests.submit_plan(Caller(team, "task-manager", 5), content="1. Split it", summary="Split the loader")
    request_id, board = asked.request_id, Projection("ceo")
    assert request_id is not None
    (whole,) = board.update(team.snapshot(), team.clock()).requests
    good = queue.read_bytes()
    queue.write_bytes(good.replace(b"  type: plan", how + b"  type: plan"))
    view = board.update(team.snapshot(), team.clock())
    (row,) = view.requests
    assert Flag.DAMAGED in row.flags
    items = [item for item in view.attention if item.request is not None]
    assert items
    assert not any(item.answerable for item in items)
    assert all("damaged" in item.why for item in items)
    for answer in (requests.approve, lambda caller, **facts: requests.reject(caller, reason="no", **facts)):
        before = queue.read_bytes()
        with pytest.raises(TeamError) as caught:
            answer(Caller(team, "ceo", 5), request_id=request_id)
        assert (caught.value.code, request_id in caught.value.message) == (Code.STORE_UNREADABLE, True)
        assert caught.value.hint
        assert queue.read_bytes() == before
    queue.write_bytes(good)
    (row,) = board.update(team.snapshot(), team.clock()).requests
    assert (row.state, row.flags, row.question.record) == (whole.state, whole.flags, whole.question.record)


ASKER = "task-manager"


def permission(story: Chronicle, request_id: str = "p1", *, seconds: float | None = None, **more: Any) -> Message:
    """Ask for a command; `seconds` say how long the asker waits."""
    ends = {"expires": to_text(story.now + timedelta(seconds=seconds))} if seconds is not None else {}
    given = {"tool": "Bash", "input": {"command": "npm test"}, "request_id": request_id, **ends, **more}
    return story.say(ASKER, LEAD, "permission_request", **given)


def test_a_withdrawal_that_left_the_queue_between_two_looks_still_ends_the_request() -> None:
    story = Chronicle(recorded=RecordedFacts())
    story.record(permission(story))
    board = Projection(LEAD)
    assert len(board.update(story.snapshot(), story.now).attention) == 1
    notice = story.say(ASKER, LEAD, "request_withdrawn", request_id="p1", reason="session ended")
    story.record(notice)
    story.archive(notice)
    view = board.update(story.snapshot(), story.now)
    assert (view.requests[0].state, view.requests[0].reason, view.attention) == ("withdrawn", "session ended", ())
