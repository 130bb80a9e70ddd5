"""The part of a transaction that is the same in every backend: buffered writes, reads that see them."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct, field

from store.config import TeamConfig
from store.errors import Code, TeamError
from store.message import Message
from store.protocol.reading import reading
from store.team import Problem


class Changes(Struct):
    """What a transaction wants to make durable, in the order of its calls.

    Attributes:
        added: New messages.
        replaced: Message id -> (as stored, as wanted).
        removed: Message id -> as stored.
        archived, pushed: (agent, message) pairs.
        attachments: Reference -> bytes.
        records: (action, facts) pairs for the audit trail.
        settings: The text of new settings, None to keep those there are.
    """

    added: dict[str, Message] = field(default_factory=dict)
    replaced: dict[str, tuple[Message, Message]] = field(default_factory=dict)
    removed: dict[str, Message] = field(default_factory=dict)
    archived: list[tuple[str, Message]] = field(default_factory=list)
    pushed: list[tuple[str, Message]] = field(default_factory=list)
    attachments: dict[str, bytes] = field(default_factory=dict)
    records: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    settings: str | None = None

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to write; audit records alone are something."""
        queue = self.added or self.replaced or self.removed
        return not (queue or self.archived or self.pushed or self.records or self.settings is not None)

    def apply(self, messages: Iterable[Message]) -> tuple[Message, ...]:
        """The queue after these changes."""
        kept = (
            self.replaced[one.message_id][1] if one.message_id in self.replaced else one
            for one in messages
            if one.message_id not in self.removed
        )
        return (*kept, *self.added.values())


def carries(message: Message, request_id: str) -> bool:
    """Whether `message` belongs to the thread `request_id`: by its own id, its payload or its sprint body."""
    return request_id in (message.message_id, message.request_id) or reading(message).request_id == request_id


class BufferedTransaction(ABC):
    """A `Transaction` over four questions that a backend answers about what is stored."""

    alone = True

    def __init__(self, *, now: datetime, config: TeamConfig) -> None:
        self.now = now
        self.config = config
        self.notices: list[Problem] = []
        self.changes = Changes()
        self._archiving: dict[str, set[str]] = {}

    @abstractmethod
    def stored(self) -> Sequence[Message]:
        """All live messages as stored."""

    @abstractmethod
    def stored_message(self, message_id: str) -> Message | None:
        """The live message with this id, as stored."""

    @abstractmethod
    def archived_message(self, message_id: str) -> Message | None:
        """An archived copy of this id."""

    @abstractmethod
    def archived_thread(self, request_id: str) -> Iterable[Message]:
        """Archived messages that carry this request id or have it as message id."""

    @abstractmethod
    def archived_for(self, agent: str, message_id: str) -> bool:
        """Whether the archive of `agent` holds a whole copy of this id."""

    @abstractmethod
    def stored_settings(self) -> str:
        """The text of the settings as stored."""

    def settings(self) -> str:
        return self.stored_settings() if self.changes.settings is None else self.changes.settings

    def configure(self, text: str) -> None:
        self.changes.settings = text

    def finish(self) -> Changes | None:
        """What to commit, or None when nothing was written.

        Raises:
            RuntimeError: Something was written and `record` was never called; a programming error.
        """
        if self.changes.is_empty:
            return None
        if not self.changes.records:
            raise RuntimeError("a transaction that writes must record what it did")
        return self.changes

    def everything(self) -> Sequence[Message]:
        stored = self.stored()
        changes = self.changes
        return stored if not (changes.added or changes.replaced or changes.removed) else changes.apply(stored)

    def get(self, message_id: str) -> Message | None:
        changes = self.changes
        if message_id in changes.added:
            return changes.added[message_id]
        if message_id in changes.removed:
            return None
        if message_id in changes.replaced:
            return changes.replaced[message_id][1]
        return self.stored_message(message_id)

    def prefetch(self, ids: Iterable[str]) -> None:
        return None

    def known(self, message_id: str) -> Message | None:
        return self.get(message_id) or self.archived_message(message_id)

    def select(
        self,
        *,
        recipient: str | None = None,
        statuses: Iterable[str] = (),
        types: Iterable[str] = (),
        limit: int | None = None,
    ) -> list[Message]:
        wanted_statuses, wanted_types = frozenset(statuses), frozenset(types)
        found: list[Message] = []
        for one in self.candidates(wanted_types):
            if limit is not None and len(found) >= limit:
                break
            if (
                (recipient is None or one.is_addressed_to(recipient))
                and (not wanted_statuses or one.status in wanted_statuses)
                and (not wanted_types or one.type in wanted_types)
            ):
                found.append(one)
        return found

    def candidates(self, types: frozenset[str]) -> Sequence[Message]:
        """Live messages among which are all of these types, in stored order; every message when none is named."""
        return self.everything()

    def thread(self, request_id: str) -> list[Message]:
        live = [one for one in self.everything() if carries(one, request_id)]
        ids = {one.message_id for one in live}
        unique = {one.message_id: one for one in self.archived_thread(request_id)}
        archived = [one for one in unique.values() if one.message_id not in ids]
        return sorted([*archived, *live], key=lambda one: one.created)

    def add(self, message: Message) -> None:
        if self.known(message.message_id) is not None:
            raise TeamError(
                Code.DUPLICATE_ID,
                f"message id {message.message_id} is already taken",
                "Leave the id out to have one made, or repeat the send with the same content.",
            )
        self.changes.added[message.message_id] = message

    def replace(self, old: Message, new: Message) -> None:
        if self.get(old.message_id) is not old or new.message_id != old.message_id:
            raise LookupError(old.message_id)
        if old.message_id in self.changes.added:
            self.changes.added[old.message_id] = new
            return
        first = self.changes.replaced.get(old.message_id, (old, new))[0]
        self.changes.replaced[old.message_id] = (first, new)

    def archive(self, agent: str, message: Message) -> None:
        agents = self._archiving.setdefault(message.message_id, set())
        if agent not in agents and not self.archived_for(agent, message.message_id):
            self.changes.archived.append((agent, message))
            agents.add(agent)

    def is_archived(self, message_id: str) -> bool:
        return bool(self._archiving.get(message_id)) or self.archived_message(message_id) is not None

    def remove(self, message: Message) -> None:
        if self.get(message.message_id) is not message:
            raise LookupError(message.message_id)
        if self.changes.added.pop(message.message_id, None) is not None:
            return
        first, _ = self.changes.replaced.pop(message.message_id, (message, message))
        self.changes.removed[message.message_id] = first

    def attach(self, data: bytes) -> str:
        reference = f"attachments/{hashlib.sha256(data).hexdigest()[:32]}.txt"
        self.changes.attachments[reference] = data
        return reference

    def push(self, agent: str, message: Message) -> None:
        self.changes.pushed.append((agent, message))

    def record(self, action: str, **facts: Any) -> None:
        self.changes.records.append((action, facts))
