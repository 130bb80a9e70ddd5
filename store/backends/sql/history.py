"""What has been: archives, the audit chain and attachments in our own tables."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from team_console.store.backends.audit_log import NOT_BY_DESK, AuditReader, TrailLine
from team_console.store.backends.sql.connection import Connection, Values
from team_console.store.backends.sql.rows import dump, is_storable, storable
from team_console.store.backends.sql.schema import ARCHIVE, ATTACHMENTS, AUDIT
from team_console.store.contract.team import AuditLine, LineSeal, Page, judged, seal
from team_console.store.model.clock import to_text
from team_console.store.model.errors import Code, Problem, TeamError
from team_console.store.model.message import Message, from_record

_STEP = 2000
_LINE = ("seq", "at", "actor", "action", "facts", "prev", "hash")
LINES = f"SELECT {', '.join(_LINE)} FROM {AUDIT}"
"""The select of audit rows, for `line_of`."""
_SEAL = re.compile(r',?"seal":"([0-9a-f-]{73})"\}\Z')
RECORDED = "recorded"
"""Key of the facts of an audit line: `questions` lists message ids, `answers` whole records."""


def archived_row(agent: str, message: Message, *, n: int) -> dict[str, Any]:
    """The archive row of a message."""
    moment = message.created_at
    return {
        "n": n,
        "agent": agent,
        "message_id": message.message_id,
        "request_id": None if message.request_id is None else storable(message.request_id),
        "created": "" if moment is None else to_text(moment),
        "record": dump(dict(message.record)),
    }


def archived_messages(connection: Connection, condition: str, values: Values) -> list[Message]:
    """Archived messages that fit, each id once, in the order they were archived."""
    rows = connection.scalars(f"SELECT record FROM {ARCHIVE} WHERE {condition} ORDER BY n", values)
    found = [message for text in rows if (message := message_of(text)) is not None]
    return list({message.message_id: message for message in found}.values())


def page(connection: Connection, *, agent: str | None, cursor: str | None, limit: int) -> Page:
    """A stretch of history, newest first; the cursor is the place of its last message.

    Raises:
        TeamError: `INVALID_FIELD` for a cursor that is none.
    """
    conditions, values = ["1 = 1"], {"limit": limit + 1, "agent": agent}
    if agent is not None:
        conditions.append("agent = :agent")
    if cursor is not None:
        conditions.append("(created, message_id) < (:created, :message_id)")
        values.update(zip(("created", "message_id"), _cursor(cursor), strict=True))
    latest = f"""
        SELECT max(n), created, message_id FROM {ARCHIVE} WHERE {" AND ".join(conditions)}
        GROUP BY created, message_id ORDER BY created DESC, message_id DESC LIMIT :limit
    """
    places = connection.rows(latest, values)
    shown = places[:limit]
    numbers = [n for n, _, _ in shown]
    records = dict(connection.rows_among(f"SELECT n, record FROM {ARCHIVE} WHERE n IN", numbers))
    messages, problems = _page(shown, records)
    return Page(messages, json.dumps(shown[-1][1:]) if len(places) > limit else None, problems)


def _page(shown: Sequence[Any], records: Mapping[int, str]) -> tuple[tuple[Message, ...], tuple[Problem, ...]]:
    messages, problems = [], []
    for n, _, message_id in shown:
        message = message_of(records.get(n, ""))
        if message is not None:
            messages.append(message)
        else:
            text = f"archive row {n} is no message"
            problems.append(Problem("DAMAGED_ARCHIVE", "warning", message_id, text, "Look at the row by hand."))
    return tuple(messages), tuple(problems)


def _cursor(text: str) -> list[str]:
    try:
        place = json.loads(text)
    except ValueError:
        place = None
    if isinstance(place, list) and len(place) == 2 and all(isinstance(item, str) for item in place):
        return place
    raise TeamError(Code.INVALID_FIELD, f"cursor {text!r} is not one of this team", "Begin at the newest page.")


def message_of(text: str) -> Message | None:
    """The archived message that `text` holds, None when it holds none."""
    try:
        record = json.loads(text)
        return from_record(record) if isinstance(record, dict) else None
    except (ValueError, RecursionError):
        return None


def chained(prev: str, line: Mapping[str, Any]) -> str:
    """The hash of an audit line that follows the line with the hash `prev`."""
    return hashlib.sha256(_said(prev, line, line["facts"])).hexdigest()


def line_of(row: Sequence[Any]) -> dict[str, Any]:
    """An audit row with the types its columns should have; SQLite keeps whatever somebody puts there."""
    seq, *texts = row
    return {"seq": seq if isinstance(seq, int) else 0, **dict(zip(_LINE[1:], map(as_text, texts), strict=True))}


def as_text(value: object) -> str:
    """A value of one of our own columns of text, whatever its type is; empty for none."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return "" if value is None else str(value)


def _said(prev: str, line: Mapping[str, Any], facts: str) -> bytes:
    said = [prev, line["seq"], line["at"], line["actor"], line["action"], facts]
    return json.dumps(said, separators=(",", ":")).encode("ascii")


def _sealed(prev: str, line: Mapping[str, Any], key: bytes) -> str:
    """The facts of an audit line with its seal as the last of them."""
    facts: str = line["facts"]
    comma = "," if len(facts) > len("{}") else ""
    return f'{facts[:-1]}{comma}"seal":"{seal(key, _said(prev, line, facts))}"}}'


def seal_of(line: Mapping[str, Any], key: bytes) -> LineSeal:
    """What the seal of an audit line tells."""
    if not key:
        return LineSeal.UNKNOWN
    facts = str(line["facts"])
    match = _SEAL.search(facts)
    without = f"{facts[: match.start()]}}}" if match else facts
    return judged(key, _said(line["prev"], line, without), match[1] if match else None)


class Chain:
    """The audit trail for people: verified from its first line on; what was read once is not read again."""

    def __init__(self) -> None:
        self._trail = AuditReader()
        self._begin()

    def _begin(self) -> None:
        self._seq = 0
        self._hash = ""
        self._is_odd = False

    def lines(self, connection: Connection, *, limit: int, key: bytes) -> list[AuditLine]:
        """Give the last lines, newest first, each with whether the chain and the seals hold up to it."""
        last = connection.scalar(f"SELECT max(seq) FROM {AUDIT}") or 0
        is_shorter = isinstance(last, int) and last < self._seq
        if is_shorter or key != self._trail.key or limit > self._trail.keeps:
            self._trail.restart(key=key, keeps=limit)
            self._begin()
        while rows := connection.rows(f"{LINES} WHERE seq > :seq ORDER BY seq LIMIT {_STEP}", {"seq": self._seq}):
            for row in rows:
                line = line_of(row)
                if line["seq"] <= self._seq:  # SQLite keeps any text as a number, and sorts it behind all numbers
                    if not self._is_odd:
                        self._trail.take(trail_line(line, key, follows=False))
                    self._is_odd = True
                    return self._trail.shown(limit)
                is_next = line["seq"] == self._seq + 1 and line["prev"] == self._hash
                follows = is_next and line["hash"] == chained(self._hash, line)
                self._trail.take(trail_line(line, key, follows=follows))
                self._seq, self._hash = line["seq"], line["hash"]
        return self._trail.shown(limit)


def trail_line(line: Mapping[str, Any], key: bytes, *, follows: bool = True) -> TrailLine:
    """Make an audit row a line of the trail, with the requests and answers that its facts carry."""
    text, action = line["facts"], line["action"]
    questions: list[object] = []
    answers: list[object] = []
    if f'"{RECORDED}"' in text or '"request_id"' in text:
        facts = facts_of(text)
        recorded = facts.get(RECORDED)
        if isinstance(recorded, Mapping):
            questions, answers = as_list(recorded.get("questions")), as_list(recorded.get("answers"))
        elif "request_id" in facts and action not in NOT_BY_DESK:
            # A line of an earlier version names the messages it wrote and does not hold them.
            questions = [facts.get("question"), *as_list(facts.get("ids"))]
    return TrailLine(
        *(line["seq"], line["at"], line["actor"], action, text.encode("utf-8", "backslashreplace")),
        writes=tuple(dump(record).encode("utf-8", "backslashreplace") for record in answers),
        questions=tuple(item for item in questions if isinstance(item, str)),
        follows=follows,
        seal=seal_of(line, key),
    )


def as_list(value: object) -> list[Any]:
    """Give a list as it is, and an empty one for anything else."""
    return value if isinstance(value, list) else []


def audit_rows(
    records: Iterable[tuple[str, Mapping[str, Any]]], *, seq: int, prev: str, at: str, actor: str, key: bytes = b""
) -> list[dict[str, Any]]:
    """The lines to append after line `seq` with the hash `prev`, sealed where there is a key."""
    lines: list[dict[str, Any]] = []
    for action, facts in records:
        seq += 1
        line = {"seq": seq, "at": at, "actor": actor, "action": action, "facts": dump(facts), "prev": prev}
        if key:
            line["facts"] = _sealed(prev, line, key)
        prev = chained(prev, line)
        lines.append({**line, "hash": prev})
    return lines


def attachment(connection: Connection, reference: str) -> bytes | None:
    """The bytes behind a reference, None when there is no such thing."""
    if not is_storable(reference):
        return None
    data = connection.scalar(f"SELECT data FROM {ATTACHMENTS} WHERE reference = :reference", {"reference": reference})
    return data if data is None or isinstance(data, bytes) else as_text(data).encode("utf-8", "surrogateescape")


def facts_of(text: str) -> Mapping[str, Any]:
    """What an audit line tells, `unreadable` where it is no JSON object."""
    try:
        facts = json.loads(text)
    except (ValueError, RecursionError):
        return {"unreadable": text}
    return facts if isinstance(facts, dict) else {"unreadable": text}
