"""Handing messages on: each is marked with what is wrong with it, so that nobody acts on a forgery unwarned."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from msgspec import Struct, field
from team_console.store.contract.team import Team
from team_console.store.model.clock import from_text
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import TRUST, Message
from team_console.store.model.recorded import RecordedFacts
from team_console.store.protocol.answering import answers
from team_console.store.protocol.kinds import RequestKind
from team_console.store.protocol.parsing import parse_message
from team_console.store.protocol.permissions import breach
from team_console.store.protocol.seen import digest_of, given_on
from team_console.store.protocol.verdicts import ORDER, Mark, mark_of, may_be_verdict
from team_console.store.settings.team_config import TeamConfig


class Trust(Struct, frozen=True):
    """What messages are judged by that are handed on.

    Attributes:
        questions: Request id -> the messages that ask.
        answered: Message id of each order -> when whoever it is for first answered it.
        changed: Ids of messages that were changed after they were recorded.
        is_unchecked: Whether the team could not be read, so that no verdict is known to be whole.
    """

    config: TeamConfig
    recorded: RecordedFacts | None = None
    questions: Mapping[str, Sequence[Message]] = field(default_factory=dict)
    answered: Mapping[str, datetime] = field(default_factory=dict)
    changed: frozenset[str] = frozenset()
    is_unchecked: bool = False

    def mark(self, message: Message) -> Mark | None:
        """What is wrong with it, None when nothing is."""
        question = _asked_of(message, self.questions.get(parse_message(message).request_id or "", ()))
        mark = mark_of(self.config, message, question, recorded=self.recorded)
        if mark in (None, Mark.UNVERIFIED) and message.message_id in self.changed:
            return Mark.CHANGED
        if mark is None and self.is_unchecked and may_be_verdict(self.config, message):
            # guard: unchecked-verdict-marked
            return Mark.UNCHECKED
        return Mark.REPLAYED if mark is None and self._came_back(message) else mark

    def _came_back(self, message: Message) -> bool:
        """Whether an order is read, or waits to be, after it was answered: answering it meant having read it."""
        answered = self.answered.get(message.message_id)
        read_at = from_text(str(message.envelope("read_at") or ""))
        return answered is not None and (read_at is None or read_at > answered)

    def marked(self, message: Message) -> Message:
        """The message with its mark; itself when nothing is wrong with it."""
        mark = self.mark(message)
        if mark is None and TRUST not in message.record:
            return message
        return message.with_changes(**{TRUST: str(mark) if mark is not None else None})


def trust_in(team: Team, messages: Iterable[Message]) -> Trust:
    """What these messages are judged by; the store is looked at only when there is a verdict among them.

    Raises:
        TeamError: `STORE_UNREADABLE`.
    """
    return _trust(team, team.config(), messages)


def _trust(team: Team, config: TeamConfig, messages: Iterable[Message]) -> Trust:
    verdicts = [message for message in messages if may_be_verdict(config, message) or breach(config, message)]
    changed = team.reworded()
    if not verdicts:
        return Trust(config, changed=changed)
    snapshot = team.snapshot()
    if not snapshot.is_known:
        raise TeamError(Code.STORE_UNREADABLE, f"{team.location} cannot be read, so no verdict can be checked", "")
    questions = _questions(team, verdicts, snapshot.messages)
    return Trust(config, snapshot.recorded, questions, _answered(team, verdicts, snapshot.messages), changed)


def marked(team: Team, messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages as they are handed on: each with its mark where something is wrong with it.

    Raises:
        TeamError: `STORE_UNREADABLE`.
    """
    return tuple(map(trust_in(team, messages).marked, messages))


def marked_as_taken(team: Team, messages: Sequence[Message], config: TeamConfig) -> list[Message]:
    """The same for messages that count as read by now: they must reach their reader, even if the store is gone since.

    Args:
        config: The settings when they were taken.
    """
    try:
        trust = _trust(team, config, messages)
    except TeamError:
        # guard: unchecked-after-outage
        trust = Trust(config, is_unchecked=True)
    return [trust.marked(message) for message in messages]


def _questions(team: Team, verdicts: Sequence[Message], live: Sequence[Message]) -> Mapping[str, Sequence[Message]]:
    """The questions of these verdicts: those that live, and those in the archives where none of them is meant."""
    of = {verdict: request_id for verdict in verdicts if (request_id := parse_message(verdict).request_id) is not None}
    asked = _asked(live, set(of.values()))
    missing = {request_id for verdict, request_id in of.items() if not _is_there(verdict, asked.get(request_id, ()))}
    for request_id, archived in _asked(team.archived(*sorted(missing)), missing).items() if missing else ():
        asked.setdefault(request_id, []).extend(archived)
    return asked


def _is_there(verdict: Message, asked: Sequence[Message]) -> bool:
    digest = given_on(verdict)
    return any(not digest or digest_of(question) == digest for question in asked)


def _asked_of(verdict: Message, asked: Sequence[Message]) -> Message | None:
    """Of several questions under one id that on which the verdict was given, else the first."""
    digest = given_on(verdict) if len(asked) > 1 else ""
    meant = (question for question in asked if digest_of(question) == digest)
    return next(meant, asked[0] if asked else None)


def _answered(team: Team, verdicts: Iterable[Message], live: Sequence[Message]) -> dict[str, datetime]:
    """When each of these that is an order was first answered by whoever it is for."""
    orders: dict[str, list[Message]] = {}
    for order in verdicts:
        request_id = parse_message(order).request_id
        if parse_message(order).name == ORDER and request_id is not None:
            orders.setdefault(request_id, []).append(order)
    answered: dict[str, datetime] = {}
    for message in (*live, *team.archived(*sorted(orders))) if orders else ():
        request_id = parse_message(message).request_id or ""
        asked = orders.get(request_id, ())
        moment = message.created_at if asked and answers(message, RequestKind.SHUTDOWN, request_id) else None
        if moment is None:
            continue
        for order in asked:
            if message.sender in order.recipients:
                answered[order.message_id] = min(moment, answered.get(order.message_id, moment))
    return answered


def _asked(messages: Iterable[Message], wanted: set[str]) -> dict[str, list[Message]]:
    asked: dict[str, list[Message]] = {}
    for message in messages:
        read = parse_message(message)
        if read.opens is not None and read.request_id in wanted:
            asked.setdefault(read.request_id or "", []).append(message)
    return asked
