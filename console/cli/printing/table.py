"""Tables and ages for people: columns aligned by terminal cells, long texts cut to the screen."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from team_console.console.cli.printing.output import Output, is_terminal
from team_console.store.model.safe import safe_line, safe_text

_GAP = "  "
_WIDEST = 64
"""Cells up to which a column is as wide as its widest cell: those of the longest name."""


def print_table(out: Output, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print `rows` under `heads`. Cells are stored text; they are made safe here. The last column takes the cut.

    A cell wider than any name is whole, and out of line in its own row alone: it must not push the ids of all the
    others out of the screen.
    """
    cells = [[safe_line(cell) for cell in row] for row in rows]
    lines = [list(heads), *cells]
    widths = [max(wide for line in lines if (wide := width(line[at])) <= _WIDEST) for at in range(len(heads))]
    limit = shutil.get_terminal_size().columns if is_terminal(sys.stdout) else None
    out.say(out.paint(_line(heads, widths, limit), "bold"))
    for row in cells:
        out.say(_line(row, widths, limit))


def print_csv(out: Output, fields: Sequence[str], rows: Iterable[Mapping[str, str]]) -> None:
    """Print rows as comma-separated values below their fields; stored text is made safe here."""
    from team_console.store.views.history import csv_text

    safe = ({name: safe_text(value) for name, value in row.items()} for row in rows)
    out.say(csv_text(fields, safe).rstrip("\n"))


def _line(cells: Sequence[str], widths: Sequence[int], limit: int | None) -> str:
    padded = [cell + " " * (wide - width(cell)) for cell, wide in zip(cells, widths, strict=True)]
    text = _GAP.join(padded).rstrip()
    return text if limit is None else cut(text, limit)


def width(text: str) -> int:
    """How many terminal cells `text` takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def cut(text: str, cells: int) -> str:
    """`text` in at most `cells` cells, ending with `…` when something was left out."""
    if width(text) <= cells:
        return text
    taken, used = [], 0
    for character in text:
        used += width(character)
        if used > cells - 1:
            break
        taken.append(character)
    return "".join(taken) + "…"


def age(seconds: float | None) -> str:
    """`12 s`, `4 min`, `30 h`, `2 d`; `-` for None. Hours go on for a day and a half, as on the screen."""
    if seconds is None:
        return "-"
    for least, size, unit in ((129_600, 86_400, "d"), (3600, 3600, "h"), (60, 60, "min")):
        if seconds >= least:
            return f"{int(seconds // size)} {unit}"
    return f"{int(seconds)} s"


def age_since(moment: datetime | None, now: datetime) -> str:
    """The age of `moment` at `now`; `-` for None."""
    return age(None if moment is None else max(0.0, (now - moment).total_seconds()))
