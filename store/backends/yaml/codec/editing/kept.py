"""What stays known of a list and of places in it when some of its items are replaced, go, or come behind the last.

Work on much is done in slices, each of which changes a few thousand entries of a queue: looking at all the others
again in every slice would cost more than the change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from team_console.store.model.chunked import Chunked

Item = TypeVar("Item")


def woven(before: Chunked[Item], changed: Mapping[int, Item | None], added: Sequence[Item]) -> Chunked[Item]:
    """The items after a change: index -> what stands there, None for what goes; `added` behind the last."""
    if not changed:
        return before.exchanged(len(before), len(before), added)
    items: list[Item | None] = list(before)
    for index, item in changed.items():
        items[index] = item
    items += added
    return Chunked.of([item for item in items if item is not None])


def moved(starts: Sequence[int], before: Sequence[int], changed: Mapping[int, int | None], by: int) -> list[int]:
    """Where items begin after a change, in bytes.

    Args:
        starts: Where they began.
        before: How long each of `changed` was, in growing order of their indices.
        changed: Index -> how long it is now, None for what went; in the same order.
        by: How much further the first item begins.
    """
    places: list[int] = []
    position = 0
    for size, (index, now) in zip(before, changed.items(), strict=True):
        places += [start + by for start in starts[position : index + (now is not None)]]
        by += (now or 0) - size
        position = index + 1
    return places + [start + by for start in starts[position:]]
