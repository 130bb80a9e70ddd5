"""A batch with its stories and what they wait for, or the eleven steps of a temporary agent's life."""

from __future__ import annotations

from datetime import datetime

from team_console.store.model.safe import safe_line, safe_text
from team_console.store.views.rows import Batch, Lifecycle, Step, Story, StoryState
from team_console.widgets.details.document import Block, Document, Fact, Heading, Lines, Text
from team_console.widgets.rows.sprint import STEPS, SessionRow, last_step, progress, trouble_of
from team_console.widgets.text.ages import clock_time
from team_console.widgets.text.cells import Line, Part, pad
from team_console.widgets.text.glyphs import STORIES


def session_document(row: SessionRow) -> Document:
    """What there is to know of a session: its batches, each with how far it is."""
    lines = tuple(
        (
            (pad(safe_line(batch.batch_id, 32), 12) + " ", ""),
            *progress(batch, 24),
            (f"  {safe_line(batch.slave, 64)}", "muted"),
        )
        for batch in row.batches
    )
    return Document(
        key=f"session:{row.session_id}",
        title="Session",
        headline=f"Session {safe_line(row.session_id, 64)}",
        facts=((f"{row.count(StoryState.DONE)} of {row.total} stories done", ""),),
        blocks=(Heading("batches"), Lines(lines, indent=4)),
    )


def batch_document(batch: Batch) -> Document:
    """What there is to know of a batch."""
    done, total = batch.count(StoryState.DONE), len(batch.stories)
    blocks: list[Block] = [
        Lines(((*progress(batch, 24), (f"  {done} of {total} stories done", "")),)),
        Heading("stories"),
        Lines(tuple(_story(story) for story in batch.stories), indent=4),
    ]
    if batch.report:
        blocks += [Heading("report"), Text(safe_text(batch.report))]
    name = safe_line(batch.batch_id, 32)
    state: Part = ("✓ reported complete", "good") if batch.complete else ("◐ not reported complete yet", "muted")
    return Document(
        key=f"batch:{batch.key}",
        title="Batch",
        headline=f"Batch {name}",
        facts=((safe_line(batch.slave, 64) or "no agent yet", ""), state),
        more=(Fact("session", ((safe_line(batch.session_id, 64), "muted"),)),),
        blocks=tuple(blocks),
        source=batch.report,
    )


def life_document(life: Lifecycle, *, now: datetime) -> Document:
    """What there is to know of a temporary agent."""
    step, trouble = last_step(life), trouble_of(life)
    at = f"step {step.number} of {STEPS}: {safe_line(step.title, 60)}" if step is not None else "no step seen yet"
    name = safe_line(life.agent, 64)
    facts: list[Part] = [("■ ended", "muted") if life.ended else ("● at work", "good"), (at, "")]
    facts += [(f"‼ {trouble}", "warn")] if trouble else []
    return Document(
        key=f"life:{life.key}",
        title="Agent",
        headline=name,
        facts=(*facts, (f"for {safe_line(life.slave, 64) or 'nobody known'}", "")),
        blocks=(
            Heading("the eleven steps"),
            Lines(tuple(_step(item, life, now) for item in life.steps), indent=4),
        ),
        source=life.agent,
    )


def _story(story: Story) -> Line:
    sign = STORIES[story.state]
    parts: list[Part] = [(f"{sign.glyph} {pad(safe_line(story.key, 24), 8)} {pad(sign.word, 8)} ", sign.tone)]
    if story.agent:
        parts.append((safe_line(story.agent, 64) + "  ", ""))
    if story.blocked_by:
        parts.append((f"waits for {_keys(story.blocked_by)}", "warn"))
    elif story.depends_on:
        parts.append((f"after {_keys(story.depends_on)}", "muted"))
    return tuple(parts)


def _keys(keys: tuple[str, ...]) -> str:
    return ", ".join(safe_line(key, 24) for key in keys)


def _step(step: Step, life: Lifecycle, now: datetime) -> Line:
    mark, tone = ("✓", "good") if step.at else ("·", "faint")
    note = ""
    for words, numbers in (("missing", life.missing), ("out of order", life.out_of_order), ("twice", life.doubled)):
        if step.number in numbers:
            mark, tone, note = ("✗" if words == "missing" else "‼"), "warn", f"  {words}"
    when = clock_time(step.at, now) if step.at else ""
    return (
        (f"{mark} {step.number:>2}  ", tone),
        (pad(safe_line(step.title, 60), 34) + " ", "" if step.at else "muted"),
        (when, "muted"),
        (note, "warn"),
    )
