"""Read state reports: messages in which an agent says how far it is (seed 001 section 3.3), and last words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from team_console.store.model.message import Message, per_message
from team_console.store.protocol.client_sessions import SESSION, session_note
from team_console.store.protocol.foreign_fields import mapping_in, text_in
from team_console.store.protocol.sprint_in_text import carried_name

_REPORTING = frozenset({"broadcast", "notify"})
_LONGEST_READ = 4000
"""Characters of a text that are looked at; a progress line stands at the beginning or nowhere."""
_COUNTS: tuple[tuple[str, str], ...] = (
    ("running", r"(\d{1,6})\s*(?:个|项|tasks?|steps?)?\s*(?:running|in progress|ongoing|进行中|执行中)"),
    ("done", r"(\d{1,6})\s*(?:个|项|tasks?|steps?)?\s*(?:done|completed|complete|finished|已完成)"),
    (
        "to be assigned",
        r"(\d{1,6})\s*(?:个|项|tasks?|steps?)?\s*(?:to be assigned|unassigned|to come|waiting|open|待分配|等待)",
    ),
)
"""What is counted, and how it is said: `5 running`, `3 tasks done`, `2 个待分配`."""


class Report(Struct, frozen=True):
    """What one message says of its sender's state.

    Attributes:
        text: In one line, the counts where it gives some (requirement 122).
        subject: What it is about; a newer report of the same sender about the same replaces this one (85).
    """

    text: str
    subject: str


def report_of(message: Message) -> Report | None:
    """Return the state that a message reports, None for any other message."""
    return _report_in(message) if message.type in _REPORTING or message.type == SESSION else None


@per_message
def _report_in(message: Message) -> Report | None:
    """Return the report in a message, worked out once for each message object."""
    note = session_note(message)
    if note is not None:
        words = note.last_words.strip().partition("\n")[0]
        return Report(words, SESSION) if words else None
    if message.type == SESSION or carried_name(message.type, message.payload) is not None:
        return None
    text = _counts_in_payload(message.payload) or _counts_in_text(
        f"{message.summary}\n{_body_text(message)}"[:_LONGEST_READ]
    )
    if text:
        return Report(text, "progress")
    line = (message.summary or _body_text(message)).strip().partition("\n")[0]
    # Figures change from report to report, and `3 of 9 done` is about the same as `4 of 9 done`: both are `of done`.
    subject = " ".join(re.sub(r"[\d%]+", " ", line).casefold().split())
    return Report(line, subject) if subject else None


def reporter_of(message: Message) -> str:
    """Return the agent whose state a message reports: its sender, or a teammate that nobody else can speak for."""
    note = session_note(message)
    return note.name if note is not None else message.sender


def _body_text(message: Message) -> str:
    """Return the text of a message; of `notify` it stands in another field."""
    return message.content or text_in(message.payload, "message")


def _counts_in_payload(payload: Mapping[str, Any]) -> str:
    """Return the counts of a payload that gives them as numbers: `progress: {running: 5, done: 3}`."""
    progress = mapping_in(payload, "progress").items()
    counts = [(name, value) for name, value in progress if type(value) is int and isinstance(name, str)]
    return ", ".join(f"{value} {name.replace('_', ' ')}" for name, value in counts[:6])


def _counts_in_text(text: str) -> str:
    """Return the counts that a text gives, empty for fewer than two: `3 done` alone may be about anything."""
    found = [(name, match[1]) for name, pattern in _COUNTS if (match := re.search(pattern, text, re.IGNORECASE))]
    return ", ".join(f"{number} {name}" for name, number in found) if len(found) > 1 else ""
