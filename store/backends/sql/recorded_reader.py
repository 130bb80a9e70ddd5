"""Requests and answers on the audit trail of a SQL team: put there with each write, read back by looks and healing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from team_console.store.backends.sql.engines.connection import Connection
from team_console.store.backends.sql.engines.statement import containing
from team_console.store.backends.sql.history import LINES, facts_of, line_of, seal_of
from team_console.store.backends.sql.rows import dump
from team_console.store.backends.sql.tables import AUDIT
from team_console.store.backends.sql.transaction import SqlTransaction
from team_console.store.contract.audit_seal import LineSeal, key_name
from team_console.store.contract.transaction import Changes
from team_console.store.model.clock import from_text
from team_console.store.model.message import Message, from_record
from team_console.store.model.problem import Problem
from team_console.store.model.recorded import (
    ACCEPT_KEYS,
    ACCEPT_SETTINGS,
    CARRIED,
    MIGRATE,
    RecordedFact,
    RecordedFacts,
    reworded,
    vouched_for,
)
from team_console.store.protocol.reading import reading
from team_console.store.protocol.relations.recording import is_answer
from team_console.store.protocol.verdicts.recognition import may_be_verdict
from team_console.store.settings.team_config import TeamConfig

RECORDED = "recorded"
"""Key of the facts of an audit line: `questions` lists message ids, `answers` whole records."""
_NOT_BY_DESK = frozenset({"heal", MIGRATE})
"""Actions that carry what others wrote."""
_SOUGHT = (f'"{RECORDED}"', f'"{CARRIED}"', '"by_desk"', '"request_id"', '"human"')


def with_recorded(changes: Changes, config: TeamConfig) -> list[tuple[str, dict[str, Any]]]:
    """The lines for the audit trail; the first also says which requests, answers and words of humans on requests were
    added: whoever is handed those asks whether team-console wrote them."""
    (action, facts), *rest = changes.records
    questions = [message.message_id for message in changes.added.values() if reading(message).opens is not None]
    said = [message for message in changes.added.values() if is_answer(message) or may_be_verdict(config, message)]
    answers = [dict(message.record) for message in said]
    if not (questions or answers):
        return changes.records
    return [(action, {**facts, RECORDED: {"questions": questions, "answers": answers}}), *rest]


class RecordedReader:
    """Follows the audit trail of one database; used from one thread at a time."""

    def __init__(self) -> None:
        self._key = b""
        self._forget()

    def _forget(self) -> None:
        self._reached = 0
        self._sealed_from: int | None = None
        self._facts = RecordedFacts()

    def read(self, connection: Connection, key: bytes = b"") -> RecordedFacts:
        """Everything on record at the moment the connection sees. Our own tables must be there.

        Of a team with a key, a line whose seal does not fit, or lacks after others that have one, is nobody's word.
        """
        last = connection.scalar(f"SELECT max(seq) FROM {AUDIT}") or 0
        if not isinstance(last, int):
            last = connection.scalar(f"SELECT max(CAST(seq AS BIGINT)) FROM {AUDIT}") or 0
        if last < self._reached or key != self._key:
            self._forget()
            self._key = key
        if last > self._reached:
            self._find_first_seal(connection)
            self._go_on(connection, last)
        return self._facts

    def _go_on(self, connection: Connection, last: int) -> None:
        patterns = {f"sought_{number}": containing(item) for number, item in enumerate(_SOUGHT)}
        either = " OR ".join(f"facts LIKE :{name} ESCAPE '/'" for name in patterns)
        either = f"{either} OR action = :confirmed"
        wanted = f"{LINES} WHERE seq > :reached AND seq <= :last AND ({either}) ORDER BY seq"
        values = {"reached": self._reached, "last": last, "confirmed": ACCEPT_SETTINGS, **patterns}
        for row in connection.rows(wanted, values):
            line = line_of(row)
            if line["action"] in (ACCEPT_KEYS, ACCEPT_SETTINGS, MIGRATE) and self._is_trusted(line):
                self._facts.take_on_record(line["seq"], line["action"], facts_of(line["facts"]))
            for fact in _facts(facts_of(line["facts"]), line, is_trusted=self._is_trusted(line)):
                self._facts.add(fact)
        self._reached = last

    def _find_first_seal(self, connection: Connection) -> None:
        """A quote in a text of a line is escaped, so that no text looks like a seal."""
        if self._key and self._sealed_from is None:
            sealed = {"sealed": containing(f'"seal":"{key_name(self._key)}-')}
            first = connection.scalar(f"SELECT min(seq) FROM {AUDIT} WHERE facts LIKE :sealed ESCAPE '/'", sealed)
            self._sealed_from = first if isinstance(first, int) else None

    def _is_trusted(self, line: Mapping[str, Any]) -> bool:
        found = seal_of(line, self._key)
        is_before = self._sealed_from is None or line["seq"] < self._sealed_from
        return found is not LineSeal.BROKEN and (found is not LineSeal.UNSEALED or is_before)


def restore(tx: SqlTransaction, recorded: RecordedFacts) -> None:
    """Put back the words of live answers that somebody changed after they were recorded.

    Where several messages share an id, none of them is taken for what another was: nothing would be left of it.
    """
    changed: list[str] = []
    for message in list(tx.everything()):
        written = recorded.message(message.message_id) if recorded.differs(message) else None
        if written is None or not is_answer(written) or len(tx.named(message.message_id)) > 1:
            continue
        tx.replace(message, reworded(message, written))
        changed.append(message.message_id)
        text = f"message {message.message_id} answers a request and was changed; it says again what is on record"
        hint = "Find out who writes into the table besides team-console."
        tx.notices.append(Problem("HEALED_ANSWER", "warning", message.message_id, text, hint))
    if changed:
        tx.record("heal", changed=changed)


def _facts(facts: Mapping[str, Any], line: Mapping[str, Any], *, is_trusted: bool) -> Iterable[RecordedFact]:
    seq, at, action = line["seq"], from_text(line["at"]), line["action"]
    in_time = is_trusted and action not in _NOT_BY_DESK
    vouched = vouched_for(action, facts) if is_trusted else ()
    recorded = facts.get(RECORDED)
    if not isinstance(recorded, Mapping):
        # A line of an earlier version names the messages it wrote and does not hold them.
        ids = [facts.get("question"), *_list(facts.get("ids"))] if in_time and "request_id" in facts else []
        recorded = {"questions": ids}
    for message_id in _list(recorded.get("questions")):
        if isinstance(message_id, str):
            ours = in_time or message_id in vouched
            yield RecordedFact(message_id, seq, at, None, ours, in_time=in_time)
    for record in _list(recorded.get("answers")):
        message = _understood(record)
        if message is not None:
            request_id, raw = reading(message).request_id, dump(record).encode("utf-8", "backslashreplace")
            ours = in_time or message.message_id in vouched
            yield RecordedFact(message.message_id, seq, at, message.created_at, ours, request_id, raw, in_time=in_time)
    for message_id in vouched:
        yield RecordedFact(message_id, seq, at, None, True, in_time=False)


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _understood(record: object) -> Message | None:
    try:
        return from_record(record) if isinstance(record, dict) else None
    except ValueError:
        return None
