"""A transaction on a SQL team: what it reads, and which rows it keeps to itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime

from team_console.store.backends.sql.engines.connection import Connection, Values
from team_console.store.backends.sql.engines.dialect import Dialect
from team_console.store.backends.sql.engines.statement import listed
from team_console.store.backends.sql.history import archived_messages
from team_console.store.backends.sql.ordering import State, in_order
from team_console.store.backends.sql.row_reader import RowReader
from team_console.store.backends.sql.rows import RowEntry, is_storable, storable
from team_console.store.backends.sql.settings import Settings
from team_console.store.backends.sql.shape import Shape
from team_console.store.backends.sql.tables import ARCHIVE, MESSAGES, NOTES
from team_console.store.contract.transaction import Enough, Transaction
from team_console.store.model.message import Message
from team_console.store.model.names import ALL, spellings
from team_console.store.model.recorded import RecordedFacts
from team_console.store.protocol.reading import carries
from team_console.store.settings.team_config import TeamConfig

MAY_ADDRESS = "(recipient IN (:recipient, :apart, :decomposed) OR recipient = :everybody OR recipient LIKE '%,%')"
"""Rows among which are all that are for somebody; the values are those of `to_recipient`."""


def to_recipient(recipient: str) -> Values:
    """The values of `MAY_ADDRESS`."""
    written = dict(zip(("recipient", "apart", "decomposed"), spellings(recipient), strict=True))
    return {**written, "everybody": ALL}


_CREATED = f"{MESSAGES}.created_at"
"""With its table: alone it would also mean the column that a select gives, which is a text."""
_TYPE = "COALESCE(NULLIF(CAST(message_type AS TEXT), ''), 'message')"
_OWNERS = f"SELECT message_id, agent FROM {ARCHIVE}"
_PLAIN_ID = re.compile(r"[A-Za-z0-9._:@+-]+").fullmatch
"""An id that JSON has byte for byte, but for `\\u00..`; what is special in a pattern of LIKE only finds more."""
_FEW, _MANY = 4, 200
"""After so many single looks for ids in one transaction, those of its messages, or all there are, are read at once."""
_CHUNK = 500
_BESIDE = 20
"""So many more messages than are wanted are asked for at once: other workers may be just being given some."""


class SqlTransaction(Transaction):
    """See `team_console.store.contract.team.Transaction`.

    When it is not `alone`, others run beside it: `reserve` and `get` keep their rows, `everything` is only a look.
    """

    def __init__(
        self,
        connection: Connection,
        dialect: Dialect,
        reader: RowReader,
        shape: Shape,
        *,
        alone: bool,
        now: datetime,
        config: TeamConfig,
        settings: Settings,
        recorded: Callable[[], RecordedFacts],
    ) -> None:
        super().__init__(now=now, config=config, recorded=recorded)
        self._settings = settings
        self.connection = connection
        self.dialect = dialect
        self._reader = reader
        self.shape = shape
        self.alone = alone
        self.to_record: bytes | None = None
        """Text of settings that this transaction is the first to put on the audit trail."""
        self._state: State | None = None
        self._entries: dict[str, RowEntry] = {}
        self._looks = 0
        self._archives: dict[str, AbstractSet[str]] = {}
        self._all_archives = False

    def entry(self, message: Message) -> RowEntry:
        """The row behind a stored message, as this transaction read it.

        Raises:
            LookupError: This transaction read no such row.
        """
        message_id = message.message_id
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

    def prefetch(self, ids: Iterable[str]) -> None:
        wanted = sorted(filter(is_storable, set(ids) - self._entries.keys()))
        for start in range(0, len(wanted), _CHUNK):
            some, values = listed("id", wanted[start : start + _CHUNK])
            self._read(f"{self.shape.id} IN {some}", values, order=self.shape.id)

    def candidates(self, types: frozenset[str]) -> Sequence[Message]:
        """Rows of these types alone, while no more was read; with a row of others all, among which it has its place."""
        is_whole = self._state is not None or "message_type" not in self.shape.types
        if is_whole or not (types and self.alone):
            return self.everything()
        some, values = listed("type", types)
        entries = self._understood(self.shape.rows(f"{_TYPE} IN {some}"), values)
        if any(entry.arrival is None for entry in entries):
            return self.everything()
        return self.changes.apply(in_order(entries))

    def asking(self, request_id: str) -> Sequence[Message]:
        """Rows alone whose payload, or our note on it, has the id in its text, or an escape that could hide it."""
        is_whole = self._state is not None or "payload" not in self.shape.types or self.shape.has_bytes("payload")
        if is_whole or not self.alone or not _PLAIN_ID(request_id):
            return self.everything()
        texts = [f"CAST({MESSAGES}.payload AS TEXT)", *([f"{NOTES}.note"] if self.shape.has_ours else [])]
        condition = " OR ".join(f"{text} LIKE :id OR {text} LIKE :escape ESCAPE '!'" for text in texts)
        values = {"id": f"%{request_id}%", "escape": r"%\u00%"}
        entries = self._understood(self.shape.rows(condition), values)
        return self.changes.apply([entry.message for entry in entries if entry.message is not None])

    def stored_named(self, message_id: str) -> Sequence[Message]:
        message = self._stored_message(message_id)
        return () if message is None else (message,)

    def stored_copies(self, message: Message) -> int:
        return 1

    def _stored_message(self, message_id: str) -> Message | None:
        if message_id not in self._entries:
            if self.alone and (self._state is not None or self._often()):
                return self.state.by_id.get(message_id)
            if not is_storable(message_id):
                return None
            self._read(f"{self.shape.id} = :message_id", {"message_id": message_id})
        found = self._entries.get(message_id)
        return None if found is None else found.message

    def reserve(self, recipient: str, statuses: Iterable[str], *, enough: Enough | None = None) -> list[Message]:
        """Rows locked for this transaction: all that fit, awaiting others; when `enough` is said, those free of it."""
        if self.alone:
            return super().reserve(recipient, statuses)
        some, values = listed("status", frozenset(statuses))
        condition, values = f"{MAY_ADDRESS} AND status IN {some}", {**to_recipient(recipient), **values}
        read = self._read(condition, values) if enough is None else self._read_enough(condition, values, enough)
        return [message for message in read if message.is_addressed_to(recipient)]

    def _read_enough(self, condition: str, values: Values, enough: Enough) -> list[Message]:
        """Those of the ids that are free, in their order; what does not fit any more makes room for the next."""
        found: list[Message] = []
        ids = list(enough.ids)
        while ids and len(found) < enough.count:
            missing = enough.count - len(found)
            chunk = ids[: min(_CHUNK, 2 * missing + _BESIDE)]
            some, named = listed("id", chunk)
            cases = " ".join(f"WHEN :{name} THEN {number}" for number, name in enumerate(named))
            read = self._read(
                f"{condition} AND {self.shape.id} IN {some}",
                {**values, **named},
                order=f"CASE {self.shape.id} {cases} END",
                limit=missing,
            )
            found += [message for message in read if enough.fits(message)]
            settled = read[-1].message_id if len(read) == missing else chunk[-1]
            ids = ids[ids.index(settled) + 1 :]
        return found

    def _read(self, condition: str, values: Values, *, order: str = "", limit: int | None = None) -> list[Message]:
        """Messages as they are now, oldest first; when others run beside, their rows are kept for this transaction.

        Everybody who waits for rows takes them in one of two orders, and those of one inbox always in the same: no
        two can wait for each other. With a limit nobody waits, and the order is the caller's.
        """
        statement = self.shape.rows(condition)
        if not self.alone:
            by_age = self.dialect.by_age(_CREATED) if "created_at" in self.shape.types else self.shape.id
            statement += f" ORDER BY {order or by_age}"
            statement += "" if limit is None else " LIMIT :limit"
            statement += self.dialect.keeping(MESSAGES, skip=limit is not None)
        entries = self._understood(statement, {**values, "limit": limit})
        if order:
            return [entry.message for entry in entries if entry.message is not None]
        return in_order(entries)  # of one millisecond, as they came

    def _understood(self, statement: str, values: Values) -> list[RowEntry]:
        entries = self._reader.alone(self.connection.rows(statement, values))
        self._entries.update({entry.row.message_id: entry for entry in entries if entry.message is not None})
        return entries

    def stored_settings(self) -> str:
        return self._settings.text(self.connection, self.shape)

    def archived_message(self, message_id: str) -> Message | None:
        if not self._owners(message_id):
            return None
        condition = "message_id = :message_id"
        return next(iter(archived_messages(self.connection, condition, {"message_id": message_id})), None)

    def archived_thread(self, request_id: str) -> Iterable[Message]:
        either = "message_id = :request_id OR request_id = :request_id"
        found = archived_messages(self.connection, either, {"request_id": storable(request_id)})
        return [message for message in found if carries(message, request_id)]  # another's may be stored as this one is

    def archived_for(self, agent: str, message: Message) -> bool:
        return agent in self._owners(message.message_id)

    def archived_anywhere(self, message: Message) -> bool:
        return bool(self._owners(message.message_id))

    def is_archived(self, message: Message) -> bool:
        """Never for a row of another program: no archive of ours stands for it, so that it does not go by itself."""
        try:
            if self.entry(self._origins.get(message, message)).arrival is None:
                return False
        except LookupError:
            pass
        return super().is_archived(message)

    def _owners(self, message_id: str) -> AbstractSet[str]:
        """The agents with this message in their archive."""
        if message_id not in self._archives and is_storable(message_id):
            self._look_up(message_id)
        return self._archives.get(message_id, frozenset())

    def _look_up(self, message_id: str) -> None:
        """Once messages of this transaction are asked for one after the other, all of them; at last all there are."""
        if self._all_archives:
            return
        mine = self._entries.keys() | (self._state.by_id.keys() if self._state is not None and self.alone else set())
        often = self._often()
        if message_id in mine and self._looks > _FEW:
            self._load(mine - self._archives.keys())
        elif often and self.alone:
            self._all_archives = True
            self._note_archives(self.connection.rows(_OWNERS))
        else:
            self._load({message_id})

    def _load(self, ids: AbstractSet[str]) -> None:
        wanted = sorted(ids)
        self._archives.update(dict.fromkeys(wanted, frozenset()))
        self._note_archives(self.connection.rows_among(f"{_OWNERS} WHERE message_id IN", wanted))

    def _note_archives(self, owners: Iterable[Sequence[str]]) -> None:
        for message_id, agent in owners:
            self._archives[message_id] = self._archives.get(message_id, frozenset()) | {agent}

    def _often(self) -> bool:
        """Whether reading everything is cheaper by now than one more look."""
        self._looks += 1
        return self._looks > _MANY
