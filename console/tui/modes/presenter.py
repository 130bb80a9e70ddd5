"""Shows the thing under the cursor: once, with its evidence, and with what became of it while it was read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from msgspec.structs import replace
from team_console.console.tui.empty_lists import BROKEN_DOCUMENT
from team_console.console.tui.modes.listing import Listing
from team_console.console.tui.outcomes import NO_LONGER, request_outcome, row_now, with_banner
from team_console.store.model.safe import safe_text
from team_console.store.protocol.shown_when_decided import digest_of
from team_console.store.views.rows import RequestRow, RequestState
from team_console.widgets.detail import Detail
from team_console.widgets.document import Document
from team_console.widgets.panel import NotShown
from team_console.widgets.request_documents import earlier_plans, newest_version, remarks_on
from team_console.widgets.row_list import RowList
from textual.message import Message as TextualMessage
from textual.timer import Timer


class ShownList(Protocol):
    """A list on the screen with its thing under the cursor beside it, as its parts use it."""

    @property
    def listing(self) -> Listing[Any]:
        """What the list is of."""

    @property
    def rows(self) -> RowList[Any]:
        """The list."""

    @property
    def chosen_from(self) -> RowList[Any]:
        """The list under whose cursor the thing is that is shown."""

    @property
    def detail(self) -> Detail:
        """The thing under the cursor."""

    @property
    def is_reading(self) -> bool:
        """Whether the thing has the whole screen."""

    def set_reading(self, is_reading: bool) -> None:
        """Give the thing the whole screen, or the list its place again."""

    def shown_document(self) -> Document | None:
        """Return the document of what is chosen."""

    def set_filter(self, text: str) -> None:
        """Show only rows that fit a query."""

    def step(self, direction: int) -> bool:
        """Go to the next thing, or the one before; False at the end."""

    def set_timer(self, delay: float, callback: Callable[[], object]) -> Timer:
        """Call back in so many seconds."""

    def post_message(self, message: TextualMessage) -> bool:
        """Tell the screen."""


_EVIDENCE_WAIT = 0.04
"""Seconds for which a thing waits for its evidence before it is drawn without."""
_NEIGHBOURS_WAIT = 0.15
"""Seconds after which the evidence of the rows around the cursor is looked for, since one of them is next."""


class DetailPresenter:
    """Gives the detail of one list the document of the thing under the cursor."""

    def __init__(self, host: ShownList) -> None:
        self._host = host
        self._drawn_row: object = None
        self._request_read: RequestRow | None = None
        self._evidence_timer: Timer | None = None
        self._neighbours_timer: Timer | None = None

    def text_read(self) -> str:
        """Return the source of the text being read, made safe: an editor or pager may print it to the terminal."""
        self.show_now()
        document = self._host.detail.document
        return safe_text(document.source).rstrip("\n") + "\n" if document is not None and document.source else ""

    @property
    def _request(self) -> RequestRow | None:
        """The request of the row under the cursor; None where it is none."""
        row = self._host.rows.cursor_row
        return self._host.listing.request_of(row) if row is not None else None

    def show(self) -> None:
        """Give the detail the thing under the cursor as it is now."""
        host = self._host
        self._follow_request()
        self._drawn_row = host.rows.cursor_row
        if host.chosen_from.cursor_key is None and host.is_reading:
            host.set_reading(False)
        try:
            document = host.shown_document()
        except Exception as error:
            host.post_message(NotShown(error))
            document = BROKEN_DOCUMENT
        request = self._request
        if document is not None and request is not None and document.token == digest_of(request.question):
            document = self._with_remarks(document, request)
        if document is not None and (outcome := self.outcome):
            shows_newer = (("enter", " shows · "),) if self.newer_version else ()
            document = with_banner(document, outcome, *shows_newer, ("n", " next"))
        host.detail.show(document)
        if self._neighbours_timer is not None:
            self._neighbours_timer.stop()
        self._neighbours_timer = host.set_timer(_NEIGHBOURS_WAIT, self._look_for_evidence_of_neighbours)

    def _with_remarks(self, document: Document, request: RequestRow) -> Document:
        """Return the document with remarks below the lines they are on: of earlier versions, and what is typed."""
        listing, of = self._host.listing, digest_of(request.question)
        drafts, content = listing.cache.drafts, listing.sources.content_of(request.question)
        typed = drafts.remarks(request.request_id, of) if drafts is not None else {}
        remarks = remarks_on(request, earlier_plans(request, listing.requests), content, typed=typed)
        return replace(document, remarks=remarks)

    def show_changed(self) -> None:
        """Show the thing again after the rows changed; one that waits for its evidence goes on waiting."""
        if self._evidence_timer is None:
            self.show()
        else:
            self.show_once()

    def show_now(self, *, whole: bool = False) -> None:
        """Draw the thing under the cursor now; `whole`, also the lines that are on the screen already."""
        self._stop_waiting()
        self.show()
        if whole:
            self._host.detail.refresh()

    def show_once(self) -> None:
        """Draw the thing under the cursor, a moment later where its evidence is still looked for: once with it."""
        self._stop_waiting()
        listing, request = self._host.listing, self._request
        if request is None or listing.sources.is_ready(request):
            self.show()
        else:
            listing.sources.evidence_for(request)
            self._evidence_timer = self._host.set_timer(_EVIDENCE_WAIT, self.show_now)

    @property
    def is_drawn(self) -> bool:
        """Whether the detail was given the row under the cursor as it is now, and painted a line of it since."""
        detail = self._host.detail
        is_painted = detail.document is None or detail.drawn == detail.document.token
        return self._drawn_row is self._host.rows.cursor_row and is_painted

    def _stop_waiting(self) -> None:
        if self._evidence_timer is not None:
            self._evidence_timer.stop()
            self._evidence_timer = None

    def _look_for_evidence_of_neighbours(self) -> None:
        listing, rows = self._host.listing, self._host.rows
        place, _ = rows.position
        for row in (*rows.rows[max(0, place - 2) : max(0, place - 1)], *rows.rows[place : place + 1]):
            request = listing.request_of(row)
            if request is not None and not listing.sources.is_ready(request):
                listing.sources.evidence_for(request)

    # What became of a request while it was read.

    def _follow_request(self) -> None:
        """Remember the request that is read as long as it waits, to tell what became of it."""
        request = self._request
        if request is None or request.is_open:
            self._request_read = request
        elif self._request_read is not None and self._request_read.key != request.key:
            self._request_read = None

    def forget_request(self) -> None:
        """Tell no more of the request that was read: it is left."""
        self._request_read = None

    @property
    def outcome(self) -> str:
        """The outcome of the request being read, as safe text; empty while it is still open."""
        listing = self._host.listing
        if self._request_read is not None:
            return request_outcome(self._request_read, listing.situation.view, listing.now)
        return NO_LONGER if listing.gone is not None else ""

    @property
    def newer_version(self) -> str:
        """Id of the version that took the place of what is read while it was; empty when none did."""
        read, view = self._request_read, self._host.listing.situation.view
        now = row_now(read, view) if read is not None else None
        if view is None or now is None or now.state is not RequestState.SUPERSEDED:
            return ""
        newest = newest_version(now, view.requests)
        return newest.request_id if newest is not None else ""
