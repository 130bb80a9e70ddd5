"""Fields a human types in: what is pasted is made safe to show before it is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from textual.binding import Binding
from textual.events import Key, Paste
from textual.message import Message
from textual.suggester import Suggester
from textual.widgets import Input, TextArea

from store.safe import safe_line, safe_text


class Field(Input):
    """One line of text."""

    DEFAULT_CSS = """
    Field, Field:focus { border: none; height: 1; padding: 0; background: $panel; }
    Field:focus { background: $primary-muted; }
    Field:nocolor:focus { text-style: underline; }
    """

    def _on_paste(self, event: Paste) -> None:
        event.text = safe_line(event.text.strip("\r\n"))
        super()._on_paste(event)


class Note(TextArea):
    """A few lines of text. Enter hands it in, ctrl+j begins a new line."""

    DEFAULT_CSS = """
    Note, Note:focus { border: none; height: 4; padding: 0; background: $panel; }
    Note:focus { background: $primary-muted; }
    """
    BINDINGS = [Binding("ctrl+j", "newline", "New line", show=False)]

    @dataclass
    class Entered(Message):
        """Enter was pressed."""

        note: Note

        @property
        def control(self) -> Note:
            """The note it was pressed in."""
            return self.note

    def __init__(self, text: str = "", *, id: str | None = None) -> None:
        super().__init__(safe_text(text), id=id, soft_wrap=True, tab_behavior="focus", show_line_numbers=False)
        self.highlight_cursor_line = False

    async def _on_key(self, event: Key) -> None:
        if event.key == "enter":
            event.stop()
            event.prevent_default()
            self.post_message(self.Entered(self))
        else:
            await super()._on_key(event)

    async def _on_paste(self, event: Paste) -> None:
        event.text = safe_text(event.text.replace("\r", "\n"))
        await super()._on_paste(event)

    def action_newline(self) -> None:
        """Begin a new line."""
        self.insert("\n")


class Letter(Note):
    """A text of any length; enter begins a new line."""

    DEFAULT_CSS = """
    Letter, Letter:focus { height: 1fr; min-height: 4; }
    """

    async def _on_key(self, event: Key) -> None:
        if event.key == "enter":
            await TextArea._on_key(self, event)
        else:
            await super()._on_key(event)


class NameSuggester(Suggester):
    """Completes the last of several names that are parted by commas."""

    def __init__(self, names: Callable[[], Iterable[str]]) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._names = names

    async def get_suggestion(self, value: str) -> str | None:
        """The value with its last name completed; None when nothing fits or it is complete."""
        head, comma, last = value.rpartition(",")
        typed = last.lstrip()
        lead = head + comma + last[: len(last) - len(typed)]
        taken = {one.strip() for one in head.split(",")}
        for name in self._names():
            if typed and name not in taken and name != typed and name.casefold().startswith(typed.casefold()):
                return lead + typed + name[len(typed) :]
        return None
