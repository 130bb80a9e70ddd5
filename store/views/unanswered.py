"""What an agent has read, was written to it alone, and sent no word back on since (requirement 89)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from team_console.store.model.message import Message
from team_console.store.model.names import ALL
from team_console.store.protocol.placed_message import PlacedMessage

_ASKING = frozenset({"message", "handoff", "review", "clarify", "escalate"})
"""Kinds that are written to one agent for it to act on; a broadcast demands no answer (requirement 84)."""


def unanswered(live: Iterable[PlacedMessage]) -> dict[str, tuple[Message, ...]]:
    """Find the messages that each reader owes an answer: reader -> by sender, the oldest first within one.

    Args:
        live: The queue, in order.
    """
    owed: dict[str, dict[str, list[Message]]] = {}
    for entry, answer in _questions_and_answers(live):
        message, reader = entry.message, entry.message.recipients[0]
        if answer is None and message.is_read_by(reader):
            owed.setdefault(reader, {}).setdefault(message.sender, []).append(message)
    return {
        reader: tuple(chain.from_iterable(by_sender[sender] for sender in sorted(by_sender)))
        for reader, by_sender in sorted(owed.items())
    }


def unquoted_partners(message: Message, among: Iterable[Message]) -> list[Message]:
    """Find what a message answers without quoting it, and what answers it so."""
    found: list[Message] = []
    in_order = sorted(PlacedMessage.each(among), key=lambda entry: entry.order)
    for asked, answer in _questions_and_answers(in_order):
        if answer is None or _quotes_an_id(answer.message):
            continue
        if asked.message == message:
            found.append(answer.message)
        if answer.message == message:
            found.append(asked.message)
    return found


def _questions_and_answers(entries: Iterable[PlacedMessage]) -> Iterator[tuple[PlacedMessage, PlacedMessage | None]]:
    """Yield each message that asks something, with its answer; a message to somebody who waits for one asks nothing.

    Args:
        entries: All of them, in order.
    """
    waiting: dict[tuple[str, str], list[PlacedMessage]] = {}  # (who asked, whom) -> questions without an answer yet
    for entry in entries:
        sender = entry.message.sender
        for name in entry.message.recipients:
            if name == sender:
                continue
            if answered := waiting.pop((name, sender), None):
                yield from ((asked, entry) for asked in answered)
            elif _asks_for_answer(entry):
                waiting.setdefault((sender, name), []).append(entry)
    yield from ((asked, None) for unanswered_ones in waiting.values() for asked in unanswered_ones)


def _asks_for_answer(entry: PlacedMessage) -> bool:
    """Return whether it is written to one agent for it to act on, and replies to nothing."""
    message = entry.message
    if message.type not in _ASKING or len(message.recipients) != 1 or message.recipients[0] == ALL:
        return False
    if entry.read.name != message.type:
        return False
    return not _quotes_an_id(message)


def _quotes_an_id(message: Message) -> bool:
    return message.payload.get("in_reply_to") is not None or message.payload.get("request_id") is not None
