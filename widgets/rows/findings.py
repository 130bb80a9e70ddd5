"""A finding in the health list: how bad, which code, where, what."""

from __future__ import annotations

from team_console.store.model.errors import Problem
from team_console.store.model.safe import safe_line
from team_console.widgets.rows.drawing import Drawing
from team_console.widgets.text.cells import Line
from team_console.widgets.text.glyphs import SEVERITIES, Sign

_WITH_CODE = 84
"""Cells from which on the code has room beside the sentence."""


def finding_lines(problem: Problem, drawing: Drawing) -> tuple[Line, ...]:
    """Severity and sentence, below them code and place; on one line the code where there is room."""
    sign = SEVERITIES.get(problem.severity, Sign("·", safe_line(problem.severity, 10)))
    mark: Line = ((f"{sign.glyph} ", sign.tone),)
    code, message = safe_line(problem.code, 32), safe_line(problem.message, 400)
    if drawing.lines == 1:
        named: Line = ((f"{code} ", sign.tone),) if drawing.width >= _WITH_CODE else ()
        return ((*mark, *named, (message, "")),)
    return (*mark, (message, "")), (("  ", ""), (code, sign.tone), (f" · {safe_line(problem.place, 200)}", "muted"))
