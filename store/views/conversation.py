"""The conversation a message or request belongs to: versions of a plan, answers, deliveries and tries, in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any, NamedTuple

from msgspec import Struct
from team_console.store.contract.snapshot import Snapshot
from team_console.store.contract.team import Team
from team_console.store.model.message import Message, Status, ids_of
from team_console.store.model.message import by_id as messages_by_id
from team_console.store.model.recorded_facts import RecordedFacts
from team_console.store.protocol.foreign_fields import mapping_in, text_in
from team_console.store.protocol.parsing import parse_message
from team_console.store.protocol.placed_message import StoreOrder, when_created
from team_console.store.views.deliveries import Delivery, deliveries_of
from team_console.store.views.history import HistoryPage
from team_console.store.views.inboxes import unquoted_partners
from team_console.store.views.rows import RequestRow

MOST_LOOKS = 4
"""Looks through the archives at most; each is for all ids that are known by then."""


class Thread(Struct, frozen=True):
    """A message and everything that belongs to it: what it answers, what answers it, versions of a plan.

    Attributes:
        message: The message asked for; for a request the one that opened it.
        request_id: The request that it opens or answers.
        messages: Everything in the conversation, itself included, oldest first.
        copies: The records of every broadcast in it, one per recipient.
        live: Ids of all messages that are still in the queue.
        doubles: Other messages under the id of `message`.
        is_whole: Whether everything that belongs to it was looked up.
    """

    message: Message
    request_id: str | None
    messages: tuple[Message, ...]
    copies: tuple[Message, ...]
    live: frozenset[str]
    doubles: tuple[Message, ...] = ()
    is_whole: bool = True

    @property
    def is_live(self) -> bool:
        """Whether the message is still in the queue."""
        return self.message.message_id in self.live

    @property
    def deliveries(self) -> list[Delivery]:
        """The delivery state of the message for each recipient, of a broadcast for each copy."""
        shared = self.message.broadcast_id
        copies = [copy for copy in self.copies if copy.broadcast_id == shared] if shared else [self.message]
        return [delivery for copy in copies for delivery in deliveries_of(copy)]


class _Connected(NamedTuple):
    """Messages that belong together, by id, and every id that they have or quote."""

    messages: dict[str, Message]
    ids: set[str]

    def broadcast_ids(self) -> set[str]:
        """Return the ids of the broadcasts among them."""
        return {message.broadcast_id for message in self.messages.values() if message.broadcast_id}


class _MessagesById:
    """Messages by the ids that they carry or quote; of several copies of one the first that was added counts."""

    def __init__(self, messages: Iterable[Message]) -> None:
        self._by_id: dict[str, list[Message]] = {}
        self._places: dict[str, int] = {}
        for place, message in enumerate(messages):
            self._add(message)
            self._places.setdefault(message.message_id, place)

    def _add(self, message: Message) -> None:
        for word in {*_quoted_ids(message), *filter(None, [message.broadcast_id])}:
            self._by_id.setdefault(word, []).append(message)

    def add(self, archived: Iterable[Message]) -> None:
        """Add archived messages that are not known yet, the newest first."""
        for message in archived:
            if message.message_id not in self._places:
                self._places[message.message_id] = -len(self._places) - 1
                self._add(message)

    def order(self, message: Message) -> StoreOrder:
        """Return the key that sorts by time, then by place in the store, archived ones before those in the queue."""
        return StoreOrder(when_created(message), self._places.get(message.message_id, 0))

    def naming(self, word: str) -> Sequence[Message]:
        """Return the messages that have this id or quote it."""
        return self._by_id.get(word, ())

    def connected(self, word: str, rows: Sequence[RequestRow]) -> _Connected:
        """Return the messages that belong together with `word`, and every id they are known under."""
        messages: dict[str, Message] = {}
        ids = {word}
        waiting = deque(ids)
        while waiting:
            for message in self.naming(waiting.popleft()):
                if message.message_id not in messages:
                    messages[message.message_id] = message
                    more = [quoted for quoted in _next_ids(message, rows) if quoted not in ids]
                    ids.update(more)
                    waiting += more
        return _Connected(messages, ids)


def gather_thread(
    team: Team, snapshot: Snapshot, word: str, known: HistoryPage, rows: Sequence[RequestRow] = ()
) -> Thread | None:
    """Return the thread of the message or request `word`; None when nothing is known under that id.

    What is in the queue and among the latest archived messages is put together in memory. What may be older is looked
    up for all ids at once, and again only for ids that the look before found.

    Args:
        known: The latest archived messages.
        rows: Requests whose versions belong to it.
    """
    live = (*snapshot.messages, *snapshot.dropped)
    by_id = _MessagesById(live)
    by_id.add(known.messages)
    is_whole = known.complete or _look_up_older(team, by_id, word, rows)
    connected = by_id.connected(word, rows)
    named = [message for message in by_id.naming(word) if message.message_id == word]
    message = _find_meant(word, named, by_id.naming(word), snapshot.recorded)
    if message is None:
        return None
    # An answer that quotes nothing is found by who spoke to whom.
    everything = messages_by_id((*known.messages, *snapshot.messages))
    partners = messages_by_id(unquoted_partners(message, everything.values()))
    messages = {**partners, **connected.messages, message.message_id: message}
    broadcasts = connected.broadcast_ids()
    copies = [copy for shared in broadcasts for copy in by_id.naming(shared) if copy.broadcast_id == shared]
    return Thread(
        message=message,
        request_id=parse_message(message).request_id,
        messages=tuple(sorted(messages.values(), key=by_id.order)),
        copies=tuple(sorted(copies, key=lambda copy: copy.recipients)),
        live=frozenset(ids_of(live)),
        doubles=tuple(other for other in named if other is not message),
        is_whole=is_whole,
    )


def _look_up_older(team: Team, by_id: _MessagesById, word: str, rows: Sequence[RequestRow]) -> bool:
    """Add what the archives know of the conversation of `word`; returns whether that is all of it."""
    looked_up: set[str] = set()
    for _ in range(MOST_LOOKS):
        unknown = _ids_to_look_up(by_id, word, rows) - looked_up
        if not unknown:
            return True
        looked_up |= unknown
        by_id.add(team.archived(*sorted(unknown)))
    return _ids_to_look_up(by_id, word, rows) <= looked_up


def _ids_to_look_up(by_id: _MessagesById, word: str, rows: Sequence[RequestRow]) -> set[str]:
    connected = by_id.connected(word, rows)
    return connected.ids | connected.broadcast_ids()


def _find_meant(
    word: str, named: Sequence[Message], near: Iterable[Message], recorded: RecordedFacts | None
) -> Message | None:
    """Return the message that is meant by `word`: first the one that an answer to this request would decide."""

    def rank(question: Message) -> tuple[bool, datetime]:
        # As the judgement ranks them: another program may write a second request under the id, with any date.
        return recorded is not None and not recorded.is_by_desk(question.message_id), when_created(question)

    about = [message for message in near if word in _request_ids(message)]
    opening = [message for message in about if parse_message(message).opens is not None]
    # Somebody may have used a request's id for a message: shown is what an answer to this id would decide.
    decided = sorted((message for message in opening if parse_message(message).request_id == word), key=rank)
    return next(iter([*decided, *named, *opening, *about]), None)


def _next_ids(message: Message, rows: Sequence[RequestRow]) -> Iterator[str]:
    """Yield ids under which more of the conversation may be: what it answers, what answers it, versions of a plan."""
    yield from sorted(_quoted_ids(message))
    request_id = parse_message(message).request_id
    if request_id is not None:
        yield from (row.request_id for row in versions_of(rows, request_id))


def versions_of(rows: Iterable[RequestRow], request_id: str) -> list[RequestRow]:
    """Return the request and those it replaced or was replaced by, the first one first; without others only itself."""
    by_id = {row.request_id: row for row in rows}
    row = by_id.get(request_id)
    if row is None:
        return []
    seen = {request_id: row}
    chain = [row]
    while (earlier := by_id.get(chain[0].supersedes or "")) is not None and earlier.request_id not in seen:
        chain.insert(0, earlier)
        seen[earlier.request_id] = earlier
    while (later := by_id.get(chain[-1].superseded_by or "")) is not None and later.request_id not in seen:
        chain.append(later)
        seen[later.request_id] = later
    return chain


def _request_ids(message: Message) -> set[str]:
    """Return the ids of requests that a message names as its own or as what it answers."""
    fields = mapping_in(message.payload, "fields")  # of a message in a team of another program
    theirs = [text_in(fields, key) for key in ("request_id", "requestId")]
    return {word for word in (message.request_id, parse_message(message).request_id, *theirs) if word}


def _quoted_ids(message: Message) -> set[str]:
    """Return the id of a message, and those of requests and messages that it names."""
    replied = message.payload.get("in_reply_to")
    more = {replied} if isinstance(replied, str) else set()
    return {message.message_id, *_request_ids(message), *more}


class Turn(Struct, frozen=True):
    """One message of a conversation, with what became of it.

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


def turns_of(thread: Thread, rows: Sequence[RequestRow]) -> Iterator[Turn]:
    """Yield one turn for each message, oldest first; the copies of a broadcast are one turn with a delivery each."""
    every = messages_by_id((*thread.copies, *thread.messages))
    places: dict[str, int] = {}
    for place, message in enumerate(thread.messages):
        places.setdefault(message.broadcast_id or message.message_id, place)

    def order(message: Message) -> StoreOrder:
        return StoreOrder(when_created(message), places[message.broadcast_id or message.message_id])

    ordered = sorted(every.values(), key=order)
    for copies in group_copies(ordered):
        message, read = copies[0], parse_message(copies[0])
        chain = versions_of(rows, read.request_id) if read.opens is not None and read.request_id is not None else []
        place = next((number for number, row in enumerate(chain, start=1) if row.request_id == read.request_id), 0)
        has_versions = len(chain) > 1
        yield Turn(
            message=message,
            is_live=any(copy.message_id in thread.live for copy in copies),
            deliveries=tuple(delivery for copy in copies for delivery in deliveries_of(copy)),
            request=chain[place - 1] if place else None,
            version=place if has_versions else 0,
            versions=len(chain) if has_versions else 0,
        )


# The copies of one broadcast as the one message it was: who got it, and who of them read it (decision D1).

_WORST_FIRST: tuple[str, ...] = (
    *(Status.FAILED, Status.EXPIRED, Status.RETRY, Status.PENDING),
    *(Status.CLAIMED, Status.DELIVERED, Status.RECALLED, Status.READ),
)
"""Of several states the one that is told of all: what went wrong, then what is least on its way."""
_KEYS_OF_ONE_COPY = ("delivered_at", "read_at", "recalled_at", "ended_at", "claimed_by", "claimed_at", "error_message")


def group_copies(messages: Iterable[Message]) -> Iterator[tuple[Message, ...]]:
    """Yield the messages in their order; neighbours that are copies of one broadcast come together, the others
    alone.

    Copies say the same, word for word: whoever uses the id of a broadcast for other words hides nothing behind it.
    """
    for mark, some in groupby(messages, _broadcast_key):
        if mark is None:
            yield from ((message,) for message in some)
            continue
        same: dict[tuple[str, str], dict[str, Message]] = {}
        for message in some:
            # guard: broadcast-copies-are-equal
            copies = same.setdefault((message.priority, repr(message.payload)), {})
            if message.recipients[0] in copies:
                yield (message,)
            copies.setdefault(message.recipients[0], message)
        yield from (tuple(copies.values()) for copies in same.values())


def merge_copies(copies: Sequence[Message]) -> Message:
    """Return one message to all who got a copy, under the smallest of the ids; its state is the worst of theirs."""
    if len(copies) == 1:
        return copies[0]
    first = min(copies, key=lambda copy: copy.message_id)
    # Another writer's word stands before all: nobody knows what it means.
    worst = min(copies, key=lambda copy: _WORST_FIRST.index(copy.status) if copy.status in _WORST_FIRST else -1)
    readers = {copy.recipients[0]: copy.envelope("read_at") for copy in copies if copy.status == Status.READ}
    gone: dict[str, Any] = dict.fromkeys(("to", "recipient", "to_agent", *_KEYS_OF_ONE_COPY))
    now = {
        "to_agents": [copy.recipients[0] for copy in copies],
        "status": worst.status,
        "error_message": worst.envelope("error_message"),
        "read_by": readers or None,
    }
    return first.with_changes(**gone | now)


def _broadcast_key(message: Message) -> tuple[str, ...] | None:
    """Return what copies of one broadcast have in common; None for any other message."""
    shared = message.broadcast_id
    if shared is None or message.is_group:
        return None
    return shared, message.sender, message.type, message.created
