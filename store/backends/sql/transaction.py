"""A transaction on a SQL team: which rows it reads, and how its changes become rows of all tables.

It reads single rows while that is enough, and all of them once somebody asks for more. It begins with what a reader of
messages asks for, then the archives; what is written, and in which order, is `SqlTransaction.write`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from pathlib import Path
from typing import Any

from team_console.store.backends.sql.audit_trail import AuditRow, audit_lines, records_to_write
from team_console.store.backends.sql.connection import (
    LONGEST_SOUGHT,
    Connection,
    TransactionLostError,
    Values,
    in_list,
    insert,
)
from team_console.store.backends.sql.history import (
    archived_messages,
    archived_row,
    count_rows,
    parse_archived,
    rows_on_record,
)
from team_console.store.backends.sql.row_reader import FACT_KINDS, RowReader, RowsState, is_large, messages_in_order
from team_console.store.backends.sql.row_writer import RowWriter
from team_console.store.backends.sql.rows import (
    RowEntry,
    column_text,
    dump,
    given_payload,
    is_storable,
    json_value_of,
    payload_text,
    storable,
)
from team_console.store.backends.sql.schema import (
    ARCHIVE,
    ATTACHMENTS,
    AUDIT,
    INBOX,
    MESSAGES,
    NOTES,
    NUMBERS_LOST,
    STATE,
    Shape,
    find_inbox,
    read_numbers,
)
from team_console.store.backends.sql.settings import (
    FILE,
    TABLE,
    SettingsRows,
    restore_file,
    write_pointer,
    write_settings,
)
from team_console.store.contract.transaction import Changes, RefusedRowsError, Transaction
from team_console.store.model.clock import to_text
from team_console.store.model.errors import Code, Problem, TeamError
from team_console.store.model.message import ENVELOPE_KEYS, STATE_KEYS, FieldDict, Fields, Message, ids_of, is_same
from team_console.store.model.names import ALL, check_name, spellings
from team_console.store.model.recorded_facts import ROWS_AFTER, TRAIL_LOST, RecordedFacts
from team_console.store.protocol.parsing import carries
from team_console.store.settings.in_force import SettingsInForce, settings_record, text_digest


def addressed_rows(shape: Shape, condition: str) -> str:
    """Return the condition for rows addressed to somebody that fit `condition`, too; its values are those of
    `addressed_values` and of `condition`.

    By name and among others are two selects, each answered by an index. `condition` is repeated behind them: a database
    that waited for a row's lock tests it again there.
    """
    ids = f"SELECT message_id FROM {MESSAGES} WHERE"
    named = "recipient IN (:recipient, :apart, :decomposed, :everybody)"
    either = f"{ids} {named} AND {condition} UNION ALL {ids} {shape.group_condition} AND {condition}"
    return f"{MESSAGES}.message_id IN ({either}) AND {condition}"


def addressed_values(recipient: str) -> Values:
    """Return the values of `addressed_rows`: the name in each way in which Unicode lets it be written."""
    written = dict(zip(("recipient", "apart", "decomposed"), spellings(recipient), strict=True))
    return {**written, "everybody": ALL}


_KIND_OR_MESSAGE = "COALESCE(NULLIF(CAST(message_type AS TEXT), ''), 'message')"
"""The kind of a row in SQL; a row without one is a `message`."""
_PLAIN_ID = re.compile(r"[A-Za-z0-9._:@+-]+").fullmatch
"""An id that JSON has byte for byte, but for `\\u00..`; what is special in a pattern of LIKE only finds more."""
_TIDY_EVERY = 5
"""How many times `active_messages_max` messages are added or archived before the queue is tidied again."""


def _says_same(found: Any, given: Any) -> bool:
    """Return whether a column says what it was given; a database may write JSON in another way."""
    return bool(found == given) or (
        found is not None and given is not None and json_value_of(found) == json_value_of(given)
    )


def _is_same_message(found: Any, given: Any) -> bool:
    """Return whether two records as JSON are of one message, however far it was on its way in each of them."""
    told, wanted = json_value_of(found), json_value_of(given)
    if not (isinstance(told, dict) and isinstance(wanted, dict)):
        return False
    # guard: pushed-again-is-the-same-message
    keys = (told.keys() | wanted.keys()) - set(STATE_KEYS)
    return all(told.get(key) == wanted.get(key) for key in keys)


class SqlTransaction(Transaction):
    """See `team_console.store.contract.transaction.Transaction`.

    Attributes:
        newly_refused: Statuses that the table was seen to refuse in this transaction.
    """

    def __init__(
        self,
        connection: Connection,
        shape: Shape,
        reader: RowReader,
        inbox_folder: Path,
        settings: SettingsRows,
        *,
        now: datetime,
        in_force: SettingsInForce,
        recorded: Callable[[], RecordedFacts],
    ) -> None:
        super().__init__(now=now, in_force=in_force, recorded=recorded)
        self._reader = reader
        self._inbox_folder = inbox_folder
        self._settings = settings
        self.connection = connection
        self.shape = shape
        self._state: RowsState | None = None
        """All rows, once they were read."""
        self._entries: dict[str, RowEntry] = {}
        """Message id -> row, of the rows that were read."""
        self._owners_by_id: dict[str, AbstractSet[str]] = {}
        """Message id -> agents in whose archives it is, as far as somebody asked (`_archive_owners`)."""
        self._copies_by_id: dict[str, list[Message]] = {}
        """Message id -> archived messages of it, likewise (`_archived_copies`)."""
        self.newly_refused: set[str] = set()
        self._arrivals = 0
        """The highest number that a row of ours has, in any table; known once `write` began."""

    def entry(self, message: Message) -> RowEntry:
        """Return the row of a stored message, as this transaction read it.

        Raises:
            LookupError: This transaction read no such row.
        """
        return self._entries[message.message_id]

    @property
    def state(self) -> RowsState:
        """All rows, read when first asked for."""
        if self._state is None:
            self._state = self._reader.state(self.connection, self.shape)
            known = self._state.entries
            self._entries.update({key: entry for key, entry in known.items() if entry.message is not None})
        return self._state

    def stored(self) -> Sequence[Message]:
        return self.state.messages

    @property
    def is_tidying_due(self) -> bool:
        """See `Transaction.is_tidying_due`: each time so many were added or archived since the last time."""
        known = read_numbers(self.connection, self.shape)
        step = _TIDY_EVERY * self.config.active_messages_max
        arrivals = 0 if known is None else known.arrivals
        return arrivals // step < (arrivals + len(self.changes.added) + len(self.changes.archived)) // step

    def stored_candidates(
        self, *, recipient: str | None, statuses: frozenset[str], types: frozenset[str]
    ) -> Sequence[Message] | None:
        """Return the rows for this recipient or of these types alone, while no more was read.

        None where a row of another program is of these types: its place among ours takes all rows.
        """
        if self._state is not None or self.changes.replaced:
            return None
        if recipient is not None and statuses:
            having, values = self.shape.has_status(statuses)
            entries = self._read_rows(addressed_rows(self.shape, having), {**addressed_values(recipient), **values})
            return messages_in_order(entries)
        if not types or "message_type" not in self.shape.types:
            return None
        # Of plain messages a large table has too many to read them by their kind.
        if not types <= FACT_KINDS and is_large(self.connection):
            return None
        some, values = in_list("type", types)
        kind = _KIND_OR_MESSAGE if "message" in types else self.shape.kind  # an index has the latter
        entries = self._read_rows(f"{kind} IN {some}", values)
        return None if any(entry.is_foreign for entry in entries) else messages_in_order(entries)

    def stored_naming(self, word: str) -> Sequence[Message] | None:
        """Return the rows with that id, or with the word or an escape that may hide it in their payload or note."""
        is_text = "payload" in self.shape.types and not self.shape.has_bytes("payload")
        if self._state is not None or self.changes.replaced or not (is_text and _PLAIN_ID(word)):
            return None
        texts = [self.shape.payload_text, *([f"{NOTES}.note"] if self.shape.has_ours else [])]
        held = [f"{text} LIKE :word OR {text} LIKE :escape ESCAPE '!'" for text in texts]
        condition = " OR ".join([f"{self.shape.id} = :message_id", *held])
        sought = f"%{word[:LONGEST_SOUGHT]}%"
        return messages_in_order(self._read_rows(condition, {"message_id": word, "word": sought, "escape": r"%\u00%"}))

    def read_whole(self) -> None:
        """See `Transaction.read_whole`; what was read of the newest rows alone is forgotten."""
        if not self._reader.is_whole:
            # Another reader: what the team's remembers is what the next look compares with.
            self._reader, self._state = RowReader(is_whole=True), None

    def fetch(self, ids: Sequence[str]) -> None:
        """See `Transaction.fetch`; nothing where all rows were read."""
        wanted = [one for one in ids if one not in self._entries and is_storable(one)]
        if self._state is None:
            self._take_rows(self.connection.rows_among(f"{self.shape.select_rows(self.shape.id)} IN", wanted))

    def stored_message(self, message_id: str) -> Message | None:
        self.fetch([message_id])
        found = self._entries.get(message_id)
        return None if found is None else found.message

    def _read_rows(self, condition: str, values: Values) -> list[RowEntry]:
        """Read the rows that fit a SQL condition."""
        return self._take_rows(self.connection.rows(self.shape.select_rows(condition), values))

    def _take_rows(self, rows: Sequence[tuple[Any, ...]]) -> list[RowEntry]:
        """Return the rows understood, and remember them."""
        entries = self._reader.read_rows(rows)
        self._entries.update({entry.row.message_id: entry for entry in entries if entry.message is not None})
        return entries

    def put_back(self, text: bytes) -> str:
        """See `Transaction.put_back`; into the file where they were in one, else into the table."""
        if (self._settings.was_in or self._settings.place) != FILE or self._settings.file is None:
            return super().put_back(text)
        stamp = to_text(self.now).replace(":", "").replace("-", "")
        return restore_file(self._settings.file, text, stamp)

    def archived_message(self, message_id: str) -> Message | None:
        if not self._archive_owners(message_id):
            return None
        condition = "message_id = :message_id"
        return next(iter(archived_messages(self.connection, condition, {"message_id": message_id})), None)

    def archived_thread(self, request_id: str) -> Iterable[Message]:
        either = "message_id = :request_id OR request_id = :request_id"
        found = archived_messages(self.connection, either, {"request_id": storable(request_id)})
        # guard: id-as-stored
        return [message for message in found if carries(message, request_id)]  # another's may be stored as this one is

    def delete_archived(self, before: datetime) -> FieldDict:
        """See `Transaction.delete_archived`."""
        condition, values = "created <> '' AND created < :before", {"before": to_text(before)}
        rows = self.connection.rows(f"SELECT message_id FROM {ARCHIVE} WHERE {condition}", values)
        old = {message_id for (message_id,) in rows}
        stored = f"SELECT {self.shape.id} FROM {MESSAGES} WHERE {self.shape.id} IN"
        live = {message_id for (message_id,) in self.connection.rows_among(stored, sorted(old))}
        if old <= live:
            return {}
        # A newer message in the archive of somebody else may have the same id.
        gone = [{"message_id": message_id, **values} for message_id in sorted(old - live)]
        self.connection.change_all(f"DELETE FROM {ARCHIVE} WHERE message_id = :message_id AND {condition}", gone)
        return {"count": len(gone), ROWS_AFTER: count_rows(self.connection)}

    def has_archived(self, message: Message, agent: str | None = None) -> bool:
        owners = self._archive_owners(message.message_id)
        return bool(owners) if agent is None else agent in owners

    def archive(self, agent: str, message: Message) -> None:
        """See `Transaction.archive`: a row of another program whose id an archived message has, too, gets `ID-2` there
        (D26), or the archive of one would count for the other.
        """
        entry = self._entries.get(message.message_id)
        # guard: archived-beside-another
        if entry is not None and entry.is_foreign and self._archive_owners(message.message_id):
            own, number = self._give_free_id(message), len(self.changes.archived)
            super().archive(agent, own)
            if own is not message and len(self.changes.archived) > number:
                text = (
                    f"the archives have another message {message.message_id}; this one is archived as {own.message_id}"
                )
                hint = "Let each message have an id of its own."
                self.notices.append(Problem("DUPLICATE_ID", "warning", message.message_id, text, hint))
            return
        super().archive(agent, message)

    def _give_free_id(self, message: Message) -> Message:
        """Return the message with the first id under which the archives have it already, or nothing else."""
        number, candidate = 1, message
        while not self._may_be_archived_as(candidate):
            number += 1
            candidate = message.with_changes(message_id=f"{message.message_id}-{number}")
        return candidate

    def _may_be_archived_as(self, message: Message) -> bool:
        """Return whether nothing but this very message has its id, in the archives and in the table."""
        message_id = message.message_id
        in_hand = [archived for _, archived in self.changes.archived if archived.message_id == message_id]
        known = [*in_hand, *self._archived_copies(message_id)]
        is_other_row = message_id not in self._entries and self.stored_message(message_id) is not None
        return all(is_same(message, archived) for archived in known) and not is_other_row

    def _archived_copies(self, message_id: str) -> Sequence[Message]:
        """Return the archived messages of this id; those of all rows of other programs are read at once."""
        if message_id not in self._copies_by_id:
            foreign = [name for name, entry in self._entries.items() if entry.is_foreign]
            wanted = {message_id, *(name for name in foreign if self._archive_owners(name))} - self._copies_by_id.keys()
            self._copies_by_id.update({name: [] for name in wanted})
            records = f"SELECT message_id, record FROM {ARCHIVE} WHERE message_id IN"
            for name, text in self.connection.rows_among(records, sorted(wanted)):
                if (archived := parse_archived(text)) is not None:
                    self._copies_by_id[name].append(archived)
        return self._copies_by_id[message_id]

    def is_archived(self, message: Message) -> bool:
        """See `Transaction.is_archived`; never for a row of another program, which no archive of ours stands for."""
        entry = self._entries.get(self._origins.get(message, message).message_id)
        return not (entry is not None and entry.is_foreign) and super().is_archived(message)

    def _archive_owners(self, message_id: str) -> AbstractSet[str]:
        """Return the agents with this message in their archive; those of all messages that were read are asked for
        at once.
        """
        if message_id not in self._owners_by_id and is_storable(message_id):
            live = self._entries.keys()
            wanted = sorted(live - self._owners_by_id.keys()) if message_id in live else [message_id]
            self._owners_by_id.update(dict.fromkeys(wanted, frozenset()))
            owners = f"SELECT message_id, agent FROM {ARCHIVE} WHERE message_id IN"
            for owned, agent in self.connection.rows_among(owners, wanted):
                self._owners_by_id[owned] |= {agent}
        return self._owners_by_id.get(message_id, frozenset())

    # What follows turns the changes into rows, all in the database transaction they were made in.

    def write(self, changes: Changes, *, actor: str, at: str) -> AuditRow:
        """Write everything; the caller commits. Returns the last line on the trail.

        The rows of messages come first, since the table may refuse some; the lines of the trail and the numbers come
        last, since all that was written before adds to them.

        Raises:
            TeamError: `STORE_FAILED` when a row is not what was read any more.
        """
        known = read_numbers(self.connection, self.shape)
        if known is None:
            text = f"{STATE} holds no numbers; nothing was changed"
            raise TeamError(Code.STORE_FAILED, text, NUMBERS_LOST.hint)
        # guard: lost-lines-of-a-database-on-record
        lost = {TRAIL_LOST: [known.seq, known.written]} if known.seq < known.written else {}
        in_force = self.to_record
        if in_force is not None and not lost and text_digest(in_force) == self._settings.digest_on_record():
            in_force = None
        if in_force is not None:
            action, facts = changes.records[0]
            changes.records[0] = (action, {**facts, "settings": settings_record(in_force)})
        self._arrivals = known.arrivals
        self._write_rows(changes)
        # guard: rows-of-an-archive-on-record
        if changes.archived or lost:
            held = None if lost else rows_on_record(self.connection)
            held = count_rows(self.connection) if held is None else held
            changes.records[-1][1][ROWS_AFTER] = held + len(changes.archived)
        archived = [archived_row(agent, message, n=self._next_number()) for agent, message in changes.archived]
        # guard: swallowed-archive-row-noticed
        if self._insert(ARCHIVE, archived) != len(archived) or not self._were_kept(ARCHIVE, archived, "n", "record"):
            raise _not_kept_error(ARCHIVE)
        self._write_pushed(changes, at)
        for reference, data in changes.attachments.items():
            row = {"reference": reference, "data": data}
            # guard: attachment-looked-at
            if not self._insert_once(ATTACHMENTS, row, "reference", says="data"):
                raise _not_kept_error(ATTACHMENTS)
        if changes.settings is not None:
            write_settings(self.connection, changes.settings)
        if in_force is not None:
            place = self._settings.place if changes.settings is None else TABLE
            write_pointer(self.connection, known.seq + 1, in_force, place)
        records, key = records_to_write(changes, self.config, lost), self.config.key
        lines = audit_lines(records, seq=known.seq, prev=column_text(known.prev), at=at, actor=actor, key=key)
        # guard: swallowed-audit-line-noticed
        if self._insert(AUDIT, [line._asdict() for line in lines]) != len(lines):
            raise _not_kept_error(AUDIT)
        end = {"arrivals": self._arrivals, "seq": lines[-1].seq, "hash": lines[-1].hash, "at": at}
        columns = "arrivals = :arrivals, audit_seq = :seq, audit_hash = :hash, changed_at = :at"
        self.connection.change(f"UPDATE {STATE} SET {columns}", end)
        return lines[-1]

    def _next_number(self) -> int:
        """Return the number of the next row of ours, which counts over all of our tables."""
        self._arrivals += 1
        return self._arrivals

    def _write_rows(self, changes: Changes) -> None:
        """Write what changes in `agent_message`.

        Raises:
            RefusedRowsError: The table refuses some of it.
        """
        writer = RowWriter(self.connection, self.shape)
        writer.add(changes.added.values(), self._next_number)
        writer.replace([(self.entry(old), new) for old, new in changes.replaced.items()])
        if changes.removed:
            self._record_other_columns(changes)
            writer.remove([self.entry(message) for message in changes.removed])
        self.newly_refused |= writer.newly_refused
        # guard: compaction-is-optional
        staying = changes.optional.intersection(writer.refused)
        if writer.refused.keys() - set(staying):
            raise RefusedRowsError({one: why for one, why in writer.refused.items() if one not in staying}, {})
        if staying:
            for action, facts in changes.records:
                if action == "compact":
                    facts["ids"] = [one for one in facts["ids"] if one not in staying]

    def _record_other_columns(self, changes: Changes) -> None:
        """Keep on the audit trail what other programs had in rows that go, since archives hold messages alone."""
        if not self.shape.unknown_columns:
            return
        ids = ids_of(changes.removed)
        for message_id, *others in self.connection.rows_among(self.shape.select_other_columns(), ids):
            pairs = zip(self.shape.unknown_columns, others, strict=True)
            held = {name: other for name, other in pairs if other is not None}
            if held:
                changes.records.append(("columns", {"ids": [message_id], "columns": held}))

    def _write_pushed(self, changes: Changes, at: str) -> None:
        """Write pushed messages into their agents' own inbox tables (seed 003, method 1), else into ours."""
        # Looked for at every write: agents make theirs when they start.
        own_tables = {agent: find_inbox(self.connection, agent) for agent, _ in changes.pushed}
        failed: dict[str, str] = {}
        for agent, message in changes.pushed:
            if (own := own_tables[agent]) is not None:
                if why := self._push_into(own, agent, message, changes):
                    failed[message.message_id] = why
                continue
            record = dump(dict(message.record))
            row = {"agent": agent, "message_id": message.message_id, "pushed_at": at, "record": record}
            pushed = {"n": self._next_number(), **row}
            # guard: push-into-ours-looked-at
            if not self._insert_once(INBOX, pushed, "agent", "message_id", says="record", is_same=_is_same_message):
                failed[message.message_id] = f"{INBOX} does not keep it, or has another message of its id"
        if failed:
            raise RefusedRowsError({}, failed)

    def _push_into(self, own: str, agent: str, message: Message, changes: Changes) -> str:
        """Append to a file where the agent's own table takes no rows (seed 003, method 2).

        Returns:
            Why neither took it; empty when it is there.
        """
        row = {"message_id": message.message_id, "payload": self._pushed_payload(message)}
        is_there, trouble = False, "a trigger or a rule takes away or changes what is added"
        try:
            with self.connection.savepoint():
                if not self._insert_once(own, row, "message_id", says="payload"):
                    raise _NotKeptError
                self.connection.check_references(own, [row])
                is_there = True
        except _NotKeptError:
            pass  # undone, so that nobody reads there what nobody wrote
        except TransactionLostError as error:
            raise RefusedRowsError({}, {message.message_id: f"{own}: {error}"}) from error
        except self.connection.error as error:
            trouble = " ".join(str(error).split())
        # guard: swallowed-push-not-delivered
        if not is_there:
            path = self._inbox_folder / f"{check_name(agent, field='agent')}.jsonl"
            try:
                append_once(path, message)
            except OSError as error:
                return f"{own}: {trouble}; {path}: {error.strerror or error}"
            facts = {"ids": [message.message_id], "agent": agent, "file": str(path), "error": trouble}
            changes.records.append(("inbox_file", facts))
        return ""

    def _pushed_payload(self, message: Message) -> Any:
        """Return the payload to the letter as it stands in the row, with keys that the record has beside it, if any."""
        if not message.record.keys() <= ENVELOPE_KEYS:
            return dump(dict(message.payload))
        entry = self._entries.get(message.message_id)
        return payload_text(message) if entry is None else given_payload(entry)

    def _insert_once(
        self, into: str, row: Fields, *key: str, says: str, is_same: Callable[[Any, Any], bool] = _says_same
    ) -> bool:
        """Add a row unless one is there whose column `says` says the same; return whether one is there now.

        Args:
            is_same: Compares what is there with what is given.
        """
        condition = " AND ".join(f"{name} = :{name}" for name in key)
        known = f"SELECT {says} FROM {into} WHERE {condition}"

        def is_there() -> bool:
            # guard: pushed-row-says-the-same
            return any(is_same(found, row[says]) for (found,) in self.connection.rows(known, row))

        if is_there():
            return True
        # guard: id-pushed-before-stops-no-other
        if into in (INBOX, ATTACHMENTS) and self.connection.first(known, row) is not None:
            return False  # these tables have one row of a key, and a second one would end the whole transaction
        # guard: pushed-row-looked-at
        return self._insert(into, [row]) > 0 and is_there()

    def _were_kept(self, into: str, rows: Sequence[Fields], key: str, says: str) -> bool:
        """Return whether rows that were added say what they were to say, where a trigger or rule may change that."""
        if not rows or not self.connection.meddlers(into, "INSERT"):
            return True
        wanted = [row[key] for row in rows]
        said = dict(self.connection.rows_among(f"SELECT {key}, {says} FROM {into} WHERE {key} IN", wanted))
        # guard: changed-archive-row-noticed
        return all(_says_same(said.get(row[key]), row[says]) for row in rows)

    def _insert(self, into: str, rows: Sequence[Fields]) -> int:
        """Add rows; return how many the database added."""
        return self.connection.change_all(insert(into, rows[0]), rows) if rows else 0


class _NotKeptError(Exception):
    """A row is not there as it was written."""


def _not_kept_error(table: str) -> TeamError:
    """Return the error for a table of ours in which a trigger or rule undid what was written."""
    text = f"{table} did not keep what was written; nothing was changed"
    hint = "Let the owner of the table remove the trigger or rule that does it, then try again."
    return TeamError(Code.STORE_FAILED, text, hint)


def append_once(path: Path, message: Message) -> None:
    """Add the message as a line of JSON to a file, durably, unless it is there: a commit may be tried again.

    Raises:
        OSError: It cannot be written, or is a link.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(path, flags, 0o600), "r+b", buffering=0) as file:
        told = file.read()
        named = dump(message.message_id).encode()
        # guard: another-message-of-the-id-appended
        if any(named in line and _is_same_message(line, dict(message.record)) for line in told.splitlines()):
            return
        torn = b"\n" if told and not told.endswith(b"\n") else b""
        file.write(torn + dump(dict(message.record)).encode() + b"\n")
        os.fsync(file.fileno())
