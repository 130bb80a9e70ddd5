"""The team at a glance: a line of names or counts, and a column with each agent where there is room."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import ClassVar

from msgspec import Struct
from team_console.widgets.bars import FewLines, OneLine
from team_console.widgets.signs import Sign
from team_console.widgets.text import Line, age, cell_len, pad, spread, width_of
from textual.events import Click

_OF_MANY = {"waits for you": "wait for you", "planning": "plan"}
"""The words for a state that are others when it is that of several agents."""
_SIGN, _STATE, _AGE, _LEAST_NAME = 2, 14, 4, 8
"""Cells of a sign, of ` waits for you`, of an age, and of a name at least."""


class AgentCell(Struct, frozen=True):
    """One agent.

    Attributes:
        name: Safe text.
        key: The name as the store has it.
        sign: What it does: works, waits for you, plans, stops, fails, is gone.
        is_gone: It has stopped.
        urgent: Somebody should look: it waits for the human, fails or stops.
        unread: Messages it has not read, of which the oldest is from `oldest`.
        note: What it works on or waits for, safe text.
    """

    name: str
    key: str
    sign: Sign
    urgent: bool = False
    is_gone: bool = False
    unread: int = 0
    oldest: datetime | None = None
    note: str = ""


def strip_parts(cells: Sequence[AgentCell], width: int) -> list[tuple[str, Line]]:
    """Return the agents by name where all have room, else how many of them do what, those to look at first.

    Returns:
        Pieces of the line, each with the agent a click on it means; empty for none.
    """
    parts: list[tuple[str, Line]] = [
        (cell.key, ((f"{cell.sign.glyph} ", cell.sign.tone), (cell.name, "" if cell.urgent else "muted"), ("  ", "")))
        for cell in cells
    ]
    if sum(width_of(line) for _, line in parts) <= width:
        return parts
    groups: dict[Sign, list[AgentCell]] = {}
    for cell in sorted(cells, key=lambda cell: (not cell.urgent, cell.is_gone)):
        groups.setdefault(cell.sign, []).append(cell)
    parts = [("", ((f"team {len(cells):,}:  ", "muted"),))]
    for sign, members in groups.items():
        word = sign.word if len(members) == 1 else _OF_MANY.get(sign.word, sign.word)
        apart = " · " if len(parts) > 1 else ""
        parts.append((members[0].key, ((apart, "muted"), (f"{len(members):,} {word}", sign.tone))))
    return parts


class TeamStrip(OneLine):
    """All agents in one line: by name, or how many do what when there is little room."""

    DEFAULT_CSS = "TeamStrip { background: $surface; padding: 0 1; }"
    HELP: ClassVar[str] = "The team: what each agent does. Click an agent to see its page."
    _cells: tuple[AgentCell, ...] = ()

    def show(self, cells: tuple[AgentCell, ...]) -> None:
        """Show these agents."""
        self._cells = cells
        self.fill()

    def fill(self) -> None:
        """Names, or numbers where they do not fit."""
        self.set_pieces(strip_parts(self._cells, self.size.width))


class TeamColumn(FewLines):
    """A line for each agent with what it does, those to look at first."""

    DEFAULT_CSS = """
    TeamColumn { padding: 0 1; border-top: panel $panel; border-title-color: $text-muted;
        border-title-background: $panel; border-left: vkey $border-blurred; }
    TeamColumn:ansi { border-top: solid ansi_bright_black; border-title-background: ansi_default; }
    """
    HELP: ClassVar[str] = "The team: what each agent does and what waits for it."

    BORDER_TITLE = "Team"
    _cells: Sequence[AgentCell] = ()
    _now = datetime.now(UTC)

    def show(self, cells: tuple[AgentCell, ...], now: datetime) -> None:
        """Show these agents."""
        self._cells, self._now = sorted(cells, key=lambda cell: not cell.urgent), now
        self.refresh()

    def on_click(self, event: Click) -> None:
        """Choose the agent under the mouse."""
        number = event.y - self.gutter.top
        if 0 <= number < len(self._cells[: self.size.height]):
            self.post_message(self.Clicked(self, self._cells[number].key))

    def lines_at(self, width: int) -> Sequence[Line]:
        """Return names, states, numbers and ages below each other; the last line says how many have no room."""
        height, cells = self.size.height, self._cells
        digits = max((len(f"{cell.unread:,}") for cell in cells), default=0)
        room = max(_LEAST_NAME, width - _SIGN - _STATE - digits - _AGE - 2)
        names = min(room, max((cell_len(cell.name) for cell in cells), default=0))
        lines: list[Line] = []
        for cell in cells[:height]:
            sign, urgent = cell.sign, cell.sign.tone if cell.urgent else "muted"
            state = (f" {cell.note or sign.word}", urgent)
            end = f" {cell.unread:>{digits},} {age(cell.oldest, self._now):>{_AGE}}" if cell.unread else ""
            lines.append(spread((sign.mark, (pad(cell.name, names), ""), state), ((end, "muted"),), width))
        if len(cells) > height > 0:
            lines[-1] = ((f"and {len(cells) - height + 1} more", "muted"),)
        return lines
