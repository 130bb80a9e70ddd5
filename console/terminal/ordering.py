"""Order of writing: which cells of a screen changed, and the orders of them in which a pen changes its style seldom."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import ne

from msgspec import Struct
from team_console.console.terminal.cells import Row

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
    for index in [index for index, differs in enumerate(map(ne, before, after)) if differs]:
        if after[index] is None:
            continue
        if runs and _is_small(after[runs[-1][1] - 1 : index + 1]):
            runs[-1] = (runs[-1][0], index + 1)
        else:
            runs.append((index, index + 1))
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
    if len(runs) > 2:
        if len(runs) <= _MOST:
            yield _by_pen(runs, style)
        yield _by_style(runs)


def _by_pen(runs: Sequence[Run], style: str | None) -> list[Run]:
    """Next is always a run that begins in the style in which the one before ended."""
    left, order = list(runs), []
    while left:
        run = next((run for run in left if _inks(run)[:1] == [style]), left[0])
        left.remove(run)
        order.append(run)
        inks = _inks(run)
        style = inks[-1] if inks else style
    return order


def _by_style(runs: Sequence[Run]) -> list[Run]:
    """Runs cut where their style changes, those of one style one after the other."""
    groups: dict[str, list[Run]] = {}
    for run in runs:
        for piece in _cut(run):
            groups.setdefault((_inks(piece) or [""])[0], []).append(piece)
    return [piece for pieces in groups.values() for piece in pieces]


def _inks(run: Run) -> list[str]:
    """The styles of its characters, blanks left out, in order."""
    return [cell[1] for cell in run.cells if cell is not None and not cell[0].isspace()]


def _cut(run: Run) -> Iterator[Run]:
    """A run with a wide or a joined character stays whole: what follows has no sure place without it."""
    if any(cell is None or len(cell[0]) != 1 for cell in run.cells):
        yield run
        return
    begin, ink = 0, ""
    for index, cell in enumerate(run.cells):
        if cell is None or cell[0].isspace():
            continue
        if ink and cell[1] != ink:
            yield Run(run.row, run.start + begin, run.cells[begin:index], False)
            begin = index
        ink = cell[1]
    yield Run(run.row, run.start + begin, run.cells[begin:], run.is_end)
