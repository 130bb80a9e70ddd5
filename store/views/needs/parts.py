"""The three parts of what waits for a human: to decide, broken, for information; and the groups of the first one."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum

from team_console.store.model.message import Priority
from team_console.store.protocol.entries import EARLIEST
from team_console.store.views.rows import AttentionItem, Need, RequestState


class Part(StrEnum):
    """What a human does about a thing, in the order in which the parts are shown."""

    DECIDE = "decide"
    BROKEN = "broken"
    INFORMATION = "for your information"


class Rank(StrEnum):
    """How urgent a thing to decide is, the most urgent first; within a rank the oldest comes first."""

    CRITICAL = "critical"
    LATE = "late"
    BLOCKING = "others wait for it"
    NORMAL = "the rest"


_BROKEN = frozenset({Need.FAILED, Need.DAMAGED, Need.OVERDUE, Need.REFUSED})
_RANKS = tuple(Rank)


def part_of(item: AttentionItem) -> Part:
    """The part it belongs to: what went wrong is broken even where a request stands behind it."""
    if item.need in _BROKEN:
        return Part.BROKEN
    asks = item.request is not None and item.request.is_open
    return Part.DECIDE if asks or item.need is not Need.MESSAGE else Part.INFORMATION


def rank_of(item: AttentionItem) -> Rank:
    """How urgent it is to decide: critical, or its clock ran out, or it holds up more than its asker, or none of it."""
    priority = item.message.priority if item.message is not None else ""
    if priority == Priority.CRITICAL:
        return Rank.CRITICAL
    if item.request is not None and item.request.state is RequestState.OVERDUE:
        return Rank.LATE
    return Rank.BLOCKING if len(item.blocks) > 1 or priority == Priority.HIGH else Rank.NORMAL


def arranged(items: Iterable[AttentionItem]) -> tuple[AttentionItem, ...]:
    """The items by part, what is to decide by rank and age, the others in the order they came in."""
    parts: dict[Part, list[AttentionItem]] = {part: [] for part in Part}
    for item in items:
        parts[part_of(item)].append(item)
    parts[Part.DECIDE].sort(key=_urgency)
    return tuple(item for members in parts.values() for item in members)


def to_do(items: Iterable[AttentionItem]) -> int:
    """How many of the items want something done: all but those for information."""
    return sum(part_of(item) is not Part.INFORMATION for item in items)


def _urgency(item: AttentionItem) -> tuple[int, datetime]:
    return _RANKS.index(rank_of(item)), item.since or EARLIEST
