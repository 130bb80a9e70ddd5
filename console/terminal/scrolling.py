"""Scrolling: whether lines that moved up or down together are shorter to move on the terminal than to write again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from operator import ne

from msgspec import Struct
from team_console.console.terminal.cells import Cell, Row

_LEAST_ROWS = 4
"""Fewer changed lines than this are written."""
_LEAST_GAIN = 40
"""Cells that need not be written from which on it is worth the bytes of a scroll."""
_NAMED_BY = slice(2, -2), slice(2, 60)
"""Cells by whose characters a line is found again: all but the marks of a cursor and a scrollbar, or the first ones
where something else stands beside the list.
"""
BLANK: Cell = (" ", "")


class Shift(Struct, frozen=True):
    """Lines `top` to `bottom`, from 1, of which all move down by `by` (up when it is negative); blank ones come in."""

    top: int
    bottom: int
    by: int

    def sequence(self) -> str:
        """What moves them on a terminal whose pen is plain. The cursor ends at home."""
        lines = "" if abs(self.by) == 1 else str(abs(self.by))
        return f"\x1b[{self.top};{self.bottom}r\x1b[{self.top}d\x1b[{lines}{'L' if self.by > 0 else 'M'}\x1b[r"

    def apply(self, rows: dict[int, Row]) -> None:
        """Move what is known of the lines."""
        width = len(rows[self.top])
        numbers = range(self.top, self.bottom + 1)
        moved = {number: rows.get(number - self.by) for number in numbers}
        for number in numbers:
            came = moved[number] if self.top <= number - self.by <= self.bottom else None
            rows[number] = [BLANK] * width if came is None else came


def best_shift(before: Mapping[int, Row], after: Mapping[int, Row]) -> Shift | None:
    """The move that saves most on the way from the lines `before` to those of them that are other `after`."""
    changed = [number for number, row in after.items() if before.get(number) != row]
    if len(changed) < _LEAST_ROWS:
        return None
    low, high = min(changed), max(changed)
    old, new = _lines(before, low, high), _lines({**before, **after}, low, high)
    if old is None or new is None or len({len(row) for row in (*old, *new)}) != 1:
        return None
    by = next(filter(None, (_distance(old, new, part) for part in _NAMED_BY)), 0)
    return _best_stretch(old, new, by, low) if by else None


def _lines(rows: Mapping[int, Row], low: int, high: int) -> list[Row] | None:
    """The lines from `low` to `high`; None when a cell of them is not known."""
    lines = [rows.get(number) for number in range(low, high + 1)]
    known = [row for row in lines if row is not None and None not in row]
    return known if len(known) == len(lines) else None


def _distance(old: list[Row], new: list[Row], part: slice) -> int:
    """By how many lines most of the text moved, 0 when too little did."""
    places: dict[str, int] = {}
    for place, row in enumerate(old):
        name = _name(row, part)
        places[name] = -1 if name in places else place
    moves: Counter[int] = Counter()
    for place, row in enumerate(new):
        name = _name(row, part)
        if name.strip() and (was := places.get(name, -1)) >= 0:
            moves[place - was] += 1
    (by, votes), *_ = moves.most_common(1) or [(0, 0)]
    return by if votes >= _LEAST_ROWS - 1 else 0


def _name(row: Row, part: slice) -> str:
    return "".join([cell[0] for cell in row[part] if cell is not None])


def _best_stretch(old: list[Row], new: list[Row], by: int, low: int) -> Shift | None:
    """The stretch of lines for which moving them by `by` saves most, as `new` would be written after it."""
    size, reach = len(old), abs(by)
    blank: Row = [BLANK] * len(old[0])
    still = [_differing(old[place], new[place]) for place in range(size)]
    gains = [
        still[place] - _differing(old[place - by], new[place]) if 0 <= place - by < size else -len(blank)
        for place in range(size)
    ]
    comes = [still[place] - _differing(blank, new[place]) for place in range(size)]
    best, shift = _LEAST_GAIN, None
    for start in range(size - reach):
        gain = sum(comes[start : start + reach]) if by > 0 else 0
        for end in range(start + reach, size):
            gain += gains[end] if by > 0 else gains[end - reach]
            total = gain if by > 0 else gain + sum(comes[end - reach + 1 : end + 1])
            if total > best:
                best, shift = total, Shift(low + start, low + end, by)
    return shift


def _differing(old: Row, new: Row) -> int:
    return sum(map(ne, old, new))
