"""What stays known of a list and of places in it when some of its items are replaced, go, or come behind the last.

Work on much is done in slices, each of which changes a few thousand entries of a queue: looking at all the others
again in every slice would cost more than the change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import TypeVar

from team_console.store.backends.yaml.codec.entry import QueueEntry
from team_console.store.backends.yaml.codec.parts import Parts
from team_console.store.model.chunked import Chunked

Item = TypeVar("Item")


def woven(before: Chunked[Item], changed: Mapping[int, Item | None], added: Sequence[Item]) -> Chunked[Item]:
    """The items after a change: index -> what stands there, None for what goes; `added` behind the last."""
    after = before.changed(changed) if changed else before
    return after.followed_by(added)


def starts_after(
    starts: Sequence[int], old: Parts, changed: Mapping[int, QueueEntry | None], new: Parts
) -> Sequence[int]:
    """Where the entries of `new` begin, which `old` became when these changed and others came behind the last.

    Args:
        starts: Where those of `old` began.
        changed: Index of an entry -> what stands there now, None for what went.
    """
    if not changed and starts and len(new.head) == len(old.head):  # the way of every message that is sent
        added, end = new.entries[len(starts) :], starts[-1] + old.entries[-1].size
        return Chunked.of(starts).followed_by(_begins(added, end))
    order = sorted(changed)
    sizes = {index: entry.size if (entry := changed[index]) is not None else None for index in order}
    places = _moved(starts, [old.entries[index].size for index in order], sizes, len(new.head) - len(old.head))
    end = places[-1] + new.entries[len(places) - 1].size if places else len(new.head)
    return places + _begins(new.entries[len(places) :], end)


def _begins(entries: Sequence[QueueEntry], place: int) -> list[int]:
    """Where these entries begin, the first of them at `place`."""
    return list(accumulate([entry.size for entry in entries], initial=place))[:-1]


def _moved(starts: Sequence[int], before: Sequence[int], changed: Mapping[int, int | None], by: int) -> list[int]:
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
