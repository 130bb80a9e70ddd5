"""The keys that do something here, in one line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from msgspec import Struct
from team_console.widgets.bars.one_line import OneLine
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
        self._ends: tuple[tuple[int, int, str], ...] = ()
        self._hints: tuple[KeyHint, ...] = ()
        self._pinned: tuple[KeyHint, ...] = ()
        self._note: Line = ()

    def show(self, hints: tuple[KeyHint, ...], pinned: tuple[KeyHint, ...] = (), *, note: Line = ()) -> None:
        """Show these keys; `note` stands before the pinned ones."""
        self._hints, self._pinned, self._note = hints, pinned, note
        right = (*note, *(part for hint in pinned for part in _piece(hint)))
        room = self.size.width - width_of(right) - 1
        left: list[Line] = []
        places: list[tuple[int, int, str]] = []
        at = 0
        for hint in hints:
            piece = _piece(hint)
            size = width_of(piece)
            if room < size:
                break
            room -= size
            left.append(piece)
            places.append((at, at + size, hint.key))
            at += size
        at = self.size.width - sum(width_of(_piece(hint)) for hint in pinned)
        for hint in pinned:
            places.append((at, at := at + width_of(_piece(hint)), hint.key))
        self._ends = tuple(places)
        self.set_line(tuple(part for piece in left for part in piece), right)

    def on_click(self, event: Click) -> None:
        """Press the key under the mouse."""
        x = event.x - self.styles.padding.left
        for start, end, key in self._ends:
            if start <= x < end:
                self.post_message(self.Pressed(key))
                return

    def on_resize(self, event: Resize) -> None:
        """Choose what fits."""
        self.show(self._hints, self._pinned, note=self._note)


def _piece(hint: KeyHint) -> Line:
    if not hint.enabled:
        return ((hint.key, "faint"), (f" {hint.label}  ", "faint"))
    return ((hint.key, "key"), (f" {hint.label}  ", "muted"))
