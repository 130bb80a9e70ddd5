"""The form that answers the questions of a client: options to choose from, own words, and words beside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from team_console.store.model.errors import Code, TeamError
from team_console.store.model.safe import safe_line, safe_text
from team_console.store.protocol.client_requests import Question
from team_console.widgets.client_request_documents import anchor_of
from team_console.widgets.fields import Ask, FieldKind, OptionLine, Options, whole_text
from team_console.widgets.form import Form, ResultT, WrappedText
from team_console.widgets.line_field import Field
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Container
from textual.widget import Widget

Answers = Mapping[str, str | list[str]]
"""Question text -> the label chosen, the labels, or own words."""
Notes = Mapping[str, str]
"""Question text -> words beside what is chosen."""
_LONGEST_LABEL = 300
"""Characters of an option's label that stand in its line."""


class AnswerForm(Form[ResultT]):
    """Questions below each other; nothing is chosen at first."""

    DEFAULT_CSS = """
    AnswerForm .answer--question { height: auto; margin-top: 1; }
    AnswerForm .answer--words { height: auto; text-style: bold; }
    """
    HELP = "The keys 1 to 9 choose an option, tab goes on, n opens own words. Enter answers, esc goes back."
    BINDINGS = [Binding("tab", "go_on", "Next question", show=False)]

    def __init__(
        self,
        title: str,
        about: str,
        questions: Sequence[Question],
        act: Callable[[Answers, Notes], ResultT],
        **more: Any,
    ) -> None:
        """Make the form.

        Args:
            title: Safe text for the border.
            about: Safe text that says whose questions they are.
            questions: At least one.
            act: Takes the answers, and the words beside them, in a thread.
            more: As for `Form`.
        """
        super().__init__(title, about, "Answer", **more)
        self._questions, self._act_on = tuple(questions), act
        self._compared = ""

    def keys(self) -> tuple[str, ...]:
        """Return the keys of the form in words."""
        most = max(len(question.options) for question in self._questions)
        choose = (f"1-{min(most, 9)} choose",) if most else ()
        return "enter answer", *choose, "n own words", "esc not now", "tab next"

    def fields(self) -> ComposeResult:
        """Yield each question with its options and a line for own words."""
        for number, question in enumerate(self._questions):
            several = question.several and bool(question.options)
            header = f"{safe_line(question.header, 60)}: " if question.header else ""
            words = f"{header}{safe_text(question.text)}{' (one or more)' if several else ''}"
            with Container(classes="answer--question"):
                yield WrappedText(words, classes="answer--words")
                yield from self._answers(number, question)

    def _answers(self, number: int, question: Question) -> ComposeResult:
        """Yield the options of a question, and the lines for words in their place and beside them."""
        options, in_place = question.options, "" if question.several else "in place of an option"
        if options:
            lines = [
                OptionLine(
                    safe_line(one.label, _LONGEST_LABEL),
                    safe_line(one.description, 1000),
                    whole_text(one.label, _LONGEST_LABEL),
                )
                for one in options
            ]
            kind, about = FieldKind.SEVERAL if question.several else FieldKind.ONE, f"{safe_line(question.text)} "
            chosen = Ask(f"chosen{number}", "", kind, lines, about=about)
            yield chosen.field(self.draft.get(chosen.name, ""))
        wanted = in_place if options else ""
        yield self.row(Ask(f"words{number}", "own words", closed=bool(options), wanted=wanted))
        if options:
            note = self.row(Ask(f"note{number}", "note", wanted="beside what is chosen, if you like"))
            note.display = bool(self.draft.get(chosen.name))
            yield note

    def first_field(self) -> Widget:
        """Choose at once."""
        return self.query("Options, Field").first()

    def on_mount(self) -> None:
        """Bring what is compared back when there is another room for it."""
        self.screen.screen_layout_refresh_signal.subscribe(self, lambda _: self._bring_compared(), immediate=True)

    def answer(self) -> Callable[[], ResultT]:
        """Return the act with an answer to each question."""
        answers: dict[str, str | list[str]] = {}
        notes: dict[str, str] = {}
        for number, question in enumerate(self._questions):
            words = self.query_one(f"#words{number}", Field).value.strip()
            chosen = next((one.chosen for one in self.query(f"#chosen{number}").results(Options)), ())
            labels = [question.options[place].label for place in chosen]
            given = labels
            if words:
                given = [*labels, words] if question.several else [words]
            if not given:
                self._go_to(number)
                what = safe_line(question.header or question.text, 60)
                raise TeamError(Code.MISSING_CONTENT, f"{what}: nothing is chosen", "Choose, or use own words.")
            answers[question.text] = given if question.several else given[0]
            for note in self.query(f"#note{number}").results(Field):
                notes |= {question.text: note.value.strip()} if note.value.strip() else {}
        return lambda: self._act_on(answers, notes)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Let a key open own words where the question has options; without any they stand there."""
        if action == "write_note":
            return bool(self._questions[self._here].options)
        return super().check_action(action, parameters)

    def note_row(self) -> Widget:
        """Return the row of own words on the question under the cursor."""
        made = self.query_one(f"#words{self._here}").parent
        assert isinstance(made, Widget)
        return made

    def action_go_on(self) -> None:
        """Go from options to the next question, past words that may stay empty: a number would be text in them."""
        after = self._here + 1
        if isinstance(self.screen.focused, Options) and after < len(self._questions):
            self._go_to(after)
        else:
            self.app.action_focus_next()

    def action_enter(self) -> None:
        """Go on to the next question without an answer; hand in when there is none."""
        typed, here = self.typed(), self._here

        def is_answered(number: int) -> bool:
            return bool(typed.get(f"chosen{number}") or typed[f"words{number}"].strip())

        empty = [number for number in range(here + 1, len(self._questions)) if not is_answered(number)]
        if empty and is_answered(here):
            self._go_to(empty[0])
        else:
            self.action_hand_in()

    @on(Options.Moved)
    def _show_option(self, event: Options.Moved) -> None:
        """Show what is compared: the page stands at the option under the cursor, with its preview whole."""
        number = _number_of(event.control)
        compares = any(option.preview for option in self._questions[number].options)
        # guard: preview-of-the-option-under-the-cursor
        self._compared = anchor_of(number, event.control.cursor) if compares else ""
        self._bring_compared()

    def _bring_compared(self) -> None:
        """Scroll the page to the option that is compared, if one is."""
        if self._compared and (thing := self.thing) is not None:
            thing.bring(self._compared)

    def action_scroll_page(self, pages: float) -> None:
        """Scroll what it is about, from where it stands."""
        self._compared = ""
        super().action_scroll_page(pages)

    @on(Options.Changed)
    def _offer_note(self, event: Options.Changed) -> None:
        """Offer words beside an option once one is chosen."""
        for note in self.query(f"#note{_number_of(event.control)}"):
            if isinstance(note.parent, Widget):
                note.parent.display = bool(event.control.chosen)

    @property
    def _here(self) -> int:
        """The number of the question that has the focus."""
        return _number_of(self.screen.focused)

    def _go_to(self, number: int) -> None:
        """Focus the options of a question, or its words where it has none."""
        self.screen.set_focus(self.query(f"#chosen{number}, #words{number}").first())


def _number_of(field: Widget | None) -> int:
    """Return the number of the question that a field belongs to."""
    return int("".join(filter(str.isdigit, (field.id if field is not None else "") or "")) or 0)
