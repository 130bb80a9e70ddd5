"""Answers questions: options by number keys, one or many, and own words for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from team_console.store.model.errors import Code, TeamError
from team_console.store.model.safe import safe_line, safe_text
from team_console.store.protocol.client_requests import Question
from team_console.widgets.fields.field import Field
from team_console.widgets.fields.options import OptionLine, Options
from team_console.widgets.forms.form import Draft, Form, labelled, optional
from textual.app import ComposeResult
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

ResultT = TypeVar("ResultT")
Answers = Mapping[str, str | list[str]]
"""Question text -> the label chosen, the labels, or own words."""


class AnswerForm(Form[ResultT]):
    """Questions below each other; nothing is chosen at first."""

    DEFAULT_CSS = """
    AnswerForm .answer--question { height: auto; margin-top: 1; text-style: bold; }
    AnswerForm .answer--words { layout: horizontal; height: auto; }
    """
    HELP = "The keys 1 to 9 choose an option, tab goes on, n opens own words. Enter or a hands in, esc leaves."

    def __init__(
        self,
        title: str,
        about: str,
        questions: Sequence[Question],
        act: Callable[[Answers], ResultT],
        *,
        draft: Draft | None = None,
        on_draft: Callable[[Draft], None] | None = None,
    ) -> None:
        """Make the form.

        Args:
            title: Safe text for the border.
            about: Safe text that says whose questions they are.
            questions: At least one.
            act: Takes the answers, in a thread.
        """
        super().__init__(title, about, verb="Answer", draft=draft, on_draft=on_draft)
        self._questions, self._act_on = tuple(questions), act

    def keys(self) -> tuple[str, ...]:
        """How to answer."""
        most = max(len(question.options) for question in self._questions)
        choose = (f"1-{min(most, 9)} choose",) if most else ()
        return "enter answer", *choose, "n own words", "esc not now", "tab next"

    @property
    def says_yes(self) -> bool:
        """Where all that is asked can be chosen."""
        return all(question.options for question in self._questions)

    def fields(self) -> ComposeResult:
        """Each question with its options and a line for own words."""
        for number, question in enumerate(self._questions):
            how = " (one or more)" if question.several and question.options else ""
            header = f"{safe_line(question.header, 60)}: " if question.header else ""
            words = f"{header}{safe_text(question.text)}{how}"
            yield Static(Content(words), classes="answer--question", markup=False)
            if question.options:
                lines = [
                    OptionLine(safe_line(option.label, 300), safe_line(option.description, 1000))
                    for option in question.options
                ]
                yield Options(lines, chosen=self._kept(number), several=question.several, id=f"options{number}")
            placeholder = "in place of an option" if question.options and not question.several else ""
            words = self.draft.get(f"words{number}", "")
            field = Field(words, placeholder=placeholder, id=f"words{number}")
            yield optional("own words", field, words=words) if question.options else labelled("own words", field)

    def on_mount(self) -> None:
        """Choose at once."""
        self.query("Options, Field").first().focus()

    def typed(self) -> Draft:
        """What is chosen and typed for each question."""
        typed: dict[str, str] = {}
        for number in range(len(self._questions)):
            chosen = self._chosen(number)
            typed[f"chosen{number}"] = " ".join(map(str, chosen))
            typed[f"asked{number}"] = _name(self._questions[number]) if chosen else ""
            typed[f"words{number}"] = self.query_one(f"#words{number}", Field).value
        return typed

    def answer(self) -> Callable[[], ResultT]:
        """The act with an answer to each question."""
        answers: dict[str, str | list[str]] = {}
        for number, question in enumerate(self._questions):
            words = self.query_one(f"#words{number}", Field).value.strip()
            labels = [question.options[place].label for place in self._chosen(number)]
            given = [*labels, words] if question.several and words else [words] if words else labels
            if not given:
                self._go_to(number)
                what = safe_line(question.header or question.text, 60)
                raise TeamError(Code.MISSING_CONTENT, f"{what}: nothing is chosen", "Choose, or use own words.")
            answers[question.text] = given if question.several else given[0]
        return lambda: self._act_on(answers)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Own words are opened where the question has options, and stand there where it has none."""
        if action == "write_note":
            return bool(self._questions[self._here(self.focused)].options)
        return super().check_action(action, parameters)

    def note_row(self) -> Widget:
        """Own words on the question under the cursor."""
        row = self.query_one(f"#words{self._here(self.focused)}").parent
        assert isinstance(row, Widget)
        return row

    def _here(self, widget: object) -> int:
        """The number of the question that a field belongs to."""
        return int("".join(filter(str.isdigit, getattr(widget, "id", None) or "")) or 0)

    def _kept(self, number: int) -> list[int]:
        """What the draft chose, while it is the same that is asked: other options may stand in these places by now."""
        if self.draft.get(f"asked{number}", "") != _name(self._questions[number]):
            return []
        return [int(word) for word in self.draft.get(f"chosen{number}", "").split() if word.isdecimal()]

    def _chosen(self, number: int) -> tuple[int, ...]:
        return next((options.chosen for options in self.query(f"#options{number}").results(Options)), ())

    def _go_to(self, number: int) -> None:
        self.query(f"#options{number}, #words{number}").first().focus()

    def entered(self, event: Message) -> None:
        """Go on to the next question without an answer; hand in when there is none."""
        here = self._here(event.control)
        typed = self.typed()
        later = range(here + 1, len(self._questions))
        empty = [number for number in later if not typed[f"chosen{number}"] and not typed[f"words{number}"].strip()]
        if empty and (typed[f"chosen{here}"] or typed[f"words{here}"].strip()):
            self._go_to(empty[0])
        else:
            self.action_hand_in()


def _name(question: Question) -> str:
    """What tells a question, with what can be chosen, from all others."""
    options = "; ".join(f"{option.label}: {option.description}" for option in question.options)
    return f"{question.text} {options}"
