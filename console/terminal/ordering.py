"""Order of writing: which cells of a screen changed, and the orders of them in which a pen changes its style seldom."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import ne

from msgspec import Struct
from team_console.console.terminal.cells import Row
from team_console.console.terminal.pen import are_blanks_alike, change

_GAP = 4
"""Unchanged cells that are cheaper to write again than to jump over."""
_MOST = 64
"""Runs up to which the next one is chosen by the pen: choosing takes time that grows with their square."""


class Run(Struct, frozen=True):
    """Neighbouring cells of one line that are to be written.

    Attributes:
        row: The line, from 1.
        start: The first cell, from 0.
        is_end: Whether it reaches the end of the line, after which terminals differ in where the cursor is.
    """

    row: int
    start: int
    cells: Row
    is_end: bool


def changed_stretches(before: Row, after: Row) -> list[tuple[int, int]]:
    """Stretches that differ, those joined that are only a small known gap apart."""
    runs: list[tuple[int, int]] = []
    start = stop = 0
    for index in [index for index, differs in enumerate(map(ne, before, after)) if differs]:
        if after[index] is None:
            continue
        if not stop or (index > stop and not _is_small(after[stop - 1 : index + 1])):
            if stop:
                runs.append((start, stop))
            start = index
        stop = index + 1
    if stop:
        runs.append((start, stop))
    return runs


def _is_small(gap: Row) -> bool:
    """Whether the cells between the first and the last are cheaper to write than to jump over."""
    if len(gap) > _GAP + 2 or None in gap:
        return False
    styles = [cell[1] for cell in gap if cell is not None]
    return set(styles[1:-1]) <= {styles[0], styles[-1]}


def orders(runs: Sequence[Run], style: str | None) -> Iterator[Sequence[Run]]:
    """Orders worth trying for a pen that has this style: as they stand, by the pen, and all of one style together."""
    yield runs
    if len(runs) <= 2:
        return
    inks = [_inks(run) for run in runs]
    if all(ink == inks[0] and len(ink) == 1 for ink in inks):
        return  # one style all over: no order changes it less often
    if len(runs) <= _MOST:
        yield _by_pen(runs, inks, style)
    yield _by_style(runs, inks, style)


def _by_pen(runs: Sequence[Run], inks: Sequence[list[str]], style: str | None) -> list[Run]:
    """Next is always a run that begins in the style in which the one before ended."""
    left, order = list(range(len(runs))), []
    while left:
        place = next((place for place in left if inks[place] and inks[place][0] == style), left[0])
        left.remove(place)
        order.append(runs[place])
        style = inks[place][-1] if inks[place] else style
    return order


def _by_style(runs: Sequence[Run], inks: Sequence[list[str]], style: str | None) -> list[Run]:
    """Runs cut where their style changes, those of one style together; next is always the style that is nearest."""
    groups: dict[str, list[Run]] = {}
    for run, styles in zip(runs, inks, strict=True):
        if len(styles) <= 1:
            groups.setdefault(styles[0] if styles else "", []).append(run)
            continue
        for piece in _cut(run):
            groups.setdefault((_inks(piece) or [""])[0], []).append(piece)
    order: list[Run] = []
    while groups:
        pen = style or ""
        style = min(groups, key=lambda other: len(change(pen, other)))
        order += groups.pop(style)
    return order


def _inks(run: Run) -> list[str]:
    """The styles its cells need in order, neighbours of one style told once."""
    return [style for style, _ in _pieces(run)]


def _cut(run: Run) -> Iterator[Run]:
    """A run in pieces of one style; one with a wide or a joined character stays whole: it has no sure places."""
    if any(cell is None or len(cell[0]) != 1 for cell in run.cells):
        yield run
        return
    begins = [begin for _, begin in _pieces(run)]
    for begin, end in zip(begins, [*begins[1:], len(run.cells)], strict=True):
        yield Run(run.row, run.start + begin, run.cells[begin:end], run.is_end and end == len(run.cells))


def _pieces(run: Run) -> Iterator[tuple[str, int]]:
    """The styles of a run, each with where it begins; a blank belongs to what is beside it if it looks alike in that.

    One that does not, as a piece of a scrollbar, is a piece of its own: between letters it costs two changes of style,
    with the others of its kind one for all.
    """
    style, begin, is_blank = "", 0, True
    for index, cell in enumerate(run.cells):
        if cell is None or (cell[1] == style and not is_blank):
            continue
        blank = cell[0].isspace()
        if index == 0:
            style, is_blank = cell[1], blank
        elif (blank or is_blank) and are_blanks_alike(style, cell[1]):
            if not blank:  # what stood before were blanks alone, which look the same in this style
                style, is_blank = cell[1], False
        elif cell[1] != style:
            yield style, begin
            style, begin, is_blank = cell[1], index, blank
        else:
            is_blank = is_blank and blank
    if run.cells:
        yield style, begin
