"""The third column of a broad screen: one line per agent, below them the last events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import ClassVar

from team_console.widgets.team.cells import AgentCell, TeamEvent, event_line
from team_console.widgets.text.ages import age
from team_console.widgets.text.cells import Line, cell_len, fit, pad_name, spread
from team_console.widgets.text.short_names import short_names
from team_console.widgets.text.tones import Inked
from textual.events import Click, Resize
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

_LEAST_EVENTS = 6
"""Lines that are kept for events where there are many agents."""
_SIGN, _STATE, _AGE, _LEAST_NAME = 2, 14, 4, 8
"""Cells of a sign, of ` waits for you`, of an age, and of a name at least."""


class TeamColumn(Inked, Widget):
    """Agents with what they do, then what happened, newest first; only lines that differ are repainted."""

    DEFAULT_CSS = """
    TeamColumn { padding: 0 1; border-top: panel $panel; border-title-color: $text-muted;
        border-title-background: $panel; border-left: vkey $border-blurred; }
    TeamColumn:ansi { border-top: solid ansi_bright_black; border-title-background: ansi_default; }
    """
    HELP: ClassVar[str] = "The team: what each agent does and what waits for it, and the last events."

    @dataclass
    class Chosen(Message):
        """An agent was clicked."""

        agent: str

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, markup=False)
        self.border_title = "Team"
        self._cells: tuple[AgentCell, ...] = ()
        self._events: tuple[TeamEvent, ...] = ()
        self._now = datetime.now(UTC)
        self._lines: list[Line] = []
        self._agents = 0

    def show(self, cells: tuple[AgentCell, ...], events: tuple[TeamEvent, ...], now: datetime) -> None:
        """Show these agents and events, newest event first."""
        self._cells, self._events, self._now = cells, events, now
        self._lay_out()

    def on_resize(self, event: Resize) -> None:
        """Lay the lines out again."""
        self._lay_out()

    def on_click(self, event: Click) -> None:
        """Choose the agent under the mouse."""
        number = event.y - self.gutter.top
        if 0 <= number < self._agents:
            self.post_message(self.Chosen(self._order()[number].key))

    def render_line(self, y: int) -> Strip:
        """One agent, the heading of the events, or an event."""
        width = self.size.width
        return self.strip(fit(self._lines[y] if y < len(self._lines) else (), width), width)

    def _order(self) -> list[AgentCell]:
        return sorted(self._cells, key=lambda cell: not cell.urgent)

    def _lay_out(self) -> None:
        width, height = self.size.width, self.size.height
        if not width or not self.display:
            return
        order = self._order()
        room = max(1, height - _LEAST_EVENTS) if self._events else height
        self._agents = len(order) if len(order) <= room else room - 1
        lines = _agent_lines(order, width, self._now)[: self._agents]
        if self._agents < len(order):
            lines.append(((f"and {len(order) - self._agents} more", "muted"),))
        if self._events:
            lines += [(), (("Last events", "muted"),)]
            forms = short_names(tuple(cell.name for cell in order))
            shown = self._events[: max(0, height - len(lines))]
            lines += [fit(event_line(event, width, forms), width) for event in shown]
        before, self._lines = self._lines, lines
        for y in range(max(len(before), len(lines))):
            if before[y : y + 1] != lines[y : y + 1]:
                self.refresh(Region(0, y, width, 1))


def _agent_line(cell: AgentCell, name: str, columns: tuple[int, int], width: int, now: datetime) -> Line:
    names, unread = columns
    end = f" {cell.unread:>{unread},} {age(cell.oldest, now):>{_AGE}}" if cell.unread else ""
    tone = cell.sign.tone if cell.urgent else "muted"
    state = (f" {cell.note or cell.sign.word}", tone)
    return spread(
        ((f"{cell.sign.glyph} ", cell.sign.tone), (pad_name(name, names), ""), state), ((end, "muted"),), width
    )


def _agent_lines(cells: Sequence[AgentCell], width: int, now: datetime) -> list[Line]:
    """A line for each, names, states, numbers and ages below each other; long names as the strip has them."""
    forms = short_names(tuple(cell.name for cell in cells))
    unread = max((len(f"{cell.unread:,}") for cell in cells), default=1)
    room = max(_LEAST_NAME, width - _SIGN - _STATE - unread - _AGE - 2)
    names = [next((form for form in forms[cell.name] if cell_len(form) <= room), cell.name) for cell in cells]
    columns = (min(room, max(map(cell_len, names), default=0)), unread)
    return [_agent_line(cell, name, columns, width, now) for cell, name in zip(cells, names, strict=True)]
