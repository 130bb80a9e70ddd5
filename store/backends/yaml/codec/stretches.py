"""The bytes of a text as stretches of buffers: a text that follows another shares with it what did not change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

_MANY = 32
"""Stretches from which on short neighbours are joined: every change takes a step for each."""
_SHORT = 1 << 16
"""Bytes below which a stretch is short: copying it takes less than a system call for it alone."""


class Stretches:
    """Bytes that are not all in one piece; immutable.

    Attributes:
        views: The stretches in order, none of them empty.
        size: How many bytes they have together.
    """

    __slots__ = ("size", "views")

    def __init__(self, views: Iterable[memoryview]) -> None:
        self.views: tuple[memoryview, ...] = tuple([view for view in views if view])
        self.size = sum(map(len, self.views))

    @classmethod
    def of(cls, data: bytes) -> Stretches:
        """All of `data`, which is kept and not copied."""
        return cls((memoryview(data),))

    @classmethod
    def of_few(cls, views: Sequence[memoryview]) -> Stretches:
        """These, or, where they are many, fewer with the same bytes."""
        return cls(views if len(views) <= _MANY else _fewer(views))

    def cut(self, start: int, stop: int) -> bytes:
        """The bytes from `start` up to `stop`."""
        return b"".join(self.between(start, stop))

    def join(self) -> bytes:
        """All bytes as a copy of their own."""
        return b"".join(self.views)

    def blocks(self) -> Iterator[bytes | memoryview]:
        """All bytes in few pieces: short stretches are joined until they are long enough."""
        short: list[memoryview] = []
        size = 0
        for view in self.views:
            if len(view) < _SHORT:
                short.append(view)
                size += len(view)
            if size >= _SHORT or len(view) >= _SHORT:
                yield b"".join(short)
                short, size = [], 0
            if len(view) >= _SHORT:
                yield view
        yield b"".join(short)

    def exchanged(self, head: int, middle: bytes, tail: int) -> Stretches:
        """The first `head` bytes, then `middle`, then the last `tail` bytes."""
        behind = self.between(self.size - tail, self.size)
        return Stretches.of_few((*self.between(0, head), memoryview(middle), *behind))

    def between(self, start: int, stop: int) -> Iterator[memoryview]:
        """The bytes from `start` up to `stop`, as they are kept."""
        if start <= 0 and stop >= self.size:
            yield from self.views
            return
        place = 0
        for view in self.views:
            if place >= stop:
                return
            end = place + len(view)
            if end > start:
                yield view[max(0, start - place) : stop - place]
            place = end


def _fewer(views: Sequence[memoryview]) -> Iterator[memoryview]:
    """Short neighbours joined: each costs a step of every comparison, and keeps a whole buffer alive."""
    for is_short, some in groupby(views, lambda view: len(view) < _SHORT):
        if is_short:
            yield memoryview(b"".join(some))
        else:
            yield from some
