"""Lines broken so that they fit: between words, in scripts without spaces anywhere they may end."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from team_console.widgets.text import Line, Part, cell_len, clusters, is_of_narrow_signs, text_of, width_of

Stretch = tuple[int, int]
"""Characters of a line: index of the first, index behind the last."""

_WORDS = re.compile(r"[ \t]+|[^ \t]+")
"""Spaces, or a word between them."""
_WIDE = (
    "\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\uff01-\uff60"
)
"""Characters of two cells, as a class of a pattern: Chinese, Japanese, Korean, and signs as wide as those."""
_OPENS, _CLOSES = "（［｛「『《〈【〔", "、。，．：；！？）］｝」』》〉】〕々ー"
"""Wide signs that end no line, and those that begin none (JIS X 4051)."""
_WORDS_OF_ANY_SCRIPT = rf"[ \t]+|[{_OPENS}]{{0,2}}(?:[{_WIDE}]|[^ \t{_WIDE}]+)[{_CLOSES}]{{0,2}}|[{_WIDE}]"
"""Spaces; one wide character or one word of narrow ones, each with the signs that may not part from it; any other wide
character. Compiled when such a text is drawn: that takes 4 ms, which most starts need not wait for."""


def wrap(line: Line, width: int, *, rest: Line = ()) -> list[Line]:
    """Break the line at spaces (anywhere in scripts without them) into lines of at most `width` cells.

    Args:
        rest: What every line after the first begins with.
    """
    width = max(1, width)
    indent = min(width_of(rest), width - 1)
    if (plainly := _wrapped_plainly(line, width, rest if indent else ())) is not None:
        return plainly
    lines: list[Line] = []
    parts: list[Part] = []
    used = 0
    for text, tone in _words_that_fit(line, width - indent):
        size = cell_len(text)
        if used + size > width and used:
            lines.append(_trimmed(parts))
            parts, used = list(rest) if indent else [], indent
            if text.isspace():
                continue
        parts.append((text, tone))
        used += size
    lines.append(_trimmed(parts))
    return lines


def _wrapped_plainly(line: Line, width: int, rest: Line) -> list[Line] | None:
    """Return what `wrap` does, in a fifth of the time, for printable ASCII without a word longer than a line.

    None for any other text.
    """
    text = text_of(line)
    if not (text.isascii() and text.isprintable()):
        return None
    stretches: list[Stretch] = []
    start, room = 0, width
    while len(text) - start > room:
        end = text.rfind(" ", start, start + room + 1)
        if end <= start or text[start:end].isspace():
            return None
        stretches.append((start, end))
        room, start = width - width_of(rest), end
        while text[start : start + 1] == " ":  # no line begins with the spaces at which the one before was broken
            start += 1
    stretches.append((start, len(text)))
    first, *others = parts_within(line, stretches)
    return [_trimmed(first), *(_trimmed((*rest, *parts)) for parts in others)]


def parts_within(line: Line, stretches: Iterable[Stretch]) -> Iterator[list[Part]]:
    """Yield the parts of a line within each of these stretches, which do not overlap and come in their order.

    The line is walked once for all of them.
    """
    place = begin = 0  # of the part of the line that is looked at: its number, and the index of its first character
    for start, end in stretches:
        parts: list[Part] = []
        while place < len(line):
            text, tone = line[place]
            if piece := text[max(0, start - begin) : end - begin]:
                parts.append((piece, tone))
            if begin + len(text) > end:
                break  # the next stretch may begin in this part
            begin += len(text)
            place += 1
        yield parts


def _words_that_fit(line: Line, width: int) -> Iterator[Part]:
    """Yield the words of a line and the spaces between them; of a word that is longer than a line, pieces."""
    for text, tone in line:
        for word in _words(text.expandtabs(4)):
            if cell_len(word) <= width:
                yield word, tone
            else:
                yield from ((piece, tone) for piece in _pieces(word, max(1, width)))


def _words(text: str) -> list[str]:
    """Return spaces and the words between them.

    A line may end after each wide character with its marks, so those come one by one.
    """
    return _WORDS.findall(text) if is_of_narrow_signs(text) else re.findall(_WORDS_OF_ANY_SCRIPT, text)


def pieces(text: str, width: int) -> list[str]:
    """Return the text in pieces of at most `width` cells, every blank kept; one empty piece for an empty text.

    It is broken behind a space or a slash where one is near, else behind a hyphen or its like.
    """
    return list(_pieces(text.expandtabs(4), max(1, width))) or [""]


def _pieces(word: str, width: int) -> Iterator[str]:
    """Yield a text in pieces of at most `width` cells; one wide character may exceed it."""
    start = 0
    if word.isascii():  # a diff of thousands of lines is nearly always that
        while len(word) - start > width:
            end = _end_of_piece(word, start, width)
            yield word[start:end]
            start = end
        yield word[start:]
        return
    used = last_break = 0
    for index, _, size in clusters(word):
        if used + size > width and index > start:
            is_near = last_break > start and cell_len(word[last_break:index]) <= width * 3 // 4
            end = last_break if is_near else index
            yield word[start:end]
            start, used = end, cell_len(word[end:index])
        if word[index] in " /":
            last_break = index + 1
        used += size
    yield word[start:]


_BREAKS = ((" /", 2), (" /", 4), ("-_.,=&", 2))
"""Signs behind which a piece may end, in the order in which they are looked for, and which part of the piece it has at
least then: a half, a quarter."""


def _end_of_piece(word: str, start: int, width: int) -> int:
    """Return where a piece of a longer text of ASCII ends, which begins at `start`: behind a sign, else when full."""
    full = start + width
    for signs, part in _BREAKS:
        if end := max(word.rfind(sign, start + width // part, full) for sign in signs) + 1:
            return end
    return full


def _trimmed(parts: Iterable[Part]) -> Line:
    """Return the parts with neighbours of one tone joined and no space at the end."""
    joined: list[Part] = []
    for text, tone in parts:
        if joined and joined[-1][1] == tone:
            joined[-1] = (joined[-1][0] + text, tone)
        else:
            joined.append((text, tone))
    while joined and not joined[-1][0].strip():
        joined.pop()
    if joined:
        joined[-1] = (joined[-1][0].rstrip(), joined[-1][1])
    return tuple(joined)
