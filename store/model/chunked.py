"""A long sequence that shares its parts with the one it was made from: a change costs a part, not all of it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, groupby, islice, pairwise, takewhile
from threading import Lock
from typing import Any, Generic, TypeVar, overload

ItemT = TypeVar("ItemT")
PART = 1024
"""Items of a part, more or less by half."""


class Chunked(Sequence[ItemT]):
    """An immutable sequence in parts; it equals any other sequence of the same items."""

    __slots__ = ("_ends", "parts")

    def __init__(self, parts: Iterable[tuple[ItemT, ...]]) -> None:
        """Use `of`, unless the parts are there already."""
        self.parts = tuple([part for part in parts if part])
        self._ends = list(accumulate(map(len, self.parts)))

    @classmethod
    def of(cls, items: Iterable[ItemT]) -> Chunked[ItemT]:
        """All of `items`; itself what is such a sequence already."""
        if isinstance(items, Chunked):
            return items
        some = items if isinstance(items, (tuple, list)) else tuple(items)
        return cls(_cut(some))

    def exchanged(self, start: int, stop: int, items: Iterable[ItemT]) -> Chunked[ItemT]:
        """The sequence with `items` in the place of those from `start` up to `stop`."""
        first = min(bisect_right(self._ends, start), max(0, len(self.parts) - 1))
        last = min(bisect_right(self._ends, max(start, stop - 1)), max(0, len(self.parts) - 1))
        begin = self._ends[first - 1] if first else 0
        end = self._ends[last] if self.parts else 0
        if end - begin - (stop - start) < PART // 2 and first:  # a small rest joins the part before it
            first -= 1
            begin = self._ends[first - 1] if first else 0
        middle = [*self._between(begin, start), *items, *self._between(stop, end)]
        return Chunked((*self.parts[:first], *_cut(middle), *self.parts[last + 1 :]))

    def followed_by(self, items: Sequence[ItemT]) -> Chunked[ItemT]:
        """The sequence with `items` behind the last."""
        return self.exchanged(len(self), len(self), items) if items else self

    def changed(self, changes: Mapping[int, ItemT | None]) -> Chunked[ItemT]:
        """The sequence with other items at these places; what None stands for goes."""
        parts: list[tuple[ItemT, ...]] = list(self.parts)
        for part, places in groupby(sorted(changes), lambda place: bisect_right(self._ends, place)):
            begin = self._ends[part - 1] if part else 0
            items: list[ItemT | None] = list(parts[part])
            for place in places:
                items[place - begin] = changes[place]
            parts[part] = tuple([item for item in items if item is not None])
        small = sum(map(len, parts)) < len(parts) * PART // 2
        return Chunked.of(list(chain.from_iterable(parts))) if small else Chunked(parts)

    def _between(self, start: int, stop: int) -> tuple[ItemT, ...]:
        if start >= stop:
            return ()
        first, last = bisect_right(self._ends, start), bisect_right(self._ends, stop - 1)
        before = self._ends[first - 1] if first else 0
        if first == last:
            return self.parts[first][start - before : stop - before]
        return tuple(islice(chain.from_iterable(self.parts[first : last + 1]), start - before, stop - before))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def __iter__(self) -> Iterator[ItemT]:
        return chain.from_iterable(self.parts)

    def __reversed__(self) -> Iterator[ItemT]:
        return chain.from_iterable(map(reversed, reversed(self.parts)))

    @overload
    def __getitem__(self, index: int) -> ItemT: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[ItemT, ...]: ...
    def __getitem__(self, index: int | slice) -> ItemT | tuple[ItemT, ...]:
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            return self._between(start, stop) if step == 1 else tuple(self)[index]
        place = index + len(self) if index < 0 else index
        if not 0 <= place < len(self):
            raise IndexError(index)
        part = bisect_right(self._ends, place)
        return self.parts[part][place - self._ends[part]]  # counted from the end of the part

    def __contains__(self, item: object) -> bool:
        return any(item in part for part in self.parts)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Chunked):
            size = len(self)
            return size == len(other) and common_head(self, other) == size
        return isinstance(other, (tuple, list)) and len(self) == len(other) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Chunked({list(self)!r})"


class _Made(Generic[ItemT]):
    """A sequence that is made once, when somebody asks for it, whichever thread that is."""

    __slots__ = ("_lock", "_made", "_make")

    def __init__(self, make: Callable[[], Chunked[ItemT]]) -> None:
        self._make: Callable[[], Chunked[ItemT]] | None = make
        self._made: Chunked[ItemT] = Chunked(())
        self._lock = Lock()

    @property
    def is_made(self) -> bool:
        return self._make is None

    def get(self) -> Chunked[ItemT]:
        with self._lock:  # or two threads would make two of each item
            if self._make is not None:
                self._made, self._make = self._make(), None
        return self._made


class LazyChunked(Chunked[ItemT]):
    """A sequence with items whose last is there at once; all others are made when somebody asks for more than that.

    Cutting a long queue takes longer than writing a message behind its last.
    """

    __slots__ = ("_added", "_first", "_last")

    def __init__(self, make: Callable[[], Chunked[ItemT]], last: ItemT) -> None:
        """`make` gives all of the sequence, of which `last` is the last."""
        self._first, self._added, self._last = _Made(make), Chunked[ItemT](()), last

    def __getattr__(self, name: str) -> Any:
        """Called for what is not there yet."""
        if name not in Chunked.__slots__:
            raise AttributeError(name)
        super().__init__(self._first.get().followed_by(self._added).parts)
        return object.__getattribute__(self, name)

    def followed_by(self, items: Sequence[ItemT]) -> Chunked[ItemT]:
        """See `Chunked.followed_by`; nothing is made for it.

        However many follow one after the other, all of them rest on what was there first: none waits for the next.
        """
        if self._first.is_made or not items:
            return super().followed_by(items)
        longer: LazyChunked[ItemT] = LazyChunked.__new__(LazyChunked)
        longer._first, longer._added, longer._last = self._first, self._added.followed_by(items), items[-1]
        return longer

    def __bool__(self) -> bool:
        return True

    @overload
    def __getitem__(self, index: int) -> ItemT: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[ItemT, ...]: ...
    def __getitem__(self, index: int | slice) -> ItemT | tuple[ItemT, ...]:
        return self._last if index == -1 else super().__getitem__(index)


def rank(numbers: Chunked[int], number: int) -> int:
    """How many of the sorted `numbers` are smaller than `number`.

    What searches any sequence asks for an item at a time, which here is a search of its own.
    """
    if not numbers.parts:
        return 0
    part = max(0, bisect_left([part[0] for part in numbers.parts], number) - 1)
    before = sum(map(len, numbers.parts[:part]))
    return before + bisect_left(numbers.parts[part], number)


def common_head(items: Chunked[ItemT], others: Chunked[ItemT], most: int | None = None) -> int:
    """How many items at the beginning are equal, at most `most`; parts that both share are not looked into."""
    limit = min(len(items), len(others)) if most is None else most
    number = _shared(items.parts, others.parts)
    while number < limit:
        step = min(PART, limit - number)
        alike = _alike(items[number : number + step], others[number : number + step])
        number += alike
        if alike < step:
            break
    return min(number, limit)


def common_tail(items: Chunked[ItemT], others: Chunked[ItemT], most: int) -> int:
    """The same at the end."""
    size, length = len(items), len(others)
    number = _shared(items.parts[::-1], others.parts[::-1])
    while number < most:
        step = min(PART, most - number)
        mine, theirs = items[size - number - step : size - number], others[length - number - step : length - number]
        alike = _alike(mine[::-1], theirs[::-1])
        number += alike
        if alike < step:
            break
    return min(number, most)


def _shared(parts: Iterable[tuple[ItemT, ...]], others: Iterable[tuple[ItemT, ...]]) -> int:
    """How many items are in the parts at the beginning that are the same objects."""
    same = takewhile(lambda pair: pair[0] is pair[1], zip(parts, others, strict=False))
    return sum(len(part) for part, _ in same)


def _alike(items: tuple[ItemT, ...], others: tuple[ItemT, ...]) -> int:
    """How many items at the beginning of two sequences of one length are equal."""
    if items == others:
        return len(items)
    return next(place for place, (item, other) in enumerate(zip(items, others, strict=True)) if item != other)


def _cut(items: Sequence[ItemT]) -> Iterator[tuple[ItemT, ...]]:
    """Parts of nearly the same size, each at least half a full one where there is more than one."""
    if len(items) <= PART + PART // 2:
        yield tuple(items)
        return
    number = len(items) // PART
    places = [len(items) * place // number for place in range(number + 1)]
    for start, stop in pairwise(places):
        yield tuple(items[start:stop])
