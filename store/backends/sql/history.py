"""What has been: archives, the audit chain and attachments in our own tables."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from team_console.store.backends.audit_log import KEPT, NOT_BY_DESK, AuditReader, TrailLine
from team_console.store.backends.sql.connection import Connection, Values, containing
from team_console.store.backends.sql.rows import dump, is_storable, storable
from team_console.store.backends.sql.schema import ARCHIVE, ATTACHMENTS, AUDIT
from team_console.store.contract.team import AuditLine, LineSeal, Page, judged, key_name, seal
from team_console.store.contract.transaction import Changes
from team_console.store.model.clock import to_text
from team_console.store.model.errors import Code, Problem, TeamError
from team_console.store.model.message import Message, from_record
from team_console.store.model.recorded import ACCEPT_SETTINGS, CARRIED, RecordedFacts
from team_console.store.protocol.parsing import parse_message
from team_console.store.protocol.relations import is_answer
from team_console.store.protocol.verdicts import may_be_verdict
from team_console.store.settings.team_config import TeamConfig

_STEP = 2000
_LINE = ("seq", "at", "actor", "action", "facts", "prev", "hash")
LINES = f"SELECT {', '.join(_LINE)} FROM {AUDIT}"
"""The select of audit rows, for `line_of`."""
_SEAL = re.compile(r',?"seal":"([0-9a-f-]{73})"\}\Z')
RECORDED = "recorded"
"""Key of the facts of an audit line: `questions` lists message ids, `answers` whole records."""
_LAST = 2**63 - 1
_WORDS = (f'"{RECORDED}"', f'"{CARRIED}"', '"by_desk"', '"request_id"', '"human"')
_SOUGHT = {f"sought_{number}": containing(word) for number, word in enumerate(_WORDS)} | {"confirmed": ACCEPT_SETTINGS}
_MAY_TELL = " OR ".join(["action = :confirmed", *(f"facts LIKE :sought_{n} ESCAPE '/'" for n in range(len(_WORDS)))])
"""The condition for lines that may tell of requests and answers, with its values."""


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


class Trail:
    """Follows the audit trail of one database: each line is read once. Used from one thread at a time.

    The facts come from the lines alone that may tell of any, which the database looks for: a trail may be long.
    """

    def __init__(self) -> None:
        self._whole = _Follower()
        self._sought = _Follower(is_whole=False)

    def lines(self, connection: Connection, *, limit: int, key: bytes) -> list[AuditLine]:
        """The last lines, newest first, each with whether the chain and the seals hold up to it."""
        return self._whole.read(connection, key, keeps=limit).shown(limit)

    def facts(self, connection: Connection, key: bytes) -> RecordedFacts:
        """What is on record of requests and answers at the moment the connection sees."""
        return self._sought.read(connection, key).facts


class _Follower:
    def __init__(self, *, is_whole: bool = True) -> None:
        self._trail = AuditReader()
        self._is_whole = is_whole
        self._begin()

    def _begin(self) -> None:
        self._seq = 0
        self._hash = ""
        self._sealed_from: int | None = None
        self._is_odd = False

    def read(self, connection: Connection, key: bytes, *, keeps: int = KEPT) -> AuditReader:
        """Take the lines that were added since, all of them when the trail is another or is shorter than it was."""
        last = connection.scalar(f"SELECT max(seq) FROM {AUDIT} WHERE seq <= {_LAST}") or 0
        if last < self._seq or key != self._trail.key or keeps > self._trail.keeps:
            self._trail.restart(key=key, keeps=keeps)
            self._begin()
        if last > self._seq and not self._is_whole:
            self._find_first_seal(connection)
        wanted = LINES if self._is_whole else f"{LINES} WHERE ({_MAY_TELL}) AND seq <= {last}"
        more = f"{wanted} {'AND' if 'WHERE' in wanted else 'WHERE'} seq > :seq ORDER BY seq LIMIT {_STEP}"
        while last > self._seq or self._is_whole:
            rows = connection.rows(more, {"seq": self._seq, **_SOUGHT})
            if not rows or not all(self._take(line_of(row)) for row in rows):
                break
        if not self._is_whole:
            self._seq = last
        return self._trail

    def _take(self, line: dict[str, Any]) -> bool:
        """Take a line; False for one without a number: SQLite keeps any text there, and sorts it behind all numbers."""
        seq, key = line["seq"], self._trail.key
        if seq <= self._seq:
            if not self._is_odd:
                self._trail.take(trail_line(line, key, follows=False))
            self._is_odd = True
            return False
        is_next = seq == self._seq + 1 and line["prev"] == self._hash and line["hash"] == chained(self._hash, line)
        is_after_seal = self._sealed_from is not None and seq >= self._sealed_from
        self._trail.take(trail_line(line, key, follows=is_next or not self._is_whole), is_after_seal=is_after_seal)
        self._seq, self._hash = seq, line["hash"]
        return True

    def _find_first_seal(self, connection: Connection) -> None:
        """A quote in a text of a line is escaped, so that no text looks like a seal."""
        if self._trail.key and self._sealed_from is None:
            sealed = {"sealed": containing(f'"seal":"{key_name(self._trail.key)}-')}
            first = connection.scalar(f"SELECT min(seq) FROM {AUDIT} WHERE facts LIKE :sealed ESCAPE '/'", sealed)
            self._sealed_from = first if isinstance(first, int) else None


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


def with_recorded(changes: Changes, config: TeamConfig) -> list[tuple[str, dict[str, Any]]]:
    """The lines for the audit trail; the first also says which requests, answers and words of humans on requests were
    added: whoever is handed those asks whether team-console wrote them."""
    (action, facts), *rest = changes.records
    questions = [message.message_id for message in changes.added.values() if parse_message(message).opens is not None]
    said = [message for message in changes.added.values() if is_answer(message) or may_be_verdict(config, message)]
    answers = [dict(message.record) for message in said]
    if not (questions or answers):
        return changes.records
    return [(action, {**facts, RECORDED: {"questions": questions, "answers": answers}}), *rest]


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
