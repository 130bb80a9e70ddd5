"""A line as widgets draw it: text in tones, measured and cropped in cells; moments and spans as a human reads them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import groupby

from rich.cells import cached_cell_len, set_cell_size, split_graphemes
from rich.cells import cell_len as _cell_len
from team_console.store.model.clock import in_units, is_real_time, local_time
from team_console.store.model.safe import safe_line

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


Part = tuple[str, str]
"""Safe text and its tone, one of `team_console.widgets.tones.TONES` or an empty string."""
Line = tuple[Part, ...]
"""The parts of one line of the screen, from left to right."""

ELLIPSIS = "…"
_LONGEST_LEFT_OUT = 8
"""Cells of a word that are left out where it would be cut; a longer one is cut inside."""
_LONG = 512
"""Characters of a text that is too long to be remembered with its width."""


def cell_len(text: str) -> int:
    """Return the cells that a text takes; nearly all text is letters of one cell each, which need no table."""
    return len(text) if text.isascii() and text.isprintable() else _cell_len(text)


def width_of(line: Line) -> int:
    """Return the cells that a line takes."""
    whole = "".join([text for text, _ in line])
    if whole.isascii() and whole.isprintable():
        return len(whole)
    if len(whole) < _LONG:  # what is remembered is asked for without a call of ours: bars do so at each change
        return sum([cached_cell_len(text) for text, _ in line])
    return sum([cell_len(text) for text, _ in line])


def text_of(line: Line) -> str:
    """Return the line without its tones."""
    return "".join(text for text, _ in line)


def crop(text: str, width: int) -> str:
    """Return at most `width` cells of `text`; what does not fit ends in an ellipsis, behind a whole word where one ends
    near.
    """
    if cell_len(text) <= width:
        return text
    if width <= 1:
        return ELLIPSIS[:width]
    begin = _beginning(text, width - 1)
    ends_between_words = text[len(begin) : len(begin) + 1] == " "
    last_space = begin.rfind(" ")
    is_near = last_space > max(len(begin) - _LONGEST_LEFT_OUT, len(begin) // 2)
    if is_near and not ends_between_words:
        begin = begin[: last_space + 1]
    return begin + ELLIPSIS


def crop_name(name: str, width: int) -> str:
    """Return at most `width` cells of a name, its last word whole where there is room: there names of a kind differ."""
    cut = max(name.rfind(sign) for sign in "-_.")
    begin, last_word = name[:cut], name[cut:]
    if cell_len(name) <= width or cut < 1 or cell_len(last_word) > width // 2:
        return crop(name, width)
    return crop(begin, width - cell_len(last_word)) + last_word


def _beginning(text: str, width: int) -> str:
    """Return the first `width` cells of a longer text; half of a wide character is blank."""
    if not has_pairs(text):
        return set_cell_size(text, width)
    used = end = 0
    for _, stop, cells in clusters(text):
        used += cells
        if used > width:
            break
        end = stop
    begin = text[:end]
    return begin + " " * (width - cell_len(begin))


def pad(text: str, width: int) -> str:
    """Return exactly `width` cells of `text`."""
    cut = crop(text, width)
    return cut + " " * (width - cell_len(cut))


def fit(line: Line, width: int) -> Line:
    """Return exactly `width` cells of the line; one that is longer ends in an ellipsis."""
    left, parts = max(0, width), []
    for text, tone in line:
        size = cached_cell_len(text) if len(text) < _LONG else cell_len(text)
        if size > left:
            if left:
                parts.append((pad(text, left), tone))
            elif parts:  # the part before took the last cell: the ellipsis stands at its end
                last, last_tone = parts[-1]
                parts[-1] = (_ending_in_ellipsis(last), last_tone)
            return tuple(parts)
        parts.append((text, tone))
        left -= size
    if left:
        parts.append((" " * left, ""))
    return tuple(parts)


def _ending_in_ellipsis(text: str) -> str:
    """Return the text in as many cells as it takes, cut as if more came behind it."""
    longer = text + " "
    return pad(longer, cell_len(text)) if text else ""


def spread(left: Line, right: Line, width: int) -> Line:
    """Return `left` and `right` at the two ends of `width` cells; `left` is cut where both do not fit."""
    end = width_of(right)
    if end >= width:
        return fit(right, width)
    return (*fit(left, width - end), *right)


_KEY_TONES = frozenset({"key", "chip"})


def key_at(line: Line, cell: int) -> str:
    """Return the key that is shown at a cell of a line, its words beside it included; empty where none is.

    A part of blanks ends what belongs to a key; where several stand together each has the words behind it.
    """
    end = 0
    for _, together in groupby(line, key=lambda part: not part[0].strip()):
        begin, found = end, ""
        for text, tone in together:
            if tone in _KEY_TONES and (end <= cell or not found):
                found = text.split()[0]
            end += cell_len(text)
        if begin <= cell < end:
            return found
    return ""


def marked_hits(line: Line, words: tuple[str, ...]) -> Line:
    """Return the line with every one of `words` (case folded) in the tone of a hit.

    A letter that case folding makes two of is not found: `ß` is not marked for `ss`.
    """
    # Of words that begin alike the longest comes first: a pattern takes the first that fits.
    longest_first = sorted(words, key=len, reverse=True)
    hits = re.compile("|".join(map(re.escape, longest_first)), re.IGNORECASE)
    parts: list[Part] = []
    for text, tone in line:
        end = 0
        for match in hits.finditer(text):
            parts += [(text[end : match.start()], tone), (match[0], "hit")]
            end = match.end()
        parts.append((text[end:], tone))
    return tuple(part for part in parts if part[0])


def safe_name(name: str | None) -> str:
    """Return a name from a store, made safe."""
    return safe_line(name or "", 64)


DONE, RUNNING, FAILED, OPEN = ("━", "good"), ("┅", "open"), ("×", "bad"), ("─", "faint")
"""Stroke and tone of each part."""


def progress_bar(width: int, parts: Sequence[tuple[Part, int]], total: int) -> Line:
    """Return a bar of `width` cells; each part is a stroke with its tone and how many of `total` it stands for."""
    cells: list[Part] = []
    used = seen = 0
    for (stroke, tone), number in parts:
        seen += number
        end = round(width * seen / max(1, total))
        if end > used:
            cells.append((stroke * (end - used), tone))
            used = end
    return (*cells, (OPEN[0] * (width - used), OPEN[1])) if used < width else tuple(cells)


def span(seconds: float) -> str:
    """Return a length of time: `40 s`, `4 min`, `3 h`, `2 d`."""
    number, unit = in_units(seconds)
    if unit == "s":
        return f"{number // 10 * 10} s" if number >= 10 else "a moment"
    return f"{number} {unit}"


def short_span(seconds: float) -> str:
    """Return the same in at most four cells: `now`, `4m`, `3h`, `2d`."""
    number, unit = in_units(seconds)
    return "now" if unit == "s" else f"{min(999, number)}{unit[0]}"


def age(moment: datetime | None, now: datetime) -> str:
    """Return the short age of a moment; a dash when it is not known."""
    return short_span(max(0.0, (now - moment).total_seconds())) if is_real_time(moment) else "–"


_CLOCKS_APART = 60
"""Seconds by which two clocks may differ without a word."""


def short_ago(moment: datetime | None, now: datetime) -> str:
    """Return the age of a moment: `4 min ago`."""
    if not is_real_time(moment):
        return "at an unknown time"
    seconds = (now - moment).total_seconds()
    if seconds < -_CLOCKS_APART:
        return "at a time yet to come"
    return "just now" if seconds < 10 else f"{span(seconds)} ago"


def clock_time(moment: datetime | None, now: datetime) -> str:
    """Return the local time of a moment: without the date for today."""
    if not is_real_time(moment):
        return "at an unknown time"
    local = moment.astimezone()
    return f"{local:%H:%M:%S}" if local.date() == now.astimezone().date() else local_time(moment)


def ago(moment: datetime | None, now: datetime) -> str:
    """Return the time with its age: `10:30:15, 4 min ago`."""
    if not is_real_time(moment):
        return "at an unknown time"
    seconds = (now - moment).total_seconds()
    when = clock_time(moment, now)
    if seconds < -1:
        return f"{when}, in {span(-seconds)}"
    return f"{when}, just now" if seconds < 10 else f"{when}, {span(seconds)} ago"
