"""Sends the terminal only the cells that changed, as curses does: a slow line carries little.

Textual writes every cell of a region it repaints, with a full colour sequence for each run. The canvas
remembers what the terminal shows and writes the difference. What it does not understand it passes on
unchanged and then assumes nothing about the screen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter

from team_console.console.terminal.cells import Cell, Row, cells_of, is_doubtful
from team_console.console.terminal.ordering import Run, changed_stretches, orders
from team_console.console.terminal.pen import PLAIN, SHOWS_ON_BLANKS, Pen, are_blanks_alike, parts_of
from team_console.console.terminal.scrolling import best_shift

_TOKEN = re.compile(
    r"\x1b\[(\d+);(\d+)H|\x1b\[([\d;:]*)m(?:([^\x00-\x1f\x7f-\x9f]+)(\x1b\[0m)?)?|(\n)|([^\x00-\x1f\x7f-\x9f]+)"
)
"""A move, a style with the text in it and its end, as nearly all come, a line's end, or text alone."""
_ASIDE = re.compile(
    r"(?:\x07|\x1b\](?:2|9|22|777);[^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[2[23];2t|\x1b\[\?(?:7|25|100[0346]|1015|2004)[hl])+",
)
"""Bell, title, notices, shape of the pointer, modes of keyboard and mouse: no cell changes."""
_BLANKS, _LAST_BLANKS = 10, 4
"""More spaces than this are erased rather than written; fewer at the end of a run, where the pen need not pass them."""
_BLANKS_APART = re.compile(f"( {{{_BLANKS + 1},}}| {{{_LAST_BLANKS + 1},}}$)")
Stretch = tuple[str, str, int]
"""Neighbouring cells that are written together: their style, their text and how many they are."""
_HOME = (1, 1)
"""Where the cursor is left when nothing is typed; it is hidden then and may stay where it is."""


class Canvas:
    """What the terminal is known to show, and the shortest way from there to something else."""

    def __init__(self, *, erases: bool = False, scrolls: bool = False) -> None:
        """Assume nothing about the screen.

        Args:
            erases: The terminal erases characters (ECH) in the present background colour.
            scrolls: It moves the lines between two margins (DECSTBM, IL, DL).
        """
        self._erases, self._scrolls = erases, scrolls
        self._rows: dict[int, Row] = {}
        self._position: tuple[int, int] | None = None
        self._pen = Pen()

    def forget(self) -> None:
        """Assume nothing about what is on the screen."""
        self._rows.clear()
        self._position = None
        self._pen.lose()

    def update(self, data: str) -> str:
        """What to write so that the screen becomes what `data` would make it."""
        if _ASIDE.fullmatch(data):
            return data
        is_first = not self._rows
        painted = self._paint(data)
        if painted is None:
            reset = self._pen.to("")
            self.forget()
            return reset + data
        rows, position = painted
        self._pen.lift()
        out = self._scroll(rows) if self._scrolls else ""
        runs = [run for number in sorted(rows) for run in self._difference(number, rows[number])]
        out += self._in_order(runs) if is_first else self._shortest(runs)
        if position != self._position or (out and position != _HOME):
            out += f"\x1b[{position[0]};{position[1]}H"
        self._position = position
        return out

    def _scroll(self, rows: dict[int, Row]) -> str:
        """Move lines that only changed their place."""
        shift = best_shift(self._rows, rows)
        if shift is None:
            return ""
        still = {number: self._rows[number] for number in range(shift.top, shift.bottom + 1)}
        shift.apply(self._rows)
        rows.update({number: row for number, row in still.items() if number not in rows})
        return self._pen.to(PLAIN) + shift.sequence()

    def _paint(self, data: str) -> tuple[dict[int, Row], tuple[int, int]] | None:
        """The rows `data` touches as they will be, and where it leaves the cursor; None when it does more than that."""
        rows: dict[int, Row] = {}
        y, x, style, end = 0, 0, PLAIN, 0
        for match in _TOKEN.finditer(data):
            start, stop = match.span()
            if start != end:
                return None
            end = stop
            row, column, sgr, styled, reset, newline, plain = match.groups()
            if row is not None:
                y, x = int(row), int(column)
            elif newline is not None:
                y = 0
            elif sgr is not None:
                style = "" if sgr in ("", "0") else sgr
            text = plain if styled is None else styled
            if text is not None:
                if not y:
                    return None
                cells = cells_of(text, style)
                line = rows.get(y)
                if line is None:
                    line = rows[y] = list(self._rows.get(y, ()))
                if len(line) < x - 1 + len(cells):
                    line.extend([None] * (x - 1 + len(cells) - len(line)))
                line[x - 1 : x - 1 + len(cells)] = cells
                x += len(cells)
                if reset is not None:
                    style = PLAIN
        return (rows, (y, x)) if end == len(data) and y else None

    def _difference(self, number: int, line: Row) -> list[Run]:
        """The changed runs of a row; one with what is wide, or is in some terminals, is written in full."""
        before = self._rows.get(number, [])
        self._rows[number] = line
        if line == before:
            return []
        before = before + [None] * (len(line) - len(before))
        runs = changed_stretches(before, line)
        if _is_uneven(line) or _is_uneven(before):
            runs = [(_first_known(line), len(line))]
        return [Run(number, start, line[start:stop], stop >= len(line)) for start, stop in runs]

    def _in_order(self, runs: Sequence[Run]) -> str:
        """The runs as they stand: of the first picture, which is waited for, no other order is tried."""
        return "".join([piece for run in runs for piece in self._written(run, tuple(_stretches(run.cells)))])

    def _shortest(self, runs: Sequence[Run]) -> str:
        """The runs, written in the order that takes the fewest bytes."""
        before, best, pen = self._pen, None, self._pen
        stretches: dict[tuple[int, int, int], Sequence[Stretch]] = {}
        for order in orders(runs, before.style):
            self._pen = before.copy()
            out = "".join([piece for run in order for piece in self._written(run, _known(stretches, run))])
            if best is None or len(out) < len(best):
                best, pen = out, self._pen
        self._pen = pen
        return best or ""

    def _written(self, run: Run, stretches: Sequence[Stretch]) -> Iterator[str]:
        yield self._pen.move(run.row, run.start + 1)
        yield from self._run(run.row, run.start + 1, stretches)
        if run.is_end:
            self._pen.lift(row=run.row)

    def _run(self, number: int, column: int, stretches: Sequence[Stretch]) -> Iterator[str]:
        """Stretches of a row one after the other, the first of them at `column`, where the pen is."""
        pen, last = self._pen, len(stretches) - 1
        for place, (style, text, width) in enumerate(stretches):
            column += width
            blank = text.isspace()
            if blank:
                # Blanks look the same in the style of what follows: one change of style does for both.
                ahead = stretches[place + 1][0] if place < last else ""
                alike = bool(ahead) and not pen.blanks_like(style) and are_blanks_alike(style, ahead)
                yield pen.to(ahead) if alike else pen.to_blank(style)
            else:
                yield pen.to(style)
            if blank and len(text) > (_BLANKS if place < last else _LAST_BLANKS) and self._can_erase(style):
                yield pen.erase(len(text))
            elif is_doubtful(text):
                # Terminals differ in how wide this is: nothing may stay of what stood there where it is narrow, and
                # the place of what follows is named, so that nothing moves where it is broad.
                yield pen.write(" " * width) + pen.move(number, column - width)
                yield pen.write(text.rstrip())
                pen.lift(row=number)
                yield pen.move(number, column)
            else:
                yield pen.write(text)

    def _can_erase(self, style: str) -> bool:
        """Whether spaces of this style can be erased: the terminal does it in the background's colour."""
        return self._erases and SHOWS_ON_BLANKS.isdisjoint(parts_of(style)[0])


def _known(stretches: dict[tuple[int, int, int], Sequence[Stretch]], run: Run) -> Sequence[Stretch]:
    """The stretches of a run, worked out once for all orders it is tried in."""
    place = (run.row, run.start, len(run.cells))
    if place not in stretches:
        stretches[place] = tuple(_stretches(run.cells))
    return stretches[place]


def _stretches(cells: Row) -> Iterator[Stretch]:
    """Neighbouring cells of one style as that style, their text and how many they are.

    What is of doubtful width and many blanks are by themselves.
    """
    for style, texts in _of_one_look([cell for cell in cells if cell is not None]):
        plain = "".join(texts)
        if len(texts) <= _LAST_BLANKS and plain.isascii():
            yield style, plain, len(plain)
        elif len(texts) > _LAST_BLANKS and len(plain) == len(texts) and all(texts) and not is_doubtful(plain):
            yield from ((style, piece, len(piece)) for piece in _BLANKS_APART.split(plain) if piece)
        else:
            yield from ((style, piece, width) for piece, width in _clusters_apart(texts))


def _of_one_look(cells: Sequence[Cell]) -> Iterator[tuple[str, list[str]]]:
    """Neighbouring cells of one style; blanks behind blanks that look alike belong to those, and are one erasure."""
    style, texts = "", list[str]()
    for other, group in groupby(cells, itemgetter(1)):
        more = [cell[0] for cell in group]
        if texts and texts[-1] == " " and are_blanks_alike(style, other) and "".join(more).isspace():
            texts += more
            continue
        if texts:
            yield style, texts
        style, texts = other, more
    if texts:
        yield style, texts


def _clusters_apart(texts: list[str]) -> Iterator[tuple[str, int]]:
    """The characters of cells as text with its width, what is of doubtful width by itself."""
    begin = index = 0
    while index < len(texts):
        end = index + 1
        if is_doubtful(texts[index]):
            if index > begin:
                yield "".join(texts[begin:index]), index - begin
            begin = end = _end_of_words(texts, index)
            yield "".join(texts[index:end]), end - index
        index = end
    if begin < len(texts):
        yield "".join(texts[begin:]), len(texts) - begin


def _end_of_words(texts: list[str], start: int) -> int:
    """Where the words end to which the character at `start` belongs, and the blanks behind them, their room.

    Words are written as a whole: letter by letter, each would cover the vowel of the one before. ASCII and the gap
    between two columns end them. An emoji is no word and has no room: what is left of a broad one is written over.
    """
    if not texts[start][0].isalpha():
        return next((place for place in range(start + 1, len(texts)) if texts[place]), len(texts))
    is_over = False
    for place in range(start + 1, len(texts)):
        text = texts[place]
        if text == " ":
            is_over |= texts[place - 1] == " "
        elif text and (is_over or text.isascii() or not text[0].isalpha()):
            return place
    return len(texts)


def _is_uneven(line: Row) -> bool:
    """Whether a cell is the right half of a wide character, or its text may take more of them or fewer."""
    texts = [cell[0] for cell in line if cell is not None]
    return "" in texts or is_doubtful("".join(texts))


def _first_known(line: Row) -> int:
    return next((index for index, cell in enumerate(line) if cell is not None), 0)
