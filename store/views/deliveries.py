"""Messages on their way out: waiting, due, tried again, failed, expired, taken back (seed 003, decision D12)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from msgspec.structs import replace
from team_console.store.model.message import Status
from team_console.store.model.schedule import (
    ON_ITS_WAY,
    OVERDUE_AFTER,
    attempts_of,
    expires_at,
    max_attempts,
    next_attempt,
)
from team_console.store.protocol.entries import Entry
from team_console.store.views.ordered import Joined, Ordered
from team_console.store.views.rows import DeliveryRow, DeliveryState

_LISTED = ("failed", "expired", "retry", "pending", "claimed", "delivered", "recalled")
_STATES = {status: DeliveryState(status) for status in _LISTED}
"""Status -> row, in the order of the list; what has been read is no delivery any more."""


class Deliveries:
    """Rows by state, the oldest first within each; made when somebody looks at those of a state."""

    def __init__(self) -> None:
        self._lists: dict[str, Ordered[DeliveryRow]] = {status: Ordered() for status in _STATES}
        self._late: dict[str, list[Entry]] = {status: [] for status in _STATES}
        self._due_until: datetime | None = None
        self._rows = Joined(*self._lists.values())

    @property
    def failed(self) -> tuple[DeliveryRow, ...]:
        """What the router gave up, oldest first."""
        return self._list(Status.FAILED).rows

    def add(self, entry: Entry) -> None:
        """A message came into the queue."""
        for status in _shares(entry):
            self._late[status].append(entry)

    def remove(self, entry: Entry) -> None:
        """A message left the queue."""
        for status, names in _shares(entry).items():
            rows = self._list(status)
            for number, _ in enumerate(names):
                rows.drop((*entry.order, number))

    @property
    def rows(self) -> Sequence[DeliveryRow]:
        """All of them; the same object until one of them changes."""
        for status, late in self._late.items():
            if late:
                self._list(status)
        return self._rows.shared

    def judge_at(self, now: datetime) -> None:
        """Say what time it is: pending messages older than five minutes are due; only rows that become so change."""
        limit = now - OVERDUE_AFTER
        pending = self._list(Status.PENDING)
        places = [pending.place_of((moment,)) if moment else 0 for moment in (self._due_until, limit)]
        state = DeliveryState.DUE if places[0] < places[1] else DeliveryState.PENDING
        self._due_until = limit
        for place in range(min(places), max(places)):
            pending.replace_at(place, replace(pending.row_at(place), state=state))

    def _list(self, status: str) -> Ordered[DeliveryRow]:
        """The rows of a status, with those of all that came since somebody looked."""
        rows, late = self._lists[status], self._late[status]
        for entry in late:
            for number, name in enumerate(_shares(entry)[status]):
                rows.put((*entry.order, number), self._row(entry, name, status))
        late.clear()
        return rows

    def _row(self, entry: Entry, recipient: str, status: str) -> DeliveryRow:
        message = entry.message
        key = message.message_id if not message.is_group else f"{message.message_id}/{recipient}"
        state = _STATES[status]
        if state is DeliveryState.PENDING and self._due_until is not None and entry.when < self._due_until:
            state = DeliveryState.DUE
        expires = expires_at(message) if status in ON_ITS_WAY else None
        if not message.more:  # nearly every message: nobody has tried it yet
            return DeliveryRow(key, message, recipient, state, attempts_of(message), expires_at=expires)
        is_own = status == message.status  # what went wrong with others, and when they are tried again, is not its own
        error: Any = message.envelope("error_message") if is_own else None
        return DeliveryRow(
            key=key,
            message=message,
            recipient=recipient,
            state=state,
            attempts=attempts_of(message),
            max_attempts=max_attempts(message),
            next_attempt_at=next_attempt(message) if is_own else None,
            expires_at=expires,
            error="" if error is None else str(error),
        )


def _shares(entry: Entry) -> Mapping[str, Sequence[str]]:
    """Status -> the recipients that have it; whoever read the message is left out.

    Of a message to several some may have got it while others are still tried, or were given up.
    """
    message = entry.message
    if message.status not in _STATES:
        return {}
    if not message.more:
        return {message.status: message.recipients}
    waiting = [name for name in message.recipients if name not in message.read_by]
    handed = message.delivered_to
    if not handed or message.status == Status.DELIVERED:
        return {message.status: waiting}
    return {
        message.status: [name for name in waiting if name not in handed],
        Status.DELIVERED.value: [name for name in waiting if name in handed],
    }
