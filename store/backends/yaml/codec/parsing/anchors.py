"""Anchors (`&name`): what an alias (`*name`) stands for, within limits that keep a small text from growing large."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from types import MappingProxyType
from typing import Any

from msgspec import Struct

MOST_IN_ENTRY = 20_000
"""Weight of all values that the aliases of one entry may stand for: one each, and one more for every 100 characters."""
MOST_IN_FILE = 1_000_000
"""The same for all entries of a file."""
SIGN = re.compile(rb"(?:^|[\s,\[{:?-])[&*][0-9A-Za-z_-]")
"""What may be an anchor or an alias: `to: &id001`, `[*id001`; but not `a & b`, `AT&T`, `* item`."""
_CHARACTERS = 100


class Node(Struct, frozen=True):
    """A value with an anchor, as the events that built it; those of aliases in it hold their own nodes.

    Attributes:
        weight: How much an alias to it adds to a message, with everything that its own aliases stand for.
    """

    events: tuple[Any, ...]
    weight: int


Anchors = Mapping[str, Node | None]
"""What each name stands for; None while its value is still being read, so that nothing can hold itself."""
NO_ANCHORS: Anchors = MappingProxyType({})


class Ties(Struct, frozen=True):
    """How one entry hangs together with others.

    Attributes:
        defined: The anchors that what follows the entry may use.
        borrowed: What its own aliases take from before it; None for a name that stands for nothing there.
        spent: The weight of everything that its aliases stand for.
    """

    defined: Mapping[str, Node]
    borrowed: Anchors
    spent: int = 0


UNTIED = Ties(MappingProxyType({}), NO_ANCHORS)
"""The ties of an entry that has neither anchors nor aliases."""


# Events as PyYAML has them, without their places. The reader tells events by the names of their classes.
class ScalarEvent(Struct, frozen=True):
    """A single value as written."""

    value: str
    implicit: tuple[bool, bool]
    tag: str | None
    style: str | None


class SequenceStartEvent(Struct, frozen=True):
    """The beginning of a list."""

    tag: str | None


class MappingStartEvent(Struct, frozen=True):
    """The beginning of a mapping."""

    tag: str | None


class SequenceEndEvent(Struct, frozen=True):
    """The end of a list."""


class MappingEndEvent(Struct, frozen=True):
    """The end of a mapping."""


class AliasEvent(Struct, frozen=True):
    """An alias and what it stood for where it was written, None when nothing did."""

    anchor: str
    node: Node | None
    start_mark: Any = None
    end_mark: Any = None


_STARTS = frozenset(("SequenceStartEvent", "MappingStartEvent"))
_ENDS: Mapping[str, Any] = {"SequenceEndEvent": SequenceEndEvent(), "MappingEndEvent": MappingEndEvent()}


class _Recording:
    """The events of one value while they go by."""

    __slots__ = ("events", "level", "name", "weight")

    def __init__(self, name: str) -> None:
        self.name = name
        self.events: list[Any] = []
        self.weight = 0
        self.level = 0

    def add(self, event: Any, kind: str) -> bool:
        """Record an event; whether the value is complete."""
        light = _light(event, kind)
        self.weight += _weight(light)
        if self.weight <= MOST_IN_ENTRY:
            self.events.append(light)
        if kind in _STARTS:
            self.level += 1
        elif kind in _ENDS:
            self.level -= 1
        return self.level == 0

    def node(self) -> Node:
        """The value; one that is too large for any alias keeps only its weight."""
        return Node(tuple(self.events) if self.weight <= MOST_IN_ENTRY else (), self.weight)


class AnchorBook:
    """Names and their nodes at each place of a text, written while the text's events go by."""

    __slots__ = ("_open", "borrowed", "defined", "known")

    def __init__(self, known: Anchors) -> None:
        self.known: dict[str, Node | None] = dict(known)
        """What each name stands for at this place."""
        self.defined: dict[str, Node] = {}
        """What this text itself gave a name."""
        self.borrowed: dict[str, Node | None] = {}
        """What aliases of this text took from before it; None for a name that stands for nothing there."""
        self._open: list[_Recording] = []

    @property
    def recording(self) -> bool:
        """Whether a value with an anchor has begun and not ended."""
        return bool(self._open)

    def look_up(self, event: Any) -> AliasEvent:
        """The alias with what it stands for."""
        name = event.anchor
        node = self.known.get(name)
        if name not in self.defined and not any(item.name == name for item in self._open):
            self.borrowed[name] = node
        return AliasEvent(name, node, event.start_mark, event.end_mark)

    def note(self, event: Any, kind: str) -> None:
        """Take notice of an event of a text that has anchors."""
        name = None if kind == "AliasEvent" else getattr(event, "anchor", None)
        if name is not None:
            self._open.append(_Recording(name))
            self.known[name] = None
        for recording in list(self._open):
            if recording.add(event, kind):
                self._open.remove(recording)
                self.known[recording.name] = self.defined[recording.name] = recording.node()


def equal(node: Node | None, other: Node | None) -> bool:
    """Whether two nodes are the same value. Those that no alias may use are never equal: comparing them has no end."""
    if node is other or node is None or other is None:
        return node is other
    if max(node.weight, other.weight) > MOST_IN_ENTRY:
        return False
    return all(a == b for a, b in zip_longest(map(_meaning, expanded(node)), map(_meaning, expanded(other))))


def expanded(node: Node) -> Iterator[Any]:
    """The events of a value, with those that its aliases stand for in their places."""
    for event in node.events:
        if not isinstance(event, AliasEvent):
            yield event
        elif event.node is not None:
            yield from expanded(event.node)


def _meaning(event: Any) -> Any:
    """What makes two events the same whichever quotes were used."""
    return (event.value, event.implicit[0], event.tag) if isinstance(event, ScalarEvent) else event


def same_borrowed(anchors: Anchors, other: Anchors) -> bool:
    """Whether what is borrowed as `one` is the very same in `other`."""
    return all(other.get(name) is node for name, node in anchors.items())


def _weight(event: Any) -> int:
    if isinstance(event, ScalarEvent):
        return 1 + len(event.value) // _CHARACTERS
    if isinstance(event, AliasEvent):
        return min(event.node.weight, MOST_IN_ENTRY + 1) if event.node is not None else 1
    return 1


def _light(event: Any, kind: str) -> Any:
    """The event without its place in the text."""
    if kind == "ScalarEvent":
        return ScalarEvent(event.value, event.implicit, event.tag, event.style)
    if kind == "SequenceStartEvent":
        return SequenceStartEvent(event.tag)
    if kind == "MappingStartEvent":
        return MappingStartEvent(event.tag)
    if kind == "AliasEvent":
        return AliasEvent(event.anchor, event.node)
    return _ENDS[kind]
