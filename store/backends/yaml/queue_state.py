"""How things stand: what one session knows of ledger and queue at one moment. Each step gives the next."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace
from team_console.store.backends.yaml.archives import Archives
from team_console.store.backends.yaml.audit_log import Ledger, Tip
from team_console.store.backends.yaml.disk import Disk, Held
from team_console.store.backends.yaml.layout import Layout
from team_console.store.backends.yaml.lock import Released
from team_console.store.backends.yaml.queue_file import Generation
from team_console.store.backends.yaml.settings import ReadSettings
from team_console.store.model.clock import Clock, to_text
from team_console.store.model.errors import Problem
from team_console.store.model.recorded import RecordedFacts


class QueueState(Struct, frozen=True):
    """What is known of ledger and queue. Only after the step `agreed` do they agree; every other step ends that.

    Attributes:
        generation: The queue as last read or written.
        known: The queue in the state in which everything last agreed, as far as this process has seen it.
        left: That state by the lock file or by our own last write; None after a holder that died. It never says
            anything of what another program wrote and nobody has compared yet.
        tip: The end of the ledger.
        reached: Number of the last line that this process itself brought into the queue, 0 for none.
        lost: Last line of a ledger that lost lines, and the number of the last one that was written there (0 where that
            is not known); None when nothing was lost, or once a line says so.
        agrees: Whether ledger, archives and queue agree now, so that the lock may be released as clean.
    """

    generation: Generation
    known: Generation
    left: Released | None
    tip: Tip = Tip()
    reached: int = 0
    lost: tuple[int, int] | None = None
    agrees: bool = False

    def found(self, tip: Tip, generation: Generation) -> QueueState:
        """After a look at both files."""
        return replace(self, tip=tip, generation=generation, agrees=False)

    def agreed(self) -> QueueState:
        """Everything agrees at this moment: what comes later is compared with it."""
        left = Released(self.tip.seq, self.generation.mark)
        return replace(self, left=left, known=self.generation, agrees=True)

    def doubted(self) -> QueueState:
        """Somebody else wrote, or we are about to."""
        return replace(self, agrees=False)

    def recorded(self, tip: Tip) -> QueueState:
        """After a line was added to the ledger; it says what was lost before it."""
        return replace(self, tip=tip, lost=None, agrees=False)

    def swapped(self, generation: Generation) -> QueueState:
        """After what the last line says was brought into the queue."""
        return replace(self, generation=generation, reached=self.tip.seq, agrees=False)


# The team while its lock is held: what stays the same for a whole session.


class LockedTeam(Struct, frozen=True):
    """What one session works with.

    Attributes:
        settings: As the session found them; all that is done in it goes by them.
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
