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
from team_console.store.model.recorded import RecordedFacts
from team_console.store.service import requests
from team_console.store.service.caller import Caller
from team_console.store.views.projection import Projection
from team_console.store.views.rows import Flag, RequestState

from tests.equipment.cases import cases
from tests.equipment.chronicle import LEAD, Chronicle, row
from tests.equipment.counting import calls_of
from tests.equipment.memory_team import MemoryTeam
from tests.equipment.teams import FakeClock, config
from tests.equipment.yaml_folder import QUEUE, open_yaml


def test_a_request_is_overdue_from_the_moment_its_kind_allows() -> None:
    story = Chronicle()
    story.stop()
    assert row(story.view(after=14.9), "stop-1").state is RequestState.OPEN
    late = row(story.view(after=15), "stop-1")
    assert (late.state, late.flags, late.is_open) == (RequestState.OVERDUE, (Flag.OVERDUE,), True)


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


def test_verdicts_of_the_same_millisecond_keep_the_order_of_the_file() -> None:
    story = Chronicle()
    plan = story.plan()
    first = story.verdict(approve=False, content="No", created=plan.created)
    story.verdict(approve=True, created=plan.created)
    assert row(story.view(), "plan-1").verdict is first


def test_seen_is_told_apart_from_asked() -> None:
    story = Chronicle()
    plan = story.plan()
    assert row(story.view(), "plan-1").seen_at is None
    story.change(plan, status="read", read_at="2026-02-24T10:05:00Z")
    seen = row(story.view(), "plan-1").seen_at
    assert seen is not None
    assert seen.isoformat() == "2026-02-24T10:05:00+00:00"


def test_an_agent_created_again_is_not_still_alive() -> None:
    story = Chronicle()
    story.stop("dev-1")
    story.stopped("dev-1")
    _made(story, "dev-1")
    story.say("dev-1", "slave-batch-1")
    assert row(story.view(), "stop-1").flags == ()


def test_saying_more_about_a_question_is_no_second_answer() -> None:
    story = Chronicle()
    ask = story.say("file-manager", LEAD, "clarify", question="Which year?", context="Report")
    story.say(LEAD, "file-manager", in_reply_to=ask.message_id, content="2026")
    story.say(LEAD, "file-manager", in_reply_to=ask.message_id, content="And 2025")
    assert row(story.view(), ask.message_id).flags == ()


_WISH = {"agent_type": "dev-runner", "role_hint": "Dev", "requested_by": "slave-batch-1"}
_QUERY = {"queries": [{"query": "Why?"}]}
PAIRED: dict[str, Any] = {
    "AGENT_CREATE_REQUEST": (
        "slave-batch-1",
        LEAD,
        (_WISH, {**_WISH, "agent_type": "reviewer"}, _WISH),
        ("AGENT_CREATED", {"agent_name": "dev-runner-3-1", "agent_type": "dev-runner"}),
        ("approved", "open", "open"),
        "dev-runner-3-1",
    ),
    "AGENT_DESTROY_REQUEST": (
        "slave-batch-1",
        LEAD,
        ({"agent_name": "dev-1"}, {"agent_name": "dev-2"}),
        ("AGENT_DESTROYED", {"agent_name": "dev-2"}),
        ("open", "approved"),
        "dev-2",
    ),
    "BROWSER_REQUEST": (
        "task-manager",
        "e2e-live",
        ({"request_id": "BR-001"}, {"request_id": "BR-002"}),
        ("BROWSER_RESULT", {"request_id": "BR-002", "status": "success"}),
        ("open", "answered"),
        "success",
    ),
    "RESEARCH_REQUEST": (
        "task-manager",
        "kr",
        ({"story_key": "3-1", **_QUERY}, {"story_key": "3-2", **_QUERY}),
        ("RESEARCH_RESULT", {"story_key": "3-2", "results": [{"summary": "So"}]}),
        ("open", "answered"),
        "So",
    ),
}


@pytest.mark.parametrize("kind", PAIRED)
def test_an_answer_without_an_id_is_paired_with_the_oldest_request_that_it_fits(kind: str) -> None:
    asker, asked, bodies, (answer, body), states, reason = PAIRED[kind]
    story = Chronicle()
    questions = [story.sprint(asker, asked, kind, **each) for each in bodies]
    story.sprint(asked, asker, answer, **body)
    rows = {row.question.message_id: row for row in story.view().requests}
    found = [rows[question.message_id] for question in questions]
    assert tuple(row.state for row in found) == states
    assert [row.reason for row in found if not row.is_open] == [reason]


def _wish(story: Chronicle) -> str:
    return story.sprint("slave-batch-1", LEAD, "AGENT_CREATE_REQUEST", **_WISH).message_id


def _made(story: Chronicle, name: str, *, by: str = LEAD, **more: str) -> None:
    story.sprint(by, "slave-batch-1", "AGENT_CREATED", agent_name=name, agent_type="dev-runner", **more)


def test_a_creation_is_paired_with_the_request_it_quotes_and_never_by_anyone_but_the_lead() -> None:
    story = Chronicle()
    first, second, refused = _wish(story), _wish(story), _wish(story)
    _made(story, "x", by="debugger")
    assert row(story.view(), first).flags == (Flag.UNAUTHORISED,)
    story.say(LEAD, "slave-batch-1", request_id=refused, in_reply_to=refused, approve=False, content="Too many")
    _made(story, "dev-runner-3-2", in_reply_to=second)
    _made(story, "dev-runner-3-1")
    view = story.view()
    told = [(row(view, item).state, row(view, item).reason) for item in (first, second, refused)]
    assert told == [("approved", "dev-runner-3-1"), ("approved", "dev-runner-3-2"), ("rejected", "Too many")]
    assert row(view, first).answered_by == LEAD


BACKDATED = "2020-01-01T00:00:00.000Z"


def with_trail() -> Chronicle:
    """A team whose store keeps an audit trail that is still empty."""
    return Chronicle(recorded=RecordedFacts())


def rejected() -> Chronicle:
    """A plan that the lead rejected, both on record."""
    story = with_trail()
    story.record(story.plan())
    story.record(story.verdict(approve=False, content="Add tests"))
    return story


def test_a_forged_answer_that_the_next_writer_took_over_stays_behind_and_marked() -> None:
    story = rejected()
    forged = story.verdict(approve=True, created=BACKDATED)
    story.record(forged, by_desk=False)
    found = row(story.view(), "plan-1")
    assert (found.state, found.unverified) == ("rejected", (forged.message_id,))


@cases
def test_a_recorded_answer_that_was_edited_decides_as_it_was_written(changes: dict[str, object]) -> None:
    story = rejected()
    story.record(story.plan(request_id="plan-2", author="file-manager"))
    story.change(story.messages[1], **changes)
    found = row(story.view(), "plan-1")
    assert (found.state, found.answered_by, found.reason) == ("rejected", LEAD, "Add tests")
    assert row(story.view(), "plan-2").state == "open"


def test_an_edited_answer_is_told_as_an_error_with_its_place() -> None:
    story = rejected()
    verdict = story.messages[1]
    story.change(verdict, payload={**verdict.payload, "approve": True})
    problems = [finding for finding in story.view().findings if finding.code == "ALTERED_VERDICT"]
    assert [(problem.severity, problem.place) for problem in problems] == [("error", verdict.message_id)]


def test_a_recorded_answer_that_was_taken_out_still_decides() -> None:
    story = rejected()
    story.lose(story.messages[1])
    story.verdict(approve=True)
    assert row(story.view(), "plan-1").state == "rejected"


@cases
def test_of_a_withdrawal_and_an_answer_the_first_counts(is_first: bool, state: str) -> None:
    story = Chronicle()
    story.plan()
    acts = [
        partial(story.say, "task-manager", LEAD, "request_withdrawn", request_id="plan-1", reason="timed out"),
        partial(story.verdict, approve=True),
    ]
    for act in acts if is_first else reversed(acts):
        act()
    assert row(story.view(), "plan-1").state == state


def test_a_withdrawal_takes_back_an_escalation_and_is_no_answer_to_it() -> None:
    story = Chronicle()
    asked = story.say("debugger", LEAD, "escalate", issue="Broken", severity="high", recommendation="Stop")
    story.say("debugger", LEAD, "request_withdrawn", request_id=asked.message_id, reason="solved")
    found = row(story.view(), asked.message_id)
    assert (found.state, found.answers) == ("withdrawn", ())


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


def allowed(story: Chronicle, request_id: str = "p1", *, sender: str = LEAD, **more: Any) -> Message:
    return story.say(
        sender, ASKER, "permission_response", **{"request_id": request_id, "approve": True, "scope": "once", **more}
    )


def question(story: Chronicle, request_id: str = "q1", **more: Any) -> Message:
    options = [{"label": "A"}, {"label": "B"}]
    asked = {"questions": [{"question": "Which?", "header": "W", "options": options}], "request_id": request_id}
    return story.say(ASKER, LEAD, "question_request", **{**asked, **more})


@pytest.mark.parametrize("foreign", [{"tool": 3, "input": "x"}, {"tool": None}, {"input": []}], ids=str)
def test_a_malformed_permission_is_shown_and_told(foreign: dict[str, Any]) -> None:
    story = Chronicle()
    permission(story, **foreign)
    assert row(story.view(), "p1").is_open
    assert "BODY_INVALID" in story.codes()


def test_a_message_of_another_kind_never_allows_anything() -> None:
    story = Chronicle()
    permission(story)
    story.say(LEAD, ASKER, request_id="p1", approve=True)
    story.say(LEAD, ASKER, "plan_approval_response", request_id="p1", approve=True)
    story.say(LEAD, ASKER, "question_response", request_id="p1", approve=True, answers={"Which?": "A"})
    assert row(story.view(), "p1").is_open


@pytest.mark.parametrize("sender", ["file-manager", ASKER, "user"])
def test_nobody_but_the_lead_allows_anything(sender: str) -> None:
    story = Chronicle()
    permission(story)
    forged = allowed(story, sender=sender)
    view = story.view()
    assert (row(view, "p1").is_open, row(view, "p1").flags) == (True, ("unauthorised",))
    assert [problem.place for problem in view.findings if problem.code == "UNAUTHORISED_VERDICT"] == [forged.message_id]


@pytest.mark.parametrize("answers", [None, {}, [], {"Which?": []}, {"Which?": ""}, {"Which?": 3}], ids=str)
def test_a_yes_that_chooses_nothing_decides_no_question(answers: Any) -> None:
    story = Chronicle()
    question(story)
    story.say(LEAD, ASKER, "question_response", request_id="q1", approve=True, answers=answers)
    assert row(story.view(), "q1").is_open
    assert "BODY_INVALID" in story.codes()


def test_a_verdict_after_the_end_decides_nothing_and_one_in_time_does() -> None:
    story = Chronicle()
    permission(story, "late", seconds=30)
    permission(story, "in time", seconds=30)
    allowed(story, "in time")
    story.wait(60)
    allowed(story, "late")
    view = story.view()
    assert [str(row(view, key).state) for key in ("late", "in time")] == ["withdrawn", "approved"]


def test_a_verdict_dated_back_before_the_end_is_late_where_the_trail_says_so() -> None:
    story = Chronicle(recorded=RecordedFacts())
    story.record(permission(story, seconds=30))
    story.wait(60)
    late = allowed(story)
    story.record(late)
    story.change(late, created="2026-02-24T10:00:05.000Z")
    assert str(row(story.view(), "p1").state) == "withdrawn"


def test_a_time_nobody_can_read_ends_nothing_and_is_told() -> None:
    story = Chronicle()
    permission(story, expires="tomorrow")
    assert row(story.view(after=9e6), "p1").is_open
    assert "BODY_INVALID" in story.codes()


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
