"""Asks for the words that go with a verdict: a note, or a reason and perhaps a suggestion."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from msgspec import Struct
from team_console.store.model.errors import Code, TeamError
from team_console.widgets.fields.field import Field
from team_console.widgets.fields.note import Note
from team_console.widgets.forms.form import Draft, Form, labelled, optional
from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

ResultT = TypeVar("ResultT")


class Second(Struct, frozen=True):
    """A field beside the words, such as a suggestion or a name."""

    label: str
    placeholder: str


class ReasonPrompt(Form[ResultT]):
    """A few words, required or not. Enter hands them in."""

    HELP = "Enter hands in, n opens the note, ctrl+j begins a new line, ctrl+e opens your editor, esc leaves."

    def __init__(
        self,
        title: str,
        about: str,
        act: Callable[[str, str], ResultT],
        *,
        verb: str,
        label: str,
        required: bool,
        second: Second | None = None,
        foresee: Callable[[str], str] | None = None,
        draft: Draft | None = None,
        on_draft: Callable[[Draft], None] | None = None,
    ) -> None:
        """Make the prompt.

        Args:
            title: Safe text for the border.
            about: Safe text that says what is decided, exactly.
            act: Takes the words and what stands in the second field, in a thread.
            verb: The word on the button.
            label: The name of the field.
            required: Whether empty words are refused.
            second: A second field, of one line.
            foresee: Says in safe lines what will happen, given what stands in the second field.
        """
        super().__init__(title, about, verb=verb, draft=draft, on_draft=on_draft)
        self._act_on = act
        self._label, self._required, self._second, self._foresee = label, required, second, foresee

    def keys(self) -> tuple[str, ...]:
        """Enter is enough here."""
        note = () if self._required else ("n with a note",)
        return f"enter {self._verb.lower()}", *note, "esc not now", "^e editor", "^j line"

    @property
    def says_yes(self) -> bool:
        """Where nothing has to be typed."""
        return not self._required

    def fields(self) -> ComposeResult:
        """What it is about, the words, the second field, what will happen."""
        wanted = "the asker reads it" if self._required else "if you like; the asker reads it"
        words = self.draft.get("words", "")
        note = Note(words, placeholder=wanted, id="words")
        yield labelled(self._label, note) if self._required else optional(self._label, note, words=words)
        if self._second is not None:
            field = Field(self.draft.get("second", ""), placeholder=self._second.placeholder, id="second")
            yield labelled(self._second.label, field)
        if self._foresee is not None:
            yield Static("", classes="form--note", id="foreseen", markup=False)

    def on_mount(self) -> None:
        """Type at once where words are needed."""
        self._look_ahead()
        if self._required:
            self.query_one("#words", Note).focus()

    @on(Field.Changed, "#second")
    def _look_ahead(self) -> None:
        """Say what will happen with what is typed now."""
        if self._foresee is not None:
            self.query_one("#foreseen", Static).update(Content(self._foresee(self.typed()["second"].strip())))

    def typed(self) -> Draft:
        """The words and the second field."""
        second = self.query_one("#second", Field).value if self._second is not None else ""
        return {"words": self.query_one("#words", Note).text, "second": second}

    def answer(self) -> Callable[[], ResultT]:
        """The act with the words."""
        typed = self.typed()
        words, second = typed["words"].strip(), typed["second"].strip()
        if self._required and not words:
            raise TeamError(Code.MISSING_REASON, "a refusal needs a reason", "Say why; the asker reads it.")
        return lambda: self._act_on(words, second)
