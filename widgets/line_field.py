"""One line of text that a human types; what is pasted is made safe to show before it is shown.

Apart from the other fields: those need a text area, which takes 50 ms to import, and a console starts without one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from team_console.store.model.safe import safe_line
from textual.events import Paste
from textual.suggester import Suggester
from textual.widgets import Input


class Field(Input):
    """One line of text."""

    DEFAULT_CSS = """
    Field, Field:focus { border: none; height: 1; padding: 0; background: $panel; }
    Field:focus { background: $primary-muted; background-tint: $foreground 0%; }
    Field:ansi:focus { text-style: underline; }
    Field:nocolor > .input--cursor { text-style: reverse; }
    Field > .input--placeholder, Field > .input--suggestion { color: $text-muted; }
    """

    def __init__(self, value: str = "", **more: Any) -> None:
        # Textual selects a field when the focus comes to it; a letter that was there before the focus would be
        # replaced by the next one.
        super().__init__(value, select_on_focus=False, **more)

    def _on_paste(self, event: Paste) -> None:  # the toolkit calls its own method behind it
        event.text = safe_line(event.text.replace("\r\n", "\n").replace("\r", "\n").strip("\n"))


class Completer(Suggester):
    """Completes what is typed by the first of some texts that can be shown as it is: the library draws it unchanged."""

    def __init__(self, texts: Callable[[str], Iterable[str]]) -> None:
        """`texts`: what a value may become."""
        super().__init__(use_cache=False, case_sensitive=True)
        self._texts = texts

    async def get_suggestion(self, value: str) -> str | None:
        """Return the value completed; None when nothing fits."""
        return next((text for text in self._texts(value) if safe_line(text) == text), None)


def with_name(value: str, names: Iterable[str]) -> Iterator[str]:
    """Yield names parted by commas with the last one completed, by each of `names` that fits and is not there
    already.
    """
    head, _, last = value.rpartition(",")
    typed = last.lstrip()
    taken = {typed, *(item.strip() for item in head.split(","))}
    if typed:
        fits = (name for name in names if name not in taken and name.casefold().startswith(typed.casefold()))
        yield from (value + name[len(typed) :] for name in fits)
