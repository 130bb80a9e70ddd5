"""Sprint: batches with their stories, and the lives of temporary agents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import ClassVar

from team_console.console.selection import NOTHING, Mode, Selection
from team_console.console.tui.cache import ScreenCache
from team_console.console.tui.modes.listing import Listing
from team_console.console.tui.modes.pane import Pane
from team_console.store.model.safe import counted, safe_line, safe_text
from team_console.store.protocol.parsing import parse_message
from team_console.store.views.rows import Batch, Lifecycle, Step, Story, StoryState, View
from team_console.store.views.search import Searchable, searchable_texts
from team_console.widgets.document import Block, Document, Heading, Lines, Text, fact
from team_console.widgets.row_drawing import Drawing, age_column
from team_console.widgets.signs import STORIES
from team_console.widgets.text import (
    DONE,
    FAILED,
    OPEN,
    RUNNING,
    Line,
    Part,
    clock_time,
    pad,
    progress_bar,
    safe_name,
    spread,
    width_of,
)

_ALL_STEPS = 11
"""Steps of the life of a temporary agent."""
_NARROWEST_BAR, _WIDEST_BAR = 8, 24
"""Cells of a bar."""
_BAR_FROM = 70
"""Cells from which on the steps of an agent have a bar, too."""
_STROKES = {StoryState.DONE: DONE, StoryState.FAILED: FAILED, StoryState.RUNNING: RUNNING, StoryState.OPEN: OPEN}


SprintRow = Batch | Lifecycle
_OF_NO_BATCH = "agents of no batch that is known"
"""The group of agents below several sessions."""


class SprintListing(Listing[SprintRow]):
    """Batches by session, those with failures first, and below each the agents that work on it."""

    MODE: ClassVar[Mode] = Mode.SPRINT

    def __init__(self, cache: ScreenCache) -> None:
        super().__init__(cache)
        self._groups: dict[str, str] = {}

    def draw(self, row: SprintRow, drawing: Drawing) -> tuple[Line, ...]:
        """Return a batch with its progress, or an agent with the step it is at, in one line or two."""
        # Names and bars are as wide in batches as in agents, so that bars stand below each other.
        name_width = max(10, min(26, drawing.width // 3 - 1))
        bar_width = max(_NARROWEST_BAR, min(_WIDEST_BAR, drawing.width // 7))
        if isinstance(row, Batch):
            lines = _batch_lines(row, drawing, name_width, bar_width)
        else:
            lines = _life_lines(row, drawing, name_width, bar_width)
        return lines[: drawing.lines]

    def group_of(self, row: SprintRow) -> str:
        """Return its session, where there are several."""
        return self._groups.get(self.key_of(row), "")

    def heading(self, below: tuple[SprintRow, ...], drawing: Drawing) -> Line:
        """Return a session with its stories counted."""
        group, batches = self.group_of(below[0]), [row for row in below if isinstance(row, Batch)]
        if not batches:
            return ((f" {group}", "muted"),)
        stories = f"  {_stories_in(batches, StoryState.DONE)}/{sum(len(batch.stories) for batch in batches)}"
        failed = _stories_in(batches, StoryState.FAILED)
        end: Line = ((f"  {failed} failed ", "bad"),) if failed else ()
        head: Line = ((" session ", "muted"), (safe_line(group, 64), "strong"), (stories, ""))
        return spread(head, end, drawing.width)

    def key_of(self, row: SprintRow) -> str:
        """Return its key, told apart by what it is."""
        return f"{'batch' if isinstance(row, Batch) else 'life'}:{row.key}"

    def basis_of(self, row: SprintRow) -> object:
        """Return the row's identity."""
        return self.key_of(row)

    def rows_of(self, view: View) -> tuple[SprintRow, ...]:
        """Return each batch with its agents below it, what failed first; agents of no batch that is known come last."""
        sessions: dict[str, list[Batch]] = {}
        for batch in view.batches:
            sessions.setdefault(batch.session_id, []).append(batch)
        without_batch = {life.key: life for life in view.lifecycles}
        rows_of_group: dict[str, list[SprintRow]] = {}
        for session_id, batches in sessions.items():
            rows = rows_of_group.setdefault(session_id, [])
            for batch in sorted(batches, key=_rank):
                own = [life for life in without_batch.values() if _works_on(life, batch)]
                rows += [batch, *sorted(own, key=_rank)]
                for life in own:  # an agent stands below one batch alone, the first that it works on
                    del without_batch[life.key]
        rows_of_group[_OF_NO_BATCH] = sorted(without_batch.values(), key=_rank)
        self._groups = {}
        if len(sessions) > 1:  # else no heading is needed
            self._groups = {self.key_of(row): group for group, rows in rows_of_group.items() for row in rows}
        return tuple(chain.from_iterable(rows_of_group.values()))

    def searchable_of(self, row: SprintRow) -> Searchable:
        """Return names and story keys."""
        if isinstance(row, Batch):
            stories = [word for story in row.stories for word in (story.key, story.state, story.agent or "")]
            return searchable_texts("batch", row.batch_id, row.session_id, row.slave, *stories)
        return searchable_texts(row.agent, row.slave, "ended" if row.ended else "at work")

    def document_of(self, row: SprintRow) -> Document:
        """Return the stories of a batch, or the steps of an agent."""
        return _batch_document(row) if isinstance(row, Batch) else self._life_document(row)

    def selection_of(self, row: SprintRow, chosen: tuple[SprintRow, ...]) -> Selection:
        """Return the agent the row is about."""
        name = row.slave if isinstance(row, Batch) else row.agent
        return Selection(agents=(name,)) if name else NOTHING

    def title_of(self, shown: int, total: int) -> str:
        """Return the number of batches and of agents."""
        batches = sum(isinstance(row, Batch) for row in self.all)
        agents = sum(isinstance(row, Lifecycle) for row in self.all)
        return f"Sprint · {counted(batches, 'batch')} · {counted(agents, 'agent')}"

    def _life_document(self, life: Lifecycle) -> Document:
        """Return the eleven steps of a temporary agent's life."""
        step, trouble = _last_step(life), trouble_of(life)
        at = f"step {step.number} of {_ALL_STEPS}: {safe_line(step.title, 60)}" if step else "no step seen yet"
        facts: list[Part] = [("■ ended", "muted") if life.ended else ("● at work", "good"), (at, "")]
        facts += [(f"‼ {trouble}", "warn")] if trouble else []
        return Document(
            key=f"life:{life.key}",
            title="Agent",
            headline=safe_name(life.agent),
            facts=(*facts, (f"for {safe_name(life.slave) or 'nobody known'}", "")),
            blocks=(
                Heading("the eleven steps"),
                Lines(tuple(self._step_line(item, life) for item in life.steps), indent=4),
            ),
            source=life.agent,
        )

    def _step_line(self, step: Step, life: Lifecycle) -> Line:
        """Return a step of an agent's life, when it was seen and what is wrong with it."""
        mark, tone, note = ("✓", "good", "") if step.at else ("·", "muted", "")
        for words, numbers in _troubles(life):
            if step.number in numbers:
                mark, tone, note = ("✗" if words == "missing" else "‼"), "warn", f"  {words}"
        return (
            (f"{mark} {step.number:>2}  ", tone),
            (pad(safe_line(step.title, 60), 34) + " ", "" if step.at else "muted"),
            (clock_time(step.at, self.now) if step.at else "", "muted"),
            (note, "warn"),
        )


class SprintPane(Pane[SprintRow]):
    """Batches and agents; enter opens one beside the list."""

    LISTING = SprintListing


def _works_on(life: Lifecycle, batch: Batch) -> bool:
    """Return whether an agent has a story of the batch, or works for its slave, in the batch's session.

    Another session may have the same stories and names again: the message that gave the agent its task (step 5), or
    else asked for it (step 1), says which one it is of.
    """
    task = next((life.steps[number - 1].message for number in (5, 1) if life.steps[number - 1].message), None)
    session = parse_message(task).body.get("session_id", batch.session_id) if task is not None else batch.session_id
    is_its = life.agent in {story.agent for story in batch.stories} or (batch.slave and life.slave == batch.slave)
    return bool(is_its) and session == batch.session_id


def _rank(row: SprintRow) -> int:
    """Return the place of a row among others: 0 with failures, 1 at work, 2 finished."""
    if isinstance(row, Batch):
        has_trouble, is_finished = row.count(StoryState.FAILED) > 0, row.complete
    else:
        has_trouble, is_finished = trouble_of(row) != "", row.ended
    if has_trouble:
        return 0
    return 2 if is_finished else 1


def _last_step(life: Lifecycle) -> Step | None:
    """Return the highest step that was seen; None before the first."""
    seen = [step for step in life.steps if step.at is not None]
    return max(seen, key=lambda step: step.number, default=None)


def _troubles(life: Lifecycle) -> tuple[tuple[str, Sequence[int]], ...]:
    return ("missing", life.missing), ("out of order", life.out_of_order)


def trouble_of(life: Lifecycle) -> str:
    """Return the departure from the order of steps in words; empty for none."""
    told = []
    for word, steps in _troubles(life):
        if steps:
            *before, last = map(str, steps)
            told.append(f"steps {', '.join(before)} and {last} {word}" if before else f"step {last} {word}")
    return ", ".join(told)


def _stories_in(batches: Iterable[Batch], state: StoryState) -> int:
    """Return how many stories of these are in a state."""
    return sum(batch.count(state) for batch in batches)


def _batch_lines(batch: Batch, drawing: Drawing, name_width: int, bar_width: int) -> tuple[Line, Line]:
    """Return a batch: its progress and its stories, on one line or two."""
    done, total, failed = batch.count(StoryState.DONE), len(batch.stories), batch.count(StoryState.FAILED)
    label = f"{safe_line(batch.batch_id, 24)} · {safe_line(batch.slave, 64) or 'no agent yet'}"
    sign, words = ("▣ ", "muted"), ""
    if failed:
        sign, words = ("✗ ", "bad"), f"{failed} failed "
    elif batch.complete:
        sign, words = ("✓ ", "good"), "complete "
    head: Line = (
        sign,
        (pad(label, name_width + 2) + "  ", ""),
        *_progress_line(batch, bar_width),
        (f" {done}/{total}", ""),
    )
    end: Line = ((f"  {words}", sign[1]),) if words else ()
    if drawing.lines == 1:  # else they have a line of their own
        head = (*head, ("  ", ""), *_stories_line(batch, drawing.width - width_of((*head, *end)) - 2))
    stories = _stories_line(batch, drawing.width)
    if drawing.is_expanded and width_of((*head, ("  ", ""), *stories, *end)) <= drawing.width:
        numbers = [f"{batch.count(state)} {STORIES[state].word}" for state in StoryState if batch.count(state)]
        stories = ((" · ".join(numbers) or "no stories", "muted"),)
    return spread(head, end, drawing.width), (("  ", ""), *stories)


def _progress_line(batch: Batch, width: int) -> Line:
    """Return a bar of `width` cells: done, failed, running, open, each in its own stroke."""
    parts = [(stroke, batch.count(state)) for state, stroke in _STROKES.items()]
    return progress_bar(width, parts, len(batch.stories))


def _stories_line(batch: Batch, room: int) -> Line:
    """Return each story with its sign, those that failed first; closer to each other where there is little room."""
    rank = {StoryState.FAILED: 0, StoryState.RUNNING: 1}
    stories = sorted(batch.stories, key=lambda story: rank.get(story.state, 2))
    parts = [
        (f"{safe_line(story.key, 16)} {STORIES[story.state].glyph}", STORIES[story.state].tone) for story in stories
    ]
    apart = "  " if width_of(tuple(parts)) + 2 * len(parts) <= room else " "
    return tuple((f"{apart if order else ''}{text}", tone) for order, (text, tone) in enumerate(parts))


def _life_lines(life: Lifecycle, drawing: Drawing, name_width: int, bar_width: int) -> tuple[Line, Line]:
    """Return a temporary agent: its step and its trouble, and below for whom it works."""
    step, trouble = _last_step(life), trouble_of(life)
    number = step.number if step is not None else 0
    if trouble:
        sign: Part = ("‼ ", "warn")
    elif life.ended:
        sign = ("■ ", "muted")
    else:
        sign = ("● ", "good")
    tone = "muted" if life.ended else ""
    head: Line = (("  ", ""), sign, (pad(safe_line(life.agent, 64), name_width) + "  ", tone))
    if drawing.width >= _BAR_FROM:
        if life.missing:
            stroke = FAILED
        elif life.ended:
            stroke = DONE
        else:
            stroke = RUNNING
        head = (*head, *progress_bar(bar_width, ((stroke, number),), _ALL_STEPS), (" ", ""))
    words = f"step {number} of {_ALL_STEPS}" + (f": {safe_line(step.title, 60)}" if step is not None else "")
    end = age_column(step.at, drawing) if step is not None else ()
    told: Line = ((trouble, "warn"), (f" · {words}", "muted")) if trouble else ((words, tone or "muted"),)
    below = f"    for {safe_line(life.slave, 64) or 'nobody known'}"
    return spread((*head, *told), end, drawing.width), ((below, "muted"),)


def _batch_document(batch: Batch) -> Document:
    """Return the document of a batch: its stories and what they wait for."""
    done = f"  {batch.count(StoryState.DONE)} of {len(batch.stories)} stories done"
    blocks: list[Block] = [
        Lines(((*_progress_line(batch, 24), (done, "")),)),
        Heading("stories"),
        Lines(tuple(map(_story_line, batch.stories)), indent=4),
    ]
    if batch.report:
        blocks += [Heading("report"), Text(safe_text(batch.report))]
    state: Part = ("✓ reported complete", "good") if batch.complete else ("◐ not reported complete yet", "muted")
    return Document(
        key=f"batch:{batch.key}",
        title="Batch",
        headline=f"Batch {safe_line(batch.batch_id, 32)}",
        facts=((safe_name(batch.slave) or "no agent yet", ""), state),
        more=(fact("session", safe_name(batch.session_id)),),
        blocks=tuple(blocks),
        source=batch.report,
    )


def _story_line(story: Story) -> Line:
    """Return a story: its state, its agent and what it waits for."""
    sign, agent = STORIES[story.state], f"{safe_name(story.agent)}  " if story.agent else ""
    keys = ", ".join(safe_line(key, 24) for key in story.blocked_by or story.depends_on)
    if not keys:
        after = ""
    elif story.blocked_by:
        after = f"waits for {keys}"
    else:
        after = f"after {keys}"
    return (
        (f"{sign.glyph} {pad(safe_line(story.key, 24), 8)} {pad(sign.word, 8)} ", sign.tone),
        (agent, ""),
        (after, "warn" if story.blocked_by else "muted"),
    )
