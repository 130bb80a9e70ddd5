"""The form of a decision: choices, words, a second line and an edited text, as much of it as a question has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct
from team_console.store.model.errors import Code, TeamError
from team_console.store.protocol.shown_when_decided import seen_of_words
from team_console.store.protocol.tool_input import EditablePart, edited_text
from team_console.store.views.differences import counts_of, line_difference
from team_console.widgets.client_request_documents import diff_text
from team_console.widgets.document import Block, Heading, Text, TextForm
from team_console.widgets.fields import Ask, FieldKind, Note, OptionLine, Options
from team_console.widgets.form import MOST_LINES, Draft, Excerpt, Form, ResultT, WrappedText
from team_console.widgets.line_field import Field
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.widget import Widget


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
        return self._verb or self._choice.verb

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

    def look_again(self) -> None:
        """See `Form`; also what will happen by now."""
        super().look_again()
        self._look_ahead()

    def typed(self) -> Draft:
        """Return the content of the fields and the edited text."""
        return {**super().typed(), "edited": self._edited if self._is_edited else ""}

    def answer(self) -> Callable[[], ResultT]:
        """Return the act with the decision."""
        typed, choice = self.typed(), self._choice
        words = typed.get("words", "").strip()
        unread = {excerpt.id for excerpt in self.excerpts() if excerpt.is_unread()}
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
        edited = edited_text(part, text)
        self._edited = part.text if edited is None else edited
        self.query_one("#asked", Excerpt).put(*self._difference(), token=self._edited_token())
        self._show_choice()
        self.keep()

    def _difference(self) -> tuple[Block, ...]:
        """Return what the human changed in what is asked; nothing where it is as it was."""
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
