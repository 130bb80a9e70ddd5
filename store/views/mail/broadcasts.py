"""The copies of one broadcast as the one message it was: who got it, and who of them read it (decision D1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from team_console.store.model.message import Message, Status

_WORST_FIRST: tuple[str, ...] = (
    *(Status.FAILED, Status.EXPIRED, Status.RETRY, Status.PENDING),
    *(Status.CLAIMED, Status.DELIVERED, Status.RECALLED, Status.READ),
)
"""Of several states the one that is told of all: what went wrong, then what is least on its way."""
_OF_ONE = ("delivered_at", "read_at", "recalled_at", "ended_at", "claimed_by", "claimed_at", "error_message")


def gathered(messages: Iterable[Message]) -> Iterator[tuple[Message, ...]]:
    """The messages in their order; neighbours that are copies of one broadcast come together, the others alone.

    Copies say the same, word for word: whoever uses the id of a broadcast for other words hides nothing behind it.
    """
    for mark, some in groupby(messages, _mark):
        if mark is None:
            yield from ((message,) for message in some)
            continue
        same: dict[tuple[str, str], dict[str, Message]] = {}
        for message in some:
            copies = same.setdefault((message.priority, repr(message.payload)), {})
            if message.recipients[0] in copies:
                yield (message,)
            copies.setdefault(message.recipients[0], message)
        yield from (tuple(copies.values()) for copies in same.values())


def as_one(copies: Sequence[Message]) -> Message:
    """One message to all who got a copy, under the smallest of the ids; its state is the worst of theirs."""
    if len(copies) == 1:
        return copies[0]
    first, worst = min(copies, key=lambda copy: copy.message_id), min(copies, key=_place)
    readers = {copy.recipients[0]: copy.envelope("read_at") for copy in copies if copy.status == Status.READ}
    gone: dict[str, Any] = dict.fromkeys(("to", "recipient", "to_agent", *_OF_ONE))
    now = {
        "to_agents": [copy.recipients[0] for copy in copies],
        "status": worst.status,
        "error_message": worst.envelope("error_message"),
        "read_by": readers or None,
    }
    return first.with_changes(**gone | now)


def _mark(message: Message) -> tuple[str, ...] | None:
    """What copies of one broadcast have in common; None for what is none."""
    shared = message.broadcast_id
    if shared is None or message.is_group:
        return None
    return shared, message.sender, message.type, message.created


def _place(message: Message) -> int:
    """Another writer's word stands before all: nobody knows what it means."""
    return _WORST_FIRST.index(message.status) if message.status in _WORST_FIRST else -1
