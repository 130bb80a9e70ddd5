"""The conversation a message or request belongs to: versions of a plan, answers, deliveries and tries, in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from team_console.store.model.message import Message
from team_console.store.protocol.entries import EARLIEST
from team_console.store.protocol.reading import reading
from team_console.store.views.mail.thread import Delivery, Find, deliveries_of, find_thread, versions_of
from team_console.store.views.rows import RequestRow

MOST_LOOKS = 40
"""Ids that are looked up at most: each is a look through the archives."""


class Turn(Struct, frozen=True):
    """One thing that was said.

    Attributes:
        message: As one recipient got it.
        is_live: Whether it is still in the queue.
        deliveries: Where it is on its way, one for each recipient.
        request: What became of the request it opens, None when it opens none.
        version, versions: Which of how many versions of a plan it is; 0 when it is none.
    """

    message: Message
    is_live: bool
    deliveries: tuple[Delivery, ...]
    request: RequestRow | None = None
    version: int = 0
    versions: int = 0


class Conversation(Struct, frozen=True):
    """What was said, the oldest first.

    Attributes:
        word: The id it was asked for with.
        is_whole: Whether everything that belongs to it was looked up.
    """

    word: str
    turns: tuple[Turn, ...]
    is_whole: bool = True


def conversation_of(
    word: str, live: Sequence[Message], archived: Find, rows: Sequence[RequestRow]
) -> Conversation | None:
    """What belongs to the message or request `word`; None when nothing is known under that id."""
    messages: dict[str, Message] = {}
    siblings: dict[str, dict[str, Message]] = {}
    versions = [row.request_id for row in versions_of(rows, word)]
    waiting, asked = deque([word, *versions]), {word, *versions}
    looks = 0
    while waiting and looks < MOST_LOOKS:
        looks += 1
        thread = find_thread(waiting.popleft(), live, archived)
        if thread is None:
            continue
        new = [message for message in (*thread.messages, thread.message) if message.message_id not in messages]
        messages.update({message.message_id: message for message in new})
        if thread.message.broadcast_id:
            sent = siblings.setdefault(thread.message.broadcast_id, {})
            sent.update({message.message_id: message for message in thread.siblings})
        for other in (other for message in new for other in _next_ids(message, rows)):
            if other not in asked:
                asked.add(other)
                waiting.append(other)
    if not messages:
        return None
    known = {message.message_id for message in live}
    return Conversation(word, tuple(_turns(messages, siblings, known, rows)), is_whole=not waiting)


def _next_ids(message: Message, rows: Iterable[RequestRow]) -> Iterator[str]:
    """Ids under which more of the conversation may stand: what it answers, what answers it, versions of its plan."""
    replied = message.payload.get("in_reply_to")
    yield from (word for word in (replied, message.message_id) if isinstance(word, str))
    request_id = reading(message).request_id
    if request_id is not None:
        yield request_id
        yield from (row.request_id for row in versions_of(rows, request_id))


def _turns(
    messages: dict[str, Message], siblings: dict[str, dict[str, Message]], live: set[str], rows: Sequence[RequestRow]
) -> Iterator[Turn]:
    """One turn for each message; copies of one sending are one turn with a delivery each."""
    told: set[str] = set()
    for message in sorted(messages.values(), key=lambda other: other.created_at or EARLIEST):
        copies = siblings.get(message.broadcast_id or "", {})
        if message.message_id in told:
            continue
        told.update(copies)
        sent = sorted(copies.values(), key=lambda other: other.recipients) or [message]
        request_id = reading(message).request_id if reading(message).opens is not None else None
        chain = versions_of(rows, request_id) if request_id is not None else []
        place = next((number for number, row in enumerate(chain, start=1) if row.request_id == request_id), 0)
        yield Turn(
            message=message,
            is_live=any(other.message_id in live for other in sent),
            deliveries=tuple(delivery for other in sent for delivery in deliveries_of(other)),
            request=chain[place - 1] if place else None,
            version=place if len(chain) > 1 else 0,
            versions=len(chain) if len(chain) > 1 else 0,
        )
