"""What decides a request: the audit trail before dates, the first word before later ones, and never silence."""

from __future__ import annotations

from functools import partial

from team_console.store.model.recorded import RecordedFacts

from tests.equipment.cases import cases
from tests.equipment.chronicle import LEAD, Chronicle, row

BACKDATED, AHEAD = "2020-01-01T00:00:00.000Z", "2036-01-01T00:00:00.000Z"


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
