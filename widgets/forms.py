"""Forms: the questions the console asks before it writes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from msgspec import Struct
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.safe import counted, safe_line, safe_text
from team_console.store.protocol.client_requests import EditablePart, Question
from team_console.store.protocol.verdicts import seen_of_words
from team_console.store.views.differences import counts_of, line_difference
from team_console.widgets.client_request_documents import anchor_of, diff_text
from team_console.widgets.document import Block, Heading, Text, TextForm
from team_console.widgets.fields import Ask, FieldKind, Note, OptionLine, Options, whole_text
from team_console.widgets.form import MOST_LINES, Draft, Excerpt, Form, WrappedText
from team_console.widgets.line_field import Field, with_name
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Container
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

ResultT = TypeVar("ResultT")
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
        self.screen.set_focus(self.query(f"#chosen{number}, #words{number}").first())


def _number_of(field: Widget | None) -> int:
    """Return the number of the question that a field belongs to."""
    return int("".join(filter(str.isdigit, (field.id if field is not None else "") or "")) or 0)


# Takes words, a second line, one of several choices, and an edited text: as much of it as a question has.


class Choice(Struct, frozen=True):
    """One way to answer: what it is called, what the button says then, and whether it is a refusal."""

    line: OptionLine
    verb: str
    refuses: bool = False


class PromptAnswer(Struct, frozen=True):
    """What was chosen and typed.

    Attributes:
        choice: The place of the chosen one, from 0.
        words: The note, or the reason of a refusal.
        second: What stands in the second line.
        edited: What is approved in place of what was asked; None when it was left as it is.
    """

    choice: int = 0
    words: str = ""
    second: str = ""
    edited: str | None = None


class Prompt(Form[ResultT]):
    """A question with its choices, the first of which is chosen, and words that go with the answer."""

    HELP = "The keys 1 to 9 choose the answer, n opens the note, e edits first, enter confirms, esc goes back."
    BINDINGS = [
        Binding("e", "edit", "Edit first", show=False),
        Binding("ctrl+e", "edit", "Edit first", show=False, priority=True),
    ]

    def __init__(
        self,
        title: str,
        about: str,
        act: Callable[[PromptAnswer], ResultT],
        *,
        choices: Sequence[Choice],
        second: Ask | None = None,
        says_enough: bool = False,
        foresee: Callable[[str], str] | None = None,
        part: EditablePart | None = None,
        whole: tuple[str, str] | None = None,
        **more: Any,
    ) -> None:
        """Make the form.

        Args:
            title: Safe text for the border.
            about: Safe text that says what is decided, exactly.
            act: Takes the decision, in a thread.
            choices: How it may be answered; a single one is not asked about.
            second: A line beside the words, such as a suggestion or a name.
            says_enough: Whether something goes along that says enough, so that a refusal needs no words.
            foresee: Says in safe lines what will happen, given what stands in the second line.
            part: What may be edited first, as it was asked; None when nothing may.
            whole: Safe text of which each line must have been shown, behind the token under which they are counted.
            more: As for `Form`.
        """
        super().__init__(title, about, **more)
        self._whole = whole
        self._act_on, self._choices, self._second = act, tuple(choices), second
        self._says_enough, self._foresee, self._part = says_enough, foresee, part
        self._edited = self.draft.get("edited") or (part.text if part is not None else "")
        self._foreseen = WrappedText(classes="form--note")
        self.set_class(len(self._choices) > 1 or part is not None, "-high")

    @property
    def _choice(self) -> Choice:
        """What is chosen now."""
        return next(
            (self._choices[options.chosen[0]] for options in self.query("#way").results(Options)), self._choices[0]
        )

    @property
    def _is_edited(self) -> bool:
        """Whether what would be approved is not what was asked."""
        return self._part is not None and self._edited != self._part.text

    def verb(self) -> str:
        """Return the word on the button."""
        return self._choice.verb

    def keys(self) -> tuple[str, ...]:
        """Return the keys of the form in words."""
        choice, words = self._choice, self.words
        decides = words is not None and words.kind is FieldKind.NOTE
        keys = [f"enter {choice.verb.lower() if decides and not self._is_edited else 'confirm'}"]
        if words is not None and words.closed:
            keys.append("n say why not" if choice.refuses else f"n with a {words.label}")
        if self._part is not None:
            keys.append("e edit first")
        keys.append("esc not now")
        if len(self._choices) > 1:
            keys.append(f"1-{len(self._choices)} choose")
        if words is not None and words.required and decides:
            keys += ["^e editor", "^j line"]
        return tuple(keys)

    def fields(self) -> ComposeResult:
        """Compose the edited text, the choices, the words, the second line and the consequences."""
        if self._whole is not None:
            token, text = self._whole
            yield Excerpt(Text(text, TextForm.CODE), most=MOST_LINES, id="whole", token=token)
        if self._part is not None:
            yield Excerpt(*self._difference(), most=MOST_LINES, id="asked", token=self._edited_token())
        if len(self._choices) > 1:
            yield self.row(Ask("way", "answer", FieldKind.ONE, [choice.line for choice in self._choices], default=(0,)))
        if self.words is not None:
            yield self.row(self.words)
        if self._second is not None:
            yield self.row(self._second)
        if self._foresee is not None:
            yield self._foreseen

    def first_field(self) -> Widget:
        """Choose first where there is something to choose; type at once where words are needed."""
        return self.query_one("#way") if len(self._choices) > 1 else super().first_field()

    def on_mount(self) -> None:
        """Say what will happen."""
        self._show_choice()
        self._look_ahead()

    def typed(self) -> Draft:
        """Return the content of the fields and the edited text."""
        return {**super().typed(), "edited": self._edited if self._is_edited else ""}

    def answer(self) -> Callable[[], ResultT]:
        """Return the act with the decision."""
        typed, choice = self.typed(), self._choice
        words = typed.get("words", "").strip()
        unread = {excerpt.id for excerpt in self.excerpts() if self.is_unread(excerpt)}
        # guard: granted-words-painted-whole
        if "whole" in unread:
            text = "not all of it was shown yet; what was not read is not granted"
            raise TeamError(Code.NOT_PERMITTED, text, "PgDn scrolls it.")
        # guard: edited-words-painted-whole
        if "asked" in unread and not choice.refuses:
            text = "not all of what you edited was shown yet; what was not read does not go back"
            raise TeamError(Code.NOT_PERMITTED, text, "PgDn scrolls it.")
        ask = self.words  # one line says what is done, and is not read by the asker
        if ask is not None and ask.required and not words:
            hint = "Fill it in first." if ask.kind is FieldKind.LINE else "The asker reads it."
            raise TeamError(Code.MISSING_REASON, f"{ask.label}: nothing was typed", hint)
        if choice.refuses and not self._says_enough and not words:
            self.action_write_note()
            raise TeamError(Code.MISSING_REASON, "a refusal needs a reason", "Say why; the asker reads it.")
        edited = self._edited if self._is_edited and not choice.refuses else None
        decision = PromptAnswer(self._choices.index(choice), words, typed.get("second", "").strip(), edited)
        return lambda: self._act_on(decision)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable editing where nothing may be edited: the key then goes to the words, as in every form."""
        return self._part is not None if action == "edit" else super().check_action(action, parameters)

    def excerpts(self) -> list[Excerpt]:
        """See `Form.excerpts`."""
        return [*super().excerpts(), *(one for one in self.query("#whole, #asked").results(Excerpt) if one.display)]

    def action_edit(self) -> None:
        """Let the human edit what is asked before it is approved."""
        part = self._part
        text = self.edited(self._edited, part.suffix) if part is not None else None
        if part is None or text is None:
            return
        if text.endswith("\n") and not part.text.endswith("\n"):  # an editor puts one behind it
            text = text[:-1]
        self._edited = text
        self.query_one("#asked", Excerpt).put(*self._difference(), token=self._edited_token())
        self._show_choice()
        self.keep()

    def _difference(self) -> tuple[Block, ...]:
        if self._part is None or not self._is_edited:
            return ()
        lines = line_difference(self._part.text, self._edited)
        return Heading(f"edited by you · {counts_of(lines)}"), diff_text(lines)

    def _edited_token(self) -> str:
        """Return the token under which the painted lines of the difference are counted."""
        return seen_of_words(self._edited).question if self._is_edited else ""

    @on(Options.Changed)
    def _show_choice(self) -> None:
        """Say on button and keys what will happen."""
        self.show_verb(" as edited" if self._is_edited and not self._choice.refuses else "")
        if self.words is not None and not self.words.wanted:
            purpose = "why not; the agent reads it" if self._choice.refuses else "if you like; the asker reads it"
            for note in self.query("#words").results(Note):
                note.placeholder = Content("the asker reads it" if self.words.required else purpose)

    @on(Field.Changed, "#second")
    def _look_ahead(self) -> None:
        """Say what will happen with what is typed now."""
        if self._foresee is not None:
            self._foreseen.say(self._foresee(self.typed().get("second", "").strip()))


class Confirm(Prompt[ResultT]):
    """Says what will happen, to how many and who is not listening; a line may ask for a reason. Enter does it."""

    def __init__(
        self, title: str, lines: tuple[str, ...], act: Callable[[str], ResultT], *, verb: str, **more: Any
    ) -> None:
        """`lines` is safe text that says what will happen; more as for `Prompt`."""
        choices = (Choice(OptionLine(""), verb),)
        super().__init__(title, "\n".join(lines), lambda made: act(made.words), choices=choices, **more)


# Writes a message: to whom, how urgent, what about, and the text, with a preview of its deliveries.


class WrittenMessage(Struct, frozen=True):
    """What the human wrote, as typed."""

    to: tuple[str, ...]
    summary: str
    content: str
    is_urgent: bool = False


_URGENT = OptionLine("urgent", "reaches an agent in the middle of its work")


class Compose(Form[ResultT]):
    """The form of a message: to whom, summary, text. Enter sends it; esc keeps it for later."""

    DEFAULT_CSS = """
    Compose { max-height: 70%; }
    .-tall LongNote, .-tall LongNote:focus { height: 8; }
    Compose .compose--words { width: 11; color: $text-muted; text-align: right; }
    """
    SCOPED_CSS = False  # see `Form`
    HELP = (
        "Write a message. Names complete with the right arrow; ctrl+j begins a new line, ctrl+e opens your editor, "
        "enter sends, esc keeps it for later."
    )

    def __init__(
        self,
        title: str,
        act: Callable[[WrittenMessage], ResultT],
        *,
        names: Callable[[], Iterable[str]] = tuple,
        foresee: Callable[[tuple[str, ...]], str],
        words: Callable[[str], tuple[int, list[str]]],
        to: str | None = None,
        verb: str = "Send",
        quote: str = "",
        **more: Any,
    ) -> None:
        """Make the form.

        Args:
            title: Safe text for the border.
            act: Takes what was written, in a thread.
            names: Names the first field completes.
            foresee: Says in one safe line whom a message to these names would reach; runs in a thread.
            words: Counts the words of a summary and says what is odd about it.
            to: Fixed recipients, safe text shown instead of the field.
            quote: What it answers, safe text.
            more: As for `Form`.
        """
        super().__init__(title, quote, verb, **more)
        self._act_on, self._names = act, names
        self._foresee, self._words, self._to = foresee, words, to
        self._number = Static("", classes="compose--words", markup=False)
        self._preview = WrappedText(classes="form--note")

    def keys(self) -> tuple[str, ...]:
        """Enter sends, as it hands in every form."""
        return f"enter {self._verb.lower()}", "esc back", "^e editor", "^j line"

    def fields(self) -> ComposeResult:
        """Yield to, summary, text, urgency and preview."""
        if self._to is None:
            yield self.row(Ask("to", "to", complete=lambda typed: with_name(typed, self._names())))
        else:
            with Container(classes="form--row"):
                yield Static("to", classes="form--label", markup=False)
                yield Static(Content(self._to), markup=False)
        yield self.row(Ask("summary", "summary", wanted="five to ten words"), self._number)
        yield self.row(Ask("content", "text", FieldKind.LONG_NOTE))
        if self._to is None:
            yield self.row(Ask("priority", "priority", FieldKind.SEVERAL, (_URGENT,)))
        yield self._preview

    def on_mount(self) -> None:
        """Say how long the summary is, and who is reached."""
        self._count()
        self._look_ahead()

    def first_field(self) -> Widget:
        """Begin at the first field that is empty, or where it was left."""
        typed, order = self.typed(), ("to", "summary", "content")[self._to is not None :]
        first = next((name for name in order if not typed[name]), "content")
        left_in = self.draft.get("at", "")
        return self.query_one(f"#{left_in if left_in in order else first}")

    def typed(self) -> Draft:
        """Return the content of the fields, and which of them has the cursor."""
        focused = self.screen.focused
        return {"at": (focused.id or "") if focused is not None else "", **super().typed()}

    def answer(self) -> Callable[[], ResultT]:
        """Return the decision with what was written."""
        typed = self.typed()
        names = _split_names(typed.get("to", ""))
        if self._to is None and not names:
            self.screen.set_focus(self.query_one("#to"))
            raise TeamError(Code.MISSING_RECIPIENT, "nobody is named", "Type a name; the right arrow completes it.")
        if not typed["content"].strip():
            self.screen.set_focus(self.query_one("#content"))
            raise TeamError(Code.MISSING_CONTENT, "Write a message", "It goes into the large field.")
        is_urgent = bool(typed.get("priority"))
        written = WrittenMessage(names, typed["summary"].strip(), typed["content"].rstrip("\n"), is_urgent)
        return lambda: self._act_on(written)

    @on(Field.Changed, "#summary")
    def _count(self) -> None:
        number, odd = self._words(self.typed()["summary"])
        text = counted(number, "word") + (" △" if odd and number else "")
        self._number.update(Content(text))

    @on(Field.Changed, "#to")
    @work(exit_on_error=False, group="preview", exclusive=True)
    async def _look_ahead(self) -> None:
        """Say whom it would reach, once nothing was typed for a moment; what is typed meanwhile begins anew."""
        await asyncio.sleep(0.15)
        names, text = _split_names(self.typed().get("to", "all")), ""
        if names:
            try:
                text = await asyncio.to_thread(self._foresee, names)
            except Exception as error:
                text = f"△ {safe_line(str(error), 200)}"
        self._preview.say(text)


def _split_names(names: str) -> tuple[str, ...]:
    """Return names that stand between commas, each once."""
    return tuple(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))
