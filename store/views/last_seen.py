"""When each agent last wrote or read anything, and when it last said something that shows it is alive."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from msgspec import Struct
from team_console.store.model.clock import from_text
from team_console.store.model.errors import Problem
from team_console.store.protocol.checks import expected_on_roster, roster_gaps
from team_console.store.protocol.entries import EARLIEST, Entry, Order
from team_console.store.protocol.membership import Membership, report_of, reporter_of
from team_console.store.protocol.relations import is_speech
from team_console.store.settings.team_config import TeamConfig


class LastSeen(Struct, frozen=True):
    """The latest of each agent, live or archived: an agent does not un-speak, and does not un-read.

    Attributes:
        written: When it wrote anything.
        spoken: When it said anything but that it agrees to stop.
        read: When it read or took a message.
        reports: The message in which it last told its own state.
    """

    written: Mapping[str, Order]
    spoken: Mapping[str, Order]
    read: Mapping[str, datetime]
    reports: Mapping[str, Entry]

    def last_seen(self, name: str) -> datetime | None:
        """When the agent last wrote or read, None when it never did or the time is unknown."""
        moments = (self.last_written(name), self.read.get(name))
        return max((moment for moment in moments if moment is not None), default=None)

    def last_written(self, name: str) -> datetime | None:
        """When the agent last wrote, None when it never did or the time is unknown."""
        order = self.written.get(name)
        return None if order is None or order[0] is EARLIEST else order[0]


def last_seen(entries: Iterable[Entry]) -> LastSeen:
    """Find what each agent did last.

    Args:
        entries: All of them, in order.
    """
    written: dict[str, Entry] = {}
    spoken: dict[str, Entry] = {}
    read: dict[str, datetime] = {}
    reports: dict[str, Entry] = {}
    for entry in entries:
        message = entry.message
        written[message.sender] = entry
        if is_speech(entry):
            spoken[message.sender] = entry
        if report_of(message) is not None:
            reports[reporter_of(message)] = entry
        for name, text in message.reading_times():
            moment = from_text(text)
            if moment is not None:
                read[name] = max(moment, read.get(name, moment))
    return LastSeen(_orders(written), _orders(spoken), read, reports)


def _orders(latest: Mapping[str, Entry]) -> dict[str, Order]:
    return {name: entry.order for name, entry in latest.items()}


# Where the latest roster and what is known of creations, destructions and settings do not agree.


def drift(config: TeamConfig, team: Membership, facts: Iterable[Entry]) -> Iterator[Problem]:
    """`ROSTER_DRIFT` for each agent the latest roster wrongly leaves out or still lists."""
    roster = team.roster
    if roster is None:
        return
    expected = expected_on_roster(config, (entry for entry in facts if entry.order < roster.order))
    for name, wrong in roster_gaps(roster.read, expected):
        hint = "The next complete roster repairs it; the lead sends it with: team-console roster --send"
        text = f"{name} {wrong} in the latest roster"
        yield Problem("ROSTER_DRIFT", "warning", f"{roster.message.message_id} {name}", text, hint)
