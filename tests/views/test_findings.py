"""Findings: each code has a queue that shows it and the same queue put right, which does not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from team_console.store.model.errors import Problem
from team_console.store.protocol.verdicts import sign
from team_console.store.views.projection import Projection, view_of

from tests.equipment.chronicle import LEAD, Chronicle, creation, settings

SLAVE = "slave-batch-1"


def _planned(story: Chronicle, total: int = 2, second: int = 2, needs: tuple[str, ...] = ()) -> None:
    batches = [{"batch_id": 1, "stories": ["3-1"]}, {"batch_id": second, "stories": ["3-2"]}]
    graph = {"3-1": {"depends_on": ["3-2"]}, "3-2": {"depends_on": needs}}
    body: dict[str, Any] = {"session_id": "s1", "total_stories": total, "batches": batches, "dependency_graph": graph}
    story.sprint("scrum-master", LEAD, "BATCH_PLAN_READY", **body)


def _damaged(story: Chronicle, bad: bool) -> None:
    if bad:
        story.problems = (Problem("DAMAGED_ENTRY", "error", "message-queue.yaml:7", "not closed", "Repair it"),)


def _twins(story: Chronicle, bad: bool) -> None:
    story.plan()
    story.plan("file-manager", id="forged", **({} if bad else {"request_id": "plan-2"}))


def _replied(story: Chronicle, bad: bool) -> None:
    asked = story.say("debugger", LEAD, summary="Which branch is it?")
    story.say(LEAD, "debugger", in_reply_to="MSG-nobody-has-this" if bad else asked.message_id)


def _overdue(story: Chronicle, bad: bool) -> None:
    story.stop()
    story.wait(20)
    if not bad:
        story.stopped()


def _asked(story: Chronicle, name: str, to: str = LEAD, **body: Any) -> None:
    story.sprint(SLAVE, to, name, **body)


def _wish(**more: str) -> dict[str, str]:
    return {"agent_type": "dev", "role_hint": "Developer", "requested_by": SLAVE, **more}


def _answered(story: Chronicle, *verdicts: bool, request_id: str = "plan-1", sender: str = LEAD) -> None:
    story.plan()
    for approve in verdicts:
        story.verdict(request_id, approve=approve, sender=sender)


def _created(story: Chronicle, *, late: bool) -> None:
    creation(story, upto=5, skip=(4,) if late else ())
    if late:
        story.roster("dev-runner-3-1")


def _drifted(story: Chronicle, bad: bool) -> None:
    creation(story, "dev-1", upto=3)
    story.roster(*(() if bad else ("dev-1",)))


def _alive(story: Chronicle, bad: bool) -> None:
    story.stop()
    story.stopped()
    if bad:
        story.say("file-manager", LEAD)


def _signed(story: Chronicle, key: bytes | None) -> None:
    story.config = settings(key=b"key")
    message = story.say(LEAD, "debugger")
    if key is not None:
        story.change(message, signature=sign(message.record, key))


END = "AGENT_DESTROY_REQUEST"
CASES: Mapping[str, Callable[[Chronicle, bool], object]] = {
    "DAMAGED_ENTRY": _damaged,
    "DUPLICATE_ID": _twins,
    "ANSWER_TO_NOTHING": lambda story, bad: _answered(story, True, request_id="plan-9" if bad else "plan-1"),
    "UNKNOWN_REPLY": _replied,
    "UNAUTHORISED_VERDICT": lambda story, bad: _answered(story, True, sender="file-manager" if bad else LEAD),
    "CONTRADICTORY_ANSWER": lambda story, bad: _answered(story, True, not bad),
    "ANSWERED_TWICE": lambda story, bad: _answered(story, *[True] * (2 if bad else 1)),
    "OVERDUE_REQUEST": _overdue,
    "STRANGER of everybody": lambda story, bad: story.say(LEAD, "Everyone" if bad else "all"),
    "STRANGER": lambda story, bad: story.say("file-manger" if bad else "file-manager", LEAD),
    "PREFIX_MISMATCH": lambda story, bad: _asked(
        story, END, agent_name="dev-1", msg_type="DEBUG_RESULT" if bad else END
    ),
    "BODY_INVALID": lambda story, bad: _asked(story, END, **({} if bad else {"agent_name": "dev-1"})),
    "WRONG_DIRECTION": lambda story, bad: _asked(story, END, "debugger" if bad else LEAD, agent_name="dev-1"),
    "BUSINESS_IN_CREATE_REQUEST": lambda story, bad: _asked(
        story, "AGENT_CREATE_REQUEST", **_wish(**({"story_key": "3-1"} if bad else {}))
    ),
    "STEP_MISSING": lambda story, bad: creation(story, skip=(5,) if bad else ()),
    "STEP_OUT_OF_ORDER": lambda story, bad: _created(story, late=bad),
    "STORY_COUNT_MISMATCH": lambda story, bad: _planned(story, 9 if bad else 2),
    "BODY_INVALID of a batch id twice": lambda story, bad: _planned(story, second=1 if bad else 2),
    "BODY_INVALID of a circle": lambda story, bad: _planned(story, needs=("3-1",) if bad else ()),
    "CASE_TWIN": lambda story, bad: [story.say("Debugger" if bad else "debugger", LEAD) for _ in range(2)],
    "ROSTER_DRIFT": _drifted,
    "ROSTER_TO_NON_RESIDENT": lambda story, bad: story.roster(to=(SLAVE,) if bad else ("debugger",)),
    "STILL_ALIVE": _alive,
    "UNSIGNED": lambda story, bad: _signed(story, None if bad else b"key"),
    "BROKEN_SIGNATURE": lambda story, bad: _signed(story, b"another key" if bad else b"key"),
    "SELF_ADDRESSED": lambda story, bad: story.say("file-manager", "file-manager" if bad else LEAD),
    "UNKNOWN_KIND": lambda story, bad: story.say("file-manager", LEAD, "gossip" if bad else "message"),
}
"""Code -> a story that shows it when called with True, and does not when called with False."""


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
