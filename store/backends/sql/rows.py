"""Read a row of `agent_message` as a message and write it back, with nothing lost on either way.

A row says what its columns say. What a record holds beyond them is its note: the keys that the columns do not give
back, under `-` the keys they give and the record has not, under `#` the order of arrival and what it said when it was
written (kind, sender, recipients, a digest of the payload), under `+` keys of these names. It is kept beside the row,
in a table of ours: a payload is what its sender gave, and nothing else. Up to 0.5.0 our own rows carried the note in
their payload as `_envelope`; such a row is read, and written anew when it changes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace
from team_console.store.model.clock import from_text, to_text
from team_console.store.model.delivery_schedule import MAX_RETRIES, attempts_of, max_attempts, retries_of
from team_console.store.model.errors import Problem
from team_console.store.model.json_object import refuse_constant, refuse_repeated_keys
from team_console.store.model.message import (
    TABLE_REFUSES,
    FieldDict,
    Fields,
    Message,
    Priority,
    Status,
    changed_problem,
    from_record,
    without,
    without_none,
)
from team_console.store.protocol.foreign_fields import items_in, mapping_in

NOTE_KEY = "_envelope"
_ABSENT, _ARRIVAL, _MORE, _ = _MARKS = ("-", "#", "+", "=")
"""Keys of a note with a meaning of their own (see above); `=` is a mark of versions that were never released."""
_PARTS = ("kind", "sender", "recipient", "text")
"""Parts of a message that `#` keeps, in this order, to tell whether another program changed them."""
_TIMES = ("read_by", "delivered_to", "handed_to")
"""Keys of a record that say of each agent when."""
_IDENTITY = ("message_id", "sender", "recipient", "message_type", "status")
# Keys of a record that say what a column says, too: a note that has one of them may contradict the column.
_NAMING_KEYS = frozenset(
    {"message_id", "id", "type", "message_type", "from", "sender", "from_agent", "status"}
    | {"to", "to_agents", "recipient", "to_agent"}
)
STAND_INS = {
    **dict.fromkeys((str(Status.RETRY), str(Status.CLAIMED)), str(Status.PENDING)),
    **dict.fromkeys((str(Status.EXPIRED), str(Status.RECALLED)), str(Status.FAILED)),
    str(Status.READ): str(Status.DELIVERED),
}
"""Status -> what the column holds for it where the table takes only the three words of seed 003."""
_ZONE = re.compile(r" ([+-]\d\d(:\d\d){0,2})\Z")
"""The offset that a server puts behind a local time (`Shape.select_rows`), as ` +02` or ` -03:30`."""
DAMAGED_ENTRY = "DAMAGED_ENTRY"
ROW_REFUSED = "ROW_REFUSED"
"""Code of the finding that a table does not let a row change, or go."""
_UNKNOWN_STATUS = "unknown"
_STATUSES = frozenset(str(status) for status in Status)


FitColumns = Callable[[Fields], FieldDict]
"""Values by column -> those that the table holds then (`Shape.fit`)."""


class Row(NamedTuple):
    """The columns of seed 003 as read: texts, numbers or None, the note kept beside the row, and its place among all
    rows in the order in which they came, where the database tells.
    """

    message_id: Any
    sender: Any
    recipient: Any
    message_type: Any
    payload: Any
    status: Any
    created_at: Any
    delivered_at: Any
    retry_count: Any
    max_retries: Any
    error_message: Any
    note: Any = None
    place: Any = None


COLUMNS = Row._fields[:-2]
"""Names of the columns, in the order of seed 003."""


class RowEntry(Struct, frozen=True):
    """One row, understood.

    Attributes:
        message: None when it is no message.
        arrival: Its place among the rows we added, None for rows of other programs.
        changed: What of it is another than when it was written, in words; empty for nothing.
        note: What its record holds beyond the columns.
        is_old: Whether its note stands in its payload, as 0.5.0 wrote it.
    """

    row: Row
    message: Message | None = None
    arrival: int | None = None
    problems: tuple[Problem, ...] = ()
    changed: str = ""
    note: Fields = {}
    is_old: bool = False

    @property
    def is_foreign(self) -> bool:
        """Whether another program wrote the row."""
        return self.arrival is None


def read_row(row: Row, *, place: str) -> RowEntry:
    """Understand `row`; `place` names it in problems when it has no usable id. Never raises for its content.

    In this order: is there an id, the payload and the note, the record that they make, then what is odd about it.
    """
    if not isinstance(row.message_id, str) or not row.message_id:
        what = f"a message_id of bytes {row.message_id!r:.60}" if isinstance(row.message_id, bytes) else "no message_id"
        hint = "Give it a message_id that is a text; until then nobody can receive or change it."
        return RowEntry(row, problems=(Problem(DAMAGED_ENTRY, "error", place, f"the row has {what}", hint),))
    # guard: id-that-nobody-can-look-for
    if not is_storable(row.message_id):
        what = f"the row has a message_id with a NUL or half a character: {row.message_id!r:.60}"
        hint = "Give it another message_id; until then nobody can receive or change it."
        return RowEntry(row, problems=(Problem(DAMAGED_ENTRY, "error", place, what, hint),))
    payload, trouble = _parse_json(row.payload)
    is_old = _has_note_of_050(payload)
    note = payload[NOTE_KEY] if is_old else json_object_in(row.note)
    try:
        record = _record_of(row, payload, note)
        _check_times(record)
        message = from_record(record)
        if "status" in message.odd:  # statements ask for our words alone
            message = replace(message, status=str(record["status"]), odd=())
    except (ValueError, TypeError) as error:
        hint = "Correct the row; it is shown and kept as it is."
        return RowEntry(row, problems=(Problem(DAMAGED_ENTRY, "error", row.message_id, f"the row has {error}", hint),))
    problems = _oddities(row, message, trouble)
    parts = zip(_PARTS, _parts_recorded(note), _parts_now(message), strict=False)
    # guard: row-words-compared
    if changed := ", ".join(part for part, before, now in parts if before != now):
        problems.append(changed_problem(message.message_id, changed))
    return RowEntry(row, message, recorded_arrival(note), tuple(problems), changed, note, is_old)


def _oddities(row: Row, message: Message, trouble: str | None) -> list[Problem]:
    """Return what is odd about a row that is a message all the same; `trouble` is why its payload is no JSON."""
    odd = [name for name, value in zip(COLUMNS, row, strict=False) if name != "payload" and isinstance(value, bytes)]
    hint = "It is shown as well as it can be; correct the row."
    warnings = [(DAMAGED_ENTRY, f"the column {name} holds bytes (a BLOB), not text", hint) for name in odd]
    if trouble is not None:
        hint = "It is shown as text and kept as it is; correct the payload of the row."
        warnings.append((DAMAGED_ENTRY, f"the payload is not JSON: {trouble:.200}", hint))
    if message.created and message.created_at is None:
        text = f"created_at is no time: {message.created!r:.60}"
        warnings.append(("UNREADABLE_DATE", text, "It counts as the oldest; correct the row."))
    if message.status not in _STATUSES:
        text = f"status {message.status!r} is none the router knows; nobody will get this message"
        warnings.append(("UNKNOWN_STATUS", text, "Set it to pending to send it."))
    refusal = message.record.get(TABLE_REFUSES)
    if isinstance(refusal, dict):
        hint = "Mend the table or the row; the router looks at it again by itself."
        warnings.append((ROW_REFUSED, f"its row cannot be changed: {refusal.get('why')!s:.500}", hint))
    return [Problem(code, "warning", row.message_id, text, hint) for code, text, hint in warnings]


def columns_of(message: Message) -> FieldDict:
    """Return the values of the columns other than the payload; moments as ISO 8601 text in UTC.

    What a column cannot hold stands there as `storable` has it; the note beside the row keeps the record's own.
    """
    record = message.record
    created = from_text(message.created)
    delivered = from_text(str(record.get("delivered_at") or ""))
    error = record.get("error_message")
    return {
        "message_id": message.message_id,
        "sender": storable(message.sender),
        "recipient": storable(",".join(message.recipients)),
        "message_type": storable(message.type),
        "status": storable(message.status),
        "created_at": None if created is None else to_text(created),
        "delivered_at": None if delivered is None else to_text(delivered),
        "retry_count": retries_of(message),
        "max_retries": max_attempts(message) - 1,
        "error_message": None if error is None else storable(str(error)),
    }


def new_row(message: Message, *, arrival: int, fit: FitColumns = dict) -> tuple[FieldDict, str]:
    """Return all column values of a row of ours, and the note beside it; `fit` gives what the table takes."""
    columns = fit({**columns_of(message), "payload": payload_text(message)})
    return columns, _note_of_our_row(message, columns, arrival, _parts_now(message))


def changed_row(old: RowEntry, new: Message, *, fit: FitColumns) -> tuple[FieldDict, str | None]:
    """Return the column values that turn the row of `old` into `new`, and the note beside it (None: none).

    Args:
        fit: Gives what the table takes.

    Raises:
        LookupError: `old` is no message.
    """
    if old.message is None:
        raise LookupError(old.row.message_id)
    before, wanted = columns_of(old.message), columns_of(new)
    columns = fit(wanted)
    # What the column cannot hold at all leaves it as it is, and stands in the note.
    changed = {
        name: columns[name]
        for name, value in wanted.items()
        if before[name] != value and (columns[name] is not None or value is None)
    }
    if not old.is_foreign or old.is_old:
        columns["payload"] = fit({"payload": payload_text(new)})["payload"]
        if columns["payload"] != old.row.payload:
            changed["payload"] = columns["payload"]
        parts = zip(_parts_recorded(old.note), _parts_now(old.message), _parts_now(new), strict=False)
        # guard: row-words-kept
        words = [before if now == then else then for before, now, then in parts]
        return changed, _note_of_our_row(new, columns, old.arrival, words)
    kept = Row(*old.row)._replace(**changed, note=None)
    note = _note_between(new.record, _record_of_columns(kept, _parse_json(old.row.payload)[0], foreign=True))
    return changed, dump(note) if note else None


def given_payload(entry: RowEntry) -> Any:
    """Return the payload column as the writer of the row filled it; without the note that 0.5.0 put into its own."""
    return payload_text(entry.message) if entry.is_old and entry.message is not None else entry.row.payload


def payload_text(message: Message) -> str | None:
    """Return the payload of the record for its column, None for none, and for one that would be read as a row of
    0.5.0.
    """
    payload = message.record.get("payload")
    return None if payload is None or _may_seem_old(payload) else dump(payload)


def _note_of_our_row(message: Message, columns: Fields, arrival: int | None, words: Sequence[str]) -> str:
    """Return the note of a row of ours: what its columns do not give back, its arrival, and its parts as written."""
    payload = None if columns["payload"] is None else message.record.get("payload", {})
    base = _record_of_columns(Row(**columns), payload, foreign=True)
    # One mark for both: 0.5.0 takes every other key for one of the record, and it would be part of its digest.
    arrived = [arrival, list(words)] if words else arrival
    return dump({_ARRIVAL: arrived, **_note_between(message.record, base)})


def _parts_now(message: Message) -> list[str]:
    """Return a value for each of `_PARTS` of a message; other programs may write the same payload differently."""
    payload = json.dumps(json.loads(dump(message.record.get("payload"))), sort_keys=True).encode()
    said = blake2b(payload, digest_size=16).hexdigest()
    return [*map(storable, (message.type, message.sender, ",".join(message.recipients))), said]


def _parts_recorded(note: Fields) -> list[Any]:
    """Return the values of `_PARTS` when the row was written; none for a row of another program or of 0.5.0."""
    match note.get(_ARRIVAL):
        case [_, list(words)] if len(words) == len(_PARTS):
            return words
    return []


def recorded_arrival(note: Fields) -> int | None:
    """Return its place among the rows we added; None for a row of another program."""
    match note.get(_ARRIVAL):
        case [int(arrival), _] | int(arrival):
            return arrival
    return None


def _has_note_of_050(payload: Any) -> bool:
    """Return whether 0.5.0 wrote the payload: its note always has the order of arrival; without, it is a user's key."""
    note = payload.get(NOTE_KEY) if isinstance(payload, dict) else None
    # guard: envelope-of-a-user
    return isinstance(note, dict) and _ARRIVAL in note and type(note[_ARRIVAL]) in (int, type(None))


def _may_seem_old(payload: Any) -> bool:
    """Return whether 0.5.0 would take a key of this payload for its own note."""
    return isinstance(payload, dict) and isinstance(payload.get(NOTE_KEY), dict)


def _record_of(row: Row, payload: Any, note: Fields) -> FieldDict:
    """Return the record of the row; where the note contradicts what the columns name, another program changed them."""
    base = _record_of_columns(row, payload, foreign=not _has_note_of_050(payload))
    if not note:
        return base
    record = _with_note(base, note, row)
    if _NAMING_KEYS.isdisjoint(note) and _NAMING_KEYS.isdisjoint(items_in(note, _ABSENT)):
        return record
    named = columns_of(from_record(record))
    plain = columns_of(from_record(base))
    # guard: stand-in-understood
    if all(named[name] == plain[name] or stands_for(plain[name], named[name]) for name in _IDENTITY):
        return record
    absent = [key for key in items_in(note, _ABSENT) if key not in _NAMING_KEYS]
    rest = without(note, _NAMING_KEYS)
    return _with_note(base, {**rest, _ABSENT: absent}, row)


def stands_for(column: Any, named: Any) -> bool:
    """Return whether the column holds what stands for a status that the table does not take."""
    return isinstance(named, str) and named in STAND_INS and STAND_INS[named] == column


def _check_times(record: Fields) -> None:
    """Refuse times by agent that are none: any program may write a note, and nobody looks at each of them again.

    Raises:
        ValueError: Naming the key.
    """
    for key in _TIMES:
        times = record.get(key)
        if isinstance(times, dict) and not all(isinstance(at, str) for at in times.values()):
            raise ValueError(f"a {key} whose times are not all texts")


def _with_note(base: Fields, note: Fields, row: Row) -> FieldDict:
    """Return the record that the columns give, with what its note says beyond them."""
    record = without(base, items_in(note, _ABSENT))
    record.update(without(note, _MARKS))
    record.update(mapping_in(note, _MORE))
    if "attempts" in note and row.retry_count is not None and row.retry_count not in _possible_retries(record):
        del record["attempts"]
        record["retry_count"] = row.retry_count
    return record


def _possible_retries(record: Fields) -> tuple[int, ...]:
    """Return the values the column may hold for these attempts, unless another router counted on."""
    message = from_record(record)
    return retries_of(message), attempts_of(message)


def _record_of_columns(row: Row, payload: Any, *, foreign: bool) -> FieldDict:
    """Return the record that the columns alone give."""
    record: FieldDict = {
        "message_id": row.message_id,
        "type": row.message_type or "message",
        **({} if row.message_type else {"message_type": None}),  # so that a poll can say that there is none
        "from": row.sender,
        "to": row.recipient,
    }
    if foreign and isinstance(payload, dict) and payload.get("priority") in tuple(Priority):
        record["priority"] = payload["priority"]
    # 0.5.0 wrote UTC into its own rows, whatever the time zone of the database is.
    record["created"] = _utc_text(row.created_at, is_utc=not foreign)
    record["status"] = row.status or _UNKNOWN_STATUS
    further = {
        "delivered_at": _utc_text(row.delivered_at, is_utc=not foreign) or None,
        "retry_count": row.retry_count or None,
        "max_retries": None if row.max_retries == MAX_RETRIES else row.max_retries,
        "error_message": row.error_message or None,  # a column that takes no NULL holds an empty text for none
    }
    record.update(without_none(further))
    if isinstance(payload, dict):
        record["payload"] = payload if foreign else {key: item for key, item in payload.items() if key != NOTE_KEY}
    elif payload is not None:
        record["payload"] = payload
    return record


def _note_between(record: Fields, base: Fields) -> FieldDict:
    """Return the note that makes `record` of `base`, which the columns give."""
    beyond = {key: value for key, value in record.items() if key not in base or not _is_same_json(base[key], value)}
    more = {key: beyond.pop(key) for key in _MARKS if key in beyond}
    absent = [key for key in base if key not in record]
    return {**beyond, **({_ABSENT: absent} if absent else {}), **({_MORE: more} if more else {})}


def _is_same_json(value: Any, other: Any) -> bool:
    """Return whether values are equal and of one JSON type all the way down: 1, 1.0 and true are three values."""
    if value.__class__ is not other.__class__:
        return False
    return bool(value == other) and (isinstance(value, (str, int)) or dump(value) == dump(other))


def _utc_text(value: Any, *, is_utc: bool) -> str:
    """Return the time in UTC, or the text as it is when it is none; `is_utc`: whatever zone the database put after
    it.
    """
    if value is None:
        return ""
    text = _ZONE.sub("" if is_utc else r"\1", str(value))
    moment = from_text(text)
    return text if moment is None else to_text(moment)


def _parse_json(text: Any) -> tuple[Any, str | None]:
    """Return the JSON value in `text`, which may be bytes, or the text itself and why it is none that can be read."""
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    if not isinstance(text, str):
        return text, None
    try:
        return json.loads(text, parse_constant=refuse_constant, object_pairs_hook=refuse_repeated_keys), None
    except RecursionError:
        return text, "nested too deeply"
    except ValueError as error:
        return text, str(error)


def json_value_of(text: Any) -> Any:
    """Return the JSON value in a text or bytes, else the text itself."""
    return _parse_json(text)[0]


def json_object_in(text: Any) -> FieldDict:
    """Return the JSON object in `text`, an empty one where there is none."""
    found, _ = _parse_json(text)
    return found if isinstance(found, dict) else {}


def column_text(value: object) -> str:
    """Return a value of one of our own columns of text, whatever its type is; empty for none."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return "" if value is None else str(value)


def storable(text: str) -> str:
    """Return a text for a column: half a character, as JSON can hold one and a database cannot, stands there as its
    escape.
    """
    return text.encode("utf-8", "backslashreplace").decode().replace("\0", "\N{SYMBOL FOR NULL}")


def is_storable(text: str) -> bool:
    """Return whether a column can hold the text as it is; no row has one that it cannot."""
    return storable(text) == text


def dump(value: Any) -> str:
    """Write strict JSON: characters stay readable, lone surrogates are escaped, numbers it lacks become texts."""
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str, allow_nan=False)
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"), default=str)
    except ValueError:
        return dump(json.loads(json.dumps(value, default=str), parse_constant=str))
    return text
