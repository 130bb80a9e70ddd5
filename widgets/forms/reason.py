"""Asks for the words that go with a verdict: a note, or a reason and perhaps a suggestion."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from store.errors import Code, TeamError
from widgets.field import Field
from widgets.forms.form import Draft, Form, labelled
from widgets.note import Note

ResultT = TypeVar("ResultT")


class ReasonPrompt(Form[ResultT]):
    """A few words, required or not. Enter hands them in."""

    HELP = "Type the words that go with it. Enter hands them in, ctrl+j begins a new line, esc leaves."

    def __init__(
        self,
        title: str,
        about: str,
        act: Callable[[str, str], ResultT],
        *,
        verb: str,
        label: str,
        required: bool,
        suggestion: bool = False,
        draft: Draft | None = None,
        on_draft: Callable[[Draft], None] | None = None,
    ) -> None:
        """Make the prompt.

        Args:
            title: Safe text for the border.
            about: Safe text that says what is decided, exactly.
            act: Takes the words and the suggestion, in a thread.
            verb: The word on the button.
            label: The name of the field.
            required: Whether empty words are refused.
            suggestion: Whether to ask for a suggestion too (requirement 94).
        """
        super().__init__(draft=draft, on_draft=on_draft)
        self._title, self._about, self._act_on = title, about, act
        self._verb, self._label = verb, label
        self._required, self._suggestion = required, suggestion

    def title_words(self) -> str:
        """What is asked."""
        return self._title

    def verb(self) -> str:
        """The word on the button."""
        return self._verb

    def keys(self) -> str:
        """Enter is enough here."""
        return f"enter {self._verb.lower()} · ctrl+j new line · esc leave"

    def fields(self) -> ComposeResult:
        """What it is about, the words, the suggestion."""
        yield Static(Content(self._about), classes="form--note", markup=False)
        yield labelled(self._label, Note(self.draft.get("words", ""), id="words"))
        if self._suggestion:
            field = Field(
                self.draft.get("suggestion", ""), placeholder="what would be accepted instead", id="suggestion"
            )
            yield labelled("suggest", field)

    def on_mount(self) -> None:
        """Type at once."""
        self.query_one("#words", Note).focus()

    def typed(self) -> Draft:
        """Words and suggestion."""
        suggestion = self.query_one("#suggestion", Field).value if self._suggestion else ""
        return {"words": self.query_one("#words", Note).text, "suggestion": suggestion}

    def answer(self) -> Callable[[], ResultT]:
        """The act with the words."""
        typed = self.typed()
        words, suggestion = typed["words"].strip(), typed["suggestion"].strip()
        if self._required and not words:
            raise TeamError(Code.MISSING_REASON, "a refusal needs a reason", "Say why; the asker reads it.")
        return lambda: self._act_on(words, suggestion)

    @on(Note.Entered)
    @on(Field.Submitted)
    def _entered(self) -> None:
        self.action_hand_in()
