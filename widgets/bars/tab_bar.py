"""The modes with their keys and what waits in each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import ClassVar

from msgspec import Struct
from team_console.widgets.bars.one_line import OneLine
from team_console.widgets.text.cells import Line, width_of
from textual.events import Click, Resize
from textual.message import Message


class Tab(Struct, frozen=True):
    """One mode; `count` is short text such as `5` or `6/9`, `tone` its urgency."""

    id: str
    key: str
    label: str
    short: str
    count: str = ""
    tone: str = "muted"


class TabBar(OneLine):
    """All modes in one line; labels shorten when it is narrow."""

    DEFAULT_CSS = """
    TabBar { background: $surface; padding: 0 1; }
    """
    HELP: ClassVar[str] = "The modes. Press a number, or click one."

    @dataclass
    class Chosen(Message):
        """A mode was clicked."""

        id: str

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._tabs: tuple[Tab, ...] = ()
        self._active = ""

    def show(self, tabs: tuple[Tab, ...], active: str) -> None:
        """Show `tabs` with the one named `active` set apart."""
        self._tabs, self._active = tabs, active
        width = self.room
        for label in (_airy, _full, _short, _tight, _active_only):
            labels = [_measured(label, tab, tab.id == active) for tab in tabs]
            if sum([cells for _, cells in labels]) <= width:
                break
        ends = zip(accumulate([cells for _, cells in labels]), [tab.id for tab in tabs], strict=True)
        self.set_line(tuple([part for piece, _ in labels for part in piece]), ends=ends)

    def on_resize(self, event: Resize) -> None:
        """Choose labels that fit."""
        self.show(self._tabs, self._active)

    def on_click(self, event: Click) -> None:
        """Choose the mode under the mouse."""
        if name := self.under(event):
            self.post_message(self.Chosen(name))


@lru_cache(maxsize=64)
def _measured(label: Callable[[Tab, bool], Line], tab: Tab, active: bool) -> tuple[Line, int]:
    """The label of a tab and its cells; most tabs say the same as before."""
    line = label(tab, active)
    return line, width_of(line)


def _airy(tab: Tab, active: bool) -> Line:
    return (*_piece(tab, tab.label, active), (" ", ""))


def _full(tab: Tab, active: bool) -> Line:
    return _piece(tab, tab.label, active)


def _short(tab: Tab, active: bool) -> Line:
    return _piece(tab, tab.short, active)


def _tight(tab: Tab, active: bool) -> Line:
    piece = _short(tab, active)
    return ((piece[0][0].lstrip(), piece[0][1]), *piece[1:])


def _active_only(tab: Tab, active: bool) -> Line:
    return _piece(tab, tab.short if active else "", active)


def _piece(tab: Tab, label: str, active: bool) -> Line:
    words: Line = ((f" {tab.key} ", "chip" if active else "key"), (f"{label} " if label else "", _tone(active)))
    count: Line = ((tab.count + " ", "chip" if active else tab.tone),) if tab.count else ()
    return (*words, *count)


def _tone(active: bool) -> str:
    return "chip" if active else ""
