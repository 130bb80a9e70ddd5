"""Sprint: batches with their stories, and the lives of temporary agents."""

from __future__ import annotations

from typing import Any, ClassVar

from team_console.console.modes.pane import Pane
from team_console.console.selection import NOTHING, Mode, Selection
from team_console.store.model.safe import counted
from team_console.store.protocol.parsing import parse_message
from team_console.store.views.rows import Batch, Lifecycle, StoryState, View
from team_console.store.views.search import Searchable, text_found
from team_console.widgets.details import batch_document, life_document, session_document
from team_console.widgets.document import Document
from team_console.widgets.row_list import Drawing
from team_console.widgets.rows import SessionRow, SprintRow, sprint_lines, trouble_of


class SprintPane(Pane[SprintRow]):
    """Batches by session, those with failures first, and below each the agents that work on it."""

    MODE: ClassVar[Mode] = Mode.SPRINT

    def draw(self, row: SprintRow, drawing: Drawing) -> Any:
        """A batch or a life in one line or two."""
        return sprint_lines(row, drawing)

    def key_of(self, row: SprintRow) -> str:
        """Its key, told apart by what it is."""
        if isinstance(row, SessionRow):
            return f"session:{row.session_id}"
        return f"{'batch' if isinstance(row, Batch) else 'life'}:{row.key}"

    def matter_of(self, row: SprintRow) -> object:
        """Which one it is."""
        return self.key_of(row)

    def rows_of(self, view: View) -> tuple[SprintRow, ...]:
        """Batches with their agents."""
        return sprint_rows(view)

    def found_in(self, row: SprintRow) -> Searchable:
        """Names and story keys."""
        if isinstance(row, SessionRow):
            return text_found("session", row.session_id)
        if isinstance(row, Batch):
            stories = [word for story in row.stories for word in (story.key, story.state, story.agent or "")]
            return text_found("batch", row.batch_id, row.session_id, row.slave, *stories)
        return text_found(row.agent, row.slave, "ended" if row.ended else "at work")

    def document_of(self, row: SprintRow) -> Document | None:
        """Batches, stories or steps."""
        if isinstance(row, SessionRow):
            return session_document(row)
        return batch_document(row) if isinstance(row, Batch) else life_document(row, now=self.now)

    def subject_of(self, row: SprintRow | None, marked: tuple[SprintRow, ...]) -> Selection:
        """The agent the row is about."""
        if row is None or isinstance(row, SessionRow):
            return NOTHING
        name = row.slave if isinstance(row, Batch) else row.agent
        return Selection(agents=(name,) if name else ())

    def title_of(self, shown: int, total: int) -> str:
        """Batches and agents."""
        batches = sum(isinstance(row, Batch) for row in self._all)
        agents = sum(isinstance(row, Lifecycle) for row in self._all)
        return f"Sprint · {counted(batches, 'batch')} · {counted(agents, 'agent')}"


def sprint_rows(view: View) -> tuple[SprintRow, ...]:
    """Each batch with its agents below it, what failed first; agents of no batch that is known come last.

    Of several sessions each has a head, and its batches stand below it.
    """
    left = {life.key: life for life in view.lifecycles}
    sessions: dict[str, list[Batch]] = {}
    for batch in view.batches:
        sessions.setdefault(batch.session_id, []).append(batch)
    rows: list[SprintRow] = []
    for session_id, batches in sessions.items():
        rows += [SessionRow(session_id, tuple(batches))] if len(sessions) > 1 else []
        for batch in sorted(batches, key=_rank_of_batch):
            own = [life for life in left.values() if _works_on(life, batch)]
            rows += [batch, *sorted(own, key=_rank_of_life)]
            for life in own:
                del left[life.key]
    return (*rows, *sorted(left.values(), key=_rank_of_life))


def _works_on(life: Lifecycle, batch: Batch) -> bool:
    """Whether it has a story of the batch, or one of its slave; another session may have both again."""
    task = next((life.steps[number - 1].message for number in (5, 1) if life.steps[number - 1].message), None)
    session = parse_message(task).body.get("session_id", batch.session_id) if task is not None else batch.session_id
    is_its = life.agent in {story.agent for story in batch.stories} or (batch.slave and life.slave == batch.slave)
    return bool(is_its) and session == batch.session_id


def _rank_of_batch(batch: Batch) -> int:
    return 0 if batch.count(StoryState.FAILED) else 2 if batch.complete else 1


def _rank_of_life(life: Lifecycle) -> int:
    return 0 if trouble_of(life) else 2 if life.ended else 1
