"""Agents as the strip and the column of the team show them, and the line of an event."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache

from msgspec import Struct
from team_console.widgets.text.cells import Line, Part, abbreviate, width_of
from team_console.widgets.text.glyphs import Sign

_SIZES = (14, 9)
"""Cells of a name where every agent has one, tried one after the other."""
_URGENT_SIZES = (20, 14, 11, 9, 8, 7)
"""Cells of a name where only the urgent have one."""


_PARTS = 4_096
"""Pieces of the strip that are remembered: an agent has one in each size and tone."""
_WITH_TIME = 40
"""Cells of an event from which on it tells the time."""


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


def event_line(event: TeamEvent, width: int) -> Line:
    """The local time, where there is room for it, and what happened."""
    more: Line = ((f" +{event.more}", "muted"),) if event.more else ()
    time: Line = ((f"{event.at.astimezone():%H:%M:%S} ", "muted"),) if width >= _WITH_TIME else ()
    return (*time, event.head, *more, *event.words)


class StripPart(Struct, frozen=True):
    """A piece of the strip: its parts and the agent a click on it means; empty for none."""

    line: Line
    key: str = ""


def strip_parts(cells: Sequence[AgentCell], width: int, moved: frozenset[str] = frozenset()) -> tuple[StripPart, ...]:
    """The agents in at most `width` cells: whole names, shorter ones, names of the urgent only, and then a number."""
    for size in _SIZES:
        parts = tuple(_named(cell, size, moved) for cell in cells)
        if _width(parts) <= width:
            return parts
    order = sorted(cells, key=lambda cell: (not cell.urgent, cell.is_gone))
    signs = [_sign(cell, moved) for cell in order]
    urgent = sum(cell.urgent for cell in order)
    fewer = ((_URGENT_SIZES[-1], number) for number in range(urgent - 1, 0, -1))
    for size, number in (*((size, urgent) for size in _URGENT_SIZES), *fewer):
        parts = (*(_named(cell, size, moved) for cell in order[:number]), *signs[number:])
        if _width(parts) <= width:
            return parts
    return tuple(signs) if _width(signs) <= width else _as_many_as_fit(signs, width)


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
    return sum(map(_width_of_part, parts))


@lru_cache(_PARTS)
def _width_of_part(part: StripPart) -> int:
    return width_of(part.line)


def _named(cell: AgentCell, size: int, moved: frozenset[str]) -> StripPart:
    tone = "moved" if cell.key in moved else "" if cell.urgent else "muted"
    return _named_part(cell.key, cell.name, cell.sign, size, tone)


@lru_cache(_PARTS)
def _named_part(key: str, name: str, sign: Sign, size: int, tone: str) -> StripPart:
    return StripPart(((f"{sign.glyph} ", sign.tone), (abbreviate(name, size), tone), ("  ", "")), key)


def _sign(cell: AgentCell, moved: frozenset[str]) -> StripPart:
    return StripPart(((cell.sign.glyph, "moved" if cell.key in moved else cell.sign.tone), (" ", "")), cell.key)
