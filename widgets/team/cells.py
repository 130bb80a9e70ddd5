"""Agents as the strip and the column of the team show them, and the line of an event."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from itertools import accumulate

from msgspec import Struct
from team_console.widgets.text.cells import Line, shorten, width_of
from team_console.widgets.text.glyphs import Sign
from team_console.widgets.text.short_names import ShortNames, fitting_names, short_names

_PARTS = 4_096
"""Pieces of the strip that are remembered: an agent has one in each of its names and tones."""
_AROUND = 4
"""Cells around a name in the strip: its sign and the space after both."""
_SIGN_PARTS = 2
"""Parts of a cell that shows a sign alone."""
_NAMED_SHARE = 0.6
"""Share of the room for names where not even every agent's sign has room."""
_LEAST_NAME = 8
"""Cells down to which a name of an urgent agent is cut before fewer have one."""
_NAME = 24
"""Cells of a name in an event at most; what happened needs room too."""
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
        sender: Who did it, as it is shown.
        recipient: To whom, as it is shown; empty for a verdict.
        more: How many others it went to as well.
        words: What it was.
    """

    key: str
    at: datetime
    who: str
    sender: str
    recipient: str
    more: int
    words: Line


def event_line(event: TeamEvent, width: int, forms: ShortNames | None = None) -> Line:
    """The local time, where there is room for it, and what happened; the shortest of `forms` stand for the names."""
    # One ink for all but a verdict: each more costs a slow line what a word does, with every message.
    time = f"{event.at.astimezone():%H:%M:%S} " if width >= _WITH_TIME else ""
    sender, recipient = (_shortest(name, forms or {}) for name in (event.sender, event.recipient))
    more = f" +{event.more}" if event.more else ""
    parties = f"{sender} → {recipient}{more}" if recipient else f"{sender}{more} "
    return (time + parties, "muted"), *event.words


def _shortest(name: str, forms: ShortNames) -> str:
    return shorten(forms.get(name, (name,))[-1], _NAME)


class StripPart(Struct, frozen=True):
    """A piece of the strip: its parts and the agent a click on it means; empty for none."""

    line: Line
    key: str = ""


def strip_parts(cells: Sequence[AgentCell], width: int) -> tuple[StripPart, ...]:
    """The agents in at most `width` cells: all by name, the urgent by name and the others by sign, then a number."""
    forms = short_names(tuple(cell.name for cell in cells))
    if parts := _named(cells, forms, width):
        return parts
    order = sorted(cells, key=lambda cell: (not cell.urgent, cell.is_gone))
    signs = [_sign(cell) for cell in order]
    urgent = sum(cell.urgent for cell in order)
    for number in range(urgent, 0, -1):
        rest = signs[number:]
        if parts := _named(order[:number], forms, width - _width(rest), least=_LEAST_NAME):
            return _more_named(order, (*parts, *rest), forms, width)
    return _overflowing(order[:urgent], signs, forms, width)


def _overflowing(
    urgent: Sequence[AgentCell], signs: Sequence[StripPart], forms: ShortNames, width: int
) -> tuple[StripPart, ...]:
    """More agents than there is room for: names of the urgent in a part of it, signs, and how many more there are."""
    shortest: ShortNames = {name: (names[-1],) for name, names in forms.items()}
    for number in range(len(urgent) if _width(signs) > width else 0, 0, -1):
        room = round(width * _NAMED_SHARE)
        if parts := _named(urgent[:number], shortest, room, least=_LEAST_NAME):
            return (*parts, *_as_many_as_fit(signs[number:], width - _width(parts)))
    return tuple(signs) if _width(signs) <= width else _as_many_as_fit(signs, width)


def _more_named(
    order: Sequence[AgentCell], parts: tuple[StripPart, ...], forms: ShortNames, width: int
) -> tuple[StripPart, ...]:
    """The same with names in place of signs, one after the other, as long as there is room and the agent is there."""
    shown, left = list(parts), width - _width(parts)
    for place, cell in enumerate(order):
        if len(shown[place].line) > _SIGN_PARTS or cell.is_gone:
            continue
        named = _named_part(cell, forms[cell.name][-1])
        if (more := width_of(named.line) - width_of(shown[place].line)) > left:
            break
        shown[place], left = named, left - more
    return tuple(shown)


def _named(cells: Sequence[AgentCell], forms: ShortNames, width: int, *, least: int = 0) -> tuple[StripPart, ...]:
    """Each by its name, in the longest forms that fit; empty when they do not."""
    names = fitting_names([cell.name for cell in cells], forms, width - _AROUND * len(cells), least)
    if not names:
        return ()
    return tuple(_named_part(cell, name) for cell, name in zip(cells, names, strict=True))


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


def standing_out(part: StripPart) -> StripPart:
    """The same with its name, or its sign where it has none, in the tone of what something happened to."""
    place = 1 if len(part.line) > _SIGN_PARTS else 0
    line = (*part.line[:place], (part.line[place][0], "moved"), *part.line[place + 1 :])
    return StripPart(line, part.key)


def ends_of_parts(parts: Sequence[StripPart]) -> list[tuple[int, str]]:
    """The cell before which each part ends, and the agent it means."""
    return list(zip(accumulate(map(_width_of_part, parts)), [part.key for part in parts], strict=True))


@lru_cache(_PARTS)
def _width_of_part(part: StripPart) -> int:
    return width_of(part.line)


def _named_part(cell: AgentCell, name: str) -> StripPart:
    return _part_of(cell.key, name, cell.sign, "" if cell.urgent else "muted")


@lru_cache(_PARTS)
def _part_of(key: str, name: str, sign: Sign, tone: str) -> StripPart:
    return StripPart(((f"{sign.glyph} ", sign.tone), (name, tone), ("  ", "")), key)


def _sign(cell: AgentCell) -> StripPart:
    return StripPart(((cell.sign.glyph, cell.sign.tone), (" ", "")), cell.key)
