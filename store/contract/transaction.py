"""The interface of a transaction: exclusive access to a team, with changes that become durable all at once or not."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import Any

from msgspec import Struct
from team_console.store.model.errors import Code, Problem, TeamError
from team_console.store.model.message import FieldDict, Message, is_copy
from team_console.store.model.recorded_facts import RecordedFacts
from team_console.store.protocol.parsing import carries
from team_console.store.settings.in_force import SettingsInForce


class Changes(Struct):
    """What a transaction wants to make durable, in the order of its calls. A stored message is its own handle.

    Attributes:
        added: New messages by id.
        replaced: Message as stored -> as wanted.
        removed: Messages as stored.
        optional: Ids of those of them that may stay where a table of others does not let them go.
        archived, pushed: (agent, message) pairs.
        attachments: Reference -> bytes.
        records: (action, facts) pairs for the audit trail.
        settings: The text of new settings, None to keep those there are.
    """

    added: dict[str, Message] = {}
    replaced: dict[Message, Message] = {}
    removed: dict[Message, None] = {}
    optional: set[str] = set()
    archived: list[tuple[str, Message]] = []
    pushed: list[tuple[str, Message]] = []
    attachments: dict[str, bytes] = {}
    records: list[tuple[str, dict[str, Any]]] = []
    settings: str | None = None

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to write; audit records alone are something."""
        in_queue = self.added or self.replaced or self.removed
        return not (in_queue or self.archived or self.pushed or self.records or self.settings is not None)

    def apply(self, messages: Iterable[Message]) -> tuple[Message, ...]:
        """Return the queue after these changes."""
        replaced, removed = self.replaced, self.removed
        left = [message for message in messages if message not in removed] if removed else messages
        return (*[replaced.get(message, message) for message in left], *self.added.values())


class Transaction(ABC):
    """Exclusive access to a fresh state; what is buffered here becomes durable all at once or not at all.

    Reads see the transaction's own writes. Nothing reaches the store before the `with` block ends without
    an exception; an exception discards everything. A transaction that wrote nothing leaves no trace.

    Ids are unique: where another program used one again, a backend gave the later message another (decision D26).

    A backend answers a few questions about what is stored, and makes durable what `finish` gives back.

    Attributes:
        notices: Healings and repairs made on entering, to be shown to whoever asked for the transaction.
        session_notes: Returns the notes of sessions of clients that are kept beside the messages.
    """

    def __init__(
        self,
        *,
        now: datetime,
        in_force: SettingsInForce,
        recorded: Callable[[], RecordedFacts | None] = lambda: None,
    ) -> None:
        self.now = now
        self.config = in_force.usable_config()
        self.in_force = in_force
        self.to_record = in_force.to_record
        """The text of settings that are on record with the changes; None where nothing new is known of them."""
        self.notices: list[Problem] = []
        self.changes = Changes()
        self._read_recorded = recorded
        self.session_notes: Callable[[], Sequence[Message]] = tuple
        self._origins: dict[Message, Message] = {}
        """Message as this transaction has it now -> as it is stored, where it was replaced."""
        self._archiving: dict[str, set[str]] = {}
        """Message id -> agents to whose history it is appended by this transaction."""
        self.expected: list[Message] = []
        """Stored messages the changes rest on; a backend whose lock keeps all others out need not look again."""

    @property
    def damaged(self) -> int:
        """Stored entries that cannot be read, as far as this transaction found out."""
        return 0

    @property
    def is_tidying_due(self) -> bool:
        """Whether a claim makes the queue small on its way out; where that means to read all of it, now and then."""
        return True

    @cached_property
    def recorded(self) -> RecordedFacts | None:
        """The audit trail's facts on requests and answers; None where there is no trail to ask.

        Read when first asked for: few writes need it, and a trail may be long.
        """
        return self._read_recorded()

    @abstractmethod
    def stored(self) -> Sequence[Message]:
        """Return all live messages as stored."""

    @abstractmethod
    def stored_message(self, message_id: str) -> Message | None:
        """Return the live message with this id, as stored."""

    @abstractmethod
    def archived_message(self, message_id: str) -> Message | None:
        """Return an archived copy of this id."""

    @abstractmethod
    def archived_thread(self, request_id: str) -> Iterable[Message]:
        """Return the archived messages that carry this request id or have it as message id."""

    @abstractmethod
    def delete_archived(self, before: datetime) -> FieldDict:
        """Delete archived messages created before `before` with the commit; what is still live keeps its archive.

        Returns:
            The facts for the trail, among them the `count` of ids that go; empty for none.
        """

    @abstractmethod
    def has_archived(self, message: Message, agent: str | None = None) -> bool:
        """Return whether the archive of `agent`, or any, holds a whole copy of this message."""

    def settings(self) -> str:
        """Return the text of the team's settings as this transaction leaves them; empty when there are none."""
        stored = (self.in_force.text or b"").decode("utf-8", "replace")
        return stored if self.changes.settings is None else self.changes.settings

    def configure(self, text: str) -> None:
        """Put `text` in the place of the team's settings."""
        self.changes.settings = text

    def put_back(self, text: bytes) -> str:
        """Put the text of settings that were in force in the place of lost ones.

        Returns:
            The name under which those are kept; empty where they are not.
        """
        self.configure(text.decode())
        return ""

    def finish(self) -> Changes | None:
        """Return the changes to commit; None when nothing was written.

        Raises:
            RuntimeError: Something was written and `record` was never called; a programming error.
        """
        changes = self.changes
        if changes.is_empty:
            return None
        if not changes.records:
            raise RuntimeError("a transaction that writes must record what it did")
        if changes.settings is not None:  # the same line says that these are in force: otherwise they count as lost
            # guard: settings-in-audit-line
            self.to_record = changes.settings.encode()
        return changes

    def everything(self) -> Sequence[Message]:
        """Return all live messages in stored order."""
        stored = self.stored()
        changes = self.changes
        return stored if not (changes.added or changes.replaced or changes.removed) else changes.apply(stored)

    def get(self, message_id: str) -> Message | None:
        """Return the live message with this id."""
        changes = self.changes
        stored = self.stored_message(message_id)
        if stored is None or stored in changes.removed:
            return changes.added.get(message_id)
        return changes.replaced.get(stored, stored)

    def current(self, seen: Message) -> Message | None:
        """Return the live message that `seen`, read at an earlier moment, is now; None when it left or says
        something else.
        """
        now = self.get(seen.message_id)
        return now if now is not None and is_copy(now, seen) else None

    def current_of(self, seen: Sequence[Message]) -> Iterator[Message]:
        """Yield what each of these messages is now, read at once; those that left or say something else are left out.

        A change to one of them is seen when the next one is asked for.
        """
        self.fetch([message.message_id for message in seen])
        for message in seen:
            if (now := self.current(message)) is not None:
                yield now

    def expect(self, message: Message) -> None:
        """Rest on what a live message says: if it says something else when the changes become durable, none do.

        The commit raises `ChangedError` then. Of a message that is not live nothing is expected.
        """
        stored = self._origins.get(message, message)
        if self.stored_message(stored.message_id) is stored:
            self.expected.append(stored)

    # guard: ids-stay-taken
    def known(self, message_id: str) -> Message | None:
        """Return the live or archived message with this id; tells a repeated send from a new one."""
        return self.get(message_id) or self.archived_message(message_id)

    def select(
        self,
        *,
        recipient: str | None = None,
        statuses: Iterable[str] = (),
        types: Iterable[str] = (),
    ) -> list[Message]:
        """Return the live messages that fit every given condition, in stored order."""
        wanted_statuses, wanted_types = frozenset(statuses), frozenset(types)
        found = self.stored_candidates(recipient=recipient, statuses=wanted_statuses, types=wanted_types)
        return [
            candidate
            for candidate in (self.everything() if found is None else self.changes.apply(found))
            if (recipient is None or candidate.is_addressed_to(recipient))
            and (not wanted_statuses or candidate.status in wanted_statuses)
            and (not wanted_types or candidate.type in wanted_types)
        ]

    def read_whole(self) -> None:
        """Let `everything` have all finished messages, of which it has only the newest where a table is large."""
        return None

    def fetch(self, ids: Sequence[str]) -> None:
        """Read the live messages with these ids at once, where each would be asked for by itself."""
        return None

    def stored_candidates(
        self, *, recipient: str | None, statuses: frozenset[str], types: frozenset[str]
    ) -> Sequence[Message] | None:
        """Return messages as stored, in stored order, among which are all that fit, as stored or by now.

        None where no look is quicker than one at every message.
        """
        return None

    def stored_naming(self, word: str) -> Sequence[Message] | None:
        """Return messages as stored among which are all that hold `word` in any of their values, as stored or by now.

        None as for `stored_candidates`.
        """
        return None

    def naming(self, word: str) -> Sequence[Message]:
        """Return live messages among which are all that hold `word` in any of their values; perhaps every message."""
        found = self.stored_naming(word)
        return self.everything() if found is None else self.changes.apply(found)

    def thread(self, request_id: str) -> list[Message]:
        """Return the live and archived messages that carry `request_id` or have it as message id, oldest first."""
        live = [message for message in self.naming(request_id) if carries(message, request_id)]
        there = {(message.message_id, message.created) for message in live}
        unique = {(message.message_id, message.created): message for message in self.archived_thread(request_id)}
        archived = [message for key, message in unique.items() if key not in there]
        return sorted([*archived, *live], key=lambda message: message.order_by()[1])  # others write times in other ways

    def add(self, message: Message) -> None:
        """Append a message.

        Raises:
            TeamError: `DUPLICATE_ID` when the id is already live or archived.
        """
        if (earlier := self.known(message.message_id)) is not None:
            raise duplicate_id(message.message_id, earlier)
        self.changes.added[message.message_id] = message

    def replace(self, old: Message, new: Message) -> None:
        """Put `new` where `old` is, which this transaction read and has not changed since.

        Only a message that this transaction added may get another id.

        Raises:
            LookupError: `old` is not live in the state of this transaction.
        """
        if self._is_added(old):
            del self.changes.added[old.message_id]
            self.changes.added[new.message_id] = new
            return
        stored = self._handle(old)
        self._origins.pop(old, None)
        self.changes.replaced[stored] = new
        self._origins[new] = stored

    def archive(self, agent: str, message: Message) -> None:
        """Append `message` to the history of `agent`; a no-op when it is already there, in whatever state."""
        mine = self._archiving.setdefault(message.message_id, set())
        if agent in mine or self.has_archived(message, agent):
            return
        self.changes.archived.append((agent, message))
        mine.add(agent)

    # guard: archived-before-removed
    def is_archived(self, message: Message) -> bool:
        """Return whether a provable archive copy of this message exists, this transaction's own included."""
        return bool(self._archiving.get(message.message_id)) or self.has_archived(message)

    def remove(self, message: Message, *, optional: bool = False) -> None:
        """Take a live message out of the queue. Archive it first: the queue must not be its only place.

        Args:
            optional: Leave it where it is without a word when a table of others does not let it go.
        """
        if self._is_added(message):
            self.changes.added.pop(message.message_id)
            return
        stored = self._handle(message)
        self._origins.pop(message, None)
        self.changes.replaced.pop(stored, None)
        self.changes.removed[stored] = None
        if optional:
            self.changes.optional.add(stored.message_id)

    def attach(self, data: bytes) -> str:
        """Store a large content beside the queue and return its reference, `attachments/<name>`."""
        reference = f"attachments/{hashlib.sha256(data).hexdigest()[:32]}.txt"
        self.changes.attachments[reference] = data
        return reference

    def push(self, agent: str, message: Message) -> None:
        """Append `message` as one JSON line to the inbox of `agent` (seed 003, file delivery)."""
        self.changes.pushed.append((agent, message))

    def record(self, action: str, **facts: Any) -> None:
        """Describe this transaction for the audit trail; required before a commit that writes."""
        self.changes.records.append((action, facts))

    def _is_added(self, message: Message) -> bool:
        return self.changes.added.get(message.message_id) is message

    def _handle(self, message: Message) -> Message:
        """Return the stored message behind `message`, which must be live and as this transaction has it now."""
        if message in self._origins:
            return self._origins[message]
        is_gone = message in self.changes.replaced or message in self.changes.removed
        if is_gone or self.stored_message(message.message_id) is not message:
            raise LookupError(message.message_id)
        return message


# Refusal of a write because a message is not any more what was read or shown before.


class ChangedError(TeamError):
    """A message that a write rests on is not what was read or shown; nothing was written.

    Attributes:
        now: The message as it is now, None where it is gone or was not looked for.
    """

    def __init__(self, request_id: str, now: Message | None) -> None:
        text = f"request {request_id} is not what was shown any more"
        hint = "Read it again before you answer."
        super().__init__(Code.INVALID_REQUEST_ID, text, hint, request_id=request_id, changed=True)
        self.now = now


class RefusedRowsError(TeamError):
    """A table of others refuses some of the rows as they were to be; nothing of the transaction was written.

    The same without them may succeed.

    Attributes:
        rows: Message id -> why its row cannot be changed, with the statement that mends it where one is known.
        pushes: Message id -> why it could not be put into the inbox of its agent.
        certain: Whether each of them alone is refused; else one of them ended the whole transaction.
    """

    def __init__(self, rows: Mapping[str, str], pushes: Mapping[str, str], *, certain: bool = True) -> None:
        refused = {**rows, **pushes}
        message_id, why = next(iter(refused.items()))
        more = f" and {len(refused) - 1:,} more" if len(refused) > 1 else ""
        text = f"{message_id}{more}: {why}; nothing was changed"
        super().__init__(Code.STORE_FAILED, text, "Mend the table, or the row; the others are not concerned.")
        self.rows = rows
        self.pushes = pushes
        self.certain = certain


def duplicate_id(message_id: str, earlier: Message) -> TeamError:
    """Make the error for an id by which `earlier` is known, which says something else."""
    whose = f"the {earlier.type} from {earlier.sender} to {', '.join(earlier.recipients)}"
    hint = "Use another id, or leave it out to have one made."
    return TeamError(Code.DUPLICATE_ID, f"message id {message_id} already stands for {whose}", hint)
