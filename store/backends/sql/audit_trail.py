"""The audit trail in our own table: its rows, followed line by line, and written with each change."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
from team_console.store.backends.sql.connection import Connection, like_pattern
from team_console.store.backends.sql.rows import column_text, dump, json_object_in
from team_console.store.backends.sql.schema import AUDIT, LARGEST_NUMBER, STATE
from team_console.store.backends.trail_reader import KEPT, NOT_BY_DESK, TrailLine, TrailReader
from team_console.store.contract.team import LineSeal, judge_seal, key_name, seal
from team_console.store.contract.transaction import Changes
from team_console.store.model.message import FieldDict
from team_console.store.model.recorded_facts import ACCEPT_SETTINGS, CARRIED, ROWS_AFTER, TRAIL_LOST
from team_console.store.protocol.foreign_fields import items_in, mapping_in
from team_console.store.protocol.parsing import parse_message
from team_console.store.protocol.trail_facts import is_answer
from team_console.store.protocol.verdicts import may_be_verdict
from team_console.store.settings.team_config import TeamConfig

_LINES_AT_ONCE = 2000
"""Lines that are fetched at once."""
RECORDED = "recorded"
"""Key of the facts of a line: `questions` lists message ids, `answers` whole records."""
_WORDS = (f'"{RECORDED}"', f'"{CARRIED}"', '"by_desk"', '"request_id"', '"human"', '"grant"', '"settings"', '"members"')
"""One of these is in the facts of each line that tells of a request or an answer."""


def telling_lines(connection: Connection) -> str:
    """Return the condition for lines that may tell of requests and answers; an index has it in the same words."""
    find = "strpos" if connection.is_strict else "instr"
    telling = [f"action = '{ACCEPT_SETTINGS}'", *(f"{find}(facts, '{word}') > 0" for word in _WORDS)]
    return f"({' OR '.join(telling)})"


def counting_lines(connection: Connection) -> str:
    """Return the condition for lines that say how many rows the archive had then, or deleted some; likewise."""
    find = "strpos" if connection.is_strict else "instr"
    return f"(action = 'delete_archived' OR {find}(facts, '\"{ROWS_AFTER}\":') > 0)"


_SEAL = re.compile(r',?"seal":"([0-9a-f-]{73})"\}\Z')
"""A seal (`contract.team.seal`) as the last of the facts, where `with_seal` puts it."""


class AuditRow(NamedTuple):
    """A row of the audit trail.

    Attributes:
        facts: An object of JSON, to the letter as it was hashed.
        prev: The hash of the row before; empty for the first.
        hash: Its own, `digest()`; empty while the row is being made.
    """

    seq: int
    at: str
    actor: str
    action: str
    facts: str
    prev: str
    hash: str = ""

    def sealed_bytes(self, facts: str | None = None) -> bytes:
        """Return the bytes that its hash covers; with the `facts` as they were before they had a seal, its seal."""
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


def trail_start(connection: Connection) -> tuple[str, bool]:
    """Return the hash of the first line, by which a trail is told from every other, empty while there is none; and
    whether lines before it were lost, so that it may be of a trail that was known by another one.
    """
    wanted = f"""
        SELECT hash, CASE WHEN hash IS NULL THEN audit_seq > 0 ELSE seq > 1 OR facts LIKE '%"{TRAIL_LOST}"%' END
        FROM {STATE} LEFT JOIN (SELECT * FROM {AUDIT} ORDER BY seq LIMIT 1) AS line ON 1 = 1
    """
    digest, lacks_lines = connection.first(wanted) or ("", True)
    # guard: lost-trail-is-no-other-team
    is_cut = bool(lacks_lines)
    return column_text(digest), is_cut


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
        """The last line that was looked at, of which number and hash count: the next look begins behind it."""
        self._sealed_from: int | None = None
        """The number of the first line with a seal, looked for where not every line is read."""
        self._met_unnumbered = False
        """Whether a line without a number was taken (see `_take`)."""

    def read(self, connection: Connection, key: bytes, *, keeps: int = KEPT) -> TrailReader:
        """Take the lines that were added since, all of them when the trail is another: it lacks the last one."""
        last = {"seq": self._last.seq}
        digest = connection.scalar(f"SELECT hash FROM {AUDIT} WHERE seq = :seq", last) if self._last.seq else ""
        # guard: another-trail-read-anew
        is_another = column_text(digest) != self._last.hash
        if is_another or key != self._reader.key or keeps > self._reader.keeps:
            self._reader.restart(key=key, keeps=keeps)
            self._start_over()
        condition = "seq > :seq"
        if not self._is_whole:
            newest = f"SELECT seq, hash FROM {AUDIT} WHERE seq <= {LARGEST_NUMBER} ORDER BY seq DESC LIMIT 1"
            end, digest = connection.first(newest) or (0, "")
            if end == self._last.seq:
                return self._reader
            if key and self._sealed_from is None:
                # A quote in a text of a line is escaped, so that no text looks like a seal.
                sealed = {"sealed": like_pattern(f'"seal":"{key_name(key)}-')}
                first = connection.scalar(f"SELECT min(seq) FROM {AUDIT} WHERE facts LIKE :sealed ESCAPE '/'", sealed)
                self._sealed_from = first if isinstance(first, int) else None
            condition += f" AND {telling_lines(connection)} AND seq <= {end}"
        wanted = f"SELECT {', '.join(AuditRow._fields)} FROM {AUDIT} WHERE {condition} ORDER BY seq"
        for chunk in connection.chunks(_LINES_AT_ONCE, wanted, {"seq": self._last.seq}):
            for seq, *texts in chunk:
                self._take(AuditRow(seq if isinstance(seq, int) else 0, *map(column_text, texts)))
        if not self._is_whole:
            self._last = self._last._replace(seq=end, hash=column_text(digest))
        return self._reader

    def _take(self, line: AuditRow) -> None:
        """Take a line. SQLite keeps a text in a column of numbers, sorted behind them, so that each look finds a line
        without a number again: the first one breaks the chain, and no other is taken.
        """
        is_unnumbered = line.seq <= self._last.seq
        if is_unnumbered and self._met_unnumbered:
            return
        is_after_seal = self._sealed_from is not None and line.seq >= self._sealed_from
        follows = not is_unnumbered and (not self._is_whole or self._is_next(line))
        seal = line.seal_state(self._reader.key)
        self._reader.take(_make_trail_line(line), seal, follows=follows, is_after_seal=is_after_seal)
        if is_unnumbered:
            self._met_unnumbered = True
        else:
            self._last = line

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
        line.seq,
        line.at,
        line.actor,
        line.action,
        facts,
        writes=tuple(msgspec.Raw(dump(record).encode("utf-8", "backslashreplace")) for record in answers),
        questions=tuple(item for item in questions if isinstance(item, str)),
        settings=dict(mapping_in(facts, "settings")),
    )


def records_to_write(changes: Changes, config: TeamConfig, lost: FieldDict) -> list[tuple[str, FieldDict]]:
    """Return the lines for the audit trail; the first also says which requests, answers and words of humans on
    requests were added: whoever is handed those asks whether team-console wrote them. It is also found by what it
    says of lines that were `lost`.
    """
    (action, facts), *rest = changes.records
    questions = [message.message_id for message in changes.added.values() if parse_message(message).opens is not None]
    said = [message for message in changes.added.values() if is_answer(message) or may_be_verdict(config, message)]
    answers = [dict(message.record) for message in said]
    if not (questions or answers or lost):
        return changes.records
    return [(action, {**facts, **lost, RECORDED: {"questions": questions, "answers": answers}}), *rest]


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
