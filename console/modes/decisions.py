"""Decisions: the ledger of who decided what, read from archives and audit trail in a thread of its own."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

from team_console.console.modes.pane import AttachmentCache, Pane
from team_console.console.selection import NOTHING, Mode, Selection
from team_console.console.words import ScreenState, empty_words, reason_of
from team_console.store.contract.team import Snapshot
from team_console.store.model.safe import counted
from team_console.store.views.decisions import Decision, DecisionLedger, Proof, ledger_of_team, sources_stamp
from team_console.store.views.rows import View
from team_console.store.views.search import Searchable
from team_console.widgets.details import decision_document
from team_console.widgets.document import Document
from team_console.widgets.row_list import Drawing
from team_console.widgets.rows import decision_lines
from team_console.widgets.text import Line
from textual import on, work
from textual.message import Message as TextualMessage
from textual.worker import Worker, WorkerState

_ARCHIVED, _AUDITED = 20_000, 20_000
"""Messages and audit lines that the console looks back on; the verb reads all of them."""


class DecisionsPane(Pane[Decision]):
    """Decisions, newest first; enter opens one with its digests, its evidence and what is not proved."""

    MODE: ClassVar[Mode] = Mode.DECISIONS

    @dataclass
    class Read(TextualMessage):
        """The ledger was read."""

        ledger: DecisionLedger

    def __init__(self, shelf: AttachmentCache) -> None:
        super().__init__(shelf)
        self._ledger: DecisionLedger | None = None
        self._reading: Worker[None] | None = None
        self._read_for: object = None
        self._failure = ""

    def draw(self, row: Decision, drawing: Drawing) -> Any:
        """A decision in one line or two."""
        return decision_lines(row, drawing)

    def key_of(self, row: Decision) -> str:
        """Its own key."""
        return row.key

    def rows_of(self, view: View) -> tuple[Decision, ...]:
        """What was read of the ledger."""
        return self._ledger.decisions if self._ledger is not None else ()

    def found_in(self, row: Decision) -> Searchable:
        """Who decided what for whom, how, when, with which words and evidence."""
        return Searchable(
            texts=(row.request_id, row.kind, row.verdict, row.title, row.words, row.proof, *row.evidence, *row.gaps),
            sender=row.asked_by,
            recipients=(row.by,),
            kinds=(row.kind,),
            status=row.verdict,
            at=row.at,
            marks=frozenset({"decided"} | ({"mine"} if self.me in (row.by, row.asked_by) else set())),
        )

    def document_of(self, row: Decision) -> Document | None:
        """The decision."""
        problems = self._ledger.problems if self._ledger is not None else ()
        return decision_document(row, now=self.now, problems=problems)

    def subject_of(self, row: Decision | None, marked: tuple[Decision, ...]) -> Selection:
        """The request that was decided, as far as the view still knows it."""
        if row is None:
            return NOTHING
        view = self.situation.view
        request = next((item for item in view.requests if item.key == row.key), None) if view is not None else None
        if request is None:
            return NOTHING
        return Selection(request=request, message=request.verdict, messages=(request.question,))

    def show(self, situation: ScreenState, now: datetime) -> None:
        """Show what is known, and read the ledger again when anything was decided since."""
        self.situation, self.now = situation, now
        self._all = self._ledger.decisions if self._ledger is not None else ()
        self._look()
        self._fill()

    def tick(self, now: datetime) -> None:
        """Let ages go on; what could not be read is tried again, also where nothing else changes."""
        super().tick(now)
        if self._failure:
            self._look()

    def title_of(self, shown: int, total: int) -> str:
        """How many there are, and how many nothing vouches for."""
        odd = sum(row.proof in (Proof.UNVERIFIED, Proof.NOT_KNOWN) for row in self._all)
        words = f"Decisions · {shown:,}" if shown == total else f"Decisions · {shown:,} of {total:,}"
        return f"{words} · {odd:,} not proved" if odd else words

    def notes(self) -> list[str]:
        """What goes on, and what keeps the ledger from being whole."""
        notes = ["◔ reading"] if self._reading is not None else []
        notes += [f"✗ not read again: {self._failure}"] if self._failure else []
        problems = self._ledger.problems if self._ledger is not None else ()
        return [*notes, f"△ {counted(len(problems), 'gap')} in the sources"] if problems else notes

    def _fill(self) -> None:
        super()._fill()
        if self._ledger is None:
            waiting: tuple[Line, ...] = ((("◔  ", "open"), ("Reading archives and audit trail …", "strong")),)
            failed: tuple[Line, ...] = ((("✗  ", "alarm"), (f"Not read: {self._failure}", "strong")),)
            known = self.situation.snapshot is not None
            words = failed if self._failure else waiting
            self.rows.set_rows((), now=self.now, empty=words if known else empty_words(self.MODE, self.situation))

    def _look(self) -> None:
        """Read in a thread, one reading at a time, when what was decided is not what was read."""
        snapshot = self.situation.snapshot
        if snapshot is None or self._reading is not None:
            return
        view = self.situation.view
        known = sources_stamp(view.requests if view is not None else (), snapshot)
        if known != self._read_for:
            self._read_for = known
            self._reading = self._read(snapshot)

    @work(thread=True, exit_on_error=False, group="decisions")
    def _read(self, snapshot: Snapshot) -> None:
        ledger = ledger_of_team(self.shelf.team, snapshot, archived=_ARCHIVED, audited=_AUDITED)
        self.post_message(self.Read(ledger))

    @on(Read)
    def _has_read(self, event: Read) -> None:
        event.stop()
        self._ledger, self._failure = event.ledger, ""
        self._all = event.ledger.decisions
        self._fill()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """A reading ended: show it, or say why there is none; look again for what was decided meanwhile."""
        if event.worker is not self._reading or event.state not in (WorkerState.SUCCESS, WorkerState.ERROR):
            return
        self._reading = None
        if event.state is WorkerState.ERROR and event.worker.error is not None:
            self._failure, self._read_for = reason_of(event.worker.error), None
        else:
            self._look()
        self._fill()
