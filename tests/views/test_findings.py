"""Findings: each code has a queue that shows it and the same queue put right, which does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from team_console.store.model.errors import Problem
from team_console.store.protocol.verdicts import sign
from team_console.store.views.projection import Projection, view_of

from tests.views.chronicle import LEAD, Chronicle, creation, settings, task

SLAVE = "slave-batch-1"
Story = Callable[[Chronicle, bool], object]
CASES: dict[str, Story] = {}


def shows(code: str) -> Callable[[Story], Story]:
    """Register a story: called with True it must show `code`, called with False it must not."""

    def register(story: Story) -> Story:
        CASES[code] = story
        return story

    return register


@shows("DAMAGED_ENTRY")
def _(story: Chronicle, bad: bool) -> None:
    if bad:
        story.problems = (Problem("DAMAGED_ENTRY", "error", "message-queue.yaml:7", "not closed", "Repair it"),)


@shows("DUPLICATE_ID")
def _(story: Chronicle, bad: bool) -> None:
    story.plan()
    story.plan("file-manager", id="forged", **({} if bad else {"request_id": "plan-2"}))


@shows("ANSWER_TO_NOTHING")
def _(story: Chronicle, bad: bool) -> None:
    story.plan()
    story.verdict("plan-9" if bad else "plan-1", approve=True)


@shows("UNKNOWN_REPLY")
def _(story: Chronicle, bad: bool) -> None:
    asked = story.say("debugger", LEAD, summary="Which branch is it?")
    story.say(LEAD, "debugger", in_reply_to="MSG-nobody-has-this" if bad else asked.message_id)


@shows("UNAUTHORISED_VERDICT")
def _(story: Chronicle, bad: bool) -> None:
    story.plan()
    story.verdict(approve=True, sender="file-manager" if bad else LEAD)


@shows("CONTRADICTORY_ANSWER")
def _(story: Chronicle, bad: bool) -> None:
    story.plan()
    story.verdict(approve=True)
    story.verdict(approve=not bad, content="No")


@shows("ANSWERED_TWICE")
def _(story: Chronicle, bad: bool) -> None:
    story.plan()
    for _ in range(2 if bad else 1):
        story.verdict(approve=True)


@shows("OVERDUE_REQUEST")
def _(story: Chronicle, bad: bool) -> None:
    story.stop()
    story.wait(20)
    if not bad:
        story.stopped()


@shows("STRANGER")
def _(story: Chronicle, bad: bool) -> None:
    story.say("file-manger" if bad else "file-manager", LEAD)


@shows("PREFIX_MISMATCH")
def _(story: Chronicle, bad: bool) -> None:
    story.sprint(
        SLAVE, LEAD, "AGENT_DESTROY_REQUEST", agent_name="dev-1", **({"msg_type": "DEBUG_RESULT"} if bad else {})
    )


@shows("BODY_INVALID")
def _(story: Chronicle, bad: bool) -> None:
    story.sprint(SLAVE, LEAD, "AGENT_DESTROY_REQUEST", **({} if bad else {"agent_name": "dev-1"}))


@shows("WRONG_DIRECTION")
def _(story: Chronicle, bad: bool) -> None:
    story.sprint(SLAVE, "debugger" if bad else LEAD, "AGENT_DESTROY_REQUEST", agent_name="dev-1")


@shows("BUSINESS_IN_CREATE_REQUEST")
def _(story: Chronicle, bad: bool) -> None:
    body = {"agent_type": "dev", "role_hint": "Developer", "requested_by": SLAVE}
    story.sprint(SLAVE, LEAD, "AGENT_CREATE_REQUEST", **body, **({"story_key": "3-1"} if bad else {}))


@shows("STEP_MISSING")
def _(story: Chronicle, bad: bool) -> None:
    creation(story, skip=(5,) if bad else ())


@shows("STEP_OUT_OF_ORDER")
def _(story: Chronicle, bad: bool) -> None:
    creation(story, upto=5, skip=(4,) if bad else ())
    if bad:
        story.roster("dev-runner-3-1")


@shows("STEP_DOUBLED")
def _(story: Chronicle, bad: bool) -> None:
    creation(story, upto=5)
    if bad:
        story.sprint(SLAVE, "dev-runner-3-1", "TASK_ASSIGNMENT", **task("3-1"))


@shows("STORY_COUNT_MISMATCH")
def _(story: Chronicle, bad: bool) -> None:
    batches = [{"batch_id": 1, "stories": ["3-1", "3-2"]}]
    body: dict[str, Any] = {
        "session_id": "s1",
        "total_stories": 9 if bad else 2,
        "batches": batches,
        "dependency_graph": {},
    }
    story.sprint("scrum-master", LEAD, "BATCH_PLAN_READY", **body)


@shows("BODY_INVALID of a batch id twice")
def _(story: Chronicle, bad: bool) -> None:
    _planned(story, {}, second=1 if bad else 2)


@shows("BODY_INVALID of a circle")
def _(story: Chronicle, bad: bool) -> None:
    needs = {"3-1": {"depends_on": ["3-2"]}, "3-2": {"depends_on": ["3-1"] if bad else []}}
    _planned(story, needs, second=2)


def _planned(story: Chronicle, needs: dict[str, Any], *, second: int) -> None:
    batches = [{"batch_id": 1, "stories": ["3-1"]}, {"batch_id": second, "stories": ["3-2"]}]
    body: dict[str, Any] = {"session_id": "s1", "total_stories": 2, "batches": batches, "dependency_graph": needs}
    story.sprint("scrum-master", LEAD, "BATCH_PLAN_READY", **body)


@shows("CASE_TWIN")
def _(story: Chronicle, bad: bool) -> None:
    story.say("Debugger" if bad else "debugger", LEAD)
    story.say("Debugger" if bad else "debugger", LEAD)


@shows("ROSTER_DRIFT")
def _(story: Chronicle, bad: bool) -> None:
    creation(story, "dev-1", upto=3)
    story.roster(*(() if bad else ("dev-1",)))


@shows("ROSTER_TO_NON_RESIDENT")
def _(story: Chronicle, bad: bool) -> None:
    story.roster(to=(SLAVE,) if bad else ("debugger",))


@shows("STILL_ALIVE")
def _(story: Chronicle, bad: bool) -> None:
    story.stop()
    story.stopped()
    if bad:
        story.say("file-manager", LEAD)


@shows("UNSIGNED")
def _(story: Chronicle, bad: bool) -> None:
    _signed(story, None if bad else b"key")


@shows("BROKEN_SIGNATURE")
def _(story: Chronicle, bad: bool) -> None:
    _signed(story, b"another key" if bad else b"key")


@shows("SELF_ADDRESSED")
def _(story: Chronicle, bad: bool) -> None:
    story.say("file-manager", "file-manager" if bad else LEAD)


@shows("UNKNOWN_KIND")
def _(story: Chronicle, bad: bool) -> None:
    story.say("file-manager", LEAD, "gossip" if bad else "message")


def _signed(story: Chronicle, key: bytes | None) -> None:
    story.config = settings(key=b"key")
    message = story.say(LEAD, "debugger")
    if key is not None:
        story.change(message, signature=sign(message.record, key))


@pytest.mark.parametrize("code", CASES)
def test_a_queue_with_the_departure_shows_it_and_one_without_does_not(code: str) -> None:
    bad, good = Chronicle(), Chronicle()
    CASES[code](bad, True)
    CASES[code](good, False)
    assert code.partition(" ")[0] in bad.codes()
    assert code.partition(" ")[0] not in good.codes()
    for finding in bad.view().findings:
        assert finding.place
        assert finding.message
        assert finding.hint


@pytest.mark.parametrize("code", [case for case in CASES if case not in ("DAMAGED_ENTRY", "ROSTER_DRIFT")])
def test_a_finding_about_messages_ends_when_they_leave_the_queue(code: str) -> None:
    story = Chronicle()
    CASES[code](story, True)
    if code == "OVERDUE_REQUEST":
        story.stopped()
    board = Projection(LEAD)
    board.update(story.snapshot(), story.now)
    for message in tuple(story.messages):
        story.archive(message)
    assert code not in {finding.code for finding in board.update(story.snapshot(), story.now).findings}
    assert code not in story.codes()


def test_a_team_by_the_book_has_nothing_to_report() -> None:
    story = Chronicle()
    story.plan(summary="A plan of five words")
    story.verdict(approve=False, content="Add tests")
    story.plan(request_id="plan-2", summary="A plan of five words")
    story.verdict("plan-2", approve=True)
    creation(story)
    story.stopped("dev-runner-3-1", request_id="stop-dev-runner-3-1")
    assert story.view().findings == ()


def test_errors_come_first() -> None:
    story = Chronicle()
    for code in ("SELF_ADDRESSED", "STRANGER", "DUPLICATE_ID"):
        CASES[code](story, True)
    order = ["error", "warning", "notice"]
    severities = [order.index(finding.severity) for finding in story.view().findings]
    assert severities == sorted(severities)
    assert set(severities) == {0, 1, 2}


def test_kinds_that_are_not_known_are_one_finding_however_many_messages_there_are() -> None:
    story = Chronicle()
    for _ in range(3):
        story.say("file-manager", LEAD, "gossip")
    (problem,) = story.view().findings
    assert (problem.code, problem.place, problem.message[:10]) == ("UNKNOWN_KIND", "type gossip", "3 messages")


def _in_doubt(story: Chronicle) -> dict[str, Problem]:
    """Findings while older archived messages were not looked at."""
    view = view_of(story.snapshot(), me=LEAD, now=story.now, history=reversed(story.archived), complete=False)
    return {finding.code: finding for finding in view.findings}


def test_nothing_is_said_that_an_archive_may_explain_while_archives_are_unread() -> None:
    story = Chronicle()
    story.verdict("plan-of-old", approve=True)
    creation(story, upto=8, skip=(1, 3, 4, 5))
    assert {"ANSWER_TO_NOTHING", "STEP_MISSING"} <= story.codes()
    assert not {"ANSWER_TO_NOTHING", "STEP_MISSING"} & set(_in_doubt(story))


def test_what_is_said_while_archives_are_unread_is_said_as_far_as_is_known() -> None:
    story = Chronicle()
    creation(story, upto=8, skip=(5,))
    CASES["STRANGER"](story, True)
    found = _in_doubt(story)
    assert found["STEP_MISSING"].severity == "notice"
    for code in ("STEP_MISSING", "STRANGER"):
        assert "older archived ones were not" in found[code].message
    assert "file-manager" in found["STRANGER"].hint  # whom it was most likely meant to be
