"""A team at one moment, read without a lock: its messages, its settings, and what is wrong with the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, Protocol

from msgspec import Struct
from team_console.store.contract.lock_holder import LockHolder
from team_console.store.contract.problem_codes import FOREIGN_WRITE, ROLLED_BACK, ROWS_HIDDEN
from team_console.store.model.errors import Problem
from team_console.store.model.message import Message
from team_console.store.model.recorded import RecordedFacts
from team_console.store.protocol.parsing import carries
from team_console.store.settings.team_config import TeamConfig


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
