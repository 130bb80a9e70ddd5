"""Requests: every open request, whoever is asked; what is decided or ended is in History."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar

from msgspec.structs import replace
from team_console.console.selection import Mode, Selection
from team_console.console.tui.modes.listing import Listing
from team_console.console.tui.modes.pane import Pane
from team_console.console.tui.outcomes import pending_words, row_now
from team_console.store.model.names import USER
from team_console.store.model.safe import safe_line
from team_console.store.views.needs import need_of
from team_console.store.views.rows import Flag, RequestRow, View
from team_console.store.views.search import Searchable, searchable_request
from team_console.widgets.ages import span
from team_console.widgets.document import Document
from team_console.widgets.message_words import request_kind_word
from team_console.widgets.request_documents import late_by, late_tone
from team_console.widgets.row_drawing import WORDY, Drawing, age_column, row_lines
from team_console.widgets.signs import NEEDS, REQUESTS, Sign
from team_console.widgets.text import Line, Part


class RequestListing(Listing[RequestRow]):
    """Every open request, whoever is asked; what is decided or ended is in History."""

    MODE: ClassVar[Mode] = Mode.REQUESTS
    MARKABLE: ClassVar[bool] = True

    def draw(self, row: RequestRow, drawing: Drawing) -> tuple[Line, ...]:
        """Return a request in one line or two; what was decided about it says so until it is written."""
        decided = self.pending_of(row)
        row = replace(row, title=f"{pending_words(decided)} · {row.title}") if decided else row
        return request_lines(row, drawing, is_mine=row.addressee in (self.me, USER))

    def group_of(self, row: RequestRow) -> str:
        """Return the heading of a request: of others, or of the human."""
        return "ASKED BY YOU" if row.asker == self.me else "OPEN"

    def who_of(self, row: RequestRow) -> str:
        """Return who asks."""
        return row.asker

    def basis_of(self, row: RequestRow) -> object:
        """Return the question and whether it is open."""
        return row.question, row.is_open

    def rows_of(self, view: View) -> tuple[RequestRow, ...]:
        """Return the open requests, what the human asked behind what others did."""
        rows = (row for row in view.requests if row.is_open)
        return tuple(sorted(rows, key=lambda row: row.asker == self.me))

    def row_as_known(self, row: RequestRow) -> RequestRow:
        """See `Listing.row_as_known`."""
        return row_now(row, self.situation.view) or row

    def searchable_of(self, row: RequestRow) -> Searchable:
        """Return the request, its kind in plain words, and what is odd about it."""
        found = searchable_request(row, me=self.me)
        return replace(found, texts=(*found.texts, request_kind_word(row.kind), *row.flags))

    def document_of(self, row: RequestRow) -> Document:
        """Return the request with its history."""
        return self.sources.document_of_request(row)

    def request_of(self, row: RequestRow) -> RequestRow | None:
        """Return the row itself."""
        return row

    def selection_of(self, row: RequestRow, chosen: tuple[RequestRow, ...]) -> Selection:
        """Return the request under the cursor and who asked it; of several, all of them."""
        return Selection(
            request=row,
            message=row.question,
            agents=tuple(dict.fromkeys(request.asker for request in chosen)),
            messages=tuple(request.question for request in chosen),
            incomplete=self.sources.is_incomplete(row.question),
            requests=chosen,
        )

    def title_of(self, shown: int, total: int) -> str:
        """Return the number of open requests."""
        return f"{self.MODE.label} · {total:,} open" if shown == total else super().title_of(shown, total)


class RequestsPane(Pane[RequestRow]):
    """All requests; enter opens one beside the list."""

    LISTING = RequestListing


_ODD = frozenset(
    {Flag.CONTRADICTORY, Flag.UNAUTHORISED, Flag.ANSWERED_TWICE, Flag.STILL_ALIVE, Flag.DAMAGED, Flag.FORGED}
)


def waiting_column(request: RequestRow | None, since: datetime | None, drawing: Drawing) -> Line:
    """Return how long something waits, and of a request by how much it is late, where that has room."""
    late = late_by(request, drawing.now)
    if late is None:
        return age_column(since, drawing)
    tone = late_tone(request, late)
    told: Line = ((f"  late {span(late)}", tone),) if drawing.width >= WORDY else ()
    return (*told, *age_column(since, drawing, tone=tone, sign="◷"))


def request_lines(row: RequestRow, drawing: Drawing, *, is_mine: bool) -> tuple[Line, ...]:
    """Return an open request, or one that ended while it was read; what is odd about it stands at the end.

    Args:
        is_mine: Whether it waits for the reader, who need not be told that nobody picked it up.
    """
    word, need = request_kind_word(row.kind), NEEDS[need_of(row.kind)]
    sign = Sign(need.glyph, word, need.tone) if row.is_open else REQUESTS[row.state]
    odd = [str(flag) for flag in row.flags if flag in _ODD]
    since = waiting_column(row, row.waits_since, drawing)
    title: Line = ((safe_line(row.title, 400), "strong" if row.is_open else "muted"),)
    facts: list[Part] = [("→ you" if is_mine else f"→ {safe_line(row.addressee, 64)}", "muted")]
    if row.is_open and not row.seen_at and not is_mine:
        facts.append(("not picked up", "muted"))
    facts += [(f"‼ {', '.join(odd)}", "alert")] if odd else []
    end: Line = ((" ‼", "alert"), *since) if odd else since
    return row_lines(drawing, sign, title, end, word=word, who=row.asker, facts=facts)
