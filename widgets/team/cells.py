"""Agents as the strip and the column of the team show them, and the line of an event."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from msgspec import Struct
from team_console.widgets.text.cells import Line, Part, shorten, width_of
from team_console.widgets.text.glyphs import Sign

_SIZES = (14, 9, 7)
"""Cells of a name, tried one after the other."""


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


class TeamEvent(Struct, frozen=True):
    """Something that happened.

    Attributes:
        who: Who did it, as the store has the name.
        head: Who to whom.
        more: How many others it went to as well.
        words: What it was.
    """

    key: str
    at: datetime
    who: str
    head: Part
    more: int
    words: Line


def event_line(event: TeamEvent) -> Line:
    """The local time and what happened."""
    more: Line = ((f" +{event.more}", "muted"),) if event.more else ()
    return ((f"{event.at.astimezone():%H:%M:%S} ", "muted"), event.head, *more, *event.words)


class StripPart(Struct, frozen=True):
    """A piece of the strip: its parts and the agent a click on it means; empty for none."""

    line: Line
    key: str = ""


def strip_parts(cells: Sequence[AgentCell], width: int, moved: frozenset[str] = frozenset()) -> tuple[StripPart, ...]:
    """The agents in at most `width` cells: whole names, shorter ones, names of the urgent only, and then a number."""
    for size in _SIZES:
        for parts in _ways(cells, size, moved):
            if _width(parts) <= width:
                return parts
    return _as_many_as_fit([*_ways(cells, _SIZES[-1], moved)][-1], width)


def _ways(cells: Sequence[AgentCell], size: int, moved: frozenset[str]) -> Iterator[tuple[StripPart, ...]]:
    """The strip with names of all, of all who are there, and of the urgent, who come first then; signs of the rest."""
    here = [cell for cell in cells if not cell.is_gone]
    if size == _SIZES[0] or len(here) < len(cells):
        yield tuple(_named(cell, size, moved) for cell in cells)
    yield tuple(_named(cell, size, moved) if not cell.is_gone else _sign(cell, moved) for cell in cells)
    urgent = [_named(cell, size, moved) for cell in here if cell.urgent]
    yield (*urgent, *(_sign(cell, moved) for cell in cells if not cell.urgent or cell.is_gone))


def _as_many_as_fit(parts: Sequence[StripPart], width: int) -> tuple[StripPart, ...]:
    """The first of the parts, and how many more there are."""
    room, shown = width - 5, 0
    for part in parts:
        room -= _width((part,))
        if room < 0:
            break
        shown += 1
    rest = StripPart(((f"+{len(parts) - shown}", "muted"),))
    return (*parts[:shown], rest)


def _width(parts: Sequence[StripPart]) -> int:
    return sum(width_of(part.line) for part in parts)


def _named(cell: AgentCell, size: int, moved: frozenset[str]) -> StripPart:
    tone = "moved" if cell.key in moved else "" if cell.urgent else "muted"
    return StripPart(((f"{cell.sign.glyph} ", cell.sign.tone), (shorten(cell.name, size), tone), ("  ", "")), cell.key)


def _sign(cell: AgentCell, moved: frozenset[str]) -> StripPart:
    return StripPart(((cell.sign.glyph, "moved" if cell.key in moved else cell.sign.tone), (" ", "")), cell.key)
