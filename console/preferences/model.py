"""Preferences of one user: keys, look, sorting, notices; every field has the default that holds without a file."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

DENSITIES = ("compact", "roomy")


class Notices(Struct, frozen=True):
    """How the user is told of new decisions.

    Attributes:
        title: The count stands in the terminal's title.
        bell: The terminal's bell rings.
        desktop: The terminal is asked for a notice of the desktop (OSC 9 and OSC 777).
        command: A program with its arguments, run without a shell; the sentence is added as its last one.
        quiet: Spans of local time without bell, notice and command, such as `22:00-07:00`.
        read_only: Be told over a read-only team, too.
    """

    title: bool = True
    bell: bool = False
    desktop: bool = False
    command: tuple[str, ...] = ()
    quiet: tuple[str, ...] = ()
    read_only: bool = False


class Preferences(Struct, frozen=True):
    """All a user may choose.

    Attributes:
        theme: The theme to begin with; empty for that of last time.
        density: `compact` rows of one line, or `roomy` ones of two where there is room.
        motion: Whether an agent something happened to stands out for a moment.
        remember: Whether the place and the filter of last time are gone back to.
        grace_seconds: Seconds in which a decision can be taken back; None for the default.
        keys: Action id -> its keys, in the place of the usual ones.
        columns: Mode -> the columns its rows have.
        sort: Mode -> what its rows are sorted by.
    """

    theme: str = ""
    density: str = DENSITIES[0]
    motion: bool = True
    remember: bool = True
    grace_seconds: float | None = None
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    sort: Mapping[str, str] = field(default_factory=dict)
    notices: Notices = field(default_factory=Notices)

    def hidden(self, mode: str) -> frozenset[str]:
        """The columns a mode has and the user does not want."""
        return frozenset(COLUMNS.get(mode, ())) - set(self.columns[mode]) if mode in self.columns else frozenset()


COLUMNS: Mapping[str, tuple[str, ...]] = {
    "needs": ("kind", "agent", "age"),
    "inboxes": ("agent", "kind", "age"),
    "requests": ("state", "kind", "agent", "age"),
    "deliveries": ("state", "agent", "kind", "age"),
    "sprint": ("age",),
    "history": ("time", "kind"),
}
"""The columns of each list beside its titles, which are always there."""
SORTS: Mapping[str, tuple[str, ...]] = {
    "inboxes": ("age", "agent", "kind"),
    "requests": ("age", "agent", "kind", "state"),
    "deliveries": ("age", "agent", "state"),
}
"""What the rows of a list can be sorted by; its own order needs no name."""
