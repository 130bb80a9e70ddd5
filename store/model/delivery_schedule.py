"""When a message is tried, tried again, given up and expired (seed 003 "Retry Strategy", decision D12)."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from team_console.store.model.message import Message, Status

RETRY_WAITS = (30.0, 60.0, 120.0)
"""Seconds from a failed attempt to the next one; the last wait repeats when a message allows more retries."""
MAX_RETRIES = 3
"""Retries after the first attempt, unless the record says otherwise in `max_retries`."""
OVERDUE_AFTER = timedelta(minutes=5)
"""A message still pending after this long waits too long (seed 003 "Message Persistence")."""
EXPIRE_AFTER = timedelta(days=7)
"""A message that nobody could be given for this long is expired."""
MAX_LEASE = EXPIRE_AFTER
"""The longest claim: a message is not held longer than one is kept waiting."""
CLOCKS_DIFFER = timedelta(minutes=5)
"""How far clocks of honest writers may be apart; a date further ahead is not believed."""
ON_ITS_WAY = frozenset({str(Status.PENDING), str(Status.RETRY)})
"""Statuses the router's poll selects (requirement 220)."""
_BETWEEN_TRIES = ON_ITS_WAY | {str(Status.EXPIRED), str(Status.RECALLED)}
"""Statuses of messages that wait for their next try, or waited for it when they ended: the last try was not made."""


def attempts_of(message: Message) -> int:
    """Return the number of delivery tries; a record of another router may only count its retries."""
    attempts = _count_or_none(message.envelope("attempts"))
    if attempts is not None:
        return attempts
    retries = _count_or_none(message.envelope("retry_count")) or 0
    return retries if message.status in _BETWEEN_TRIES else retries + 1


def retries_of(message: Message) -> int:
    """Return the retries that were made, or ordered while the next is still to come (`retry_count`)."""
    attempts = attempts_of(message)
    made = attempts if message.status in _BETWEEN_TRIES else attempts - 1
    return max(0, min(made, max_attempts(message) - 1))


def max_attempts(message: Message) -> int:
    """Return the tries a message gets: the first and its retries."""
    retries = _count_or_none(message.envelope("max_retries"))
    return 1 + (MAX_RETRIES if retries is None else retries)


def next_attempt(message: Message) -> datetime | None:
    """Return the earliest moment of the next try, None when that is at once."""
    return message.moment("next_attempt_at")


def lease_end(message: Message) -> datetime | None:
    """Return until when a claim holds, None when the message has no readable one."""
    return message.moment("lease_until")


def is_held(message: Message, now: datetime) -> bool:
    """Return whether somebody has a claim on the message that has not run out.

    A claim longer than any that can be made is over: it was made by a clock that was ahead.
    """
    end = lease_end(message)
    # guard: leases-bounded
    return message.status == Status.CLAIMED and end is not None and now < end <= now + MAX_LEASE


def is_due(message: Message, now: datetime) -> bool:
    """Return whether the router should try it now: waiting with its time come, or a claim that ran out (decision
    D3).

    A next try later than a message is kept waiting was set by a clock that was ahead; it is due.
    """
    if message.status == Status.CLAIMED:
        return not is_held(message, now)
    moment = next_attempt(message)
    return message.status in ON_ITS_WAY and (moment is None or not now < moment <= now + EXPIRE_AFTER)


def expires_at(message: Message) -> datetime | None:
    """Return the time of expiry; None when its age is unknown. A retry ordered by hand counts anew."""
    created, put_off = message.created_at, next_attempt(message)
    start = max(created, put_off) if created is not None and put_off is not None else created or put_off
    return start + EXPIRE_AFTER if start is not None else None


def is_expired(message: Message, now: datetime) -> bool:
    """Return whether it waited longer than a message is kept waiting."""
    end = expires_at(message)
    return message.status in ON_ITS_WAY and end is not None and end <= now


def wait_after(attempts: int) -> timedelta:
    """Return the wait from attempt number `attempts` (from 1) to the next one."""
    return timedelta(seconds=RETRY_WAITS[min(attempts, len(RETRY_WAITS)) - 1])


def _count_or_none(value: Any) -> int | None:
    """Return a count in a record; None for anything else, and for a number that nobody can have counted up to."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1_000_000 else None
