"""All rows as messages in stored order, carried from one moment to the next by what changed.

Rows of ours come as they arrived. Of rows of other programs nobody knows that: they are sorted in between by age.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, field
from team_console.store.backends.sql.rows import RowEntry
from team_console.store.model.message import Message
from team_console.store.model.problem import Problem


class State(Struct, frozen=True):
    """All rows at one moment.

    Attributes:
        entries: By id; rows without one by a key of their own.
        messages: In stored order.
        by_id: The same by id; of several with one id the last.
        last: Arrival of the newest row of ours.
        mixed: Whether there are rows of other programs, rows that are no messages, or several with one id.
        newest: The latest creation time ever seen.
        number: Grows with every change seen.
    """

    entries: Mapping[str, RowEntry] = field(default_factory=dict)
    messages: tuple[Message, ...] = ()
    by_id: Mapping[str, Message] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    last: int = 0
    mixed: bool = False
    newest: str = ""
    number: int = 0


class RowDelta(Struct, frozen=True):
    """Rows that are there now and were not so before, and rows as they were and are not any more."""

    added: Sequence[RowEntry] = ()
    removed: Sequence[RowEntry] = ()


def after(before: State, change: RowDelta) -> State:
    """The state after `change`; the same object when nothing changed."""
    if not change.added and not change.removed:
        return before
    entries = dict(before.entries)
    for entry in change.removed:
        entries.pop(_key(entry), None)
    entries.update({_key(entry): entry for entry in change.added})
    mixed = before.mixed or any(_is_foreign(entry) for entry in change.added)
    messages = _replaced(before, change) if not mixed else None
    if messages is None:
        messages = in_order(entries.values())
        mixed = any(_is_foreign(entry) for entry in entries.values())
    return State(
        entries=entries,
        messages=tuple(messages),
        by_id={message.message_id: message for message in messages},
        problems=tuple(problem for entry in entries.values() for problem in entry.problems) if mixed else (),
        last=max((entry.arrival or 0 for entry in change.added), default=0) or before.last,
        mixed=mixed,
        newest=max((_age(entry.message) for entry in change.added if entry.message), default="") or before.newest,
        number=before.number + 1,
    )


def _replaced(before: State, change: RowDelta) -> list[Message] | None:
    """The messages in order when all rows are ours: changed in place, new ones last. None when that is not so."""
    now = {entry.key: entry for entry in change.added}
    gone = {entry.key for entry in change.removed if entry.key not in now}
    moved = {
        old.key: now[old.key]
        for old in change.removed
        if old.key in now and old.arrival == now[old.key].arrival and before.entries.get(old.key) is old
    }
    new = [entry for entry in change.added if entry.key not in moved]
    if any(entry.key in before.entries or (entry.arrival or 0) <= before.last for entry in new):
        return None
    if not moved and not gone:
        kept: list[Message] = list(before.messages)
    else:
        touched = moved.keys() | gone
        kept = [
            message if message.message_id not in touched else moved[message.message_id].message  # type: ignore[misc]
            for message in before.messages
            if message.message_id not in gone
        ]
    new.sort(key=lambda entry: entry.arrival or 0)
    return kept + [entry.message for entry in new if entry.message is not None]


def in_order(entries: Iterable[RowEntry]) -> list[Message]:
    """Every message, rows of other programs merged between ours by age."""
    ours: list[tuple[int, Message]] = []
    others: list[Message] = []
    for entry in entries:
        if entry.message is not None and entry.arrival is not None:
            ours.append((entry.arrival, entry.message))
        elif entry.message is not None:
            others.append(entry.message)
    ours.sort(key=lambda entry: entry[0])
    others.sort(key=_age)
    return _merge([message for _, message in ours], others) if others else [message for _, message in ours]


def _merge(ours: Sequence[Message], others: Sequence[Message]) -> list[Message]:
    merged: list[Message] = []
    waiting = iter(others)
    other = next(waiting, None)
    for message in ours:
        while other is not None and _age(other) < _age(message):
            merged.append(other)
            other = next(waiting, None)
        merged.append(message)
    return merged if other is None else [*merged, other, *waiting]


def _is_foreign(entry: RowEntry) -> bool:
    """Whether the order of arrival and the id alone do not tell all about the row."""
    return entry.arrival is None or bool(entry.problems) or entry.row.place is not None


def _key(entry: RowEntry) -> str:
    return entry.key or f"\0{id(entry)}"


def _age(message: Message) -> str:
    return message.order[1]
