"""Text as widgets draw it: lines of cells, ages, names and signs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from rich.cells import cached_cell_len, set_cell_size, split_graphemes
from rich.cells import cell_len as _cell_len
from team_console.store.model.clock import in_units, is_real_time, local_time

Part = tuple[str, str]
"""Safe text and its tone, one of `team_console.widgets.tones.TONES` or an empty string."""
Line = tuple[Part, ...]

ELLIPSIS = "…"
_LONGEST_PIECE = 8
"""Cells of a word that are left out where it would be cut; a longer one is cut inside."""
_LONG = 512
"""Characters of a text that is too long to be remembered with its width."""
_WIDE = (
    "\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\uff01-\uff60"
)
_WORDS = re.compile(r"[ \t]+|[^ \t]+")
_OPENS, _CLOSES = "（［｛「『《〈【〔", "、。，．：；！？）］｝」』》〉】〕々ー"
"""Wide signs that end no line, and those that begin none (JIS X 4051)."""
_WORDS_OF_ANY_SCRIPT = rf"[ \t]+|[{_OPENS}]{{0,2}}(?:[{_WIDE}]|[^ \t{_WIDE}]+)[{_CLOSES}]{{0,2}}|[{_WIDE}]"
"""Compiled when such a text is drawn: that takes 4 ms, which most starts need not wait for."""
_LETTERS = ((0x20, 0x7E), (0xA0, 0xAC), (0xAE, 0x17F))
_SIGNS = ((0x2010, 0x2027), (0x2039, 0x203A), (0x2190, 0x2193), (0x21B6, 0x21B7), (0x2200, 0x22FF), (0x23CE, 0x23CE))
_SHAPES = ((0x2500, 0x25F7), (0x2713, 0x2717))
_BLOCKS = _LETTERS + _SIGNS + _SHAPES
"""Letters of the west, dashes and quotes, arrows, relations, lines, shapes and ticks: what the widgets draw."""
_NARROW_SIGNS = frozenset(chr(point) for first, last in _BLOCKS for point in range(first, last + 1))
_FLAG = re.compile("[\U0001f1e6-\U0001f1ff]{2}")
"""Two letters that make one flag."""
_SARA_AM = re.compile("[\u0e33\u0eb3]")
"""Vowels of Thai and Lao that take a cell of their own and belong to the letter before (UAX 29)."""


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
    space = begin.rfind(" ")
    near = max(len(begin) - _LONGEST_PIECE, len(begin) // 2)
    if space > near and text[len(begin) : len(begin) + 1] != " ":
        begin = begin[: space + 1]
    return begin + ELLIPSIS


def crop_name(name: str, width: int) -> str:
    """Return at most `width` cells of a name, its last word whole where there is room: there names of a kind differ."""
    cut = max(name.rfind(sign) for sign in "-_.")
    if cell_len(name) <= width or cut < 1 or cell_len(name[cut:]) > width // 2:
        return crop(name, width)
    return crop(name[:cut], width - cell_len(name[cut:])) + name[cut:]


def _beginning(text: str, width: int) -> str:
    """Return the first `width` cells of a longer text; half of a wide character is blank."""
    if not _has_pairs(text):
        return set_cell_size(text, width)
    begin = text[: _cut_at(clusters(text), width)]
    return begin + " " * (width - cell_len(begin))


def pad(text: str, width: int) -> str:
    """Return exactly `width` cells of `text`."""
    cut = crop(text, width)
    return cut + " " * (width - cell_len(cut))


def fit(line: Line, width: int) -> Line:
    """Return exactly `width` cells of the line."""
    left, parts = max(0, width), []
    for text, tone in line:
        size = cached_cell_len(text) if len(text) < _LONG else cell_len(text)
        if size > left:
            if left:
                parts.append((pad(text, left), tone))
            elif parts:
                last, last_tone = parts[-1]
                parts[-1] = (_ending_in_ellipsis(last), last_tone)
            return tuple(parts)
        parts.append((text, tone))
        left -= size
    if left:
        parts.append((" " * left, ""))
    return tuple(parts)


def _ending_in_ellipsis(text: str) -> str:
    """Return the text in as many cells as it takes, cut as one that goes on behind them."""
    goes_on = text + " "
    return pad(goes_on, cell_len(text)) if text else ""


def spread(left: Line, right: Line, width: int) -> Line:
    """Return `left` and `right` at the two ends of `width` cells; `left` is cut where both do not fit."""
    end = width_of(right)
    if end >= width:
        return fit(right, width)
    return (*fit(left, width - end), *right)


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
    stretches: list[tuple[int, int]] = []
    start, room = 0, width
    while len(text) - start > room:
        end = text.rfind(" ", start, start + room + 1)
        if end < 0 or text[start:end].isspace() or end == start:
            return None
        stretches.append((start, end))
        room, start = width - width_of(rest), end
        while text[start : start + 1] == " ":
            start += 1
    stretches.append((start, len(text)))
    return [_trimmed((*(rest if number else ()), *parts)) for number, parts in enumerate(parts_within(line, stretches))]


def parts_within(line: Line, stretches: Iterable[tuple[int, int]]) -> Iterator[list[Part]]:
    """Yield the parts of a line within each stretch of its characters; the line is walked once for all of them."""
    place = begin = 0
    for start, end in stretches:
        parts: list[Part] = []
        while place < len(line):
            text, tone = line[place]
            if piece := text[max(0, start - begin) : end - begin]:
                parts.append((piece, tone))
            if begin + len(text) > end:
                break
            begin += len(text)
            place += 1
        yield parts


def _words_that_fit(line: Line, width: int) -> Iterator[Part]:
    for text, tone in line:
        for word in _words(text.expandtabs(4)):
            if cell_len(word) <= width:
                yield word, tone
            else:
                yield from ((piece, tone) for piece in _pieces(word, max(1, width)))


def _words(text: str) -> list[str]:
    """Return spaces and the words between them; a line may end after each wide character with its marks,
    so they come one by one.
    """
    return _WORDS.findall(text) if is_of_narrow_signs(text) else re.findall(_WORDS_OF_ANY_SCRIPT, text)


def is_of_narrow_signs(text: str) -> bool:
    """Return whether the text is of letters and signs only that are one cell each everywhere and join with nothing.

    Nearly all text is. What tells of any other is a pattern over whole scripts that takes milliseconds to compile.
    """
    return text.isascii() or _NARROW_SIGNS.issuperset(text)


def pieces(text: str, width: int) -> list[str]:
    """Return the text in pieces of at most `width` cells, broken behind a space or a slash where one is near, else
    behind a hyphen or its like, every blank kept.

    Returns:
        One empty piece for an empty text.
    """
    return list(_pieces(text.expandtabs(4), max(1, width))) or [""]


def _pieces(word: str, width: int) -> Iterator[str]:
    """Yield a text that is longer than a line, in pieces of at most `width` cells; one wide character may exceed it."""
    start, used, space = 0, 0, 0
    if word.isascii():  # a diff of thousands of lines is nearly always that
        while len(word) - start > width:
            end = _end_of_piece(word, start, width)
            yield word[start:end]
            start = end
        yield word[start:]
        return
    for index, _, size in clusters(word):
        if used + size > width and index > start:
            near = space > start and cell_len(word[space:index]) <= width * 3 // 4
            end = space if near else index
            yield word[start:end]
            start, used = end, cell_len(word[end:index])
        if word[index] in " /":
            space = index + 1
        used += size
    yield word[start:]


def _end_of_piece(word: str, start: int, width: int) -> int:
    """Return where a piece of a longer text ends: behind a space or a slash, else behind a sign within a word."""
    full = start + width
    for signs, share in ((" /", 2), (" /", 4), ("-_.,=&", 2)):
        if end := max(word.rfind(sign, start + width // share, full) for sign in signs) + 1:
            return end
    return full


def clusters(text: str) -> Iterable[tuple[int, int, int]]:
    """Begin, end and cells of what stands in one place: a character with its marks, a flag, or joined emoji."""
    if text.isascii():
        return ((index, index + 1, 1) for index in range(len(text)))
    spans = split_graphemes(text)[0]
    return _paired(text, spans) if _has_pairs(text) else spans


def _has_pairs(text: str) -> bool:
    """Return whether two characters of a cell each may belong together, which rich takes for two that may part."""
    return not text.isascii() and (_FLAG.search(text) is not None or _SARA_AM.search(text) is not None)


def _paired(text: str, spans: Iterable[tuple[int, int, int]]) -> Iterator[tuple[int, int, int]]:
    """Yield the same with the two letters of a flag as one, and a letter with its vowel."""
    seconds = {match.start() + 1 for match in _FLAG.finditer(text)} | {
        match.start() for match in _SARA_AM.finditer(text)
    }
    begin, end, cells = 0, 0, 0
    for start, stop, size in spans:
        if start in seconds and cells == size == 1:
            end, cells = stop, 2
            continue
        if end:
            yield begin, end, cells
        begin, end, cells = start, stop, size
    if end:
        yield begin, end, cells


def _cut_at(places: Iterable[tuple[int, int, int]], width: int) -> int:
    """Return the index after the first clusters that fit in `width` cells."""
    used = end = 0
    for _, stop, size in places:
        used += size
        if used > width:
            break
        end = stop
    return end


def marked_hits(line: Line, words: tuple[str, ...]) -> Line:
    """Return the line with every one of `words` (case folded) in the tone of a hit; a letter that folds to two marks
    none.
    """
    hits = re.compile("|".join(re.escape(word) for word in sorted(words, key=len, reverse=True)), re.IGNORECASE)
    parts: list[Part] = []
    for text, tone in line:
        end = 0
        for match in hits.finditer(text):
            parts += [(text[end : match.start()], tone), (match[0], "hit")]
            end = match.end()
        parts.append((text[end:], tone))
    return tuple(part for part in parts if part[0])


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


# Moments and spans as a human reads them: coarse, so that a screen at rest stays at rest.


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


# Progress bar: the one kind there is, told by stroke as well as by colour.

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
