"""Batches and lives of temporary agents in the sprint list."""

from __future__ import annotations

from team_console.store.model.safe import safe_line
from team_console.store.views.rows import Batch, Lifecycle, StoryState
from team_console.widgets.rows.drawing import Drawing
from team_console.widgets.text.cells import Line, pad, pad_name, spread
from team_console.widgets.text.glyphs import STORIES

_BAR = 18
_STEPS = 11
_LIFE = 30
"""Cells of an agent's line that are not its name."""


def sprint_lines(row: Batch | Lifecycle, drawing: Drawing) -> tuple[Line, ...]:
    """A batch with its progress, or an agent with the steps it has gone."""
    return _batch(row, drawing) if isinstance(row, Batch) else _life(row, drawing)


def progress(batch: Batch, width: int) -> Line:
    """A bar of `width` cells: done, failed, running, open, each in its own stroke."""
    total = max(1, len(batch.stories))
    cells: list[tuple[str, str]] = []
    used, seen = 0, 0
    strokes = (
        (StoryState.DONE, "█", "good"),
        (StoryState.FAILED, "▓", "bad"),
        (StoryState.RUNNING, "▒", "accent"),
        (StoryState.OPEN, "░", "faint"),
    )
    for state, stroke, tone in strokes:
        seen += batch.count(state)
        end = round(width * seen / total)
        if end > used:
            cells.append((stroke * (end - used), tone))
            used = end
    return (*cells, ("░" * (width - used), "faint"))


def _batch(batch: Batch, drawing: Drawing) -> tuple[Line, ...]:
    done, total = batch.count(StoryState.DONE), len(batch.stories)
    head: Line = (
        ("▣ ", "accent"),
        (pad(f"batch {safe_line(batch.batch_id, 24)}", 12), "strong"),
        (pad_name(safe_line(batch.slave, 64) or "no slave yet", 16) + " ", ""),
        *progress(batch, max(6, min(_BAR, drawing.width - 46))),
        (f" {done}/{total}", ""),
    )
    first = spread(head, (("  complete " if batch.complete else " ", "good"),), drawing.width)
    counts = [(state, batch.count(state)) for state in StoryState if batch.count(state)]
    below: list[tuple[str, str]] = [("  ", "")]
    for state, number in counts:
        below.append((f"{STORIES[state].glyph} {number} {STORIES[state].word}  ", STORIES[state].tone))
    return (first,) if drawing.lines == 1 else (first, tuple(below))


def _life(life: Lifecycle, drawing: Drawing) -> tuple[Line, ...]:
    seen = {step.number for step in life.steps if step.at is not None}
    marks: Line = tuple(_step(number, life, seen) for number in range(1, _STEPS + 1))
    head: Line = (
        ("◦ ", "muted"),
        (
            pad_name(safe_line(life.agent, 64), max(8, min(22, drawing.width - _LIFE))) + " ",
            "muted" if life.ended else "",
        ),
        *marks,
        (f" {len(seen)}/{_STEPS}", "muted"),
    )
    odd = _out_of_order(life)
    end: Line = ((f"  {'ended' if life.ended else 'at work'} ", "muted" if life.ended else "good"),)
    first = spread(head, end, drawing.width)
    if drawing.lines == 1:
        return (first,)
    return first, ((f"  for {safe_line(life.slave, 64) or 'nobody known'}", "muted"), (odd, "warn"))


def _step(number: int, life: Lifecycle, seen: set[int]) -> tuple[str, str]:
    if number in life.missing:
        return "✗", "bad"
    if number in life.out_of_order or number in life.doubled:
        return "‼", "warn"
    return ("■", "good") if number in seen else ("·", "faint")


def _out_of_order(life: Lifecycle) -> str:
    words = (("missing", life.missing), ("out of order", life.out_of_order), ("doubled", life.doubled))
    return "".join(f" · step {', '.join(map(str, steps))} {word}" for word, steps in words if steps)
