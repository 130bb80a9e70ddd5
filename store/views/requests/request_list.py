"""The list of requests, open ones first; the clock tells which are overdue or expired, and only those rows change."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from team_console.store.model.recorded import RecordOrder
from team_console.store.protocol.client_requests import TIMED_OUT
from team_console.store.protocol.entries import EARLIEST
from team_console.store.views.ordered import Joined, Ordered
from team_console.store.views.requests.judging import Case
from team_console.store.views.rows import Flag, RequestRow, RequestState

_LAST = (datetime.max.replace(tzinfo=UTC),)
"""Sorts behind the place of every question."""


class _Place(Struct, frozen=True):
    """Where a row is.

    Attributes:
        row: As it is shown now.
        timeless: As it is before any clock is looked at.
        key: Its key in the open or the closed list.
        moments: Its keys among the moments at which the clock changes it.
    """

    row: RequestRow
    timeless: RequestRow
    case: Case
    key: Any
    moments: Sequence[Any] = ()


class RequestList:
    """Rows by key.

    Attributes:
        flagged: Row key -> row with something odd.
    """

    def __init__(self) -> None:
        self.flagged: dict[str, RequestRow] = {}
        self._places: dict[str, _Place] = {}
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

    def row(self, key: str) -> RequestRow | None:
        """The row with this key."""
        place = self._places.get(key)
        return place.row if place else None

    def put(self, case: Case, row: RequestRow) -> None:
        """Show a request, in place of what was shown of it before."""
        self.drop(row.key)
        times = {row.due_at, row.expires_at} - {None} if row.is_open else set()
        moments = [(moment, case.order) for moment in times]
        for key in moments:
            self._moments.put(key, row.key)
        self._show(row, case, moments)

    def drop(self, key: str) -> None:
        """Show it no more."""
        place = self._hide(key)
        for moment in place.moments if place is not None else ():
            self._moments.drop(moment)

    def judge_at(self, now: datetime) -> None:
        """Say what time it is."""
        places = [self._moments.place_of((moment, _LAST)) for moment in (self._now, now)]
        self._now = now
        for index in range(min(places), max(places)):
            self._judge_again(self._moments.row_at(index))

    def _judge_again(self, key: str) -> None:
        place = self._places[key]
        if _judged(place.timeless, self._now).state is not place.row.state:
            self._hide(key)
            self._show(place.timeless, place.case, place.moments)

    def _show(self, timeless: RequestRow, case: Case, moments: Sequence[Any]) -> None:
        row = _judged(timeless, self._now)
        if row.is_open:
            key: Any = case.order
            self._open.put(key, row)
        else:
            key = _newest_first(_decided(row, case)), _newest_first(case.order)
            self._closed.put(key, row)
        self._places[row.key] = _Place(row, timeless, case, key, moments)
        if row.flags:
            self.flagged[row.key] = row

    def _hide(self, key: str) -> _Place | None:
        place = self._places.pop(key, None)
        self.flagged.pop(key, None)
        if place is not None:
            (self._open if place.row.is_open else self._closed).drop(place.key)
        return place


def _judged(row: RequestRow, now: datetime) -> RequestRow:
    """A row as it stands `now`: open, overdue when it has waited longer than its kind should, or timed out."""
    if not row.is_open:
        return row
    if row.expires_at is not None and now >= row.expires_at:
        return replace(row, state=RequestState.WITHDRAWN, reason=TIMED_OUT, withdrawn_at=row.expires_at)
    if row.due_at is not None and now >= row.due_at:
        return replace(row, state=RequestState.OVERDUE, flags=(*row.flags, Flag.OVERDUE))
    return row


def _decided(row: RequestRow, case: Case) -> RecordOrder:
    """When it was decided; the clock decides at the moment of expiry."""
    if row.state is not case.row.state and row.expires_at is not None and row.withdrawn_at == row.expires_at:
        return row.expires_at, *case.order[1:]
    return case.decided


def _newest_first(order: RecordOrder) -> tuple[Any, int, int, float]:
    return EARLIEST - order[0], -order[1], -order[2], -order[3]
