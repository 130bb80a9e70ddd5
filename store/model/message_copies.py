"""Compare copies of one message: which is further on its way (D26), and what differs from what is on record."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from team_console.store.model.errors import Problem
from team_console.store.model.message import Message, Status, from_record, without

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


def changed_parts(message: Message, recorded: Message) -> str:
    """Return the recorded parts that the message changed, in words; its status and times may have gone on."""
    parts = {
        "kind": message.type != recorded.type,
        "sender": message.sender != recorded.sender,
        "recipient": message.recipients != recorded.recipients,
        "text": message.payload != recorded.payload,
        "date": message.created != recorded.created and message.created_at != recorded.created_at,
    }
    return ", ".join(name for name, differs in parts.items() if differs)


def changed_problem(message_id: str, what: str) -> Problem:
    """Return the finding that a live message says something else than was recorded; `what`, as `changed_parts`
    gives it.
    """
    text = f"another program changed it after it was recorded; another than on record: {what}"
    hint = "The audit trail has the original. Ask its sender what it wrote; do not act on it before."
    return Problem("CHANGED_MESSAGE", "error", message_id, text, hint)


def is_same(message: Message, recorded: Message) -> bool:
    """Return whether a message says what is on record of it."""
    return not changed_parts(message, recorded)


def with_recorded_words(message: Message, recorded: Message) -> Message:
    """Return the message as it is on record, with the progress it has made since."""
    progress = {key: message.record[key] for key in STATE_KEYS if key in message.record}
    words = {key: value for key, value in recorded.record.items() if key not in STATE_KEYS or key in progress}
    return from_record({**words, **progress})
