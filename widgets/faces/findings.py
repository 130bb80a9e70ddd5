"""A finding in the health list: how bad, which code, where, what."""

from __future__ import annotations

from store.safe import safe_line
from store.team import Problem
from widgets.cells import Line, pad
from widgets.row_list import Drawing
from widgets.signs import SEVERITIES, Sign


def finding_lines(problem: Problem, drawing: Drawing) -> tuple[Line, ...]:
    """Severity, code and sentence; below it the place."""
    sign = SEVERITIES.get(problem.severity, Sign("·", safe_line(problem.severity, 10)))
    code = pad(safe_line(problem.code, 32), 22 if drawing.width >= 70 else 14)
    first: Line = ((f"{sign.glyph} ", sign.tone), (code + " ", sign.tone), (safe_line(problem.message, 400), ""))
    if drawing.lines == 1:
        return (first,)
    return first, (("  ", ""), (safe_line(problem.place, 200), "muted"))
