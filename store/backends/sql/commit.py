"""Turns the changes of a transaction into rows, all in the database transaction they were made in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, bindparam, delete, insert, select, update
from sqlalchemy.sql import Select
from sqlalchemy.sql.selectable import TableClause

from store.backends.buffered import Changes
from store.backends.sql.past import archived_row, audit_rows, dump
from store.backends.sql.recorded import with_recorded
from store.backends.sql.rows import Entry, changed_row, new_row
from store.backends.sql.settings import write_settings
from store.backends.sql.tables import ARCHIVE, ATTACHMENTS, AUDIT, INBOX, NOTES, STATE, Shape, find_inbox
from store.errors import Code, TeamError

_CHUNK = 500


class Writer:
    """Writes one set of changes. The row of `team_console_state` is taken first and held until the commit."""

    def __init__(self, connection: Connection, shape: Shape, *, entry: Callable[[str], Entry]) -> None:
        self._connection = connection
        self._shape = shape
        self._entry = entry
        self._arrivals = 0
        self._inboxes: dict[str, TableClause | None] = {}

    def write(self, changes: Changes, *, actor: str, at: str) -> int:
        """Write everything; the caller commits. Returns the number of the first line on the audit trail.

        Raises:
            TeamError: `STORE_FAILED` when a row is not what was read any more.
        """
        state = self._connection.execute(self._state()).one()
        self._arrivals = state.arrivals
        self._add(changes)
        self._replace(changes)
        self._remove(changes)
        self._archive(changes)
        self._push(changes, at)
        for reference, data in changes.attachments.items():
            self._insert_once(ATTACHMENTS, {"reference": reference, "data": data}, reference=reference)
        if changes.settings is not None:
            write_settings(self._connection, changes.settings)
        lines = audit_rows(with_recorded(changes), seq=state.audit_seq, prev=state.audit_hash, at=at, actor=actor)
        self._connection.execute(insert(AUDIT), lines)
        end = {"audit_seq": lines[-1]["seq"], "audit_hash": lines[-1]["hash"], "changed_at": at}
        self._connection.execute(update(STATE).values(arrivals=self._arrivals, **end))
        return int(lines[0]["seq"])

    def _state(self) -> Select[Any]:
        return select(STATE).with_for_update()

    def _number(self) -> int:
        self._arrivals += 1
        return self._arrivals

    def _add(self, changes: Changes) -> None:
        rows = [new_row(one, arrival=self._number()) for one in changes.added.values()]
        if rows:
            statement = insert(self._shape.messages).values(self._shape.values(rows[0]))
            self._connection.execute(statement, rows)

    def _replace(self, changes: Changes) -> None:
        """Only columns that change, rows with the same ones together."""
        groups: dict[tuple[str, ...], list[dict[str, Any]]] = {}
        for message_id, (_, new) in changes.replaced.items():
            columns, note = changed_row(self._entry(message_id), new)
            given = {f"new_{name}": value for name, value in columns.items() if name in self._shape.types}
            if given:
                groups.setdefault(tuple(given), []).append({**given, "old_id": message_id})
            self._note(message_id, note)
        messages = self._shape.messages
        for names, rows in groups.items():
            values = {name.removeprefix("new_"): self._shape.bound(name.removeprefix("new_"), name) for name in names}
            statement = update(messages).where(messages.c.message_id == bindparam("old_id")).values(values)
            done = self._connection.execute(statement, rows)
            self._check(done.rowcount, rows)

    def _note(self, message_id: str, note: str | None) -> None:
        known = self._entry(message_id).row.note
        if note == known:
            return
        if known is not None:
            self._connection.execute(delete(NOTES).where(NOTES.c.message_id == message_id))
        if note is not None:
            self._connection.execute(insert(NOTES), {"message_id": message_id, "note": note})

    def _remove(self, changes: Changes) -> None:
        rows = [{"old_id": message_id} for message_id in changes.removed]
        if rows:
            self._keep_others(changes)
            messages = self._shape.messages
            statement = delete(messages).where(messages.c.message_id == bindparam("old_id"))
            self._check(self._connection.execute(statement, rows).rowcount, rows)
        for message_id in changes.removed:
            self._note(message_id, None)

    def _keep_others(self, changes: Changes) -> None:
        """Archives hold messages; what else other programs had in the rows that go is kept on the audit trail."""
        if not self._shape.others:
            return
        ids = list(changes.removed)
        wanted = self._shape.select_others()
        for start in range(0, len(ids), _CHUNK):
            some = self._shape.messages.c.message_id.in_(ids[start : start + _CHUNK])
            for message_id, *values in self._connection.execute(wanted.where(some)):
                held = {name: one for name, one in zip(self._shape.others, values, strict=True) if one is not None}
                if held:
                    changes.records.append(("columns", {"ids": [message_id], "columns": held}))

    def _archive(self, changes: Changes) -> None:
        rows = [archived_row(agent, message, n=self._number()) for agent, message in changes.archived]
        if rows:
            self._connection.execute(insert(ARCHIVE), rows)

    def _push(self, changes: Changes, at: str) -> None:
        """Into the agent's own inbox table where it has one (seed 003, method 1), else into ours."""
        for agent, message in changes.pushed:
            own = self._own_inbox(agent)
            if own is not None:
                row = {"message_id": message.message_id, "payload": dump(dict(message.payload))}
                self._insert_once(own, row, message_id=message.message_id)
                continue
            record = dump(dict(message.record))
            row = {"agent": agent, "message_id": message.message_id, "pushed_at": at, "record": record}
            self._insert_once(INBOX, {"n": self._number(), **row}, agent=agent, message_id=message.message_id)

    def _own_inbox(self, agent: str) -> TableClause | None:
        """Looked for at every write: agents make theirs when they start."""
        if agent not in self._inboxes:
            self._inboxes[agent] = find_inbox(self._connection, agent)
        return self._inboxes[agent]

    def _insert_once(self, into: Any, row: Mapping[str, Any], **key: str) -> None:
        there = select(*(into.c[name] for name in key)).filter_by(**key)
        if self._connection.execute(there).first() is None:
            self._connection.execute(insert(into), dict(row))

    def _check(self, count: int, rows: Sequence[Mapping[str, Any]]) -> None:
        if count != len(rows):
            names = ", ".join(str(one["old_id"]) for one in rows[:3])
            text = f"another program took one of {names} away at the same moment; nothing was written"
            raise TeamError(Code.STORE_FAILED, text, "Look again and repeat.")
