"""The line that always says which team, as whom, and how fresh what is shown is."""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct
from team_console.widgets.bars.one_line import OneLine
from team_console.widgets.text.cells import Line, crop, width_of


class Pulse(Struct, frozen=True):
    """How fresh the screen is: a glyph, a word, its tone, and perhaps an age or reason in safe text."""

    glyph: str
    word: str
    tone: str
    detail: str = ""


LIVE = Pulse("●", "LIVE", "good")
READING = Pulse("◔", "READING", "open")
POLLING = Pulse("≈", "POLLING", "warn")
STALE = Pulse("◌", "STALE", "alert")
LOCKED = Pulse("⊠", "LOCKED", "alert")
DOUBT = Pulse("△", "IN DOUBT", "alert")
SETTINGS = Pulse("▲", "SETTINGS", "alert")
UNREADABLE = Pulse("✗", "UNREADABLE", "alarm")
VANISHED = Pulse("∅", "VANISHED", "alarm")


class Standing(Struct, frozen=True):
    """Everything the status line says; names and place are safe text."""

    team: str
    me: str
    place: str
    pulse: Pulse
    read_only: bool = False
    busy: str = ""


class StatusLine(OneLine):
    """Team and identity at the left, place and pulse at the right."""

    DEFAULT_CSS = "StatusLine { background: $panel; padding: 0 1; }"
    HELP: ClassVar[str] = "Which team this is, as whom you act, and whether what you see is the present state."

    def show(self, standing: Standing) -> None:
        """Show `standing`; the place gives way first when there is little room."""
        left: Line = (("◆ ", "muted"), (standing.team, ""), (" · ", "faint"), (standing.me, ""))
        right = (*_busy(standing), *_badge(standing), *_pulse(standing.pulse))
        room = self.room - width_of(left) - width_of(right) - 4
        if room > 12 and standing.place:
            right = ((_tail(standing.place, room), "muted"), ("  ", ""), *right)
        self.set_line(left, (("  ", ""), *right))


def _busy(standing: Standing) -> Line:
    return (("◌ ", "open"), (standing.busy, "open"), ("  ", "")) if standing.busy else ()


def _badge(standing: Standing) -> Line:
    return ((" READ-ONLY ", "warn-chip"), ("  ", "")) if standing.read_only else ()


def _pulse(pulse: Pulse) -> Line:
    detail: Line = ((" " + pulse.detail, "muted"),) if pulse.detail else ()
    return ((f"{pulse.glyph} {pulse.word}", pulse.tone), *detail)


def _tail(place: str, room: int) -> str:
    """The end of a path tells more than its beginning."""
    return place if len(place) <= room else crop("…" + place[len(place) - room + 1 :], room)
