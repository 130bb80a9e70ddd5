"""Which entries of a queue hold certain words: looked for once in all bytes, then followed from text to text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from team_console.store.backends.yaml.codec.entry import QueueEntry
from team_console.store.backends.yaml.codec.word_search import entries_with

Held = Mapping[tuple[bytes, ...], Sequence[int]]
"""Words -> the places of the entries that hold one of them, in order. No word goes over a line end."""
_MOST = 4
"""Searches whose outcome is remembered."""


def places_with(
    words: Iterable[bytes], entries: Sequence[QueueEntry], data: bytes, starts: Sequence[int]
) -> Sequence[int]:
    """Places of the entries in whose text one of the words is, or that borrow from others, in their order."""
    wanted = {place for place, entry in enumerate(entries) if entry.ties is not None and entry.borrowed}
    for word in words:
        wanted.update(entries_with(word, data, starts))
    return sorted(wanted)


def remembered(held: Held, words: tuple[bytes, ...], places: Sequence[int]) -> Held:
    """The same with one search as the last that was made; the one made longest ago goes where it becomes too much.

    What every write asks stays so, however many other words are looked for once between two of them.
    """
    others = [(other, found) for other, found in held.items() if other != words]
    return dict([*others[1 - _MOST :], (words, places)])


def after_exchange(held: Held, head: int, stop: int, fresh: Sequence[QueueEntry]) -> Held:
    """Where the words are after the entries from `head` up to `stop` became `fresh`, none of them tied to another."""
    by = head + len(fresh) - stop
    return {
        words: [
            *(place for place in places if place < head),
            *_holding(words, fresh, head),
            *(place + by for place in places if place >= stop),
        ]
        for words, places in held.items()
    }


def after_edit(held: Held, size: int, changed: Mapping[int, QueueEntry | None], added: Sequence[QueueEntry]) -> Held:
    """The same after entries changed where they stand and others came behind the `size` there were.

    Nothing is known where one went: all behind it have other places.
    """
    stay = {place: entry for place, entry in changed.items() if entry is not None}
    if not held or len(stay) < len(changed):
        return {}
    return {
        words: [*_still_holding(words, places, stay), *_holding(words, added, size)] for words, places in held.items()
    }


def _still_holding(words: Iterable[bytes], places: Sequence[int], changed: Mapping[int, QueueEntry]) -> Sequence[int]:
    """Where the words were, and where they are in what changed."""
    if not changed:
        return places
    elsewhere = [place for place in places if place not in changed]
    return sorted([*elsewhere, *(place for place, entry in changed.items() if _holds(words, entry))])


def _holding(words: Iterable[bytes], entries: Sequence[QueueEntry], first: int) -> Iterator[int]:
    return (place for place, entry in enumerate(entries, start=first) if _holds(words, entry))


def may_hold(words: Iterable[bytes], entry: QueueEntry) -> bool:
    """Whether an entry holds one of the words, or borrows from others, which may."""
    return bool(entry.borrowed) or _holds(words, entry)


def _holds(words: Iterable[bytes], entry: QueueEntry) -> bool:
    return any(map(entry.raw.__contains__, words))  # without a frame for each: every write asks this of many
