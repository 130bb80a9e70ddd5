"""What has been: archives, the audit chain and attachments in our own tables."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import msgspec
from team_console.store.backends.sql.connection import Connection, Values, like_pattern
from team_console.store.backends.sql.rows import dump, json_object_in, storable
from team_console.store.backends.sql.schema import ARCHIVE, AUDIT
from team_console.store.backends.trail_reader import KEPT, NOT_BY_DESK, TrailLine, TrailReader
from team_console.store.contract.team import LineSeal, Page, judge_seal, key_name, seal
from team_console.store.contract.transaction import Changes
from team_console.store.model.clock import to_text
from team_console.store.model.errors import Code, Problem, TeamError
from team_console.store.model.message import FieldDict, Message, by_id, from_record
from team_console.store.model.recorded_facts import ACCEPT_SETTINGS, CARRIED
from team_console.store.protocol.foreign_fields import items_in, mapping_in
from team_console.store.protocol.parsing import parse_message
from team_console.store.protocol.trail_facts import is_answer
from team_console.store.protocol.verdicts import may_be_verdict
from team_console.store.settings.team_config import TeamConfig

PlacesT = TypeVar("PlacesT")
_LINES_AT_ONCE = 2000
"""Lines of the audit trail that are fetched at once."""
RECORDED = "recorded"
"""Key of the facts of an audit line: `questions` lists message ids, `answers` whole records."""
_LARGEST_NUMBER = 2**63 - 1
"""The largest number that a column holds; SQLite keeps texts behind it."""
_WORDS = (f'"{RECORDED}"', f'"{CARRIED}"', '"by_desk"', '"request_id"', '"human"', '"grant"', '"settings"', '"members"')


def telling_lines(connection: Connection) -> str:
    """Return the condition for lines that may tell of requests and answers; an index has it in the same words."""
    find = "strpos" if connection.is_strict else "instr"
    telling = [f"action = '{ACCEPT_SETTINGS}'", *(f"{find}(facts, '{word}') > 0" for word in _WORDS)]
    return f"({' OR '.join(telling)})"


def archived_row(agent: str, message: Message, *, n: int) -> FieldDict:
    """Return the archive row of a message."""
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
    """Return the archived messages that fit a SQL condition, each id once, in the order they were archived."""
    rows = connection.rows(f"SELECT record FROM {ARCHIVE} WHERE {condition} ORDER BY n", values)
    found = [message for (text,) in rows if (message := parse_archived(text)) is not None]
    return list(by_id(found).values())


def archive_page(connection: Connection, *, agent: str | None, cursor: str | None, limit: int) -> Page:
    """Return a stretch of history, newest first; the cursor is the place of its last message.

    Raises:
        TeamError: `INVALID_FIELD` for a text that is no cursor.
    """
    rows = archived_stretch(connection, agent=agent, behind=cursor, limit=limit + 1)
    read = [row for _, row in rows[:limit]]
    messages = tuple(row for row in read if isinstance(row, Message))
    problems = tuple(row for row in read if isinstance(row, Problem))
    return Page(messages, rows[limit - 1][0] if len(rows) > limit else None, problems)


def archived_stretch(
    connection: Connection, *, agent: str | None, behind: str | None, limit: int
) -> list[tuple[str, Message | Problem]]:
    """Return at most so many archived messages, newest first, each with its place; a problem for a row that is none.

    Of one moment, what was archived last comes first; of a message in several archives its last row counts.

    Raises:
        TeamError: `INVALID_FIELD` for a text that is no place.
    """
    values: dict[str, Any] = {"limit": limit}
    if agent is not None:
        conditions, values["agent"] = ["agent = :agent"], agent
    else:
        same = "later.created = row.created AND later.message_id = row.message_id"
        conditions = [f"NOT EXISTS (SELECT 1 FROM {ARCHIVE} AS later WHERE {same} AND later.n > row.n)"]
    if behind is not None:
        conditions.append("(created, n) < (:created, :n)")
        values["created"], values["n"] = decode_cursor(behind, tuple[str, float | int])
    wanted = f"""
        SELECT created, n, message_id, record FROM {ARCHIVE} AS row WHERE {" AND ".join(conditions)}
        ORDER BY created DESC, n DESC LIMIT :limit
    """
    found: list[tuple[str, Message | Problem]] = []
    for created, n, message_id, record in connection.rows(wanted, values):
        text = f"archive row {n} is no message"
        damage = Problem("DAMAGED_ARCHIVE", "warning", message_id, text, "Look at the row by hand.")
        place = json.dumps([column_text(created), n if isinstance(n, int | float) else _LARGEST_NUMBER])
        found.append((place, parse_archived(record) or damage))
    return found


def decode_cursor(cursor: str, sort: type[PlacesT]) -> PlacesT:
    """Return the two places that a cursor holds, as a tuple of this type.

    Raises:
        TeamError: `INVALID_FIELD` for a text that is no cursor.
    """
    try:
        return msgspec.json.decode(cursor, type=sort)
    except (msgspec.MsgspecError, ValueError) as error:
        text = f"cursor {cursor!r} is not one of this team"
        raise TeamError(Code.INVALID_FIELD, text, "Begin at the newest page.") from error


def parse_archived(text: object) -> Message | None:
    """Return the archived message that `text` holds, None when it holds none."""
    try:
        record = json_object_in(text)
        return from_record(record) if record else None
    except ValueError:
        return None


def column_text(value: object) -> str:
    """Return a value of one of our own columns of text, whatever its type is; empty for none."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return "" if value is None else str(value)


class AuditRow(NamedTuple):
    """A row of the audit trail; `prev` is the hash of the row before."""

    seq: int
    at: str
    actor: str
    action: str
    facts: str
    prev: str
    hash: str = ""

    def sealed_bytes(self, facts: str | None = None) -> bytes:
        """Return the bytes that its hash and its seal cover."""
        parts = [self.prev, *self[:4], self.facts if facts is None else facts]
        return json.dumps(parts, separators=(",", ":")).encode("ascii")

    def digest(self) -> str:
        """Return the hash it must have."""
        return hashlib.sha256(self.sealed_bytes()).hexdigest()

    def with_seal(self, key: bytes) -> AuditRow:
        """Return the same with its seal as the last of the facts."""
        comma = "," if len(self.facts) > len("{}") else ""
        return self._replace(facts=f'{self.facts[:-1]}{comma}"seal":"{seal(key, self.sealed_bytes())}"}}')

    def seal_state(self, key: bytes) -> LineSeal:
        """Return the state of its seal."""
        if not key:
            return LineSeal.UNKNOWN
        match = _SEAL.search(self.facts)
        without = f"{self.facts[: match.start()]}}}" if match else self.facts
        return judge_seal(key, self.sealed_bytes(without), match[1] if match else None)


_SEAL = re.compile(r',?"seal":"([0-9a-f-]{73})"\}\Z')


class TrailTableFollower:
    """Follows the audit trail of one database: each line is read once. Used from one thread at a time.

    A trail may be long: where it is not read as a whole, the database looks for the lines that may tell of requests
    and answers.
    """

    def __init__(self, *, is_whole: bool) -> None:
        self._reader = TrailReader()
        self._is_whole = is_whole
        self._start_over()

    def _start_over(self) -> None:
        self._last = AuditRow(0, "", "", "", "", "")
        self._sealed_from: int | None = None
        self._met_unnumbered = False

    def read(self, connection: Connection, key: bytes, *, keeps: int = KEPT) -> TrailReader:
        """Take the lines that were added since, all of them when the trail is another or is shorter than it was."""
        end = connection.scalar(f"SELECT max(seq) FROM {AUDIT} WHERE seq <= {_LARGEST_NUMBER}") or 0
        if end < self._last.seq or key != self._reader.key or keeps > self._reader.keeps:
            self._reader.restart(key=key, keeps=keeps)
            self._start_over()
        if not self._is_whole and end == self._last.seq:
            return self._reader
        condition = "" if self._is_whole else f" AND {telling_lines(connection)} AND seq <= {end}"
        if not self._is_whole and key and self._sealed_from is None:
            # A quote in a text of a line is escaped, so that no text looks like a seal.
            sealed = {"sealed": like_pattern(f'"seal":"{key_name(key)}-')}
            first = connection.scalar(f"SELECT min(seq) FROM {AUDIT} WHERE facts LIKE :sealed ESCAPE '/'", sealed)
            self._sealed_from = first if isinstance(first, int) else None
        wanted = f"SELECT {', '.join(AuditRow._fields)} FROM {AUDIT} WHERE seq > :seq{condition} ORDER BY seq"
        for chunk in connection.chunks(_LINES_AT_ONCE, wanted, {"seq": self._last.seq}):
            for seq, *texts in chunk:
                self._take(AuditRow(seq if isinstance(seq, int) else 0, *map(column_text, texts)))
        if not self._is_whole:
            self._last = self._last._replace(seq=end)
        return self._reader

    def _take(self, line: AuditRow) -> None:
        """Take a line. Of those without a number only the first counts: SQLite keeps any text there, sorted last."""
        is_unnumbered = line.seq <= self._last.seq
        if is_unnumbered and self._met_unnumbered:
            return
        is_after_seal = self._sealed_from is not None and line.seq >= self._sealed_from
        follows = not is_unnumbered and (not self._is_whole or self._is_next(line))
        seal = line.seal_state(self._reader.key)
        self._reader.take(_make_trail_line(line), seal, follows=follows, is_after_seal=is_after_seal)
        self._last, self._met_unnumbered = (self._last, True) if is_unnumbered else (line, self._met_unnumbered)

    def _is_next(self, line: AuditRow) -> bool:
        """Return whether the line continues the chain: its number, the hash it quotes, and its own hash."""
        last = self._last
        return line.seq == last.seq + 1 and line.prev == last.hash and line.hash == line.digest()


def _make_trail_line(line: AuditRow) -> TrailLine:
    """Make an audit row a line of the trail, with the requests and answers that its facts carry."""
    facts = json_object_in(line.facts)
    recorded = facts.get(RECORDED)
    questions: Sequence[object] = ()
    answers: Sequence[object] = ()
    if isinstance(recorded, Mapping):
        questions, answers = items_in(recorded, "questions"), items_in(recorded, "answers")
    elif "request_id" in facts and line.action not in NOT_BY_DESK:
        # A line of an earlier version names the messages it wrote and does not hold them.
        questions = [facts.get("question"), *items_in(facts, "ids")]
    return TrailLine(
        *(*line[:4], facts),
        writes=tuple(msgspec.Raw(dump(record).encode("utf-8", "backslashreplace")) for record in answers),
        questions=tuple(item for item in questions if isinstance(item, str)),
        settings=dict(mapping_in(facts, "settings")),
    )


def records_to_write(changes: Changes, config: TeamConfig) -> list[tuple[str, FieldDict]]:
    """Return the lines for the audit trail; the first also says which requests, answers and words of humans on
    requests were added: whoever is handed those asks whether team-console wrote them.
    """
    (action, facts), *rest = changes.records
    questions = [message.message_id for message in changes.added.values() if parse_message(message).opens is not None]
    said = [message for message in changes.added.values() if is_answer(message) or may_be_verdict(config, message)]
    answers = [dict(message.record) for message in said]
    if not (questions or answers):
        return changes.records
    return [(action, {**facts, RECORDED: {"questions": questions, "answers": answers}}), *rest]


def audit_lines(
    records: Iterable[tuple[str, Mapping[str, Any]]], *, seq: int, prev: str, at: str, actor: str, key: bytes = b""
) -> list[AuditRow]:
    """Return the lines to append after line `seq` with the hash `prev`, sealed where there is a key."""
    lines: list[AuditRow] = []
    for number, (action, facts) in enumerate(records, start=seq + 1):
        line = AuditRow(number, at, actor, action, dump(facts), prev)
        line = line.with_seal(key) if key else line
        prev = line.digest()
        lines.append(line._replace(hash=prev))
    return lines
