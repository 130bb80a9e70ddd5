"""Batches in the sprint list, and below each the agents at work on it with the step they are at."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from team_console.store.model.safe import counted, safe_line
from team_console.store.views.rows import Batch, Lifecycle, Step, StoryState
from team_console.widgets.rows.drawing import Drawing, age_column
from team_console.widgets.text.cells import Line, Part, pad_name, spread, width_of
from team_console.widgets.text.glyphs import STORIES
from team_console.widgets.text.progress import DONE, FAILED, OPEN, RUNNING, progress_bar

STEPS = 11
_LEAST, _MOST = 8, 24
"""Cells of a bar."""
_WITH_BAR = 70
"""Cells from which on the steps of an agent have a bar, too."""
_STROKES = (
    (StoryState.DONE, DONE),
    (StoryState.FAILED, FAILED),
    (StoryState.RUNNING, RUNNING),
    (StoryState.OPEN, OPEN),
)


class SessionRow(Struct, frozen=True):
    """The head above the batches of one session, where there are several."""

    session_id: str
    batches: tuple[Batch, ...]

    def count(self, state: StoryState) -> int:
        """How many stories are in `state`."""
        return sum(batch.count(state) for batch in self.batches)

    @property
    def total(self) -> int:
        """How many stories it has."""
        return sum(len(batch.stories) for batch in self.batches)


SprintRow = SessionRow | Batch | Lifecycle


def sprint_lines(row: SprintRow, drawing: Drawing) -> tuple[Line, ...]:
    """A session with its stories counted, a batch with its progress, or an agent with the step it is at."""
    if isinstance(row, SessionRow):
        return _session(row, drawing)
    return _batch(row, drawing) if isinstance(row, Batch) else _life(row, drawing)


def _session(row: SessionRow, drawing: Drawing) -> tuple[Line, ...]:
    failed = row.count(StoryState.FAILED)
    end: Line = ((f"  {failed} failed ", "bad"),) if failed else ()
    stories = f"  {row.count(StoryState.DONE)}/{row.total}"
    first = spread(
        (("session ", "muted"), (safe_line(row.session_id, 64), "strong"), (stories, "")), end, drawing.width
    )
    return (first,) if drawing.lines == 1 else (first, ((f"  {counted(len(row.batches), 'batch')}", "muted"),))


def progress(batch: Batch, width: int) -> Line:
    """A bar of `width` cells: done, failed, running, open, each in its own stroke."""
    return progress_bar(width, [(stroke, batch.count(state)) for state, stroke in _STROKES], len(batch.stories))


def last_step(life: Lifecycle) -> Step | None:
    """The highest step that was seen; None before the first."""
    seen = [step for step in life.steps if step.at is not None]
    return max(seen, key=lambda step: step.number, default=None)


def trouble_of(life: Lifecycle) -> str:
    """What departs from the order of steps, in words; empty when nothing does."""
    words = (("missing", life.missing), ("out of order", life.out_of_order), ("twice", life.doubled))
    return ", ".join(f"{_named(steps)} {word}" for word, steps in words if steps)


def _named(steps: Sequence[int]) -> str:
    """`step 3`, `steps 3 and 4`, `steps 1, 3 and 4`."""
    *before, last = map(str, steps)
    return f"steps {', '.join(before)} and {last}" if before else f"step {last}"


def _widths(drawing: Drawing) -> tuple[int, int]:
    """Cells of a name and of a bar; the same for batches and agents, so that bars stand below each other."""
    return max(10, min(26, drawing.width // 3 - 1)), max(_LEAST, min(_MOST, drawing.width // 7))


def _batch(batch: Batch, drawing: Drawing) -> tuple[Line, ...]:
    name, bar = _widths(drawing)
    done, total, failed = batch.count(StoryState.DONE), len(batch.stories), batch.count(StoryState.FAILED)
    label = f"{safe_line(batch.batch_id, 24)} · {safe_line(batch.slave, 64) or 'no agent yet'}"
    sign: Part = ("✗ ", "bad") if failed else ("✓ ", "good") if batch.complete else ("▣ ", "muted")
    head: Line = (sign, (pad_name(label, name + 2) + "  ", ""), *progress(batch, bar), (f" {done}/{total}", ""))
    words = f"{failed} failed " if failed else "complete " if batch.complete else ""
    end: Line = ((f"  {words}", "bad" if failed else "good"),) if words else ()
    stories = _stories(batch, drawing.width - width_of((*head, *end)) - 2)
    first = spread((*head, ("  ", ""), *stories), end, drawing.width)
    return (first,) if drawing.lines == 1 else (first, (("  ", ""), *_stories(batch, drawing.width)))


def _stories(batch: Batch, room: int) -> Line:
    """Each story with its sign, those that failed first; closer to each other where there is little room."""
    rank = {StoryState.FAILED: 0, StoryState.RUNNING: 1}
    stories = sorted(batch.stories, key=lambda story: rank.get(story.state, 2))
    named = [
        (f"{safe_line(story.key, 16)} {STORIES[story.state].glyph}", STORIES[story.state].tone) for story in stories
    ]
    apart = "  " if width_of(tuple(named)) + 2 * len(named) <= room else " "
    return tuple((f"{apart if order else ''}{text}", tone) for order, (text, tone) in enumerate(named))


def _life(life: Lifecycle, drawing: Drawing) -> tuple[Line, ...]:
    name, bar = _widths(drawing)
    step, trouble = last_step(life), trouble_of(life)
    number = step.number if step is not None else 0
    sign: Part = ("‼ ", "warn") if trouble else ("■ ", "faint") if life.ended else ("● ", "good")
    tone = "muted" if life.ended else ""
    stroke = FAILED if life.missing else DONE if life.ended else RUNNING
    head: Line = (("  ", ""), sign, (drawing.name(life.agent, name) + "  ", tone))
    if drawing.width >= _WITH_BAR:
        head = (*head, *progress_bar(bar, ((stroke, number),), STEPS), (" ", ""))
    words = f"step {number} of {STEPS}" + (f": {safe_line(step.title, 60)}" if step is not None else "")
    end = age_column(step.at, drawing) if step is not None else ()
    told: Line = ((trouble, "warn"), (f" · {words}", "muted")) if trouble else ((words, tone or "muted"),)
    first = spread((*head, *told), end, drawing.width)
    if drawing.lines == 1:
        return (first,)
    return first, ((f"    for {safe_line(life.slave, 64) or 'nobody known'}", "muted"),)
