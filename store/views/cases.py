"""One question with everything that claims to answer it, judged: which answer stands, and what is odd."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from msgspec import Struct

from store.clock import from_text
from store.config import TeamConfig
from store.message import Message, Status
from store.permissions import may_answer
from store.protocol.entries import EARLIEST, Entry, Order
from store.protocol.kinds import RequestKind
from store.views.rows import Flag, RequestRow, RequestState
from store.views.titles import reason_of, title_of

_TALK = frozenset({RequestKind.ESCALATION, RequestKind.CLARIFICATION})
"""Kinds whose answers are ordinary messages, so that saying more is no second answer."""


class Case(Struct, frozen=True):
    """A question, judged.

    Attributes:
        row: As the ledger shows it, with the state it has before any clock is looked at.
        verdict: The answer that stands.
        stops: The agent that should fall silent after a yes.
    """

    question: Entry
    row: RequestRow
    verdict: Entry | None = None
    stops: str | None = None

    @property
    def order(self) -> Order:
        """By the question."""
        return self.question.order


def judge(config: TeamConfig, question: Entry, claims: Iterable[Entry], *, key: str) -> Case:
    """The request that `question` opens, with the first valid answer as its verdict (D10, D14, D17)."""
    message, kind = question.message, question.read.opens
    assert kind is not None
    addressee = message.recipients[0]
    answers = _distinct(claims)
    valid = [one for one in answers if may_answer(config, actor=one.message.sender, kind=kind, addressee=addressee)]
    if kind in _TALK:
        answers = [one for one in answers if one in valid or one.read.approve is not None]
    verdict = valid[0] if valid else None
    asked_at = question.moment
    row = RequestRow(
        request_id=question.read.request_id or message.message_id,
        key=key,
        kind=kind,
        asker=message.sender,
        addressee=addressee,
        title=title_of(question.read),
        question=message,
        state=_state(message, verdict),
        asked_at=asked_at,
        due_at=asked_at + _patience(config, kind) if asked_at else None,
        seen_at=_seen_at(message, addressee),
        answers=tuple(one.message for one in answers),
        verdict=verdict.message if verdict else None,
        answered_at=verdict.moment if verdict else None,
        answered_by=verdict.message.sender if verdict else None,
        reason=reason_of(verdict.message) if verdict else "",
        flags=tuple(_flags(kind, answers, valid)),
    )
    return Case(question, row, verdict, _stops(question, kind, verdict))


def is_overdue(row: RequestRow, now: datetime) -> bool:
    """Whether an open request has waited longer than its kind should."""
    return row.is_open and row.due_at is not None and now >= row.due_at


def _distinct(claims: Iterable[Entry]) -> list[Entry]:
    """Oldest first, each message id once: copies of one answer are one answer."""
    found: dict[str, Entry] = {}
    for one in sorted(claims, key=lambda entry: entry.order):
        found.setdefault(one.message.message_id, one)
    return list(found.values())


def _patience(config: TeamConfig, kind: RequestKind) -> timedelta:
    seconds = config.overdue_seconds
    return timedelta(seconds=seconds.get(kind, seconds.get("default", 900.0)))


def _state(question: Message, verdict: Entry | None) -> RequestState:
    if verdict is None:
        return RequestState.WITHDRAWN if question.status == Status.RECALLED else RequestState.OPEN
    approve = verdict.read.approve
    if approve is None:
        return RequestState.ANSWERED
    return RequestState.APPROVED if approve else RequestState.REJECTED


def _seen_at(question: Message, addressee: str) -> datetime | None:
    value = question.read_by.get(addressee) or question.envelope("read_at")
    return from_text(value) if isinstance(value, str) else None


def _flags(kind: RequestKind, answers: list[Entry], valid: list[Entry]) -> Iterable[Flag]:
    if len(valid) < len(answers):
        yield Flag.UNAUTHORISED
    words = {one.read.approve for one in valid if one.read.approve is not None}
    if len(words) > 1:
        yield Flag.CONTRADICTORY
    if len(valid) > 1 and kind not in _TALK:
        yield Flag.ANSWERED_TWICE


def _stops(question: Entry, kind: RequestKind, verdict: Entry | None) -> str | None:
    if verdict is None or verdict.read.approve is not True:
        return None
    if kind is RequestKind.SHUTDOWN:
        return question.message.recipients[0]
    return question.read.subject if kind is RequestKind.DESTROY else None


def newest_first(moment: datetime | None, order: Order) -> tuple[timedelta, float]:
    """A sort key that puts the newest first."""
    return EARLIEST - (moment or order[0]), -order[1]
