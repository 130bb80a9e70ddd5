"""The index of a queue by the ids of its messages, for many searches; a few are cheaper in the bytes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from team_console.store.backends.yaml.codec.entry import QueueEntry
from team_console.store.model.message import Message


def index_of(entries: Sequence[QueueEntry], messages: Sequence[Message]) -> dict[str, int | list[int]]:
    """Id -> where its message is; a list only for an id that is there again, since lists take as much as texts.

    Args:
        entries: All of a queue, in order.
        messages: Theirs, without those of damaged entries.
    """
    index: dict[str, int | list[int]] = {message.message_id: place for place, message in enumerate(messages)}
    if len(index) == len(messages) == len(entries):
        return index
    return with_places({}, enumerate(entry.message for entry in entries))


def with_places(
    index: dict[str, int | list[int]], places: Iterable[tuple[int, Message | None]]
) -> dict[str, int | list[int]]:
    """The same index with these places in it; None is a place without a message."""
    for place, message in places:
        if message is not None:
            known = index.setdefault(message.message_id, place)
            if known is not place:
                index[message.message_id] = [known, place] if isinstance(known, int) else [*known, place]
    return index
