"""A transaction on a SQL team: what it reads, and which rows it keeps to itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime

from sqlalchemy import Connection, and_, or_, select, true
from sqlalchemy.sql import ColumnElement

from store.backends.buffered import BufferedTransaction
from store.backends.sql.dialect import Dialect
from store.backends.sql.ordering import State
from store.backends.sql.past import archived_messages
from store.backends.sql.reader import Reader
from store.backends.sql.rows import Entry
from store.backends.sql.tables import ARCHIVE, Shape
from store.config import TeamConfig
from store.message import Message
from store.names import ALL

_MANY = 200
"""After so many single looks for an id in one transaction, all ids are read at once."""


class SqlTransaction(BufferedTransaction):
    """See `store.team.Transaction`.

    When it is not `alone`, others run beside it: `select` and `get` keep their rows, `everything` is only a look.
    """

    def __init__(
        self,
        connection: Connection,
        dialect: Dialect,
        reader: Reader,
        shape: Shape,
        *,
        alone: bool,
        now: datetime,
        config: TeamConfig,
    ) -> None:
        super().__init__(now=now, config=config)
        self.connection = connection
        self._dialect = dialect
        self._reader = reader
        self.shape = shape
        self.alone = alone
        self._state: State | None = None
        self._entries: dict[str, Entry] = {}
        self._looks = 0
        self._archived_ids: dict[str, set[str]] | None = None

    def entry(self, message_id: str) -> Entry:
        """The row behind a stored message, as this transaction read it.

        Raises:
            LookupError: This transaction read no such row.
        """
        found = self._entries.get(message_id) or (self._state.entries.get(message_id) if self._state else None)
        if found is None:
            raise LookupError(message_id)
        return found

    @property
    def state(self) -> State:
        """All rows, read when first asked for."""
        if self._state is None:
            self._state = self._reader.state(self.connection, self.shape)
        return self._state

    def stored(self) -> Sequence[Message]:
        return self.state.messages

    def stored_message(self, message_id: str) -> Message | None:
        if message_id not in self._entries:
            if self.alone and (self._state is not None or self._looks_often()):
                return self.state.by_id.get(message_id)
            self._read(self.shape.messages.c.message_id == message_id)
        found = self._entries.get(message_id)
        return None if found is None else found.message

    def select(
        self,
        *,
        recipient: str | None = None,
        statuses: Iterable[str] = (),
        types: Iterable[str] = (),
        limit: int | None = None,
    ) -> list[Message]:
        wanted = frozenset(statuses), frozenset(types)
        if self.alone:
            return super().select(recipient=recipient, statuses=wanted[0], types=wanted[1], limit=limit)
        return self._keep_fitting(self._condition(recipient, *wanted), recipient, limit)

    def _keep_fitting(self, condition: ColumnElement[bool], recipient: str | None, limit: int | None) -> list[Message]:
        """Rows locked for this transaction: without a limit all that fit, awaiting others; with one, any free ones."""
        found: dict[str, Message] = {}
        messages = self.shape.messages
        while True:
            wanted = None if limit is None else limit - len(found)
            fresh = messages.c.message_id.not_in(list(found)) if found else true()
            read = self._read(condition & fresh, limit=wanted)
            fitting = [one for one in read if recipient is None or one.is_addressed_to(recipient)]
            found.update({one.message_id: one for one in fitting})
            if wanted is None or len(read) < wanted or len(found) >= (limit or 0):
                return list(found.values())

    def _condition(
        self, recipient: str | None, statuses: AbstractSet[str], types: AbstractSet[str]
    ) -> ColumnElement[bool]:
        columns = self.shape.messages.c
        fits: list[ColumnElement[bool]] = [columns.message_id.is_not(None)]
        if recipient is not None:
            several = columns.recipient.like("%,%")
            fits.append(or_(columns.recipient == recipient, columns.recipient == ALL, several))
        if statuses:
            fits.append(columns.status.in_(statuses))
        if types:
            fits.append(columns.message_type.in_(types))
        return and_(*fits)

    def _read(self, condition: ColumnElement[bool], *, limit: int | None = None) -> list[Message]:
        """Messages as they are now, oldest first; in claim mode their rows are kept for this transaction."""
        statement = self.shape.select_rows().where(condition)
        if not self.alone:
            age = self.shape.messages.c.get("created_at")
            if age is not None:
                statement = statement.order_by(self._dialect.by_age(age))
            statement = self._dialect.lock_rows(statement.limit(limit), self.shape, skip=limit is not None)
        entries = self._reader.alone(self.connection.execute(statement))
        self._entries.update({entry.row.message_id: entry for entry in entries})
        return [entry.message for entry in entries if entry.message is not None]

    def archived_message(self, message_id: str) -> Message | None:
        if self._looks_often() and message_id not in self._archives():
            return None
        return next(iter(self._archived(ARCHIVE.c.message_id == message_id)), None)

    def archived_thread(self, request_id: str) -> Iterable[Message]:
        return self._archived(or_(ARCHIVE.c.message_id == request_id, ARCHIVE.c.request_id == request_id))

    def archived_for(self, agent: str, message_id: str) -> bool:
        if self._looks_often():
            return agent in self._archives().get(message_id, ())
        there = select(ARCHIVE.c.n).where(ARCHIVE.c.agent == agent, ARCHIVE.c.message_id == message_id)
        return self.connection.execute(there).first() is not None

    def _looks_often(self) -> bool:
        """Whether reading all ids is cheaper than one more look; they cannot change while the lock is held."""
        self._looks += 1
        return self.alone and self._looks > _MANY

    def _archives(self) -> dict[str, set[str]]:
        """Message id -> agents that have it in their archive."""
        if self._archived_ids is None:
            self._archived_ids = {}
            for one in self.connection.execute(select(ARCHIVE.c.message_id, ARCHIVE.c.agent)):
                self._archived_ids.setdefault(one.message_id, set()).add(one.agent)
        return self._archived_ids

    def _archived(self, condition: ColumnElement[bool]) -> list[Message]:
        return archived_messages(self.connection, condition)
