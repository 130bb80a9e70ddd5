"""Changes of messages as changes of rows: each tried so that a row which the table refuses takes no other along.

Constraints, triggers and rules of the program that owns the table may

- refuse a change, with an error. Where its status is one of ours (`retry`), the change is tried once more with its
  stand-in, the word of seed 003 that comes next to it (`rows.STAND_INS`: `pending`);
- turn such a status into its stand-in, without an error: that is the same as to refuse it;
- swallow a change, without an error: the row says what it said, or is gone. Nothing is tried in its place.

A status that has a stand-in in its column is in the note beside the row, a row of our own table with what a message
says beyond its columns. What could not be written stays undone, with the reason in `RowWriter.refused`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import starmap
from typing import Any, NamedTuple

from msgspec.structs import replace
from team_console.store.backends.sql.connection import Connection, TransactionLostError, insert, sql_name
from team_console.store.backends.sql.rows import STAND_INS, Row, RowEntry, changed_row, new_row, read_row, stands_for
from team_console.store.backends.sql.schema import LOOKED_AT, MESSAGES, NOTES, Shape
from team_console.store.contract.transaction import RefusedRowsError
from team_console.store.model.delivery_schedule import ON_ITS_WAY
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import FieldDict, Fields, Message, Status
from team_console.store.model.safe import first_of

_DELETE_NOTE = f"DELETE FROM {NOTES} WHERE message_id = :message_id"
_STILL_COMING = ON_ITS_WAY | {str(Status.CLAIMED), str(Status.DELIVERED)}
"""Statuses of a message that its reader can still get."""
_LONGEST_REFUSAL = 400
"""Characters of a refusal of the database that are kept."""
_MOST_NAMED = 5
"""Triggers and rules that an error names."""


class RowWriter:
    """Writes rows of `agent_message` and the notes beside them, in the transaction of the connection.

    Attributes:
        shape: The table, with the statuses that it was seen to refuse.
        newly_refused: Statuses that it was seen to refuse now.
        refused: Id of each row that is left as it is -> why.
    """

    def __init__(self, connection: Connection, shape: Shape) -> None:
        self.connection = connection
        self.shape = shape
        self.newly_refused: set[str] = set()
        self.refused: dict[str, str] = {}

    def add(self, messages: Collection[Message], number: Callable[[], int]) -> None:
        """Add rows of ours; `number` gives each its place among all that we added.

        Raises:
            TeamError: `STORE_FAILED` for a row that is not there afterwards.
            Exception: What the driver says; new rows are written all or none.
        """
        made = [new_row(message, arrival=number(), fit=self.shape.fit) for message in messages]
        if made:
            rows = [{**columns, **self.shape.fill_values()} for columns, _ in made]
            count = self.connection.change_all(self.shape.insert_statement(made[0][0]), rows)
            notes = [{"message_id": columns["message_id"], "note": note} for columns, note in made]
            self.connection.change_all(_DELETE_NOTE, notes)  # of a row that another program took away
            self.connection.change_all(insert(NOTES, notes[0]), notes)
            self._refuse_meddled({message.message_id: message.status for message in messages}, count)

    def _refuse_meddled(self, statuses: Mapping[str, str], count: int) -> None:
        """Refuse new rows of which the database added only `count`, or that a trigger or rule took away or changed.

        Args:
            statuses: Id of each row -> the status that it was given.

        Raises:
            TeamError: `STORE_FAILED`, naming the triggers and rules.
        """
        meddlers = self.connection.meddlers(MESSAGES, "INSERT")
        if count == len(statuses) and not meddlers:
            return
        found = self.connection.rows_among(f"{self.shape.select_rows(self.shape.id)} IN", list(statuses))
        entries = {row[0]: read_row(Row(*row), place=MESSAGES) for row in found}
        for message_id, status in statuses.items():
            done = _meddled_words(entries.get(message_id), status)
            if done:
                names = [f"{one.kind} {sql_name(one.name)}" for one in meddlers] or ["another program"]
                by = first_of(names, _MOST_NAMED)
                text = f"{MESSAGES} did not keep {message_id}: {by} {done}; nothing was changed"
                hint = "Let the owner of the table mend that, then send it again."
                raise TeamError(Code.STORE_FAILED, text, hint)

    def replace(self, changes: Sequence[tuple[RowEntry, Message]]) -> None:
        """Change rows, only columns that change, those with the same ones together.

        Raises:
            RefusedRowsError: A row ended the transaction.
        """
        groups: dict[tuple[str, ...], list[_RowChange]] = {}
        if changes:
            self.connection.check_at_once()
        for entry, new in changes:
            written = self._change_of(entry, new)
            groups.setdefault(tuple(written.columns), []).append(written)
        for group in groups.values():
            taken = group if self._write(group) is None else self._one_by_one(group)
            for written in taken:
                self._write_note(written.entry, written.new.message_id, written.note)

    def remove(self, entries: Sequence[RowEntry]) -> None:
        """Delete rows with their notes.

        Raises:
            RefusedRowsError: A row ended the transaction.
        """
        self._refuse_referred([_id_of(entry) for entry in entries])
        wanted = [entry for entry in entries if _id_of(entry) not in self.refused]
        rows = [_row_parameters(entry) for entry in wanted]
        statement = f"DELETE FROM {MESSAGES} WHERE {self.shape.id} = :old_id"
        self.connection.check_at_once()
        if rows and self._try(statement, rows) is not None:
            for row in rows:
                if (refusal := self._try(statement, [row])) is not None:
                    self.refused[row["old_id"]] = refusal.why
        for entry in wanted:
            if _id_of(entry) not in self.refused:
                self._write_note(entry, _id_of(entry), None)

    def _change_of(self, entry: RowEntry, new: Message) -> _RowChange:
        """Return what has to be written so that the row of `entry` becomes `new`, in columns that are there."""
        columns, note = changed_row(entry, new, fit=self.shape.fit)
        known = {name: value for name, value in columns.items() if name in self.shape.types}
        return _RowChange(entry, new, known, note)

    def _one_by_one(self, group: Sequence[_RowChange]) -> list[_RowChange]:
        """Return those of the changes that the table took, as it took them."""
        done = []
        for wanted in group:
            written = self._change_of(wanted.entry, wanted.new)  # what the table takes may have been learnt since
            refusal = self._write([written])
            if refusal is not None and not refusal.is_swallowed:
                with_stand_in = self._write_stand_in(written)
                written, refusal = (with_stand_in, None) if with_stand_in is not None else (written, refusal)
            # guard: refused-row-told
            if refusal is not None:
                self.refused[_id_of(written.entry)] = refusal.why
            else:
                done.append(written)
        return done

    def _write_stand_in(self, wanted: _RowChange) -> _RowChange | None:
        """Write the change with the stand-in of its status; None where it has none, or the table takes neither.

        From then on `shape` knows that the table refuses the status, and writes its stand-in at once.
        """
        status = wanted.new.status
        if status not in STAND_INS or not self.shape.takes(status):
            return None
        before = self.shape
        self.shape = replace(before, refused_statuses={*before.refused_statuses, status})
        written = self._change_of(wanted.entry, wanted.new)
        # guard: stand-in-status
        if self._write([written]) is not None:
            self.shape = before
            return None
        self.newly_refused.add(status)
        return written

    def _write(self, group: Sequence[_RowChange]) -> _Refusal | None:
        """Change rows in the same columns, all or none; returns as `_try`."""
        names = group[0].columns
        if not names:
            return None
        rows = [{**written.columns, **_row_parameters(written.entry)} for written in group]
        return self._try(self.shape.update_statement(names), rows, looks=any(name in LOOKED_AT for name in names))

    def _try(self, statement: str, rows: Sequence[Fields], *, looks: bool = False) -> _Refusal | None:
        """Execute it for each row, all or none; returns why the table does not take it, None when it did.

        Args:
            looks: Whether to look that the rows say the new status and recipient then (`LOOKED_AT`), which decide who
                gets a message.
        """
        try:
            with self.connection.savepoint():
                count = self.connection.change_all(statement, rows)
                self.connection.check_references(MESSAGES, rows)
                found = self._read_back(rows) if looks else []
                # guard: swallowed-write-noticed
                if count != len(rows) or any(starmap(_is_as_before, found)):
                    raise _SwallowedError
                # The column says the stand-in of the status that was written.
                # guard: turned-status-noticed
                if any(name == "status" and stands_for(value, row.get(name)) for row, name, value in found):
                    raise _TurnedStatusError
        except _TurnedStatusError:
            return _Refusal(self._why_not_as_written(statement, rows))
        except _SwallowedError:
            return _Refusal(self._why_not_as_written(statement, rows), is_swallowed=True)
        except TransactionLostError as error:
            ids = [str(row["old_id"]) for row in rows]
            words = self._refusal_words(error)
            raise RefusedRowsError(dict.fromkeys(ids, words), {}, certain=len(ids) == 1) from error
        except self.connection.error as error:
            # guard: infrastructure-is-no-row
            if not self.connection.refuses_row(error):
                raise
            return _Refusal(self._refusal_words(error))
        return None

    def _read_back(self, rows: Sequence[Fields]) -> list[tuple[Fields, str, Any]]:
        """Return of each row and each column of `LOOKED_AT`: what was to be written into the row, the column's name,
        and its value now.
        """
        wanted = {row.get("message_id", row["old_id"]): row for row in rows}
        said = self.connection.rows_among(self.shape.select_looked_at(), list(wanted))
        return [
            (wanted.get(message_id, {}), name, value)
            for message_id, *values in said
            for name, value in zip(LOOKED_AT, values, strict=True)
        ]

    def _why_not_as_written(self, statement: str, rows: Sequence[Fields]) -> str:
        """Return why rows are not as they were written although no error came, and how to mend that."""
        meddlers = self.connection.meddlers(MESSAGES, statement.partition(" ")[0])
        if not meddlers:
            text = f"another program took {'it' if len(rows) == 1 else 'one of them'} away at the same moment"
            return f"{text}; look again"
        names = ", ".join(sql_name(one.name) for one in meddlers)
        first, where = meddlers[0], f" ON {MESSAGES}" if self.connection.is_strict else ""
        drop = f"DROP {first.kind.upper()} {sql_name(first.name)}{where};"
        return f"a {first.kind} swallows the change ({names}). Mend it, or: {drop}"

    def _refuse_referred(self, ids: Sequence[str]) -> None:
        """Find the rows that another table refers to, where the database may say so only at the commit."""
        for table, column in self.connection.references(MESSAGES):
            text = f"CAST({sql_name(column)} AS TEXT)"
            for (message_id,) in self.connection.rows_among(
                f"SELECT DISTINCT {text} FROM {sql_name(table)} WHERE {text} IN", ids
            ):
                # guard: referred-row-stays
                self.refused[message_id] = f"a row of {table} refers to it in {column}; delete that row first"

    def _write_note(self, entry: RowEntry, message_id: str, note: str | None) -> None:
        """Put the note beside the row in place of the one there is; None takes it away."""
        known = entry.row.note
        if note == known and message_id == entry.row.message_id:
            return
        if known is not None:
            self.connection.change(_DELETE_NOTE, {"message_id": entry.row.message_id})
        if note is not None:
            row = {"message_id": message_id, "note": note}
            self.connection.change(insert(NOTES, row), row)

    def _refusal_words(self, error: Exception) -> str:
        """Return what the database said against a row, on one line and cut."""
        return f"{MESSAGES} refuses it: {' '.join(str(error).split()):.{_LONGEST_REFUSAL}}"


class _RowChange(NamedTuple):
    """A row, what it is to be, and the columns and the note that make it so in this table."""

    entry: RowEntry
    new: Message
    columns: FieldDict
    note: str | None


class _Refusal(NamedTuple):
    """Why the table does not take a change; `is_swallowed` where it left the row as it was and gave no error."""

    why: str
    is_swallowed: bool = False


class _SwallowedError(Exception):
    """The row says what it said, or is gone, and no error came: what the database did is undone."""


class _TurnedStatusError(Exception):
    """The row says the stand-in of the status that was written, and no error came: likewise."""


def _is_as_before(row: Fields, name: str, found: Any) -> bool:
    """Return whether a column still has the value that it had before, in place of what was written."""
    return name in row and found == row[f"old_{name}"] != row[name]


def _meddled_words(entry: RowEntry | None, status: str) -> str:
    """Return what became of a new row other than what was written; empty for nothing.

    A database that delivers new rows by itself may say so.
    """
    # guard: swallowed-message-not-sent
    if entry is None:
        return "took it away"
    # guard: message-kept-from-its-reader-not-sent
    if entry.message is not None and entry.message.status not in (status, *_STILL_COMING):
        return f"changed its status to {entry.message.status}"
    # guard: meddled-message-not-sent
    return f"changed its {entry.changed or 'columns'}" if entry.changed or entry.message is None else ""


def _id_of(entry: RowEntry) -> str:
    """Return the id of a row as text."""
    return str(entry.row.message_id)


def _row_parameters(entry: RowEntry) -> Mapping[str, Any]:
    """Return the parameters that say which row a statement of `Shape` changes or deletes, and what the row said."""
    said = {f"old_{name}": getattr(entry.row, name) for name in LOOKED_AT}
    return {"old_id": entry.row.message_id, **said}
