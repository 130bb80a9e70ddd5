"""Requests: the ledger of everything that was asked, with its answer and its clock."""

from __future__ import annotations

from typing import Any, ClassVar

from msgspec.structs import replace
from team_console.console.modes.pane import ListPane, beside
from team_console.console.selection import NOTHING, Mode, Selection
from team_console.console.words import unwritten
from team_console.store.protocol.verdicts import digest_of
from team_console.store.views.rows import RequestRow, View
from team_console.store.views.search import Found, request_found
from team_console.widgets.details import earlier_plans, request_document
from team_console.widgets.document import Document
from team_console.widgets.row_list import Drawing
from team_console.widgets.rows import request_lines


class RequestsPane(ListPane[RequestRow]):
    """Open requests first, then the answered ones."""

    MODE: ClassVar[Mode] = Mode.REQUESTS
    MARKABLE: ClassVar[bool] = True

    def draw(self, row: RequestRow, drawing: Drawing) -> Any:
        """A request in one line or two; what was decided about it says so until it is written."""
        decided = self.unwritten_of(row)
        return request_lines(replace(row, title=f"{unwritten(decided)} · {row.title}") if decided else row, drawing)

    def key_of(self, row: RequestRow) -> str:
        """Its own key."""
        return row.key

    def matter_of(self, row: RequestRow) -> object:
        """The question and whether it is open."""
        return row.question, row.is_open

    def rows_of(self, view: View) -> tuple[RequestRow, ...]:
        """The whole ledger."""
        return view.requests

    def found_in(self, row: RequestRow) -> Found:
        """The request, and what is odd about it."""
        found = request_found(row, me=self.me)
        return replace(found, texts=(*found.texts, *row.flags))

    def document_of(self, row: RequestRow) -> Document | None:
        """The request with its answers and its history."""
        view = self.situation.view
        around = beside(self, row)
        return request_document(
            row,
            now=self.now,
            earlier=earlier_plans(row, view.requests) if view else (),
            content=self.content_of(row.question),
            token=digest_of(row.question),
            seal=self.seal_of(row.question),
            me=view.me if view else "",
            seen=around.seen,
            above=around.above,
            below=around.below,
        )

    def request_of(self, row: RequestRow) -> RequestRow | None:
        """The row itself."""
        return row

    def subject_of(self, row: RequestRow | None, marked: tuple[RequestRow, ...]) -> Selection:
        """The request under the cursor and who asked it; of several, all of them."""
        some = marked or ((row,) if row is not None else ())
        if row is None:
            return NOTHING
        return Selection(
            request=row,
            message=row.question,
            agents=tuple(dict.fromkeys(request.asker for request in some)),
            messages=tuple(request.question for request in some),
            incomplete=self.is_incomplete(row.question),
            requests=some,
        )

    def title_of(self, shown: int, total: int) -> str:
        """How many are open."""
        count = sum(row.is_open for row in self._all)
        return f"Requests · {count:,} open" if shown == total else f"Requests · {shown:,} of {total:,}"
