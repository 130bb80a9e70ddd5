"""Says what will happen, to how many and who is not listening, before it happens."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from team_console.store.model.errors import Code, TeamError
from team_console.widgets.fields.field import Field, NameSuggester
from team_console.widgets.forms.form import Draft, Form, labelled, optional
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

ResultT = TypeVar("ResultT")


class Confirm(Form[ResultT]):
    """A question; a field may ask for a reason. Enter does it, and nothing else does."""

    HELP = "Read what will happen. Enter does it, esc leaves."

    def __init__(
        self,
        title: str,
        lines: tuple[str, ...],
        act: Callable[[str], ResultT],
        *,
        verb: str,
        field: str = "",
        required: bool = False,
        names: Callable[[], tuple[str, ...]] | None = None,
        wanted: str = "",
        draft: Draft | None = None,
        on_draft: Callable[[Draft], None] | None = None,
    ) -> None:
        """Make the question.

        Args:
            title: Safe text for the border.
            lines: Safe text that says what will happen.
            act: Takes what was typed in the field, in a thread.
            verb: The words on the button that acts.
            field: The label of a field to type in; empty for none.
            required: Whether that field must not be empty.
            names: Names the field completes.
            wanted: What stands in the field while it is empty.
        """
        super().__init__(title, verb=verb, draft=draft, on_draft=on_draft)
        self._lines, self._act_on = lines, act
        self._field, self._required, self._names, self._wanted = field, required, names, wanted

    def keys(self) -> tuple[str, ...]:
        """How to choose."""
        note = (f"n with a {self._field}",) if self._field and not self._required else ()
        return "enter does it", *note, "esc leave"

    def fields(self) -> ComposeResult:
        """What will happen, and the field."""
        yield Static(Content("\n".join(self._lines)), classes="form--text", markup=False)
        if self._field:
            suggester = None
            if self._names is not None:
                suggester = NameSuggester(self._names)
            words = self.draft.get("words", "")
            field = Field(words, placeholder=self._wanted, id="words", suggester=suggester)
            yield labelled(self._field, field) if self._required else optional(self._field, field, words=words)

    def on_mount(self) -> None:
        """Type where there is something to type."""
        if self._field and self._required:
            self.query_one("#words", Field).focus()

    def typed(self) -> Draft:
        """What stands in the field."""
        return {"words": self.query_one("#words", Field).value} if self._field else {}

    def answer(self) -> Callable[[], ResultT]:
        """The act with what was typed."""
        words = self.typed().get("words", "").strip()
        if self._required and not words:
            raise TeamError(Code.MISSING_REASON, f"{self._field}: nothing was typed", "Fill it in first.")
        return lambda: self._act_on(words)
