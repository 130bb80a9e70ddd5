"""Compare a message with what is on record of it: what was changed, and the recorded words put back."""

from __future__ import annotations

from team_console.store.model.errors import Problem
from team_console.store.model.message import Message, from_record
from team_console.store.model.message_copies import STATE_KEYS


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
