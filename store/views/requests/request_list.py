"""The list of requests, open ones first; the clock tells which are overdue or expired, and only those rows change."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct
from team_console.store.model.clock import from_text
from team_console.store.model.message import Message
from team_console.store.model.recorded import RecordOrder
from team_console.store.protocol.entries import EARLIEST
from team_console.store.protocol.judgement import Case, RequestState, at, thread_of
from team_console.store.protocol.kinds.kind import RequestKind
from team_console.store.views.ordered import Joined, Ordered
from team_console.store.views.rows import RequestRow
from team_console.store.views.titles import reason_of, title_of

_LAST = (datetime.max.replace(tzinfo=UTC),)
"""Sorts behind the place of every question."""


class _Shown(Struct, frozen=True):
    """A request as it is listed.

    Attributes:
        row: As it is shown now.
        case: As it is before any clock is looked at.
    """

    row: RequestRow
    case: Case

    @property
    def key(self) -> Any:
        """Its key in the open or the closed list."""
        order = self.case.order
        return order if self.row.is_open else (_newest_first(_decided(self.row, self.case)), _newest_first(order))

    @property
    def moments(self) -> list[Any]:
        """Its keys among the moments at which the clock changes it."""
        times = {self.case.due_at, self.case.expires_at} if self.case.is_open else set()
        return [(moment, self.case.order) for moment in times if moment is not None]


class RequestList:
    """Rows by key."""

    def __init__(self) -> None:
        self._flagged: dict[str, RequestRow] = {}
        self._shown: dict[str, _Shown] = {}
        self._open: Ordered[RequestRow] = Ordered()
        self._closed: Ordered[RequestRow] = Ordered()
        self._moments: Ordered[str] = Ordered()
        self._now = EARLIEST
        self._rows = Joined(self._open, self._closed)

    @property
    def rows(self) -> tuple[RequestRow, ...]:
        """Open first, oldest first; then answered, newest first; the same object until one of them changes."""
        return self._rows.rows

    @property
    def open(self) -> tuple[RequestRow, ...]:
        """Requests that wait for an answer, oldest first."""
        return self._open.rows

    @property
    def flagged(self) -> Iterable[RequestRow]:
        """Requests with something odd."""
        return self._flagged.values()

    def request(self, request_id: str, kind: RequestKind) -> RequestRow | None:
        """The first request of this kind with this id."""
        shown = self._shown.get(f"{kind}:{request_id}")
        return shown.row if shown else None

    def is_refused(self, request_id: str) -> bool:
        """Whether this shutdown was asked for and refused."""
        row = self.request(request_id, RequestKind.SHUTDOWN)
        return row is not None and row.state is RequestState.REJECTED

    def put(self, case: Case) -> None:
        """Show a request, in place of what was shown of it before."""
        self.drop(case.key)
        for moment in self._show(case).moments:
            self._moments.put(moment, case.key)

    def drop(self, key: str) -> None:
        """Show it no more."""
        if key in self._shown:
            for moment in self._hide(key).moments:
                self._moments.drop(moment)

    def judge_at(self, now: datetime) -> None:
        """Say what time it is."""
        places = [self._moments.place_of((moment, _LAST)) for moment in (self._now, now)]
        self._now = now
        for index in range(min(places), max(places)):
            self._judge_again(self._moments.row_at(index))

    def _judge_again(self, key: str) -> None:
        shown = self._shown[key]
        if at(shown.case, self._now).state is not shown.row.state:
            self._hide(key)
            self._show(shown.case)

    def _show(self, case: Case) -> _Shown:
        row = request_row(at(case, self._now))
        shown = self._shown[row.key] = _Shown(row, case)
        (self._open if row.is_open else self._closed).put(shown.key, row)
        if row.flags:
            self._flagged[row.key] = row
        return shown

    def _hide(self, key: str) -> _Shown:
        shown = self._shown.pop(key)
        self._flagged.pop(key, None)
        (self._open if shown.row.is_open else self._closed).drop(shown.key)
        return shown


def request_row(case: Case) -> RequestRow:
    """A judged request as people look at it."""
    question, verdict = case.question, case.verdict
    said = verdict or case.taken_back or case.refusal
    return RequestRow(
        request_id=case.request_id,
        key=case.key,
        kind=case.kind,
        asker=case.asker,
        addressee=case.addressee,
        title=title_of(question.read),
        question=question.message,
        state=case.state,
        asked_at=question.moment,
        due_at=case.due_at,
        seen_at=_seen_at(question.message, case.addressee),
        answers=tuple(claim.entry.message for claim in case.claims),
        verdict=verdict.message if verdict else None,
        answered_at=verdict.moment if verdict else None,
        answered_by=verdict.message.sender if verdict else None,
        reason=case.reason or (reason_of(said.message) if said is not None else ""),
        flags=case.flags,
        supersedes=case.supersedes,
        superseded_by=thread_of(case.superseded_by) if case.superseded_by is not None else None,
        ended=case.ended,
        withdrawn_at=case.withdrawn_at,
        expires_at=case.expires_at,
        altered=case.altered,
        unverified=case.unverified,
        forged=case.forged,
    )


def _seen_at(question: Message, addressee: str) -> datetime | None:
    value = question.read_by.get(addressee) or question.envelope("read_at")
    return from_text(value) if isinstance(value, str) else None


def _decided(row: RequestRow, case: Case) -> RecordOrder:
    """When it was decided; the clock decides at the moment of expiry."""
    if row.state is not case.state and row.expires_at is not None and row.withdrawn_at == row.expires_at:
        return row.expires_at, *case.order[1:]
    return case.decided


def _newest_first(order: RecordOrder) -> tuple[Any, int, int, float]:
    return EARLIEST - order[0], -order[1], -order[2], -order[3]
