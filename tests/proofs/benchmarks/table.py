"""Prints results as Markdown tables that also read well in a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.proofs.benchmarks.samples import Samples


@dataclass(slots=True)
class Table:
    """One table; `notes` go below it, as a list."""

    title: str
    columns: Sequence[str]
    rows: list[tuple[str, ...]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, *cells: str) -> None:
        """Append a row."""
        self.rows.append(cells)

    def text(self) -> str:
        """The table with all columns padded to the same width."""
        widths = [max(map(len, column)) for column in zip(self.columns, *self.rows, strict=True)]
        rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
        lines = [_row(cells, widths) for cells in (self.columns, rule, *self.rows)]
        notes = [f"- {note}" for note in self.notes]
        return "\n".join([f"### {self.title}", "", *lines, *([""] if notes else []), *notes, ""])


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    first = cells[0].ljust(widths[0])
    others = (cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True))
    return "| " + " | ".join((first, *others)) + " |"


def number(value: float) -> str:
    """Three figures at most: `0.84`, `6.3`, `145`, `11,000`."""
    if value == 0:
        return "0"
    for limit, digits in ((1, 2), (100, 1)):
        if abs(value) < limit:
            return f"{value:.{digits}f}"
    return f"{value:,.0f}"


def spread(some: Samples) -> str:
    """Median and the range from the 10th to the 90th percentile."""
    if len(some.values) == 1:
        return f"{number(some.median)} (once)"
    return f"{number(some.median)} ({number(some.quantile(10))}-{number(some.quantile(90))})"


def ratio(value: float, ours: float) -> str:
    """How `value` compares with ours; above 1 we are quicker or smaller."""
    return f"{number(value / ours)}x" if ours else "-"
