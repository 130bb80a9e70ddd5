"""Messages on their way out: waiting, due, tried again, failed, expired, taken back (seed 003, decision D12)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

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
from team_console.store.views.rows import DeliveryRow, DeliveryState

_LISTED = ("failed", "expired", "retry", "pending", "claimed", "delivered", "recalled")
_STATES = {status: DeliveryState(status) for status in _LISTED}
"""Status -> row, in the order of the list; what has been read is no delivery any more."""


def deliveries(live: Iterable[Entry], now: datetime, *, failed_only: bool = False) -> tuple[DeliveryRow, ...]:
    """List the deliveries by state, the oldest first within each.

    Args:
        live: The queue, in order.
        failed_only: Leave out all but what the router gave up.
    """
    rows: dict[str, list[DeliveryRow]] = {status: [] for status in _STATES}
    for entry in live:
        if failed_only and entry.message.status != Status.FAILED:
            continue
        for status, names in _shares(entry).items():
            rows[status] += [_row(entry, name, status, now) for name in names]
    return tuple(rows["failed"]) if failed_only else tuple([row for listed in rows.values() for row in listed])


def _row(entry: Entry, recipient: str, status: str, now: datetime) -> DeliveryRow:
    message = entry.message
    key = message.message_id if not message.is_group else f"{message.message_id}/{recipient}"
    state = _STATES[status]
    if state is DeliveryState.PENDING and entry.when < now - OVERDUE_AFTER:
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
