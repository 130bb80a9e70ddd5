"""The interface of a team on disk or in SQL: what every backend promises, whichever way it stores messages.

First what it speaks in: lines of the audit trail with their seals, and who is present. Last its attachments: contents
so large that they are stored beside the queue.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from team_console.store.contract.snapshot import PRIVATE, FinishedCounts, Snapshot
from team_console.store.model.clock import Clock, to_text
from team_console.store.model.errors import Code, Problem, TeamError
from team_console.store.model.message import Fields, Message
from team_console.store.protocol.foreign_fields import mapping_in
from team_console.store.settings.in_force import SettingsInForce, text_digest
from team_console.store.settings.team_config import TeamConfig

if TYPE_CHECKING:
    from team_console.store.contract.transaction import Transaction


def opened_read_only(location: str) -> TeamError:
    """Return the refusal to write to a team that was opened read-only, for whoever writes to raise."""
    return TeamError(Code.READ_ONLY, f"{location} is open read-only", "Open it without --read-only.")


# A line of the audit trail, and the seal that a team with a key closes it by.

_SEAL_PURPOSE = b"team-console audit line\n"
"""What the key is used for here, so that no seal can be taken for the signature of a message."""
_SEAL_FORM = r"(?P<key>[0-9a-f]{8})-[0-9a-f]{64}"


class LineSeal(StrEnum):
    """What the seal of an audit line tells."""

    UNKNOWN = ""
    """The team has no key, or none that can be read here."""
    SEALED = "sealed"
    UNSEALED = "unsealed"
    """There is no seal, or one of another key."""
    BROKEN = "broken"
    """The seal does not fit: the line was changed after it was written."""


def seal(key: bytes, line: bytes) -> str:
    """Return the seal of an audit line: eight hexadecimal digits that name the key, and 64 of HMAC-SHA256."""
    return f"{key_name(key)}-{hmac.new(key, _SEAL_PURPOSE + line, hashlib.sha256).hexdigest()}"


def key_name(key: bytes) -> str:
    """Return a name that tells the key from others without revealing it."""
    return hashlib.sha256(_SEAL_PURPOSE + key).hexdigest()[:8]


def judge_seal(key: bytes, line: bytes, found: object) -> LineSeal:
    """Return the state of `found`, the seal on an audit line."""
    if not key:
        return LineSeal.UNKNOWN
    match = re.fullmatch(_SEAL_FORM, found) if isinstance(found, str) else None
    if match is None or match["key"] != key_name(key):
        return LineSeal.UNSEALED
    return LineSeal.SEALED if hmac.compare_digest(match.string, seal(key, line)) else LineSeal.BROKEN


class AuditLine(Struct, frozen=True):
    """One write action on record.

    Attributes:
        seq: Position in the chain, from 1.
        at: Timestamp text.
        actor: Who acted.
        action: The verb, such as `send` or `approve`.
        facts: Ids, old and new states, results.
        intact: Whether the hash chain, and the seals of a team with a key, hold up to and including this line.
        seal: What the seal of this line tells.
    """

    seq: int
    at: str
    actor: str
    action: str
    facts: Fields
    intact: bool = True
    seal: LineSeal = LineSeal.UNKNOWN


# Who is present: consoles of humans, and processes that wait for an answer, each under a name of its own.


class Presence(StrEnum):
    """As what a process is present."""

    CONSOLE = "console"
    """A human at a console that may write and answer."""
    ASKER = "asker"
    """A process that waits for the answer to a request and will carry it out."""


class Attendance(Struct, frozen=True):
    """Who is present at one moment.

    Attributes:
        names: Names of processes that live.
        doubtful: Names of which it is not known: not to be looked at for want of permission, or late to say so.
        certain: Whether every other name is that of a process which is gone; False when nothing could be found out.
    """

    names: frozenset[str] = frozenset()
    doubtful: frozenset[str] = frozenset()
    certain: bool = True

    def is_gone(self, name: str) -> bool:
        """Return whether the process that announced `name` has certainly ended."""
        return self.certain and name not in self.names and name not in self.doubtful


UNKNOWN_ATTENDANCE = Attendance(certain=False)
"""What a team says that cannot tell who is present."""
_PRESENCE_NAME = r"[0-9a-f]{24}"


def new_presence_name() -> str:
    """Return a name that nobody else announces."""
    return os.urandom(12).hex()


def is_presence_name(name: object) -> bool:
    """Return whether `name`, which may come from a message, has the form of an announced name."""
    return isinstance(name, str) and re.fullmatch(_PRESENCE_NAME, name) is not None


class Page(Struct, frozen=True):
    """A stretch of history, newest first; `cursor` continues it, None at the end."""

    messages: tuple[Message, ...]
    cursor: str | None
    problems: tuple[Problem, ...] = ()


class WatchState(StrEnum):
    """How changes are noticed at the moment."""

    LIVE = "live"
    POLLING = "polling"
    STALLED = "stalled"


STARTING = "starting"
"""Reason of the first hint of a watch that cannot say yet how it will go on; nobody needs to be told."""


class WatchHint(Struct, frozen=True):
    """Look again: something may have changed, or the way of watching did (`reason` says why).

    Attributes:
        beside: Whether only files beside the queue changed, such as the lock file, so that no message came or went.
        notes: Whether notes on sessions of clients changed.
    """

    state: WatchState
    reason: str = ""
    beside: bool = False
    notes: bool = False


MOST_COUNTED = 1_000
"""So many messages that were delivered to an agent are counted when it asks for its mail; it may be more."""


class Addressed(Struct, frozen=True):
    """Live messages for one agent, found without a lock.

    Attributes:
        messages: In stored order, whatever their status is.
        is_empty: Whether the queue holds no message at all, for nobody.
        damaged: Entries of the queue that cannot be read, so that nobody knows whom they are for.
        is_complete: Whether nothing is missing or damaged for certain: one of us left the queue as it is.
        pushed: How many were delivered to it and not acknowledged, where `messages` has only some; else None.
    """

    messages: tuple[Message, ...] = ()
    is_empty: bool = False
    damaged: int = 0
    is_complete: bool = False
    pushed: int | None = None


Progress = Callable[[int, int], bool]
"""Told now and then how much of a long reading is done, of how much in all; returns False to stop it."""


class Team(ABC):
    """A team that can be read without a lock and written in exclusive, atomic transactions."""

    location: str
    """The location as the user may give it again with `-t`."""
    root: Path | None
    """The folder or file on disk, None when there is none."""
    read_only: bool
    """Opened so that nothing is ever locked, created or written."""
    clock: Clock
    kind: str
    """The name of its backend, such as `yaml`, `sql` or `claude`."""
    look_wait: float = 10.0
    """Seconds that a look waits for a store which another program keeps to itself (decision D7)."""
    writes_only_changes: bool = False
    """Whether a write costs what it changes, rather than the whole store."""

    @property
    def folder(self) -> Path | None:
        """The folder on disk that has it, None when there is none."""
        return self.root if self.root is None or self.root.is_dir() else self.root.parent

    @property
    def has_trail(self) -> bool:
        """Whether what is done can be put on record without making anything for it first."""
        return True

    @abstractmethod
    def snapshot(self, *, progress: Progress | None = None) -> Snapshot:
        """Read the present state without a lock and without writing anything.

        Never raises for a damaged, missing or unreadable store: that is the snapshot's `condition` and
        `problems`. `progress(done, total)` is called now and then during a long first read; it returns
        False to stop, which raises `InterruptedError`.
        """

    def whole(self) -> Snapshot:
        """Read as `snapshot`, with all finished messages, of which a `snapshot` of a large table has only the newest.

        Its time grows with all that lies there, so only what looks at every message asks for it.
        """
        return self.snapshot()

    def count_finished(self) -> FinishedCounts | None:
        """Count finished messages; None where a `snapshot` has all, or they cannot be read. Never raises."""
        return None

    def older(self, *, cursor: str | None = None, limit: int = 200) -> Page:
        """Return a page as `history` does, with the finished messages that a `snapshot` leaves out."""
        return self.history(cursor=cursor, limit=limit)

    def used_bytes(self) -> int:
        """Return how many bytes of the disk hold something; 0 where that is not known."""
        return 0

    def obstacle(self) -> str:
        """Return why this process may not write here now, as a sentence; empty when nothing is known to forbid it.

        Looks at permissions only: takes no lock and makes nothing, so it may be asked at each look.
        """
        return ""

    def addressed(self, agent: str) -> Addressed | None:
        """Return the live messages for `agent`, found without a lock and without a look at what is for others.

        None when it takes a transaction to tell: something is to be taken in, finished or repaired first, or this
        kind of team has no quicker way.
        """
        return None

    def reworded(self) -> frozenset[str]:
        """Return the ids of messages that say something else than the audit trail has of them; none where it has no
        texts.
        """
        return frozenset()

    @abstractmethod
    def transaction(self, *, actor: str, action: str, wait: float) -> AbstractContextManager[Transaction]:
        """Enter exclusive access, waiting at most `wait` seconds.

        Raises:
            TeamError: `READ_ONLY`, `STORE_LOCKED` (with the holder) or `STORE_UNREADABLE` on entering;
                `STORE_FAILED` when writing failed, with the store as it was before.
        """

    @abstractmethod
    def history(self, *, agent: str | None = None, cursor: str | None = None, limit: int = 200) -> Page:
        """Return archived messages newest first, of one agent or of all (each id once)."""

    def archived(self, *words: str) -> list[Message]:
        """Return the archived messages with one of the `words`, ids of any kind, in their text, and perhaps others.

        Each message id comes once, in no certain order. Of many words, ask for all at once.
        """
        messages: list[Message] = []
        cursor: str | None = None
        while True:
            page = self.history(cursor=cursor, limit=1000)
            messages += page.messages
            cursor = page.cursor
            if cursor is None:
                return messages

    @abstractmethod
    def audit(self, *, limit: int = 200) -> list[AuditLine]:
        """Return the last `limit` audit lines, newest first."""

    @abstractmethod
    def attachment(self, reference: str) -> bytes:
        """Return the bytes behind a reference made by `attach`.

        Raises:
            TeamError: `INVALID_FIELD` for a reference that leaves the store or does not exist.
        """

    @abstractmethod
    def watch(self) -> AsyncIterator[WatchHint]:
        """Yield a hint at once, whenever something may have changed, and when the way of watching changes.

        Works for a store that does not exist yet, survives its removal, and never raises for what the
        file system does: it degrades to polling and says so.
        """

    @abstractmethod
    def settings_in_force(self) -> SettingsInForce:
        """Return the team's settings as they are now; those in force before while they are lost."""

    def config(self) -> TeamConfig:
        """Return the team's settings as they are now.

        Raises:
            TeamError: `STORE_UNREADABLE` naming file, line and key.
        """
        return self.settings_in_force().usable_config()

    def delete_archived(self, *, before: datetime, actor: str, wait: float) -> int:
        """Delete archived messages created before `before` for good; returns how many ids are gone.

        Raises:
            TeamError: As for `transaction`.
        """
        with self.transaction(actor=actor, action="delete_archived", wait=wait) as tx:
            facts = tx.delete_archived(before)
            if facts:
                tx.record("delete_archived", before=to_text(before), **facts)
        return int(facts.get("count", 0))

    def restore_settings(self, *, actor: str, wait: float) -> Problem | None:
        """Put settings that were in force and are lost back from the audit trail; what was done, None for nothing.

        Raises:
            TeamError: As for `transaction`.
        """
        if not self.config().lost:
            return None
        with self.transaction(actor=actor, action="restore_settings", wait=wait) as tx:
            lost = tx.in_force
            if not lost.config.lost or lost.text_in_force is None:
                return None
            kept = tx.put_back(lost.text_in_force)
            tx.record("restore_settings", sha256=text_digest(lost.text_in_force), kept=kept)
        text = "the settings were put back from the audit trail"
        if kept:
            text += f"; what was there is kept as {kept}"
        return Problem("SETTINGS_RESTORED", "warning", "the settings", text)

    def accept_settings(self, *, actor: str, wait: float, signed: Mapping[str, object] = {}) -> Problem | None:
        """Take the settings as they are for those in force from now on; what was done, None for nothing.

        Args:
            signed: What the audit trail keeps of the signature of a human who confirms them, the `sha256` of the text
                among it; empty where none is needed.

        Raises:
            TeamError: `STORE_UNREADABLE` when they cannot be understood, `NOT_PERMITTED` when they are not what was
                signed, or as for `transaction`.
        """
        if not self.config().lost:
            return None
        with self.transaction(actor=actor, action="accept_settings", wait=wait) as tx:
            if not tx.in_force.config.lost:
                return None
            tx.to_record = tx.in_force.text_to_confirm(signed)
            tx.record("accept_settings", **{"sha256": text_digest(tx.to_record), **signed})
        return Problem("SETTINGS_ACCEPTED", "warning", "the settings", "the settings hold as they are now")

    def announce(self, presence: Presence, name: str) -> AbstractContextManager[bool]:
        """Be present under `name` as long as the block runs and the process lives; yields whether it is announced.

        Neither a message nor a change of the team: no lock is waited for, and nobody is told.
        """
        return nullcontext(False)

    def attendance(self, presence: Presence) -> Attendance:
        """Return who is present now; never raises, waits or writes."""
        return UNKNOWN_ATTENDANCE

    def session_notes(self) -> tuple[Message, ...]:
        """Return the notes in which sessions of clients say what they do now, as messages, oldest first.

        They lie beside the messages, where this kind of team has a folder for that. Never raises, waits or writes.
        """
        return ()

    def places(self) -> Mapping[str, str]:
        """Return paths by what they are, for whoever has to see at little cost whether anything changed.

        `queue`, `drop` and `settings` of a team in a folder, `database` and `log` of one in a file,
        and `presence`; none of a team on a server.
        """
        return {}

    def close(self) -> None:
        """Release what the backend holds open."""
        return None


def attachment_of(message: Message) -> str | None:
    """Return the reference of the content stored beside the queue, None when all of it is in the record."""
    place = mapping_in(message.payload, "attachment").get("path")
    return place if isinstance(place, str) else None


def attached_content(team: Team, message: Message) -> str | None:
    """Return the content stored beside the queue, of which the message holds only the beginning; None when it holds
    all.

    Raises:
        TeamError: `INVALID_FIELD` when the attachment is missing, or is not what was attached.
    """
    reference = attachment_of(message)
    if reference is None:
        return None
    data = team.attachment(reference)
    told = mapping_in(message.payload, "attachment")
    # By its number of bytes whoever hands it out says how much fits into one answer.
    if told.get("bytes") not in (None, len(data)) or told.get("sha256") not in (None, hashlib.sha256(data).hexdigest()):
        text = f"{message.message_id}: {reference} is not the content that was attached"
        raise TeamError(Code.INVALID_FIELD, text, f"Ask {message.sender} to send it again.")
    return data.decode("utf-8", "replace")


def attachment_problems(team: Team, messages: Iterable[Message]) -> Iterator[Problem]:
    """Yield a problem for each attachment that is missing or is not what was attached, each told once."""
    seen: set[tuple[object, object]] = set()
    for message in messages:
        place = mapping_in(message.payload, "attachment")
        key = str(place.get("path")), str(place.get("sha256"))
        if not place or key in seen:
            continue
        seen.add(key)
        try:
            attached_content(team, message)
        except TeamError as error:
            if not error.facts.get(PRIVATE):
                hint = error.hint or f"Ask {message.sender} to send it again."
                yield Problem("ATTACHMENT_LOST", "error", message.message_id, error.message, hint)
