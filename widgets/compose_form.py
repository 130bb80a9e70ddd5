"""The form of a message: to whom, how urgent, what about and the text, with a preview of its deliveries."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

from msgspec import Struct
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.safe import counted, safe_line
from team_console.widgets.fields import Ask, FieldKind, OptionLine
from team_console.widgets.form import Draft, Form, ResultT, WrappedText
from team_console.widgets.line_field import Field, with_name
from textual import on, work
from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static


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

    def show_error(self, error: TeamError) -> None:
        """See `Form.show_error`; whom it would reach is shown anew, as that may be what changed."""
        super().show_error(error)
        self._look_ahead()

    @on(Field.Changed, "#summary")
    def _count(self) -> None:
        """Show the number of words in the summary, with a sign where something is odd about it."""
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
