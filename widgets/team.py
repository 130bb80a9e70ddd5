"""The team at a glance: a line of names, or of counts where they have no room."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from msgspec import Struct
from team_console.widgets.bars import OneLine
from team_console.widgets.signs import Sign
from team_console.widgets.text import Line, width_of

_OF_MANY = {"waits for you": "wait for you", "planning": "plan"}
"""The words for a state that are others when it is that of several agents."""


class AgentCell(Struct, frozen=True):
    """One agent.

    Attributes:
        name: Safe text.
        key: The name as the store has it.
        sign: What it does: works, waits for you, plans, stops, fails, is gone.
        is_gone: It has stopped.
        urgent: Somebody should look: it waits for the human, fails or stops.
    """

    name: str
    key: str
    sign: Sign
    urgent: bool = False
    is_gone: bool = False


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
