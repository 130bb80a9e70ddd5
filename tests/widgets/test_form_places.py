"""What keys act on is seen, however many lines a form would take and however few there are."""

from __future__ import annotations

import pytest
from team_console.store.model.errors import Code, TeamError
from team_console.store.protocol.client_requests import Option, Question
from team_console.widgets.answer_form import AnswerForm, Answers, Notes
from team_console.widgets.compose_form import Compose
from team_console.widgets.fields import FieldKind, LongNote, words_of_a_decision
from team_console.widgets.prompt_form import Confirm

from tests.equipment.samples import sampled
from tests.widgets.hosted import lines_after, shown

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
SIZES = sampled([(60, 20), (80, 24), (120, 30)], 1)
LONG = tuple(
    Option(f"Choice {number}", "what it means in so many words that they take several lines of a form " * 2)
    for number in range(1, 13)
)
QUESTIONS = (Question("Which way is it to be?", "Way", LONG), Question("And the others?", "", LONG, several=True))


def told(answers: Answers, notes: Notes) -> str:
    """What the form gives back."""
    return f"{answers} {notes}"


def seen(lines: list[str], start: str) -> bool:
    """Whether a line begins like this."""
    return any(line.startswith(start) for line in lines)


@pytest.mark.parametrize("size", SIZES)
async def test_of_several_options_the_one_under_the_cursor_is_seen(size: tuple[int, int]) -> None:
    async with shown(AnswerForm("Answer", "question-1", QUESTIONS, told), size) as pilot:
        lines = await lines_after(pilot, "tab")
        assert seen(lines, "And the others? (one or more)")
        assert seen(lines, "2 [ ] Choice 2")
        await lines_after(pilot, "up")
        for number in (9, 6, 3):
            lines = await lines_after(pilot, "k", "k", "k")
            assert seen(lines, f"›{number} [ ] Choice {number}"), lines
        assert seen(await lines_after(pilot, "7"), "›7 [x] Choice 7")


async def test_a_click_chooses_the_option_it_is_on() -> None:
    async with shown(AnswerForm("Answer", "question-1", QUESTIONS, told), (120, 30)) as pilot:
        lines = await lines_after(pilot)
        row = next(y for y, line in enumerate(lines) if line.startswith("2 ( )"))
        await pilot.click(offset=(10, row + 1))
        assert seen(await lines_after(pilot), "›2 (•) Choice 2")


def refused(*given: object) -> str:
    """A write that says much about why it was not done."""
    raise TeamError(Code.STORE_FAILED, "the store is not there " * 12, "Look for it " * 15)


@pytest.mark.parametrize("size", SIZES)
async def test_a_field_below_words_that_a_scrollbar_wraps_anew_stays_in_sight(size: tuple[int, int]) -> None:
    line = "x" * (size[0] - 5) + " yy"  # as long as there is room without a scrollbar
    form = Confirm(
        "Redirect", (line,) * (size[1] // 3), refused, verb="Redirect", words=words_of_a_decision("to", FieldKind.LINE)
    )
    async with shown(form, size) as pilot:
        await lines_after(pilot, "n", *"who", "enter")
        await pilot.app.workers.wait_for_complete(form.workers)
        lines = await lines_after(pilot)
        assert any("the store is not there" in line for line in lines), lines
        assert any("who" in line for line in lines), lines


async def test_the_line_of_a_letter_with_the_cursor_is_seen() -> None:
    form = Compose("Message", str, foresee=lambda names: "", words=lambda summary: (0, []))
    async with shown(form, (60, 20)) as pilot:
        form.query_one(LongNote).focus()
        lines = await lines_after(pilot, *"one", "ctrl+j", *"two", "ctrl+j", *"three", "ctrl+j", *"four")
        assert any("four" in line for line in lines), lines
        lines = await lines_after(pilot, "up", "up", "up")
        assert any("one" in line for line in lines), lines
