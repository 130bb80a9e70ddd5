"""Tell copies of one message from other messages under its id, and which copy is further on its way (D26)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from team_console.store.model.message import Message, Status, without

STATE_KEYS = (
    *("status", "delivered_at", "delivered_to", "handed_to", "read_at", "read_by", "recalled_at", "ended_at"),
    *("claimed_by", "claimed_at", "lease_until", "token"),
    *("attempts", "retry_count", "next_attempt_at", "error_message"),
)
"""Keys of a record that say how far it is on its way; all others say what the message is."""
_STATE = frozenset(STATE_KEYS)
_PROGRESS: Mapping[str, int] = {
    Status.PENDING: 0,
    Status.CLAIMED: 1,
    Status.RETRY: 1,
    Status.DELIVERED: 2,
    Status.EXPIRED: 3,
    Status.FAILED: 3,
    Status.RECALLED: 3,
    Status.READ: 4,
}
_UNKNOWN_PROGRESS = 9


def rank(status: str) -> int:
    """Return the progress of a status on its way; an unknown word counts as the end."""
    return _PROGRESS.get(status, _UNKNOWN_PROGRESS)


def is_ahead(message: Message, other: Message) -> bool:
    """Return whether `message` is further on its way than `other`, or was read by somebody who has not read `other`."""
    if set(message.read_by) - set(other.read_by):
        return True
    return rank(message.status) > rank(other.status)


def is_copy(message: Message, other: Message) -> bool:
    """Return whether both say the same under the same id, however far each of them is on its way."""
    if message is other:
        return True
    return message.message_id == other.message_id and _text_without_state(message) == _text_without_state(other)


def digest(message: Message) -> str:
    """Return 16 characters that tell this message from others of its id; the same for all its copies."""
    return hashlib.sha256(_text_without_state(message).encode("utf-8", "backslashreplace")).hexdigest()[:16]


def _text_without_state(message: Message) -> str:
    """Return the message as text without the keys of its state."""
    said = without(message.record, _STATE)
    return json.dumps(said, sort_keys=True, default=str)
