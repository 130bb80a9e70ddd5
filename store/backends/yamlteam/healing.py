"""Compares the queue with what the ledger says it should hold, after a writer that does not lock (cases 29-32).

Others may add messages and move them forward; they may not lose one or move one back without being healed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec import Struct, field

from store.backends.yamlteam.codec import QueueText
from store.backends.yamlteam.ledger import Line, Record
from store.backends.yamlteam.work import Change, changed_keys, with_keys
from store.message import Message, Status, from_record
from store.team import Problem

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
_STATE_KEYS = (
    *("status", "delivered_at", "delivered_to", "read_at", "read_by", "recalled_at", "ended_at"),
    *("claimed_by", "claimed_at", "lease_until", "token"),
    *("attempts", "retry_count", "next_attempt_at", "error_message"),
)
HEALED_LOST, HEALED_STATE, HEALED_CUT = "HEALED_LOST", "HEALED_STATE", "HEALED_CUT"
"""Codes of what is put back: a message, its state, its end."""
_HINT = "Let programs write through 'team-console', or lock the .lock file; see 'drop/' for scripts that cannot."


class Healing(Struct):
    """What to do to the queue, what was new in it, and what to tell.

    Attributes:
        adds, changes, removed: As in `Work`.
        noted: Records that others added or moved forward.
    """

    adds: list[Message] = field(default_factory=list)
    changes: dict[str, Change] = field(default_factory=dict)
    removed: list[str] = field(default_factory=list)
    noted: list[Record] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def reconcile(
    expected: Mapping[str, Message],
    current: QueueText,
    *,
    settled: Callable[[str], bool],
    taken_out: Callable[[str], bool],
) -> Healing:
    """What brings `current` back to hold everything in `expected`, keeping what others did.

    Args:
        expected: What the queue held by our own account.
        settled: Whether an id is safe in an archive, so that it may be gone from the queue.
        taken_out: Whether we archived an id and took it out, so that it may not come back.
    """
    healing = Healing()
    found = by_id(current.messages())
    damaged = [entry.raw for entry in current.entries if entry.message is None]
    last = current.entries[-1].message if current.entries else None
    for message_id, wanted in expected.items():
        here = found.get(message_id)
        if here is None:
            _restore(wanted, damaged, healing, settled)
        elif here is last and _is_cut(here.record, wanted.record):
            healing.changes[message_id] = Change(changed_keys(here.record, wanted.record), here, None)
            _tell(healing, HEALED_CUT, message_id, "was cut short by a program that does not lock; it is whole again")
        elif here is not wanted:
            _compare(wanted, here, healing)
    added = [one for message_id, one in found.items() if message_id not in expected]
    for one in added:
        _admit(one, healing, settled, taken_out)
    if healing.noted:
        message = f"a program that does not lock wrote the queue: {len(healing.noted)} messages added or changed"
        healing.problems.append(Problem("FOREIGN_WRITE", "notice", "message-queue.yaml", message, _HINT))
    return healing


def contribution(theirs: QueueText, ours: QueueText, *, settled: Callable[[str], bool]) -> Healing:
    """What a generation that slipped in beside `ours` has to give: unknown messages, and progress of known ones."""
    healing = Healing()
    found = by_id(ours.messages())
    for message_id, one in by_id(theirs.messages()).items():
        here = found.get(message_id)
        if here is None and not settled(message_id):
            healing.adds.append(one)
            _tell(healing, "MERGED", one.message_id, "was added by a program that does not lock; it was taken over")
        elif here is not None and here is not one and _is_ahead(one, here):
            healing.changes[message_id] = Change(_state_of(one, here), here, None)
    return healing


def expected_after(messages: Iterable[Message], line: Line | None) -> dict[str, Message]:
    """The queue by id after the transaction on record in `line`, if any."""
    held = by_id(messages)
    if line is not None:
        _fold(held, line)
    return held


def replay(lines: Iterable[Line]) -> tuple[dict[str, Message], set[str]]:
    """What the queue should hold by the whole ledger, and the ids that were taken out of it."""
    held: dict[str, Message] = {}
    out: set[str] = set()
    waiting: Line | None = None
    for line in lines:
        if waiting is not None and line.void != waiting.seq:
            _fold(held, waiting, out)
        waiting = line
    if waiting is not None:
        _fold(held, waiting, out)
    return held, out


def is_visible(line: Line, text: QueueText) -> bool:
    """Whether anything the transaction of `line` wanted can be seen in `text`."""
    if any(text.find(str(record.get("message_id"))) is not None for record in line.writes):
        return True
    for message_id, keys in line.changes:
        index = text.find(message_id)
        here = None if index is None else text.entries[index].message
        if here is not None and all(here.record.get(key) == value for key, value in keys.items()):
            return True
    return any(text.find(message_id) is None for message_id in line.removed)


def _fold(held: dict[str, Message], line: Line, out: set[str] | None = None) -> None:
    for record in (*line.noted, *line.writes):
        message = _understood(record)
        if message is not None:
            held[message.message_id] = message
    for message_id, keys in line.changes:
        if message_id in held:
            held[message_id] = with_keys(held[message_id], keys)
    for message_id in line.removed:
        held.pop(message_id, None)
        if out is not None:
            out.add(message_id)


def _understood(record: Record) -> Message | None:
    try:
        return from_record(record)
    except ValueError:
        return None


def by_id(messages: Iterable[Message]) -> dict[str, Message]:
    """The first message of each id."""
    found: dict[str, Message] = {}
    for one in messages:
        found.setdefault(one.message_id, one)
    return found


def _restore(wanted: Message, damaged: list[bytes], healing: Healing, settled: Callable[[str], bool]) -> None:
    message_id = wanted.message_id
    if settled(message_id):
        healing.removed.append(message_id)
        return
    needle = message_id.encode("utf-8", "replace")
    if any(needle in raw for raw in damaged):
        _tell(healing, "DAMAGED_ENTRY", message_id, "can no longer be read in the queue; it was left as it is")
        return
    healing.adds.append(wanted)
    _tell(healing, HEALED_LOST, message_id, "was dropped by a program that does not lock; it was put back")


def _compare(wanted: Message, here: Message, healing: Healing) -> None:
    if wanted.record == here.record:
        return
    if not _is_ahead(wanted, here):
        healing.noted.append(dict(here.record))
        return
    healing.changes[here.message_id] = Change(_state_of(wanted, here), here, None)
    text = f"was put back from {wanted.status} to {here.status} by a program that does not lock; it is {wanted.status}"
    _tell(healing, HEALED_STATE, here.message_id, text)


def _is_cut(here: object, wanted: object) -> bool:
    """Whether `here` is what is left of `wanted` when the file ends too early: nothing differs, something lacks."""
    return here != wanted and _begins(here, wanted)


def _begins(here: object, wanted: object) -> bool:
    if isinstance(here, str) and isinstance(wanted, str):
        return wanted.startswith(here.rstrip("\n"))
    if isinstance(here, Mapping) and isinstance(wanted, Mapping):
        return all(key in wanted and _begins(value, wanted[key]) for key, value in here.items())
    if isinstance(here, list) and isinstance(wanted, list):
        return len(here) <= len(wanted) and all(map(_begins, here, wanted))
    return here == wanted or here is None


def _is_ahead(one: Message, other: Message) -> bool:
    """Whether `one` is further on its way than `other`, or was read by somebody who has not read `other`."""
    if set(one.read_by) - set(other.read_by):
        return True
    return _RANKS.get(one.status, 9) > _RANKS.get(other.status, 9)


def _state_of(wanted: Message, here: Message) -> dict[str, Any]:
    keys = {key: wanted.record.get(key) for key in _STATE_KEYS}
    if wanted.read_by or here.read_by:
        keys["read_by"] = {**here.read_by, **wanted.read_by}
    if _RANKS.get(here.status, 9) > _RANKS.get(wanted.status, 9):
        keys["status"] = here.status
    return {key: value for key, value in keys.items() if here.record.get(key) != value}


def _admit(one: Message, healing: Healing, settled: Callable[[str], bool], taken_out: Callable[[str], bool]) -> None:
    if settled(one.message_id) and taken_out(one.message_id):
        healing.removed.append(one.message_id)
        _tell(healing, "HEALED_RETURNED", one.message_id, "had left the queue for the archive; it was taken out again")
    else:
        healing.noted.append(dict(one.record))


def _tell(healing: Healing, code: str, message_id: str, what: str) -> None:
    healing.problems.append(Problem(code, "warning", message_id, f"message {message_id} {what}", _HINT))
