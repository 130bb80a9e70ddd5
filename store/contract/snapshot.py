"""A team at one moment, read without a lock: its messages, its settings, its troubles, and who holds its lock."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, Protocol

from msgspec import Struct
from msgspec.structs import replace
from team_console.store.model.clock import Clock, to_text
from team_console.store.model.errors import Code, Problem, TeamError
from team_console.store.model.message import Message
from team_console.store.model.recorded_facts import RecordedFacts
from team_console.store.protocol.parsing import carries
from team_console.store.settings.team_config import TeamConfig

FOREIGN_WRITE = "FOREIGN_WRITE"
"""Code of the problem that somebody wrote the queue and nothing can tell what it held before."""
NO_LOCKS = "NO_LOCKS"
"""Code of the problem of a team on a file system without locks, to which nobody can write."""
NO_LOCKS_HINT = "Move the team to a local disk, or to one that is mounted with locks; reading works."
CONFLICTED_COPY = "CONFLICTED_COPY"
"""Code of the problem of a copy that a synced folder made; a warning where messages are only there."""
ROWS_HIDDEN = "ROWS_HIDDEN"
"""Code of the problem that the database shows this role only some of the messages."""
ROLLED_BACK = "ROLLED_BACK"
"""Code of the problem that somebody took messages out of the queue, or put them back to an earlier state."""

AUDIT_LOST = "AUDIT_LOST"
"""Code of the problem that the audit trail is gone, or ends before the last line that was written to it."""
ARCHIVE_LOST = "ARCHIVE_LOST"
"""Code of the problem that archived messages are not any more where the audit trail says they are."""
KEPT_PRIVATE = "KEPT_PRIVATE"
"""Code of the problem that another user, whose team this is, lets us see the queue and not the files beside it."""
PRIVATE = "private"
"""Fact of an error that another user keeps a file to itself, so that nothing is known of it."""
OUTCOME_UNKNOWN = "outcome_unknown"
"""Fact of an error after which nobody can tell yet whether what was begun is on record."""
SERVER_READ_ONLY = "server_read_only"
"""Fact of a `READ_ONLY` that is the server's state and not the caller's rights, as of a replica for example."""
DROP_UNREADABLE = "DROP_UNREADABLE"
"""Code of the problem that what somebody put into `drop/` cannot be taken in."""
FOREIGN_TEAM = "FOREIGN_TEAM"
"""Code of the notice that another program keeps this team, so that nothing said in it decides anything here."""
LOST = frozenset({AUDIT_LOST, ARCHIVE_LOST})
"""Codes that say that history is known to have been lost, whatever is left of it."""


def trail_loss(trail: str, last: int, written: object, what: str = "") -> Problem:
    """Return the finding that the audit trail, of this name, ends at line `last` (0: none) and not at `written`.

    Args:
        what: What is the matter with it, where more is known.
    """
    what = what or (f"ends at line {last}, and line {written} was written" if last else "is empty")
    text = f"{trail} {what}: what it said of past actions is lost, and archives cannot be checked against it"
    hint = "Restore it from a copy while nobody writes; the next write begins it anew from what is there."
    return Problem(AUDIT_LOST, "error", trail, text, hint)


class LockHolder(Struct, frozen=True):
    """Who holds the write lock now, as far as the lock file tells.

    Attributes:
        alive: True or False when the owner is on this host and could be checked, else None.
    """

    pid: int | None
    host: str
    since: str
    action: str
    alive: bool | None


class HolderWatch:
    """Looks who holds a lock, and asks the system for it only now and then: that costs every process of a machine time.

    A holder is asked for at each look until it is gone: a write that is over must not pass for one that blocks. One
    that records no time counts from when it was first seen.
    """

    def __init__(self, clock: Clock, seconds: float) -> None:
        """Look by this clock; while nobody held the lock, ask again only after so many seconds."""
        self._clock, self._seconds = clock, seconds
        self._asked_at = -seconds
        """When the system was asked last, in seconds of `time.monotonic`."""
        self._known: LockHolder | None = None
        """The holder that was found then."""

    def rest(self) -> None:
        """Ask nobody for a while: this process has just held the lock itself."""
        self._asked_at, self._known = time.monotonic(), None

    def look(self, find: Callable[[bool], LockHolder | None]) -> LockHolder | None:
        """Return the holder that `find` gives, which is told whether the system is to be asked now."""
        now, known = time.monotonic(), self._known
        if known is None and now - self._asked_at < self._seconds:
            return find(False)
        self._asked_at, holder = now, find(True)
        if holder is not None and not holder.since:
            is_same = known is not None and known.pid == holder.pid
            holder = known if is_same else replace(holder, since=to_text(self._clock()))
        self._known = holder
        return holder


# The error for a write lock that did not come free in time: who holds it, since when, and what to do.

_LOCKED_HINT = "Try again. The lock ends with its transaction."


def locked_error(place: object, holder: LockHolder | None, wait: float, hint: str = _LOCKED_HINT) -> TeamError:
    """Make the `STORE_LOCKED` error, with all that is known of the holder in its facts.

    Args:
        place: The lock file, or where the database is.
        wait: Seconds that were waited.
        hint: The next step, and when the lock ends.
    """
    facts: dict[str, object] = {}
    if holder is not None and holder.pid is not None:
        facts = {"pid": holder.pid, "host": holder.host, "since": holder.since, "action": holder.action}
    return TeamError(
        Code.STORE_LOCKED,
        f"{place} is held by {_holder_words(holder)}; waited {wait:g} s, nothing was changed",
        hint,
        holder={**facts, "alive": holder.alive if holder else None},
    )


def _holder_words(holder: LockHolder | None) -> str:
    """Return the holder of a lock in words, as far as it is known."""
    if holder is None or not holder.action:
        pid = f", pid {holder.pid}" if holder is not None and holder.pid is not None else ""
        return f"another program (its name is not known){pid}"
    since = f", since {holder.since}" if holder.since else ""
    return f"pid {holder.pid} on {holder.host or 'this host'} ({holder.action}{since})"


class Condition(StrEnum):
    """What a snapshot can say about the store; each looks different on the screen (decision D16)."""

    OK = "ok"
    EMPTY = "empty"
    """The queue is there and holds no message, or was never made."""
    UNREADABLE = "unreadable"
    """The queue is there and cannot be understood or opened; `problems` says where."""
    VANISHED = "vanished"
    """The queue is gone although archives or the audit show that it existed."""


class TeamState(Protocol):
    """A team at one moment: a snapshot read without a lock, or what a transaction has so far."""

    @property
    def config(self) -> TeamConfig:
        """The settings in force."""

    @property
    def now(self) -> datetime:
        """The moment at which it is judged."""

    @property
    def recorded(self) -> RecordedFacts | None:
        """The audit trail's facts on requests and answers; None where there is no trail to ask."""

    def everything(self) -> Sequence[Message]:
        """Return all live messages in stored order."""

    def session_notes(self) -> Sequence[Message]:
        """Return the notes of sessions of clients that are kept beside the messages."""

    def thread(self, request_id: str) -> Sequence[Message]:
        """Return the messages that carry `request_id` in their payload or as message id, oldest first."""


class FinishedCounts(Struct, frozen=True):
    """How many messages are finished (delivered or read), those included that a snapshot leaves out.

    Attributes:
        statuses: Status -> number of messages.
        delivered: Agent -> those that were delivered to it alone and that it did not acknowledge.
    """

    statuses: Mapping[str, int] = {}
    delivered: Mapping[str, Unacknowledged] = {}


class Unacknowledged(NamedTuple):
    """Delivered messages that an agent did not acknowledge: their number, and when the oldest was created, if known."""

    number: int = 0
    since: datetime | None = None


class Snapshot(Struct, frozen=True):
    """The team at one moment, read without a lock. Unchanged messages are the same objects as before.

    Attributes:
        revision: Changes whenever anything in the queue or the configuration did.
        taken_at: When the store was read.
        changed_at: When the store last changed, as far as it tells; None when there is nothing.
        messages: Everything live, in stored order (archived messages come from `Team.history`).
        problems: Damaged entries, healings, configuration warnings.
        condition: What kind of state this is; `messages` is () when the store could not be read.
        holder: Who holds the write lock at this moment, None when nobody.
        missing: Ids that should be in `messages`, and that somebody else took out without archiving them.
        damaged: Ids of messages and requests that damaged entries name; what they say cannot be read any more.
        recorded: What the audit trail knows of requests and answers; None where the store keeps no trail of them.
        dropped: Messages that somebody who cannot lock put beside the queue; the next write takes them in.
        notes: As `Team.session_notes`.
        finished: Counts of finished messages, where somebody asked for them and `messages` has not all of those.
    """

    revision: str
    taken_at: datetime
    changed_at: datetime | None
    config: TeamConfig
    messages: Sequence[Message] = ()
    problems: tuple[Problem, ...] = ()
    condition: Condition = Condition.EMPTY
    holder: LockHolder | None = None
    missing: frozenset[str] = frozenset()
    damaged: frozenset[str] = frozenset()
    recorded: RecordedFacts | None = None
    dropped: tuple[Message, ...] = ()
    notes: tuple[Message, ...] = ()
    finished: FinishedCounts | None = None

    @property
    def now(self) -> datetime:
        """As `TeamState`."""
        return self.taken_at

    def everything(self) -> Sequence[Message]:
        """Return the live messages; see `TeamState`."""
        return self.messages

    def session_notes(self) -> Sequence[Message]:
        """Return the notes; see `TeamState`."""
        return self.notes

    def thread(self, request_id: str) -> Sequence[Message]:
        """Return the live messages of a thread; see `TeamState`."""
        return [message for message in self.messages if carries(message, request_id)]

    @property
    def why_unknown(self) -> Problem | None:
        """The error that keeps its messages from being known: the store's own, not that of a file beside it."""
        errors = [problem for problem in self.problems if problem.severity == "error"]
        named = [problem for problem in errors if problem.code == self.condition.upper()]
        return next(iter((*named, *errors)), None)

    @property
    def is_known(self) -> bool:
        """Whether the store could be read, so that a missing message is one that is not there."""
        # guard: unreadable-not-empty
        return self.condition in (Condition.OK, Condition.EMPTY)

    def require_known(self) -> Snapshot:
        """Return the snapshot itself when its messages can be trusted to be all there are.

        Raises:
            TeamError: `STORE_UNREADABLE` with the place: an unreadable queue is not an empty one (decision D16).
        """
        if self.is_known:
            return self
        why = self.why_unknown or Problem("", "error", "the queue", str(self.condition), "")
        raise TeamError(Code.STORE_UNREADABLE, why.sentence, why.hint)

    def tells_same_as(self, other: Snapshot) -> bool:
        """Return whether it tells what another does, but for when it was read; the same messages are one object."""
        same = self.messages is other.messages and self.recorded is other.recorded and self.notes == other.notes
        return same and all(getattr(self, name) == getattr(other, name) for name in _COMPARED_FIELDS)

    @property
    def doubt(self) -> Problem | None:
        """The reason why messages may be missing: somebody else wrote the queue, or hides rows. None without one."""
        reasons = (ROLLED_BACK, FOREIGN_WRITE, ROWS_HIDDEN)
        return next((problem for problem in self.problems if problem.code in reasons), None)


_COMPARED_FIELDS = ("revision", "config", "problems", "condition", "missing", "damaged", "dropped")
