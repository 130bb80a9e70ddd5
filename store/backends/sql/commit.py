"""Turns the changes of a transaction into rows, all in the database transaction they were made in."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from team_console.store.backends.sql.engines.connection import Connection
from team_console.store.backends.sql.engines.statement import insert
from team_console.store.backends.sql.history import archived_row, as_text, audit_rows
from team_console.store.backends.sql.recorded_reader import with_recorded
from team_console.store.backends.sql.rows import RowEntry, changed_row, dump, given_payload, new_row, payload_text
from team_console.store.backends.sql.settings import write_settings
from team_console.store.backends.sql.shape import find_inbox
from team_console.store.backends.sql.tables import ARCHIVE, ATTACHMENTS, AUDIT, INBOX, NOTES, STATE, numbers
from team_console.store.backends.sql.transaction import SqlTransaction
from team_console.store.contract.transaction import Changes
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import ENVELOPE_KEYS, Message
from team_console.store.model.names import check_name

_NO_NOTE = f"DELETE FROM {NOTES} WHERE message_id = :message_id"


class Writer:
    """Writes one set of changes. The row of `team_console_state` is taken first and held until the commit.

    Attributes:
        last_line: Number and hash of the last line that `write` put on the audit trail.
    """

    def __init__(self, connection: Connection, tx: SqlTransaction) -> None:
        self._connection = connection
        self._tx = tx
        self._shape = tx.shape
        self._arrivals = 0
        self.last_line = (0, "")
        self._inboxes: dict[str, str | None] = {}

    def write(self, changes: Changes, *, actor: str, at: str) -> int:
        """Write everything; the caller commits. Returns the number of the first line on the audit trail.

        Raises:
            TeamError: `STORE_FAILED` when a row is not what was read any more.
        """
        known = numbers(self._connection, self._tx.dialect.keeping(STATE))
        if known is None:
            hint = "Put them back with: team-console check --heal"
            raise TeamError(Code.STORE_FAILED, f"{STATE} holds no numbers; nothing was changed", hint)
        self._arrivals = known.arrivals
        self._add(changes)
        self._replace(changes)
        self._remove(changes)
        self._archive(changes)
        self._push(changes, at)
        for reference, data in changes.attachments.items():
            self._insert_once(ATTACHMENTS, {"reference": reference, "data": data}, "reference")
        if changes.settings is not None:
            write_settings(self._connection, changes.settings)
        records, key = with_recorded(changes, self._tx.config), self._tx.config.key
        lines = audit_rows(records, seq=known.seq, prev=as_text(known.prev), at=at, actor=actor, key=key)
        self._insert(AUDIT, lines)
        end = {"arrivals": self._arrivals, "seq": lines[-1]["seq"], "hash": lines[-1]["hash"], "at": at}
        self.last_line = (end["seq"], end["hash"])
        columns = "arrivals = :arrivals, audit_seq = :seq, audit_hash = :hash, changed_at = :at"
        self._connection.change(f"UPDATE {STATE} SET {columns}", end)
        return int(lines[0]["seq"])

    def _number(self) -> int:
        self._arrivals += 1
        return self._arrivals

    def _add(self, changes: Changes) -> None:
        made = [new_row(message, arrival=self._number()) for message in changes.added.values()]
        if made:
            rows = [columns for columns, _ in made]
            self._connection.change_all(self._shape.insertion(rows[0]), rows)
            notes = [{"message_id": columns["message_id"], "note": note} for columns, note in made]
            self._connection.change_all(_NO_NOTE, notes)  # of a row that another program took away
            self._insert(NOTES, notes)

    def _replace(self, changes: Changes) -> None:
        """Only columns that change, rows with the same ones together."""
        groups: dict[tuple[str, ...], list[dict[str, Any]]] = {}
        for old, new in changes.replaced.items():
            entry = self._tx.entry(old)
            columns, note = changed_row(entry, new)
            given = {name: value for name, value in columns.items() if name in self._shape.types}
            if given:
                groups.setdefault(tuple(given), []).append({**given, **_row_of(entry)})
            self._note(entry, new.message_id, note)
        for names, rows in groups.items():
            self._check(self._connection.change_all(self._shape.change(names), rows), rows)

    def _note(self, entry: RowEntry, message_id: str, note: str | None) -> None:
        known = entry.row.note
        if note == known and message_id == entry.row.message_id:
            return
        if known is not None:
            self._connection.change(_NO_NOTE, {"message_id": entry.row.message_id})
        if note is not None:
            self._insert(NOTES, [{"message_id": message_id, "note": note}])

    def _remove(self, changes: Changes) -> None:
        rows = [_row_of(self._tx.entry(message)) for message in changes.removed]
        if rows:
            self._keep_others(changes)
            self._check(self._connection.change_all(self._shape.removal(), rows), rows)
        for message in changes.removed:
            self._note(self._tx.entry(message), message.message_id, None)

    def _keep_others(self, changes: Changes) -> None:
        """Archives hold messages; what else other programs had in the rows that go is kept on the audit trail."""
        if not self._shape.others:
            return
        ids = [message.message_id for message in changes.removed]
        for message_id, *others in self._connection.rows_among(self._shape.other_columns(), ids):
            pairs = zip(self._shape.others, others, strict=True)
            held = {name: other for name, other in pairs if other is not None}
            if held:
                changes.records.append(("columns", {"ids": [message_id], "columns": held}))

    def _archive(self, changes: Changes) -> None:
        self._insert(ARCHIVE, [archived_row(agent, message, n=self._number()) for agent, message in changes.archived])

    def _push(self, changes: Changes, at: str) -> None:
        """Into the agent's own inbox table where it has one (seed 003, method 1), else into ours."""
        for agent, message in changes.pushed:
            own = self._own_inbox(agent)
            if own is not None:
                self._push_into(own, agent, message, changes)
                continue
            record = dump(dict(message.record))
            row = {"agent": agent, "message_id": message.message_id, "pushed_at": at, "record": record}
            self._insert_once(INBOX, {"n": self._number(), **row}, "agent", "message_id")

    def _push_into(self, own: str, agent: str, message: Message, changes: Changes) -> None:
        """When the agent's own table takes no rows, into a file (seed 003, method 2)."""
        row = {"message_id": message.message_id, "payload": self._payload(message)}
        self._connection.run("SAVEPOINT inbox")
        try:
            self._insert_once(own, row, "message_id")
        except self._connection.error as error:
            self._connection.run("ROLLBACK TO SAVEPOINT inbox")
            path = self._tx.dialect.inbox_folder / f"{check_name(agent, field='agent')}.jsonl"
            try:
                append_once(path, message)
            except OSError:
                raise error from None
            facts = {"ids": [message.message_id], "agent": agent, "file": str(path), "error": str(error)}
            changes.records.append(("inbox_file", facts))
        self._connection.run("RELEASE SAVEPOINT inbox")

    def _payload(self, message: Message) -> Any:
        """To the letter as it stands in the row; with what the record handed on has beside it, where it has any."""
        if not message.record.keys() <= ENVELOPE_KEYS:
            return dump(dict(message.payload))
        try:
            return given_payload(self._tx.entry(message))
        except LookupError:
            return payload_text(message)

    def _own_inbox(self, agent: str) -> str | None:
        """Looked for at every write: agents make theirs when they start."""
        if agent not in self._inboxes:
            self._inboxes[agent] = find_inbox(self._connection, agent)
        return self._inboxes[agent]

    def _insert_once(self, into: str, row: Mapping[str, Any], *key: str) -> None:
        condition = " AND ".join(f"{name} = :{name}" for name in key)
        if self._connection.first(f"SELECT 1 FROM {into} WHERE {condition}", row) is None:
            self._insert(into, [row])

    def _insert(self, into: str, rows: Sequence[Mapping[str, Any]]) -> None:
        if rows:
            self._connection.change_all(insert(into, rows[0]), rows)

    def _check(self, count: int, rows: Sequence[Mapping[str, Any]]) -> None:
        if count != len(rows):
            names = ", ".join(str(row["old_id"]) for row in rows[:3])
            text = f"another program took one of {names} away at the same moment; nothing was written"
            raise TeamError(Code.STORE_FAILED, text, "Look again and repeat.")


def append_once(path: Path, message: Message) -> None:
    """Add the message as a line of JSON to a file, durably, unless it is there: a commit may be tried again.

    Raises:
        OSError: It cannot be written, or is a link.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(path, flags, 0o600), "r+b", buffering=0) as file:
        told = file.read()
        if f'"message_id":{dump(message.message_id)}'.encode() in told:
            return
        torn = b"\n" if told and not told.endswith(b"\n") else b""
        file.write(torn + dump(dict(message.record)).encode() + b"\n")
        os.fsync(file.fileno())


def _row_of(entry: RowEntry) -> dict[str, Any]:
    """The parameter that tells which row `Shape.change` and `Shape.removal` mean."""
    return {"old_id": entry.row.message_id}
