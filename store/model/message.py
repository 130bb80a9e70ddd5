"""The envelope: one immutable message as every backend reads and writes it (decision D2).

Last, compare copies of one message: which is further on its way (D26), and what differs from what is on record.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from datetime import datetime
from enum import StrEnum
from functools import wraps
from types import MappingProxyType
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import force_setattr
from team_console.store.model.clock import from_text
from team_console.store.model.errors import Problem
from team_console.store.model.names import ALL, USER, canonical, is_name

MAX_DEPTH = 64
"""Levels of nesting in a message; deeper ones are refused before any recursive code sees them."""


class Status(StrEnum):
    """Where a message is on its way (decision D3); unknown words from other writers are kept as text."""

    PENDING = "pending"
    CLAIMED = "claimed"
    RETRY = "retry"
    DELIVERED = "delivered"
    READ = "read"
    FAILED = "failed"
    EXPIRED = "expired"
    RECALLED = "recalled"


DONE = frozenset({Status.READ, Status.RECALLED})
"""What a reader has, and what its writer took back before anybody had it: it leaves once it is archived."""


class Priority(StrEnum):
    """How urgent a message is; unknown words rank last."""

    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


PRIORITIES: Mapping[str, str] = {"": str(Priority.MEDIUM), **{str(word): str(word) for word in Priority}}
"""What a priority as written means: our own words, and none."""
STATUSES: Mapping[str, str] = {"": str(Status.PENDING), **{str(word): str(word) for word in Status}}
"""What a status as written means, likewise."""
URGENT = "urgent"
"""Another word for critical, at every face."""
_OTHER_PRIORITIES = {
    **dict.fromkeys((URGENT, "紧急", "p0"), str(Priority.CRITICAL)),
    **dict.fromkeys(("高", "p1"), str(Priority.HIGH)),
    **dict.fromkeys(("normal", "中", "p2"), str(Priority.MEDIUM)),
    **dict.fromkeys(("低", "p3"), str(Priority.LOW)),
    **PRIORITIES,
    **{str(number): str(word) for number, word in enumerate(Priority, start=1)},
}
"""Numbers count from 1, the most urgent, as `Message.rank_by` does."""
_OTHER_STATUSES = {**STATUSES, "unread": str(Status.PENDING)}
_RANKS: dict[str, int] = {str(priority): rank for rank, priority in enumerate(Priority, start=1)}

_TO_BE_READ = frozenset({Status.PENDING, Status.CLAIMED, Status.RETRY, Status.DELIVERED})

_ENVELOPE_NAMES = {
    "message_id": ("message_id", "id"),
    "type": ("type", "message_type"),
    "from": ("from", "sender", "from_agent"),
    "created": ("created", "created_at", "timestamp"),
}
_ADDRESS_KEYS = ("to", "to_agents", "recipient", "to_agent")
ADDRESS_KEYS = frozenset(_ADDRESS_KEYS)
"""Keys of a record that say whom it is for."""
UNADDRESSED: Mapping[str, tuple[str, ...]] = {"escalate": (USER,), "notify": (ALL,)}
"""Whom a kind is for whose record names nobody: BMAD's own writer leaves the recipient of these two out (000-c)."""
TRUST = "trust"
"""The key that a record handed on has when something is wrong with it; what a writer put there is taken out."""
TABLE_REFUSES = "table_refuses"
"""The key under which a message says that its row cannot be changed: how often that was tried, and why not."""
ENVELOPE_KEYS = frozenset(
    {key for keys in _ENVELOPE_NAMES.values() for key in keys}
    | set(_ADDRESS_KEYS)
    | {"priority", "status", "payload", "broadcast_id", "delivered_at", "read_at", "read_by"}
    | {"attempts", "retry_count", "max_retries", "next_attempt_at", "error_message"}
    | {"recalled_at", "ended_at", "signature", "claimed_by", "claimed_at", "lease_until", "token"}
    | {"delivered_to", "handed_to", "redirected_from", TABLE_REFUSES, TRUST}
)
"""Top-level keys that are envelope; any other top-level key of a foreign record is read as payload."""

Fields = Mapping[str, Any]
"""Fields by name: of a record, of a payload, of a JSON object."""
FieldDict = dict[str, Any]
"""The same as a dict that may be changed."""
_EMPTY: Fields = MappingProxyType({})
ResultT = TypeVar("ResultT")
ValueT = TypeVar("ValueT")
KeyT = TypeVar("KeyT")


class Message(Struct, frozen=True, eq=False, gc=False):
    """One message. Two readings of the same record are equal; as a key in a dict or set each object is itself, because
    a transaction tells records apart that say the same.

    The collector need not look at messages (`gc=False`): nothing a message holds leads back to it.

    Attributes:
        message_id: Unique id; `MSG-YYYYMMDD-` and 8 characters when we made it, any text on reading.
        type: Kind name, such as `message` or `plan_approval_request`.
        sender: Name of the agent that wrote it, in its one spelling (`names.canonical`).
        recipients: Addressees, likewise; `("all",)` for everybody.
        priority: A `Priority` word, or another writer's word.
        created: Timestamp text as stored.
        status: A `Status` word, or another writer's word.
        record: The record as stored, keys in stored order, unknown keys included. Never mutate it.
        payload: Everything that is not envelope (`content`, `summary`, `request_id`, ...). Never mutate it.
        odd: Which of `priority`, `status` and `to` are written in words that are not ours, understood or not.
        remembered: What `per_message` remembers of it.
    """

    message_id: str
    type: str
    sender: str
    recipients: tuple[str, ...]
    priority: str
    created: str
    status: str
    record: Fields
    payload: Fields
    odd: tuple[str, ...] = ()
    remembered: dict[Any, Any] | None = None

    def __eq__(self, other: object) -> bool:
        if self is other or not isinstance(other, Message):
            return self is other
        return (self.message_id, self.status) == (other.message_id, other.status) and self.record == other.record

    __hash__ = object.__hash__

    @property
    def handed_on(self) -> Any:
        """The payload as its writer gave it, any JSON value; `payload` where fields of it stand beside it."""
        return self.record.get("payload") if self.record.keys() <= ENVELOPE_KEYS else dict(self.payload)

    @property
    def created_at(self) -> datetime | None:
        """The time of creation; None when the timestamp is missing or unreadable."""
        return from_text(self.created)

    def order_by(self, ranks: Mapping[str, int] = _EMPTY) -> tuple[int, str]:
        """Return the sort key of requirements 19 and 20: priority, then age (stable, so stored order breaks ties).

        Args:
            ranks: The places of the team's settings for those priorities that they name.
        """
        moment = self.created_at
        return self.rank_by(ranks), moment.isoformat() if moment else ""

    def rank_by(self, ranks: Mapping[str, int]) -> int:
        """Return 1 (critical) to 4 (low), 5 for a word we do not know; `ranks` as in `order_by`."""
        return ranks.get(self.priority, _RANKS.get(self.priority, 5))

    @property
    def is_group(self) -> bool:
        """Whether one record addresses several agents, so that reading is kept per recipient (D1)."""
        return len(self.recipients) != 1 or self.recipients[0] == ALL or "to_agents" in self.record

    @property
    def read_by(self) -> Mapping[str, str]:
        """Agent -> time of reading, for group records."""
        return _times_by_agent(self.record.get("read_by"))

    @property
    def delivered_to(self) -> Mapping[str, str]:
        """Agent -> time the router handed it over, for group records."""
        return _times_by_agent(self.record.get("delivered_to"))

    @property
    def handed_to(self) -> Mapping[str, str]:
        """Agent -> the session of its client that it was handed to."""
        return _times_by_agent(self.record.get("handed_to"))

    @property
    def content(self) -> str:
        """The body text, or an empty string."""
        value = self.payload.get("content")
        if isinstance(value, str):
            return value
        return "" if value is None else str(value)

    @property
    def summary(self) -> str:
        """The list preview: the summary, else the first line of the content."""
        value = self.payload.get("summary")
        if isinstance(value, str) and value:
            return value
        return self.content.lstrip().partition("\n")[0]

    @property
    def request_id(self) -> str | None:
        """The request this message opens or answers, when its payload names one."""
        value = self.payload.get("request_id", self.payload.get("requestId"))
        return None if value is None or isinstance(value, (dict, list)) else str(value)

    @property
    def broadcast_id(self) -> str | None:
        """Shared by the records of one group send."""
        value = self.record.get("broadcast_id")
        return None if value is None else str(value)

    def envelope(self, key: str) -> Any:
        """Return a further envelope value (`delivered_at`, `attempts`, `error_message`, ...), or None."""
        return self.record.get(key)

    def moment(self, key: str) -> datetime | None:
        """Return an envelope value that is a time (`read_at`, `lease_until`, ...); None for none, and for what is no
        time.
        """
        value = self.record.get(key)
        return from_text(str(value)) if value else None

    def is_addressed_to(self, agent: str) -> bool:
        """Return whether `agent` is named, or everybody is and it is not the sender (requirements 13-16)."""
        return agent in self.recipients or (ALL in self.recipients and agent != self.sender)

    def is_pending_for(self, agent: str) -> bool:
        """Return whether `receive` would hand this message to `agent` now."""
        return self.status == Status.PENDING and self.is_yet_to_reach(agent)

    def is_yet_to_reach(self, agent: str) -> bool:
        """Return whether this message is for `agent`, who neither read it nor had it handed over."""
        return self.is_addressed_to(agent) and agent not in self.read_by and agent not in self.delivered_to

    def is_read_by(self, agent: str) -> bool:
        """Return whether `agent`, one of its readers, has read it."""
        return self.status == Status.READ or agent in self.read_by

    def is_delivered_to(self, agent: str) -> bool:
        """Return whether the router handed this message over and `agent` did not acknowledge it yet."""
        if self.is_read_by(agent) or not self.is_addressed_to(agent):
            return False
        return self.status == Status.DELIVERED or agent in self.delivered_to

    def is_unread_by(self, agent: str) -> bool:
        """Return whether `agent` has yet to read this message: it waits, is held, is on its way, or was only pushed
        (D19).
        """
        if not self.is_addressed_to(agent) or agent in self.read_by:
            return False
        return self.status in _TO_BE_READ or (self.status != Status.READ and agent in self.delivered_to)

    def reading_times(self) -> Iterator[tuple[str, str]]:
        """Yield agent and time, as text, of every reading that the record tells: read, or taken with a lease."""
        yield from self.read_by.items()
        if not self.is_group:
            reader = self.recipients[0]
            for key in ("read_at",) if self.record.get("claimed_by") != reader else ("read_at", "claimed_at"):
                moment = self.record.get(key)
                if isinstance(moment, str):
                    yield reader, moment

    def with_changes(self, /, **changes: Any) -> Message:
        """Return a copy whose record has `changes` set; a value of None removes its key. Keys are record keys."""
        record = dict(self.record)
        for key, value in changes.items():
            if value is None:
                record.pop(key, None)
            else:
                record[key] = value
        return from_record(record)


def without(fields: Mapping[str, ValueT], keys: Container[str]) -> dict[str, ValueT]:
    """Return the fields under other keys than these."""
    return {key: value for key, value in fields.items() if key not in keys}


def without_none(fields: Mapping[str, ValueT | None]) -> dict[str, ValueT]:
    """Return the fields that have a value."""
    return {key: value for key, value in fields.items() if value is not None}


def nonempty(fields: Mapping[KeyT, ValueT]) -> dict[KeyT, ValueT]:
    """Return the fields whose value says something: neither None nor zero, nor an empty text or list."""
    return {key: value for key, value in fields.items() if value}


def ids_of(messages: Iterable[Message]) -> list[str]:
    """List the ids of these messages, in their order."""
    return [message.message_id for message in messages]


def by_id(messages: Iterable[Message]) -> dict[str, Message]:
    """Return the last of these messages under each id, in the order of the first."""
    return {message.message_id: message for message in messages}


def per_message(function: Callable[[Message], ResultT]) -> Callable[[Message], ResultT]:
    """Return the function, made to remember what it says of a message, with that message; it must be pure.

    The result must not hold the message: the collector, which does not look at messages, would free neither.
    """

    @wraps(function)
    def remembered(message: Message) -> ResultT:
        known = message.remembered
        if known is None:
            known = {}
            force_setattr(message, "remembered", known)
        if function not in known:
            known[function] = function(message)
        result: ResultT = known[function]
        return result

    return remembered


def from_record(record: Fields) -> Message:
    """Understand a stored record leniently (`docs/contributing/architecture.md`, formats); nothing of it is lost.

    Raises:
        ValueError: The record has no id, type, sender or recipient to work with; the text names which.
    """
    envelope = {name: _first_text(record, keys) for name, keys in _ENVELOPE_NAMES.items()}
    recipients = _recipients(record) or UNADDRESSED.get(envelope["type"], ())
    missing = [name for name in ("message_id", "type", "from") if not envelope[name]]
    if not recipients:
        missing.append("to")
    if missing:
        raise ValueError(f"no {', no '.join(missing)}")
    urgency, state, odd = read_priority_and_status(_first_text(record, ("priority",)), _first_text(record, ("status",)))
    addresses = [record[key] for key in _ADDRESS_KEYS if isinstance(record.get(key), str)]
    if len(recipients) > 1 and any("," in address for address in addresses):  # several names in one text
        odd = (*odd, "to")
    return Message(
        message_id=envelope["message_id"],
        type=envelope["type"],
        sender=canonical(envelope["from"]),
        recipients=recipients,
        priority=urgency,
        created=envelope["created"],
        status=state,
        record=record,
        payload=_payload(record),
        odd=odd,
    )


def priority_named(word: str) -> Priority | None:
    """Return the priority that a word names; None for any other word."""
    return Priority.CRITICAL if word == URGENT else next((each for each in Priority if each == word), None)


def read_priority_and_status(priority: str, status: str) -> tuple[str, str, tuple[str, ...]]:
    """Understand a priority and a status as other programs spell them; the last says which are not our words.

    `Critical` and `1` are critical, `4` is low, `unread` and `"Pending "` are pending. What nobody knows stays as is.
    """
    if priority in PRIORITIES and status in STATUSES:  # as nearly always
        return PRIORITIES[priority], STATUSES[status], ()
    ours = (("priority", priority in PRIORITIES), ("status", status in STATUSES))
    urgency = _OTHER_PRIORITIES.get(priority.strip().lower(), priority)
    state = _OTHER_STATUSES.get(status.strip().lower(), status)
    return urgency, state, tuple([key for key, is_ours in ours if not is_ours])


def addressees(text: str) -> tuple[str, ...]:
    """Read the names in an address: one, or several with commas between them, since no name has a comma."""
    if "," not in text:
        return (canonical(text),)
    names = dict.fromkeys([canonical(part.strip()) for part in text.split(",") if part.strip()])
    return tuple(names) if names and all(map(is_name, names)) else (canonical(text),)


def new_record(
    *,
    message_id: str,
    type: str,
    sender: str,
    to: str,
    created: str,
    priority: str,
    payload: Fields,
    **envelope: Any,
) -> Message:
    """Return a pending message, its keys in the order of `docs/contributing/architecture.md`, formats.

    Envelope values of None are left out.
    """
    record: dict[str, Any] = {
        "message_id": message_id,
        "type": type,
        "from": sender,
        "to": to,
        "priority": str(priority),
        "created": created,
        "status": Status.PENDING.value,
    }
    record.update(without_none(envelope))
    record["payload"] = dict(payload)
    return from_record(record)


_BASE32 = "abcdefghijklmnopqrstuvwxyz234567"


def new_message_id(now: datetime) -> str:
    """Return a fresh `MSG-YYYYMMDD-xxxxxxxx`; the transaction that adds it checks that it is unique (000-k).

    The system's randomness itself: what `secrets` loads beside it takes two milliseconds of a send.
    """
    return f"MSG-{now:%Y%m%d}-" + "".join([_BASE32[byte & 31] for byte in os.urandom(8)])


def _times_by_agent(value: object) -> Mapping[str, str]:
    """Return a mapping of the envelope, empty where there is none; nearly always there is none."""
    if not value or not isinstance(value, Mapping):
        return _EMPTY
    return {canonical(str(name)): at for name, at in value.items()}


def _first_text(record: Fields, keys: tuple[str, ...]) -> str:
    """Return the first of these fields that is a text, a number or a boolean, as text; empty without one."""
    for key in keys:
        value = record.get(key)
        if isinstance(value, str):
            return value
        if value is not None and not isinstance(value, (dict, list)):
            return str(value)
    return ""


def _recipients(record: Fields) -> tuple[str, ...]:
    """Return all names under any of the keys for addressees, each once; none where the record names nobody."""
    names: dict[str, None] = {}
    for value in [record[key] for key in _ADDRESS_KEYS if key in record]:
        for item in value if isinstance(value, list) else [value]:
            if item is not None and not isinstance(item, (dict, list)):
                names |= dict.fromkeys(addressees(str(item)))
    names.pop("", None)
    return tuple(names)


def _payload(record: Fields) -> Fields:
    """Return the payload mapping, with SendMessage fields found at the top level merged in."""
    value = record.get("payload")
    if isinstance(value, dict):
        payload = value
    elif value is None:
        payload = {}
    else:
        payload = {"content": value}
    if record.keys() <= ENVELOPE_KEYS:
        return payload
    loose = {key: item for key, item in record.items() if key not in ENVELOPE_KEYS and key not in payload}
    return {**loose, **payload} if loose else payload


# Copies of one message: which is further on its way (D26), and what is another than on record.

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


def progress_of(status: str) -> int:
    """Return how far a status is on its way, to compare; a word of another program counts as the end."""
    return _PROGRESS.get(status, _UNKNOWN_PROGRESS)


def is_ahead(message: Message, other: Message) -> bool:
    """Return whether `message` is further on its way than `other`, or was read by somebody who has not read `other`."""
    if set(message.read_by) - set(other.read_by):
        return True
    return progress_of(message.status) > progress_of(other.status)


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
