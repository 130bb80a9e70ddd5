"""What a text is beside the one before: how much both share at their ends, which a reload need not look at again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

_WINDOW = 1 << 18
"""Bytes of a file that are looked at in one step: few enough to stay in the processor's cache."""
ReadInto = Callable[[memoryview, int], int]
"""Fills the beginning of a buffer with the bytes of a file from a place on; returns how many they are."""


class Change(Struct, frozen=True):
    """What a text is beside the one before: as many bytes at its beginning and at its end are the same.

    Attributes:
        middle: The bytes between them.
    """

    head: int
    middle: bytes
    tail: int


class TornError(Exception):
    """A file became shorter while it was read."""


def change_of(data: bytes, other: bytes) -> Change:
    """What `data` is beside the text `other`."""
    head = common_prefix(data, other)
    tail = common_suffix(data, other, min(len(data), len(other)) - head)
    return Change(head, data[head : len(data) - tail], tail)


def change_in_file(read: ReadInto, size: int, known: Sequence[memoryview]) -> Change:
    """What a file of `size` bytes is beside the text in the buffers `known`, without a copy of all of it.

    Every byte of the file is read, through one small buffer: none is taken for the same unseen.

    Raises:
        TornError: The file has fewer bytes by now.
    """
    window = bytearray(_WINDOW)
    head = _alike_at_head(read, size, known, window)
    most = min(size, sum(map(len, known))) - head
    tail = _alike_at_end(read, size, known[::-1], window, most) if most else 0
    middle = bytearray(size - head - tail)
    _fill(read, memoryview(middle), head)
    return Change(head, bytes(middle), tail)


def common_prefix(data: bytes, other: bytes) -> int:
    """The number of equal bytes at the beginning, by halving stretches that are compared as blocks."""
    return _alike(data, 0, memoryview(other))


def common_suffix(data: bytes, other: bytes, limit: int) -> int:
    """The number of equal bytes at the end, at most `limit`."""
    return _alike_before(data, len(data), memoryview(other), limit)


def _alike_at_head(read: ReadInto, size: int, known: Iterable[memoryview], window: bytearray) -> int:
    place = at = filled = 0
    for stretch in known:
        done = 0
        while done < len(stretch) and place < size:
            if at == filled:
                at, filled = 0, min(len(window), size - place)
                _fill(read, memoryview(window)[:filled], place)
            step = min(len(stretch) - done, filled - at)
            if not window.startswith(stretch[done : done + step], at):
                return place + _alike(window, at, stretch[done : done + step])
            done, at, place = done + step, at + step, place + step
    return place


def _alike_at_end(read: ReadInto, size: int, known: Iterable[memoryview], window: bytearray, most: int) -> int:
    """The same from the end on, for at most `most` bytes; `known` begins with the last buffer."""
    alike = left = 0
    for stretch in known:
        rest = len(stretch)
        while rest and alike < most:
            if not left:
                left = min(len(window), most - alike)
                _fill(read, memoryview(window)[:left], size - alike - left)
            step = min(rest, left)
            if not window.endswith(stretch[rest - step : rest], 0, left):
                return alike + _alike_before(window, left, stretch[:rest], step)
            rest, left, alike = rest - step, left - step, alike + step
    return alike


def _fill(read: ReadInto, room: memoryview, place: int) -> None:
    while room:
        got = read(room, place)
        if not got:
            raise TornError
        room, place = room[got:], place + got


def _alike(data: bytes | bytearray, at: int, other: memoryview) -> int:
    """How many bytes of `data` from `at` on are those of `other`."""
    low, high = 0, min(len(data) - at, len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if data.startswith(other[low:middle], at + low):
            low = middle
        else:
            high = middle - 1
    return low


def _alike_before(data: bytes | bytearray, end: int, other: memoryview, limit: int) -> int:
    """How many bytes of `data` before `end` are the last of `other`, at most `limit`."""
    low, high, length = 0, limit, len(other)
    while low < high:
        middle = (low + high + 1) // 2
        if data.endswith(other[length - middle : length - low], 0, end - low):
            low = middle
        else:
            high = middle - 1
    return low
