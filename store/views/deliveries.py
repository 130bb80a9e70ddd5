"""Deliveries: where each message is on its way to each recipient, as rows of the list and beside one message."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from msgspec import Struct
from team_console.store.model.delivery_schedule import (
    ON_ITS_WAY,
    OVERDUE_AFTER,
    attempts_of,
    expires_at,
    max_attempts,
    next_attempt,
)
from team_console.store.model.message import Message, Status
from team_console.store.model.names import ALL
from team_console.store.protocol.placed_message import PlacedMessage
from team_console.store.views.rows import DeliveryRow, DeliveryState

_STATES = {
    status: DeliveryState(status)
    for status in ("failed", "expired", "retry", "pending", "claimed", "delivered", "recalled")
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


_TRY_KEYS = frozenset({"attempts", "retry_count"})
"""Keys of a record that the router tried to deliver; what was only pulled has none."""


class Delivery(Struct, frozen=True):
    """Where a message, or one of several of the same sending, is on its way to one recipient.

    Attributes:
        at: When it got there or was read, as the record says; empty when it did neither.
        tries: How often the router tried, of at most `most_tries`.
        next_try: When it tries again, as text; empty when it does not.
        error: Why the last try failed; empty when it did not.
    """

    message_id: str
    recipient: str
    status: str
    at: str = ""
    tries: int = 0
    most_tries: int = 0
    next_try: str = ""
    error: str = ""


def deliveries_of(message: Message) -> list[Delivery]:
    """Return the delivery state for each recipient; a record to all has those that got or read it."""
    names: Iterable[str] = message.recipients
    if ALL in message.recipients:
        names = dict.fromkeys((*message.recipients, *message.delivered_to, *message.read_by))
    return [_delivery(message, name) for name in names]


def _delivery(message: Message, name: str) -> Delivery:
    """Return where a message is on its way to one recipient."""
    status = status_for(message, name)
    at = message.read_by.get(name, message.delivered_to.get(name))
    if at is None and status == Status.READ:
        at = message.envelope("read_at")
    elif at is None and status == Status.DELIVERED:
        at = message.envelope("delivered_at")
    upcoming = next_attempt(message) if status in (Status.PENDING, Status.RETRY) else None
    return Delivery(
        message_id=message.message_id,
        recipient=name,
        status=status,
        at=str(at or ""),
        tries=attempts_of(message) if _TRY_KEYS.intersection(message.record) else 0,
        most_tries=max_attempts(message),
        next_try=upcoming.isoformat() if upcoming is not None and status == Status.RETRY else "",
        error=str(message.envelope("error_message") or "") if status == message.status else "",
    )
