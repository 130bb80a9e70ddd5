"""Characters as a terminal places them: which belong together in one place, and which surely take one cell each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from rich.cells import split_graphemes

Cluster = tuple[int, int, int]
"""Characters that stand in one place of the screen: index of the first, index behind the last, cells they take."""

_LETTERS = ((0x20, 0x7E), (0xA0, 0xAC), (0xAE, 0x17F))
_SIGNS = ((0x2010, 0x2027), (0x2039, 0x203A), (0x2190, 0x2193), (0x21B6, 0x21B7), (0x2200, 0x22FF), (0x23CE, 0x23CE))
_SHAPES = ((0x2500, 0x25F7), (0x2713, 0x2717))
_BLOCKS = _LETTERS + _SIGNS + _SHAPES
"""First and last code point each: letters of the west, dashes and quotes, arrows, relations, lines, shapes and ticks.
It is what the widgets draw."""
_NARROW_SIGNS = frozenset(chr(point) for first, last in _BLOCKS for point in range(first, last + 1))
_FLAG = re.compile("[\U0001f1e6-\U0001f1ff]{2}")
"""Two letters that make one flag."""
_SARA_AM = re.compile("[\u0e33\u0eb3]")
"""Vowels of Thai and Lao that take a cell of their own and belong to the letter before (UAX 29)."""


def is_of_narrow_signs(text: str) -> bool:
    """Return whether the text is of letters and signs only that are one cell each everywhere and join with nothing.

    Nearly all text is. What tells of any other is a pattern over whole scripts that takes milliseconds to compile.
    """
    return text.isascii() or _NARROW_SIGNS.issuperset(text)


def clusters(text: str) -> Iterable[Cluster]:
    """Return what stands in one place each: a character with its marks, a flag, or joined emoji."""
    if text.isascii():
        return ((index, index + 1, 1) for index in range(len(text)))
    found = split_graphemes(text)[0]
    return _with_pairs_joined(text, found) if has_pairs(text) else found


def has_pairs(text: str) -> bool:
    """Return whether two characters of a cell each belong together, which rich takes for two that may part."""
    return not text.isascii() and (_FLAG.search(text) is not None or _SARA_AM.search(text) is not None)


def _with_pairs_joined(text: str, found: Iterable[Cluster]) -> Iterator[Cluster]:
    """Yield the clusters that were found, the two letters of a flag as one, and a letter with its vowel as one."""
    seconds = {match.start() + 1 for match in _FLAG.finditer(text)} | {
        match.start() for match in _SARA_AM.finditer(text)
    }
    begin = end = cells = 0  # of the cluster before, which the next one may still join
    for start, stop, size in found:
        if start in seconds and cells == size == 1:
            end, cells = stop, 2
            continue
        if end:
            yield begin, end, cells
        begin, end, cells = start, stop, size
    if end:
        yield begin, end, cells
