"""Sprint: batches with their stories, and the lives of temporary agents."""

from __future__ import annotations

from typing import Any, ClassVar

from team_console.console.input.subject import NOTHING, Mode, Selection
from team_console.console.panes.list_pane import ListPane
from team_console.store.model.words import counted
from team_console.store.views.rows import Batch, Lifecycle, StoryState, View
from team_console.widgets.details.document import Document
from team_console.widgets.details.sprint import batch_document, life_document
from team_console.widgets.rows.drawing import Drawing
from team_console.widgets.rows.sprint import sprint_lines, trouble_of


class SprintPane(ListPane[Batch | Lifecycle]):
    """Batches, those with failures first, and below each the agents that work on it."""

    MODE: ClassVar[Mode] = Mode.SPRINT

    def draw(self, row: Batch | Lifecycle, drawing: Drawing) -> Any:
        """A batch or a life in one line or two."""
        return sprint_lines(row, drawing)

    def key_of(self, row: Batch | Lifecycle) -> str:
        """Its key, told apart by what it is."""
        return f"{'batch' if isinstance(row, Batch) else 'life'}:{row.key}"

    def matter_of(self, row: Batch | Lifecycle) -> object:
        """Which one it is."""
        return self.key_of(row)

    def rows_of(self, view: View) -> tuple[Batch | Lifecycle, ...]:
        """Batches with their agents."""
        return sprint_rows(view)

    def words_of(self, row: Batch | Lifecycle) -> str:
        """Names and story keys."""
        if isinstance(row, Batch):
            stories = " ".join(f"{story.key} {story.state} {story.agent}" for story in row.stories)
            return f"batch {row.batch_id} {row.session_id} {row.slave} {stories}"
        return f"{row.agent} {row.slave} {'ended' if row.ended else 'at work'}"

    def document_of(self, row: Batch | Lifecycle) -> Document | None:
        """Stories or steps."""
        return batch_document(row) if isinstance(row, Batch) else life_document(row, now=self.now)

    def subject_of(self, row: Batch | Lifecycle | None, marked: tuple[Batch | Lifecycle, ...]) -> Selection:
        """The agent the row is about."""
        if row is None:
            return NOTHING
        name = row.slave if isinstance(row, Batch) else row.agent
        return Selection(agents=(name,) if name else ())

    def title_of(self, shown: int, total: int) -> str:
        """Batches and agents."""
        batches = sum(isinstance(row, Batch) for row in self._all)
        return f"Sprint · {counted(batches, 'batch')} · {counted(total - batches, 'agent')}"


def sprint_rows(view: View) -> tuple[Batch | Lifecycle, ...]:
    """Each batch with its agents below it, what failed first; agents of no batch that is known come last."""
    left = {life.key: life for life in view.lifecycles}
    rows: list[Batch | Lifecycle] = []
    for batch in sorted(view.batches, key=_rank_of_batch):
        agents = {story.agent for story in batch.stories}
        own = [life for life in left.values() if life.agent in agents or (batch.slave and life.slave == batch.slave)]
        rows += [batch, *sorted(own, key=_rank_of_life)]
        for life in own:
            del left[life.key]
    return (*rows, *sorted(left.values(), key=_rank_of_life))


def _rank_of_batch(batch: Batch) -> int:
    return 0 if batch.count(StoryState.FAILED) else 2 if batch.complete else 1


def _rank_of_life(life: Lifecycle) -> int:
    return 0 if trouble_of(life) else 2 if life.ended else 1
