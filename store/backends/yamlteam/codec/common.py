"""How much two byte strings share at their ends: the part of a queue that a reload need not look at again."""

from __future__ import annotations


def common_prefix(one: bytes, other: bytes) -> int:
    """The number of equal bytes at the beginning, by halving stretches that are compared as blocks."""
    view = memoryview(other)
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one.startswith(view[low:middle], low):
            low = middle
        else:
            high = middle - 1
    return low


def common_suffix(one: bytes, other: bytes, limit: int) -> int:
    """The number of equal bytes at the end, at most `limit`."""
    view = memoryview(other)
    size, length = len(one), len(other)
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        if one.endswith(view[length - middle : length - low], 0, size - low):
            low = middle
        else:
            high = middle - 1
    return low
