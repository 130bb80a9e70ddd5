"""One line of text that a human types; what is pasted is made safe to show before it is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from team_console.store.model.safe import safe_line
from team_console.widgets.guarded import Guarded
from textual.events import Paste
from textual.suggester import Suggester
from textual.widgets import Input


class Field(Guarded, Input):
    """One line of text."""

    DEFAULT_CSS = """
    Field, Field:focus { border: none; height: 1; padding: 0; background: $panel; }
    Field:focus { background: $primary-muted; }
    Field:ansi:focus { text-style: underline; }
    """

    def __init__(
        self,
        value: str = "",
        *,
        placeholder: str = "",
        suggester: Suggester | None = None,
        name: str | None = None,
        id: str | None = None,
    ) -> None:
        # Textual selects a field when the focus comes to it; a letter that was there before the focus would be
        # replaced by the next one.
        super().__init__(value, placeholder=placeholder, suggester=suggester, name=name, id=id, select_on_focus=False)

    def _on_paste(self, event: Paste) -> None:  # the toolkit calls its own method behind it
        event.text = safe_line(event.text.replace("\r\n", "\n").replace("\r", "\n").strip("\n"))


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
        taken = {item.strip() for item in head.split(",")}
        for name in self._names():
            # The library draws a suggestion as it is, and a name that cannot be shown is none to be typed.
            if safe_line(name) != name:
                continue
            if typed and name not in taken and name != typed and name.casefold().startswith(typed.casefold()):
                return lead + typed + name[len(typed) :]
        return None
