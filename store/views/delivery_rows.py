"""The deliveries of the queue as rows, one for each recipient, with the state the message is in for it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from team_console.store.model.message import Message, Status
from team_console.store.model.schedule import (
    ON_ITS_WAY,
    OVERDUE_AFTER,
    attempts_of,
    expires_at,
    max_attempts,
    next_attempt,
)
from team_console.store.protocol.placed_message import PlacedMessage
from team_console.store.views.rows import DeliveryRow, DeliveryState

_STATES = {
    str(status): DeliveryState(status)
    for status in (
        Status.FAILED,
        Status.EXPIRED,
        Status.RETRY,
        Status.PENDING,
        Status.CLAIMED,
        Status.DELIVERED,
        Status.RECALLED,
    )
}
"""Status of a message -> state of its row, in the order of the list; what has been read is no delivery any more."""


def delivery_rows(live: Iterable[PlacedMessage], now: datetime) -> tuple[DeliveryRow, ...]:
    """List the deliveries of the queue by state, the oldest first within each; `live` is in order."""
    rows: dict[str, list[DeliveryRow]] = {status: [] for status in _STATES}
    for entry in live:
        message = entry.message
        if message.status not in _STATES:
            continue
        for name in message.recipients:
            status = status_for(message, name)
            if status in rows:
                rows[status].append(_delivery_row(entry, name, status, now))
    return tuple([row for listed in rows.values() for row in listed])


def status_for(message: Message, name: str) -> str:
    """Return the status of a message for one recipient.

    Of a message to several some may have read or got it while others are still tried, or were given up.
    """
    if name in message.read_by:
        return str(Status.READ)
    return str(Status.DELIVERED) if name in message.delivered_to else message.status


def _delivery_row(entry: PlacedMessage, recipient: str, status: str, now: datetime) -> DeliveryRow:
    """Return the row of a message for one recipient, whose own `status` may differ from the message's."""
    message = entry.message
    key = message.message_id if not message.is_group else f"{message.message_id}/{recipient}"
    state = _STATES[status]
    if state is DeliveryState.PENDING and entry.when < now - OVERDUE_AFTER:
        state = DeliveryState.DUE
    expires = expires_at(message) if status in ON_ITS_WAY else None
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
