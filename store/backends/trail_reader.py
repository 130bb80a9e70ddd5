"""Read an audit trail, of a file or of a database: the lines for people, and what it has of requests and answers."""

from __future__ import annotations

import json
from collections import deque
from functools import cache, partial
from typing import Any

import msgspec
from msgspec import Struct
from team_console.store.contract.team import AuditLine, LineSeal
from team_console.store.model.clock import from_text
from team_console.store.model.errors import TeamError
from team_console.store.model.message import Fields, without
from team_console.store.model.recorded_facts import (
    MIGRATE,
    ROWS_AFTER,
    RecordedFact,
    RecordedFacts,
    RecordedSettings,
    ids_written_by_desk,
)
from team_console.store.protocol.trail_facts import fact_of
from team_console.store.settings.in_force import recorded_text
from team_console.store.settings.settings_file import settings_in
from team_console.store.settings.team_config import TeamConfig

KEPT = 2000
"""How many lines are kept for people; more are read again when they are asked for."""
NOT_BY_DESK = frozenset({"drop", "heal", "undo", "abort", MIGRATE})
"""Actions that carry what others wrote: into the drop folder, into the queue without a lock, into another team."""
_HIDDEN = frozenset({"recorded", "seal", ROWS_AFTER})
"""Facts of an audit line that are not for people."""
_JSON = msgspec.json.Decoder()


class TrailLine(Struct, frozen=True):
    """What is read of one line of an audit trail, in the words of `audit.jsonl`.

    Attributes:
        action, facts: What was done, and what is known of it, such as the `ids` of messages.
        also: Further pairs of action and facts of the same transaction.
        writes: Records that were added, each as JSON.
        noted: Records that somebody else put into the store, first seen then, likewise.
        questions: Ids of requests that were added, where the line does not have their records.
        settings: The record of the settings in force.
        prev: The hash of the line before, as this one has it.
    """

    seq: int
    at: str = ""
    actor: str = ""
    action: str = ""
    facts: Fields = {}
    also: tuple[tuple[str, Fields], ...] = ()
    writes: tuple[msgspec.Raw, ...] = ()
    noted: tuple[msgspec.Raw, ...] = ()
    questions: tuple[str, ...] = ()
    settings: Fields = {}
    prev: str = ""


class TrailReader:
    """Follow one trail: take each of its lines once, in order.

    Attributes:
        key: Of the team, which the seals were checked with.
        facts: What the trail has of requests and answers; the same object grows until the trail is another.
        keeps: How many lines are kept for people.
        is_sealed: Whether a line so far has a seal: from it on, each has to have one.
    """

    def __init__(self) -> None:
        self.keeps = KEPT
        self.restart()

    def restart(self, *, key: bytes = b"", keeps: int = KEPT) -> None:
        """Forget everything: the trail is another, or is read with another key."""
        self.key, self.keeps = key, max(keeps, self.keeps)
        self.is_sealed = False
        self._holds = True
        """Whether the chain holds up to the last line: each line could be read, is sealed as it must, and follows."""
        self._lines: deque[tuple[TrailLine, LineSeal, bool]] = deque(maxlen=self.keeps)
        """The last lines, each with its seal and whether the chain holds up to it."""
        self.facts = RecordedFacts()

    def take(self, line: TrailLine | None, seal: LineSeal, *, follows: bool, is_after_seal: bool = False) -> None:
        """Take the next line, None for one that cannot be read.

        Of a team with a key, a line whose seal does not fit, or lacks after others that have one, is nobody's word.

        Args:
            seal: The state of its seal.
            follows: Whether it holds the hash of the line before.
            is_after_seal: Whether a line before it, which was not taken, has a seal.
        """
        if line is None:
            self._holds = False
            return
        self.is_sealed = self.is_sealed or is_after_seal or seal in (LineSeal.SEALED, LineSeal.BROKEN)
        is_trusted = seal is not LineSeal.BROKEN and not (self.is_sealed and seal is LineSeal.UNSEALED)
        # guard: audit-chain
        self._holds = self._holds and is_trusted and follows
        self._lines.append((line, seal, self._holds))
        self._record(line, is_trusted=is_trusted)

    def shown(self, limit: int) -> list[AuditLine]:
        """Give the last `limit` lines for people, newest first."""
        found: list[AuditLine] = []
        for line, seal, holds in reversed(self._lines):
            for action, facts in (*reversed(line.also), (line.action, line.facts)):
                shown = without(facts, _HIDDEN)
                found.append(AuditLine(line.seq, line.at, line.actor, action, shown, holds, seal))
            if len(found) >= limit:
                break
        return found[:limit]

    def _record(self, line: TrailLine, *, is_trusted: bool) -> None:
        """Take on record what a line says of requests and answers, and of settings and keys.

        Of a record, `by_desk` says that team-console wrote it, or vouched for it later; `in_time` that it did so in the
        transaction that added the record.
        """
        at = from_text(line.at)
        text = recorded_text(line.settings)
        if text is not None and is_trusted:
            self.facts.add_settings(RecordedSettings(line.seq, at, cache(partial(_members_in, text))))
        if text is not None and b"keys" in text and self.facts.signing_asked_from is None:
            config = _understood(text)
            if config is not None and config.asks_for_signatures:
                self.facts.signing_asked_from = line.seq  # nothing behind it is older
        # guard: each-action-of-a-line-counts
        done = [(line.action, line.facts), *line.also]
        for action, about in done:
            self.facts.add_action(line.seq, action, about if is_trusted else None)
        vouched = ids_written_by_desk(line.action, line.facts if is_trusted else None)
        by_desk = is_trusted and line.action not in NOT_BY_DESK
        if not (line.noted or line.writes or line.questions or vouched):
            return
        if by_desk:
            self.facts.authors.add(line.actor)
        for raw, in_time in (*((raw, False) for raw in line.noted), *((raw, by_desk) for raw in line.writes)):
            record = _decode_json(bytes(raw))
            if isinstance(record, dict):
                ours = in_time or record.get("message_id") in vouched
                fact = fact_of(bytes(raw), record, line=line.seq, at=at, by_desk=ours, in_time=in_time)
                if fact is not None:
                    self.facts.add(fact)
        for message_id in line.questions:
            ours = by_desk or message_id in vouched
            self.facts.add(RecordedFact(message_id, line.seq, at, None, ours, in_time=by_desk))
        for message_id in vouched:
            self.facts.add(RecordedFact(message_id, line.seq, at, None, True, in_time=False))


def _members_in(text: bytes) -> frozenset[str] | None:
    """Return who is in settings, with the lead; None where they cannot be understood."""
    config = _understood(text)
    return frozenset((config.lead, *config.agents)) if config is not None else None


def _understood(text: bytes) -> TeamConfig | None:
    """Return the settings in a text; None where they cannot be understood."""
    try:
        return settings_in(text)
    except TeamError:
        return None


def _decode_json(raw: bytes) -> Any:
    """Return the value of a text of JSON; None for other bytes."""
    try:
        return _JSON.decode(raw)
    except (msgspec.DecodeError, RecursionError):
        pass
    try:  # half a letter, as others write names that are no Unicode
        return json.loads(raw)
    except (ValueError, RecursionError):
        return None
