"""The keys that do something here, in one line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from msgspec import Struct
from team_console.widgets.bars.one_line import OneLine, ends_of
from team_console.widgets.text.cells import Line, width_of
from textual.events import Click, Resize
from textual.message import Message


class KeyHint(Struct, frozen=True):
    """A key and what it does; greyed when it cannot be used just now."""

    key: str
    label: str
    enabled: bool = True


class KeyBar(OneLine):
    """As many keys as fit, the first ones first; the last `pinned` are always there."""

    DEFAULT_CSS = "KeyBar { background: $panel; padding: 0 1; }"
    HELP: ClassVar[str] = "What you can press here; ? shows all of it."

    @dataclass
    class Pressed(Message):
        """A key was clicked."""

        key: str

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._hints: tuple[KeyHint, ...] = ()
        self._pinned: tuple[KeyHint, ...] = ()

    def show(self, hints: tuple[KeyHint, ...], pinned: tuple[KeyHint, ...] = ()) -> None:
        """Show these keys."""
        if (hints, pinned) != (self._hints, self._pinned):
            self._hints, self._pinned = hints, pinned
            self._choose()

    def on_click(self, event: Click) -> None:
        """Press the key under the mouse."""
        if key := self.under(event):
            self.post_message(self.Pressed(key))

    def on_resize(self, event: Resize) -> None:
        """Choose what fits."""
        self._choose()

    def _choose(self) -> None:
        hints, pinned = self._hints, self._pinned
        last = [(hint.key, _piece(hint)) for hint in pinned]
        right = _line(last)
        begin = self.room - width_of(right)
        room = begin - 1
        first: list[tuple[str, Line]] = []
        for hint in hints:
            piece = _piece(hint)
            room -= width_of(piece)
            if room < 0:
                break
            first.append((hint.key, piece))
        # Before the first key, and between those at both ends, there is nothing to press.
        self.set_line(_line(first), right, ends=((0, ""), *ends_of(first), (begin, ""), *ends_of(last, begin)))


def _piece(hint: KeyHint) -> Line:
    if not hint.enabled:
        return ((hint.key, "faint"), (f" {hint.label}  ", "faint"))
    return ((hint.key, "key"), (f" {hint.label}  ", "muted"))


def _line(pieces: Iterable[tuple[str, Line]]) -> Line:
    return tuple(part for _, piece in pieces for part in piece)
