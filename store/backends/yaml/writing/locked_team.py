"""The team while its lock is held: what stays the same for a whole turn."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from team_console.store.backends.yaml.disk import Disk, Held
from team_console.store.backends.yaml.layout import Layout
from team_console.store.backends.yaml.reading.archives import Archives
from team_console.store.backends.yaml.reading.settings_in_force import ReadSettings
from team_console.store.backends.yaml.recovery.ledger import Ledger
from team_console.store.model.clock import Clock, to_text
from team_console.store.model.problem import Problem
from team_console.store.model.recorded import RecordedFacts


class LockedTeam(Struct, frozen=True):
    """What one turn works with.

    Attributes:
        settings: As the turn found them; all that is done in it goes by them.
        notices: What was repaired; each step adds to it what it did.
        recorded: Reads what the audit trail has of requests; None where it is another user's own.
    """

    disk: Disk
    layout: Layout
    lock: Held
    clock: Clock
    ledger: Ledger
    archives: Archives
    settings: ReadSettings
    notices: list[Problem]
    recorded: Callable[[], RecordedFacts | None]

    def stamp(self) -> str:
        """The time as part of a file name."""
        return to_text(self.clock()).replace(":", "").replace("-", "")
