"""The list of requests, open ones first; the clock tells which are overdue, and only rows that become so change."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from team_console.store.contract.recorded import RecordOrder
from team_console.store.protocol.entries import EARLIEST
from team_console.store.views.ordered import Ordered
from team_console.store.views.requests.judging import Case
from team_console.store.views.rows import Flag, RequestRow, RequestState

_LAST = (datetime.max.replace(tzinfo=UTC),)
"""Sorts behind the place of every question."""


class _Place(Struct, frozen=True):
    """Where a row is: its key in the open or the closed list, and in the list of due times."""

    row: RequestRow
    key: Any
    due: Any = None


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
        self._due: Ordered[str] = Ordered()
        self._now = EARLIEST

    @property
    def rows(self) -> tuple[RequestRow, ...]:
        """Open first, oldest first; then answered, newest first."""
        return self._open.rows + self._closed.rows

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
        if not row.is_open:
            key = _newest_first(case.decided), _newest_first(case.order)
            self._closed.put(key, row)
            self._remember(_Place(row, key))
            return
        due = (row.due_at, case.order) if row.due_at is not None else None
        if due is not None:
            self._due.put(due, row.key)
        row = _judged(row, self._now)
        self._open.put(case.order, row)
        self._remember(_Place(row, case.order, due))

    def drop(self, key: str) -> None:
        """Show it no more."""
        place = self._places.pop(key, None)
        self.flagged.pop(key, None)
        if place is None:
            return
        (self._open if place.row.is_open else self._closed).drop(place.key)
        if place.due is not None:
            self._due.drop(place.due)

    def judge_at(self, now: datetime) -> None:
        """Say what time it is."""
        places = [self._due.place_of((moment, _LAST)) for moment in (self._now, now)]
        self._now = now
        for index in range(min(places), max(places)):
            self._judge_again(self._due.row_at(index))

    def _judge_again(self, key: str) -> None:
        place = self._places[key]
        row = _judged(place.row, self._now)
        if row is not place.row:
            self._open.put(place.key, row)
            self._remember(replace(place, row=row))

    def _remember(self, place: _Place) -> None:
        self._places[place.row.key] = place
        self.flagged.pop(place.row.key, None)
        if place.row.flags:
            self.flagged[place.row.key] = place.row


def _judged(row: RequestRow, now: datetime) -> RequestRow:
    """An open row, overdue when it has waited longer than its kind should."""
    overdue = row.due_at is not None and now >= row.due_at
    if overdue is (row.state is RequestState.OVERDUE):
        return row
    flags = tuple(flag for flag in row.flags if flag is not Flag.OVERDUE)
    state = RequestState.OVERDUE if overdue else RequestState.OPEN
    return replace(row, state=state, flags=(*flags, Flag.OVERDUE) if overdue else flags)


def _newest_first(order: RecordOrder) -> tuple[Any, int, int, float]:
    return EARLIEST - order[0], -order[1], -order[2], -order[3]
