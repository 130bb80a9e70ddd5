"""What stays known of a list and of places in it when some of its items are replaced, go, or come behind the last.

Work on much is done in slices, each of which changes a few thousand entries of a queue: looking at all the others
again in every slice would cost more than the change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from team_console.store.model.message import Message

Item = TypeVar("Item")
Stretch = bytes | memoryview
"""Bytes of a text, a view where they are those of the text before."""
_BLOCK = 1 << 20


def woven(before: Sequence[Item], changed: Mapping[int, Item | None], added: Sequence[Item]) -> tuple[Item, ...]:
    """The items after a change: index -> what stands there, None for what goes; `added` behind the last."""
    items: list[Item | None] = list(before)
    for index, item in changed.items():
        items[index] = item
    items += added
    return tuple([item for item in items if item is not None])


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


def with_places(
    index: dict[str, int | list[int]], places: Iterable[tuple[int, Message | None]]
) -> dict[str, int | list[int]]:
    """The index, id -> where its message is, with those of these places; None is no message.

    A list only for an id that is there again, since lists take as much as texts.
    """
    for place, message in places:
        if message is not None:
            known = index.setdefault(message.message_id, place)
            if known is not place:
                index[message.message_id] = [known, place] if isinstance(known, int) else [*known, place]
    return index


def gathered(stretches: Iterable[Stretch]) -> Iterator[Stretch]:
    """The same bytes in fewer pieces: short ones are joined until they are a megabyte."""
    short: list[Stretch] = []
    size = 0
    for stretch in stretches:
        if len(stretch) < _BLOCK:
            short.append(stretch)
            size += len(stretch)
        if size >= _BLOCK or len(stretch) >= _BLOCK:
            yield b"".join(short)
            short, size = [], 0
        if len(stretch) >= _BLOCK:
            yield stretch
    yield b"".join(short)
