"""How much two byte strings share at their ends: the part of a queue that a reload need not look at again."""

from __future__ import annotations


def common_prefix(data: bytes, other: bytes) -> int:
    """The number of equal bytes at the beginning, by halving stretches that are compared as blocks."""
    view = memoryview(other)
    low, high = 0, min(len(data), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if data.startswith(view[low:middle], low):
            low = middle
        else:
            high = middle - 1
    return low


def common_suffix(data: bytes, other: bytes, limit: int) -> int:
    """The number of equal bytes at the end, at most `limit`."""
    view = memoryview(other)
    size, length = len(data), len(other)
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        if data.endswith(view[length - middle : length - low], 0, size - low):
            low = middle
        else:
            high = middle - 1
    return low
