"""The team at a glance: a strip of cells, or a column with the last events."""

from __future__ import annotations

from asyncio import TimerHandle
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from itertools import accumulate
from typing import ClassVar

from msgspec import Struct
from team_console.widgets.bars import OneLine
from team_console.widgets.later import later
from team_console.widgets.signs import Sign
from team_console.widgets.text import (
    Line,
    ShortNames,
    age,
    cell_len,
    fit,
    fitting_names,
    pad_name,
    short_names,
    shorten,
    spread,
    width_of,
)
from team_console.widgets.tones import Inked
from textual.events import Click, Resize
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

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


# The third column of a broad screen: one line per agent, below them the last events.

_LEAST_EVENTS = 6
"""Lines that are kept for events where there are many agents."""
_SIGN, _STATE, _AGE, _COLUMN_LEAST_NAME = 2, 14, 4, 8
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
    room = max(_COLUMN_LEAST_NAME, width - _SIGN - _STATE - unread - _AGE - 2)
    names = [next((form for form in forms[cell.name] if cell_len(form) <= room), cell.name) for cell in cells]
    columns = (min(room, max(map(cell_len, names), default=0)), unread)
    return [_agent_line(cell, name, columns, width, now) for cell, name in zip(cells, names, strict=True)]


# The strip of the team: one cell per agent with its state, and a ticker of what happened last.

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
        width = self.size.width
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
