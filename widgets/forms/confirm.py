"""Says what will happen, to how many and who is not listening, before it happens; nothing is preselected."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from team_console.store.model.errors import Code, TeamError
from team_console.widgets.forms.field import Field, NameSuggester
from team_console.widgets.forms.form import Draft, Form, labelled
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.widgets import Button, Static

ResultT = TypeVar("ResultT")


class Confirm(Form[ResultT]):
    """A question with two buttons; the harmless one has the focus. A field may ask for a reason."""

    HELP = "Read what will happen. The left button does nothing; tab goes to the other one."
    BINDINGS = [
        Binding("left", "app.focus_previous", show=False),
        Binding("right", "app.focus_next", show=False),
    ]

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
        """
        super().__init__(draft=draft, on_draft=on_draft)
        self._title, self._lines, self._act_on, self._verb = title, lines, act, verb
        self._field, self._required, self._names = field, required, names

    def title_words(self) -> str:
        """What is asked."""
        return self._title

    def verb(self) -> str:
        """The words on the button."""
        return self._verb

    def keys(self) -> str:
        """How to choose."""
        return "tab or arrows choose · enter · esc leave"

    def fields(self) -> ComposeResult:
        """What will happen, and the field."""
        yield Static(Content("\n".join(self._lines)), classes="form--text", markup=False)
        if self._field:
            suggester = None
            if self._names is not None:
                suggester = NameSuggester(self._names)
            yield labelled(self._field, Field(self.draft.get("words", ""), id="words", suggester=suggester))

    def on_mount(self) -> None:
        """Type first where there is something to type; else stand on the button that does nothing."""
        (self.query_one("#words", Field) if self._field else self.query_one("#cancel", Button)).focus()

    def typed(self) -> Draft:
        """What stands in the field."""
        return {"words": self.query_one("#words", Field).value} if self._field else {}

    def answer(self) -> Callable[[], ResultT]:
        """The act with what was typed."""
        words = self.typed().get("words", "").strip()
        if self._required and not words:
            raise TeamError(Code.MISSING_REASON, f"{self._field}: nothing was typed", "Fill it in first.")
        return lambda: self._act_on(words)

    @on(Field.Submitted)
    def _submitted(self) -> None:
        self.query_one("#cancel", Button).focus()
