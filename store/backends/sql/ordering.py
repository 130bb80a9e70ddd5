"""All rows as messages in stored order, made anew from the rows whenever one of them is another.

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
        newest: The latest creation time ever seen.
        number: Grows with every change seen.
    """

    entries: Mapping[str, RowEntry] = field(default_factory=dict)
    messages: tuple[Message, ...] = ()
    by_id: Mapping[str, Message] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    newest: str = ""
    number: int = 0


def state_after(before: State, entries: Mapping[str, RowEntry]) -> State:
    """The state of these rows; `before` itself when they are the same."""
    known = before.entries
    if len(known) == len(entries) and all(known.get(key) is entry for key, entry in entries.items()):
        return before
    messages = in_order(entries.values())
    return State(
        entries=entries,
        messages=tuple(messages),
        by_id={message.message_id: message for message in messages},
        problems=tuple(problem for entry in entries.values() for problem in entry.problems),
        newest=max(map(_age, messages), default="") or before.newest,
        number=before.number + 1,
    )


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


def _age(message: Message) -> str:
    return message.order[1]
