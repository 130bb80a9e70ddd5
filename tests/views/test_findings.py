"""Findings: each code has a queue that shows it and the same queue put right, which does not."""

from __future__ import annotations

import pytest
from team_console.store.model.errors import Problem
from team_console.store.protocol.message_seal import sign
from team_console.store.views.projection import Projection, view_of

from tests.equipment.cases import constant
from tests.equipment.chronicle import LEAD, Chronicle, creation, settings
from tests.views.test_stories import Teller

CASES = constant(__file__, "CASES", dict[str, tuple[str, str]])
"""Code -> a story that shows it, and one that does not."""


def told(story: str) -> Chronicle:
    """The queue of a story."""
    teller = Teller()
    teller.tell(story)
    return teller.story


@pytest.mark.parametrize("code", CASES)
def test_a_queue_with_the_departure_shows_it_and_one_without_does_not(code: str) -> None:
    bad, good = map(told, CASES[code])
    assert code.partition(" ")[0] in bad.codes()
    assert code.partition(" ")[0] not in good.codes()
    for finding in bad.view().findings:
        assert finding.place
        assert finding.message
        assert finding.hint


@pytest.mark.parametrize("code", [case for case in CASES if case != "ROSTER_DRIFT"])
def test_a_finding_about_messages_ends_when_they_leave_the_queue(code: str) -> None:
    story = told(CASES[code][0])
    if code == "OVERDUE_REQUEST":
        story.stopped()
    board = Projection(LEAD)
    board.update(story.snapshot(), story.now)
    for message in tuple(story.messages):
        story.archive(message)
    assert code not in {finding.code for finding in board.update(story.snapshot(), story.now).findings}
    assert code not in story.codes()


def test_an_entry_that_could_not_be_read_is_a_finding() -> None:
    story = Chronicle(problems=(Problem("DAMAGED_ENTRY", "error", "message-queue.yaml:7", "not closed", "Repair it"),))
    assert "DAMAGED_ENTRY" in story.codes()


@pytest.mark.parametrize(
    ("key", "found"), [(None, {"UNSIGNED"}), (b"another key", {"BROKEN_SIGNATURE"}), (b"key", set())]
)
def test_where_messages_are_signed_each_is_looked_at(key: bytes | None, found: set[str]) -> None:
    story = Chronicle(config=settings(key=b"key"))
    message = story.say(LEAD, "debugger")
    if key is not None:
        story.change(message, signature=sign(message.record, key))
    assert story.codes() & {"UNSIGNED", "BROKEN_SIGNATURE"} == found


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
