"""The strip of the team: one cell per agent with its state, and a ticker of what happened last."""

from __future__ import annotations

from asyncio import TimerHandle
from dataclasses import dataclass
from typing import ClassVar

from team_console.widgets.bars.one_line import OneLine
from team_console.widgets.later import later
from team_console.widgets.team.cells import (
    AgentCell,
    StripPart,
    TeamEvent,
    ends_of_parts,
    event_line,
    standing_out,
    strip_parts,
)
from team_console.widgets.text.cells import Line, fit
from team_console.widgets.text.short_names import short_names
from textual.events import Click, Resize
from textual.message import Message

MOVED_FOR = 1.5
"""Seconds an agent stands out after something happened to it."""
_TICKER = 48
"""Cells of the ticker at most; a longer one would cost a slow line too much with each message."""
_LEAST_TICKER = 24


class TeamStrip(OneLine):
    """All agents in one line; those that wait or fail keep their names when there is little room."""

    DEFAULT_CSS = "TeamStrip { background: $surface; padding: 0 1; }"
    HELP: ClassVar[str] = "The team: what each agent does, and what happened last. Click an agent to see its inbox."

    @dataclass
    class Chosen(Message):
        """An agent was clicked."""

        agent: str

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.moves = True
        self._cells: tuple[AgentCell, ...] = ()
        self._event: TeamEvent | None = None
        self._moved: frozenset[str] = frozenset()
        self._calming: TimerHandle | None = None
        self._known: tuple[object, tuple[StripPart, ...], list[tuple[int, str]]] | None = None

    def show(self, cells: tuple[AgentCell, ...], event: TeamEvent | None) -> None:
        """Show these agents and the last event; those something happened to stand out for a moment."""
        if (cells, event) == (self._cells, self._event):
            return
        moved = self._moved_since(cells, event) if self._cells else frozenset()
        self._cells, self._event = cells, event
        if moved and self.moves and self.app.animation_level != "none":
            self._moved |= moved
            if self._calming is not None:
                self._calming.cancel()
            self._calming = later(self, MOVED_FOR, self._calm)
        self._lay_out()

    def on_resize(self, event: Resize) -> None:
        """Choose what fits."""
        self._lay_out()

    def on_click(self, event: Click) -> None:
        """Choose the agent under the mouse."""
        if agent := self.under(event):
            self.post_message(self.Chosen(agent))

    def _moved_since(self, cells: tuple[AgentCell, ...], event: TeamEvent | None) -> frozenset[str]:
        before = {cell.key: cell.sign for cell in self._cells}
        changed = {cell.key for cell in cells if before.get(cell.key) != cell.sign}
        if event is not None and event != self._event:
            changed.add(event.who)
        return frozenset(changed)

    def _calm(self) -> None:
        self._calming, self._moved = None, frozenset()
        self._lay_out()

    def _lay_out(self) -> None:
        width = self.room
        least = width - _LEAST_TICKER if width >= 2 * _LEAST_TICKER and self._event is not None else width
        parts, ends = self._agents(least)
        if self._moved:
            parts = tuple([standing_out(part) if part.key in self._moved else part for part in parts])
        room = width - (ends[-1][0] if ends else 0)
        self.set_line(tuple([piece for part in parts for piece in part.line]), self._ticker(room), ends=ends)

    def _agents(self, width: int) -> tuple[tuple[StripPart, ...], list[tuple[int, str]]]:
        """All agents and where each ends; unread mail, which most changes are, is not among what is shown of them."""
        shown = [(cell.key, cell.name, cell.sign, cell.urgent, cell.is_gone) for cell in self._cells]
        if self._known is None or self._known[0] != (shown, width):
            parts = strip_parts(self._cells, width)
            self._known = (shown, width), parts, ends_of_parts(parts)
        return self._known[1:]

    def _ticker(self, room: int) -> Line:
        if self._event is None or room < _LEAST_TICKER:
            return ()
        size = min(room, _TICKER)
        forms = short_names(tuple(cell.name for cell in self._cells)) if size < _TICKER else None
        return fit((("  ", ""), *event_line(self._event, size, forms)), size)
