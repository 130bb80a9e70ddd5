"""Records that share a message id: copies of one message count once, different messages are each their own (D26)."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from team_console.store.model.message import Message, Status
from team_console.store.model.problem import Problem

STATE_KEYS = (
    *("status", "delivered_at", "delivered_to", "handed_to", "read_at", "read_by", "recalled_at", "ended_at"),
    *("claimed_by", "claimed_at", "lease_until", "token"),
    *("attempts", "retry_count", "next_attempt_at", "error_message"),
)
"""Keys of a record that say how far it is on its way; all others say what the message is."""
_STATE = frozenset(STATE_KEYS)
_RANKS: Mapping[str, int] = {
    Status.PENDING: 0,
    Status.CLAIMED: 1,
    Status.RETRY: 1,
    Status.DELIVERED: 2,
    Status.EXPIRED: 3,
    Status.FAILED: 3,
    Status.RECALLED: 3,
    Status.READ: 4,
}
_LAST = 9


def rank(status: str) -> int:
    """How far on its way a message of this status is; a word nobody knows counts as the end."""
    return _RANKS.get(status, _LAST)


def is_ahead(message: Message, other: Message) -> bool:
    """Whether `message` is further on its way than `other`, or was read by somebody who has not read `other`."""
    if set(message.read_by) - set(other.read_by):
        return True
    return rank(message.status) > rank(other.status)


def is_copy(message: Message, other: Message) -> bool:
    """Whether both say the same under the same id, however far each of them is on its way."""
    if message is other:
        return True
    return message.message_id == other.message_id and _letter(message) == _letter(other)


def digest(message: Message) -> str:
    """What tells this message from others of its id, as 16 characters; the same for all copies of it."""
    return hashlib.sha256(_letter(message).encode("utf-8", "backslashreplace")).hexdigest()[:16]


def distinct(messages: Sequence[Message]) -> Sequence[Message]:
    """The messages without further copies, in order; of copies the one that is furthest on its way stays.

    The same object where no two records share an id.
    """
    shared = shared_ids(messages) if len(messages) > 1 else {}
    if not shared:
        return messages
    kept: list[Message] = []
    places: dict[tuple[str, str], int] = {}  # a program may use one id for thousands: no two are compared
    for message in messages:
        if message.message_id in shared:
            place = places.setdefault((message.message_id, _letter(message)), len(kept))
            if place < len(kept):
                kept[place] = message if is_ahead(message, kept[place]) else kept[place]
                continue
        kept.append(message)
    return tuple(kept)


class Letters:
    """What messages of one id say, for finding copies of another one among them; each is read once, when asked for."""

    __slots__ = ("_counts", "_unread")

    def __init__(self, messages: Iterable[Message] = ()) -> None:
        self._unread = list(messages)
        self._counts: dict[str, int] = {}

    def add(self, message: Message) -> None:
        """Take one more message of that id."""
        self._unread.append(message)

    def copies(self, message: Message) -> int:
        """How many of them say the same as `message`, which has their id."""
        for letter in map(_letter, self._unread):
            self._counts[letter] = self._counts.get(letter, 0) + 1
        self._unread.clear()
        return self._counts.get(_letter(message), 0) if self._counts else 0


def shared_ids(messages: Iterable[Message]) -> Mapping[str, int]:
    """Ids that several records have -> how many."""
    ids = [message.message_id for message in messages]
    if len(set(ids)) == len(ids):
        return {}
    return {message_id: count for message_id, count in Counter(ids).items() if count > 1}


def counterpart(message: Message, among: Sequence[Message]) -> Message | None:
    """What `message`, seen earlier, is now `among` the records of its id; None when it is none of them.

    Where only one record has the id, that is the one, unless it is a different message from somebody else.
    """
    for candidate in among:
        if candidate is message:
            return candidate
    return next((candidate for candidate in among if is_copy(candidate, message)), None)


class Counterparts:
    """The same of many messages, seen earlier, that share an id: none is compared with all."""

    def __init__(self, among: Iterable[Message]) -> None:
        self.left = dict.fromkeys(among)
        self._by_letter: dict[str, list[Message]] | None = None

    def take(self, message: Message) -> Message | None:
        """What `message` is now, which is then not what another one is; None when it is none of those left."""
        found: Message | None = message
        if message not in self.left:
            found = next((other for other in self._copies(message) if other in self.left), None)
        if found is not None:
            del self.left[found]
        return found

    def _copies(self, message: Message) -> Sequence[Message]:
        if self._by_letter is None:
            self._by_letter = {}
            for other in self.left:
                self._by_letter.setdefault(_letter(other), []).append(other)
        return self._by_letter.get(_letter(message), ())


def _letter(message: Message) -> str:
    """What the message is, as text: everything but the keys of its state."""
    said = {key: value for key, value in message.record.items() if key not in _STATE}
    return json.dumps(said, sort_keys=True, default=str)


def copy_problems(messages: Sequence[Message]) -> list[Problem]:
    """What to tell of records that are there more than once and count once."""
    kept = distinct(messages)
    if len(kept) == len(messages):
        return []
    left = shared_ids(kept)
    hint = "Copies count once; the next change of the message, or 'team-console check --heal', takes the others out."
    problems = []
    for message_id, count in shared_ids(messages).items():
        number = count - left.get(message_id, 1)
        if number:
            text = f"message {message_id} is stored {number + 1} times with the same content"
            problems.append(Problem("DUPLICATE_COPY", "warning", message_id, text, hint))
    return problems
