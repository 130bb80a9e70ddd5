"""One place of the console: a list, the thing under its cursor, the line between both, and a search line."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from msgspec.structs import replace
from team_console.console.selection import NOTHING, Mode, Selection
from team_console.console.tui.cache import ScreenCache
from team_console.console.tui.empty_lists import BROKEN, BROKEN_DOCUMENT, first_step, has_command
from team_console.console.tui.modes.listing import Listing
from team_console.console.tui.modes.search import Search
from team_console.console.tui.outcomes import NO_LONGER, request_outcome, row_now, with_banner
from team_console.console.tui.situation import Situation
from team_console.store.model.safe import safe_text
from team_console.store.protocol.shown_when_decided import digest_of
from team_console.store.views.rows import RequestRow, RequestState
from team_console.widgets.detail import Detail
from team_console.widgets.document import Document
from team_console.widgets.panel import NotShown
from team_console.widgets.request_documents import earlier_plans, newest_version, remarks_on
from team_console.widgets.row_list import RowList
from team_console.widgets.text import Line
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.message import Message as TextualMessage
from textual.timer import Timer

if TYPE_CHECKING:
    from textual.widget import Widget


RowT = TypeVar("RowT")


class Pane(Container, Generic[RowT]):
    """A list with the thing itself right or below, and a filter. What is read stays, also once it left the rows, until
    the cursor leaves it: a key never acts on another thing than the one that is shown.

    A row is gone when it left the rows of the view and only stays because it is read (`Listing.gone`); it is leaving
    when a decision on it is written and the next reading will take it away. A pane of two lists has the thing under
    the cursor of one of them on the screen (`chosen_from`); `rows` is the one that is filtered and counted.

    Attributes:
        listing: The rows, and what is known of each.
        presenter: Shows the thing under the cursor.
        search: The search line, and what its words do.
        divider: How list and thing share the room; a form is shown in the thing's.
    """

    DEFAULT_CSS = """
    Pane { display: none; height: 1fr; }
    Pane.-active { display: block; layout: vertical; }
    Pane > .pane--rows { layout: vertical; height: 10fr; width: 100%; }
    Pane > .pane--thing { height: 10fr; width: 100%; align: left bottom; }
    Pane > .pane--thing > Detail { height: 1fr; width: 100%; }
    Pane RowList { height: 1fr; padding: 0; }
    Pane RowList, .pane--thing > Detail { border-top: solid $border; border-title-color: $text-muted; }
    Pane RowList:focus, .pane--thing > Detail:focus { border-top: double $foreground; border-title-color: $foreground;
        border-title-style: bold; }
    Pane.-inside > .pane--rows { height: 6; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "read_on", "Go on with what is read", show=False)]
    LISTING: ClassVar[type[Listing[Any]]]
    """What it lists."""

    class Looked(TextualMessage):
        """Another row, mark or panel: what keys act on may be another thing now."""

    @dataclass
    class GoTo(TextualMessage):
        """The row `key` of another list is what the human wants to see."""

        mode: Mode
        key: str

    def __init__(self, cache: ScreenCache) -> None:
        super().__init__(id=f"pane-{self.LISTING.MODE}")
        self.cache = cache
        self.listing: Listing[RowT] = self.LISTING(cache)
        self.listing.ask_screen = self.post_message
        self.presenter = DetailPresenter(self)
        self.search = Search(self)
        self.divider = Divider(self, cache)
        self._sought_key = ""
        """Key of the row that the cursor is to go to as soon as it is there; empty for none."""

    @cached_property
    def rows(self) -> RowList[RowT]:
        """The list; looked for once, because each change asks a dozen times."""
        return self.query_one(RowList)

    @property
    def chosen_from(self) -> RowList[Any]:
        """The list under whose cursor the thing is that is shown."""
        return self.rows

    @cached_property
    def detail(self) -> Detail:
        """The detail beside the list."""
        return self.query_one(Detail)

    def compose(self) -> ComposeResult:
        """List and search line left, detail right."""
        with Container(classes="pane--rows"):
            yield self.make_list()
            yield self.search.line
        with Container(classes="pane--thing"):
            yield Detail()

    def make_list(self, *, id: str | None = None) -> RowList[RowT]:
        """Return the list of this pane."""
        listing = self.listing
        return RowList(
            listing.key_of,
            listing.draw,
            two_lines_from=listing.TWO_LINES_FROM,
            basis=listing.basis_of,
            markable=listing.MARKABLE,
            group=listing.group_of,
            has_group_in_title=listing.HAS_GROUP_IN_TITLE,
            heading=listing.heading,
            is_new=listing.is_new,
            who=listing.who_of if type(listing).who_of is not Listing.who_of else None,
            id=id,
        )

    def on_mount(self) -> None:
        """Give rows as many lines as the user wants."""
        self.take_preferences()

    def take_preferences(self) -> None:
        """Give rows the lines and the order that the user wants now."""
        self.rows.set_density(two_lines=self.cache.preferences.density == "roomy")
        if self.listing.take_preferences():
            self.fill()

    @property
    def is_complete(self) -> bool:
        """Whether it has its widgets: a new pane gets them later, and one that goes loses them before it is gone."""
        return self.is_mounted and self.is_attached

    # What is shown.

    def show(self, situation: Situation, now: datetime) -> None:
        """Show the rows of another view."""
        listing = self.listing
        # Before the first whole reading nobody has read a row yet that would have to stay.
        first_whole = situation.is_read and not listing.situation.is_read
        listing.situation, listing.now = situation, now
        rows = listing.rows_of(situation.view) if situation.view is not None else ()
        if not first_whole and situation.view is not None:
            above = self.rows.rows[: max(0, self.rows.position[0] - 1)]
            rows = listing.with_read_row(rows, self.rows.cursor_row, above, is_leaving=self.rows.is_leaving)
        listing.all = rows
        self.fill()
        if first_whole:
            self.rows.begin_at_top()

    def give_up(self) -> None:
        """Say that the rows cannot be shown; those that stand there may be true no more."""
        for rows in self.query(RowList):
            rows.set_rows((), now=self.listing.now, empty=BROKEN)
        self.detail.show(None)

    def tick(self, now: datetime) -> None:
        """Let ages go on."""
        self.listing.now = now
        if self.search.renew_times():
            self.fill()
        self.rows.tick(now)
        self.presenter.show()

    def fill(self) -> None:
        """Show the rows that fit the filter, and the thing under the cursor."""
        listing = self.listing
        shown = listing.shown()
        self.set_class(listing.situation.is_read and not listing.all, "-empty")
        self.rows.set_rows(shown, now=listing.now, empty=() if shown else listing.empty())
        if self._sought_key and self.rows.select(self._sought_key):
            self._sought_key = ""
        self.show_titles()
        self.presenter.show_changed()

    def first_step(self) -> str:
        """Return the command that an empty list offers; empty where it says something else, as while a filter hides
        all.
        """
        is_offered = not self.rows.rows and has_command(self.listing.empty())
        return first_step(self.listing.situation) if is_offered else ""

    def show_titles(self) -> None:
        """Say above the list how many rows there are, and what holds of them."""
        listing = self.listing
        shown, total = listing.count(self.rows.rows), listing.count(listing.all)
        notes = listing.notes()
        if self.rows.marks:
            notes.append(f"* {len(self.rows.marks):,} marked")
        if listing.sort:
            notes.append(f"o by {listing.sort}")
        if listing.query_text:
            notes.append(f"/ {listing.query_text}")
        title = self.title_of(shown, total) if listing.situation.view is not None else listing.MODE.label
        words: Line = (("   " + "  ".join(notes), "warn"),) if notes else ()
        if listing.query_text:
            words = (*words, ("  ", ""), ("esc", "key"), (" ✕", "warn"))
        self.rows.set_title(((title, ""), *words), self.words_at_end())

    def title_of(self, shown: int, total: int) -> str:
        """Return the words on the border of the list."""
        return self.listing.title_of(shown, total)

    def words_at_end(self) -> Line:
        """Return what stands at the right end of the title: where the arrow keys lead."""
        mode = self.listing.MODE
        if mode.other is None:
            return ()
        label, is_second = mode.other.label.lower(), mode.other.place is not mode.other
        return ((f"{label} ", "muted"), ("→", "key")) if is_second else (("←", "key"), (f" {label}", "muted"))

    def shown_document(self) -> Document | None:
        """Return the document of the row under the cursor."""
        row = self.rows.cursor_row
        return self.listing.whole_document_of(row) if row is not None else None

    # What is read stays where it stood, until the cursor leaves it.

    def leave_ended(self) -> bool:
        """Go on from a thing that waits no more to the next one; False where the cursor is on no such thing."""
        if not self.presenter.outcome:
            return False
        place, number = self.rows.position
        if not self.leave_gone():
            self.rows.action_move(1 if place < number else -1)
        return True

    def leave_gone(self) -> bool:
        """Go on from a thing that left the list to the next one; False where the cursor is on no such thing."""
        if self.listing.gone is None:
            return False
        self.presenter.forget_request()
        key = self.listing.forget_gone()
        if self.rows.cursor_key == key:
            self.rows.step_on(lambda row: self.listing.key_of(row) == key)
        self.fill()
        return True

    def action_read_on(self) -> None:
        """Go to the version that took the place of this one, else give it the whole screen."""
        if newer := self.presenter.newer_version:
            self.seek_subject(newer)
        elif not self.is_reading:
            self.set_reading(True)

    # What keys act on.

    def selection(self) -> Selection:
        """Return the row under the cursor and the marked ones."""
        row, marked = self.rows.cursor_row, self.rows.marked_rows()
        self.cache.keep_painted(self.detail)
        return replace(
            self.listing.selection_of(row, marked or (row,)) if row is not None else NOTHING,
            key=self.rows.cursor_key,
            marked=len(marked),
            token=self.detail.drawn,
            seen=self.detail.seen,
            looked_at=dict(self.cache.looked_at),
            gone=self.presenter.outcome,
        )

    def shows_row(self, subject: str, frame: int) -> bool:
        """Return whether the row about a request or message, as it is now, stood on the screen up to a frame."""
        rows = (row for row in self.rows.rows if subject in self.listing.subjects_of(row))
        return any(self.rows.held.has(row, by=frame) for row in rows)

    def step_on(self, decided: Collection[str]) -> None:
        """Go from the chosen rows, about which was just decided, to the next one; their leaving is no disturbance."""

        def is_decided(row: RowT) -> bool:
            return not set(decided).isdisjoint(self.listing.subjects_of(row))

        self.rows.step_on(is_decided)
        if self.listing.gone is not None and is_decided(self.listing.gone):
            self.leave_gone()

    @property
    def is_leaving(self) -> bool:
        """Whether the row under the cursor is written about and only waits for the next reading to leave."""
        row = self.rows.cursor_row
        return row is not None and self.rows.is_leaving and not self.listing.pending_of(row)

    def seek(self, key: str) -> None:
        """Put the cursor on the row `key`, now or once it is there; a filter would hide it."""
        self._sought_key = key
        if self.is_complete:
            self.search.close(keep=False)
            self.fill()

    def seek_subject(self, subject: str) -> None:
        """Put the cursor on the row about the request or message `subject`, when it is here."""
        row = next((row for row in self.listing.all if subject in self.listing.subjects_of(row)), None)
        if row is not None:
            self.rows.select(self.listing.key_of(row))

    # The list, the thing, and one of them with the whole screen.

    def focus_first(self) -> None:
        """Put the focus where it belongs when the list is entered."""
        self.rows.focus()

    def open(self) -> None:
        """Go into the thing under the cursor, or to the version that took its place."""
        self.presenter.show_now()
        if self.presenter.newer_version:
            self.action_read_on()
        elif self.rows.cursor_key is not None:
            self.divider.shrink_list(True)
            self.detail.focus()

    @property
    def is_reading(self) -> bool:
        """Whether what is read has the whole screen."""
        return self.is_complete and self.detail.fills_screen

    def set_reading(self, is_reading: bool) -> None:
        """Give what is under the cursor, if anything is, the whole screen, or the list its place again."""
        if is_reading and self.chosen_from.cursor_key is None:
            return
        if not is_reading:
            self.detail.find("")
            self.search.take_words(self.listing.query_text)
        self.detail.fills_screen = is_reading
        self.screen.set_class(is_reading, "-reading")
        self.divider.shrink_list(False)
        (self.detail if is_reading else self.chosen_from).focus()
        self.presenter.show()
        self.post_message(self.Looked())

    def step(self, direction: int) -> bool:
        """Go to the next thing, or the one before; False at the end."""
        place = self.chosen_from.position
        self.chosen_from.action_move(direction)
        return self.chosen_from.position != place

    def back(self) -> bool:
        """Go back out of the detail, the marks, the filter, one after the other; False where nothing is left."""
        if self.is_reading and (self.search.is_open or self.detail.sought):
            self.search.close(keep=False)
        elif self.detail.has_focus or self.is_reading:
            self.set_reading(False)
        elif self.rows.marks:
            self.rows.clear_marks()
        elif self.listing.query_text or self.search.is_open:
            self.search.close(keep=False)
        else:
            return self.leave_gone()
        return True

    def filter(self) -> None:
        """Ask for words to filter by, or to look for in what is read."""
        if not self.is_reading:
            self.divider.shrink_list(False)  # a low terminal has no room for the line beside what is read
        self.search.open()

    def set_filter(self, text: str) -> None:
        """Show only rows that fit the query `text`; see `store.views.search` for its language."""
        if text != self.listing.query_text:
            self.listing.query_text = text
            self.search.take_words(text)
            self.fill()

    def on_resize(self) -> None:
        """Write titles that fit, and put the divider where it belongs: lists may stand above what is read now."""
        if self.is_complete:
            self.divider.lay_out()
            self.show_titles()

    @on(RowList.Opened)
    def _opened(self) -> None:
        self.open()

    @on(RowList.Moved)
    def _moved(self, event: RowList.Moved) -> None:
        """Show the thing under the cursor, once with its evidence where the human moved it there."""
        event.stop()
        gone = self.listing.gone
        if event.by_user:
            self._sought_key = ""  # who goes elsewhere waits for it no more
            if gone is not None and self.rows.cursor_key != self.listing.key_of(gone):
                self.leave_gone()
            self.presenter.show_once()
        else:
            self.presenter.show()
        self.post_message(self.Looked())

    @on(RowList.Marked)
    def _marked(self, event: RowList.Marked) -> None:
        event.stop()
        self.show_titles()
        self.post_message(self.Looked())

    @on(RowList.GroupScrolled)
    def _group_scrolled(self, event: RowList.GroupScrolled) -> None:
        event.stop()
        self.show_titles()


# What is read: the thing under the cursor, drawn once with its evidence, and what became of it meanwhile.

_EVIDENCE_WAIT = 0.04
"""Seconds for which a thing waits for its evidence before it is drawn without."""
_NEIGHBOURS_WAIT = 0.15
"""Seconds after which the evidence of the rows around the cursor is looked for, since one of them is next."""


class DetailPresenter:
    """Gives the detail of one list the document of the thing under the cursor."""

    def __init__(self, pane: Pane[Any]) -> None:
        self._pane = pane
        self._drawn_row: object = None
        self._request_read: RequestRow | None = None
        self._evidence_timer: Timer | None = None
        self._neighbours_timer: Timer | None = None

    def text_read(self) -> str:
        """Return the source of the text being read, made safe: an editor or pager may print it to the terminal."""
        self.show_now()
        document = self._pane.detail.document
        return safe_text(document.source).rstrip("\n") + "\n" if document is not None and document.source else ""

    @property
    def _request(self) -> RequestRow | None:
        """The request of the row under the cursor; None where it is none."""
        row = self._pane.rows.cursor_row
        return self._pane.listing.request_of(row) if row is not None else None

    def show(self) -> None:
        """Give the detail the thing under the cursor as it is now."""
        pane = self._pane
        self._follow_request()
        self._drawn_row = pane.rows.cursor_row
        if pane.chosen_from.cursor_key is None and pane.is_reading:
            pane.set_reading(False)
        try:
            document = pane.shown_document()
        except Exception as error:
            pane.post_message(NotShown(error))
            document = BROKEN_DOCUMENT
        request = self._request
        if document is not None and request is not None and document.token == digest_of(request.question):
            document = self._with_remarks(document, request)
        if document is not None and (outcome := self.outcome):
            shows_newer = (("enter", " shows · "),) if self.newer_version else ()
            document = with_banner(document, outcome, *shows_newer, ("n", " next"))
        pane.detail.show(document)
        if self._neighbours_timer is not None:
            self._neighbours_timer.stop()
        self._neighbours_timer = pane.set_timer(_NEIGHBOURS_WAIT, self._look_for_evidence_of_neighbours)

    def _with_remarks(self, document: Document, request: RequestRow) -> Document:
        """Return the document with remarks below the lines they are on: of earlier versions, and what is typed."""
        listing, of = self._pane.listing, digest_of(request.question)
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
            self._pane.detail.refresh()

    def show_once(self) -> None:
        """Draw the thing under the cursor, a moment later where its evidence is still looked for: once with it."""
        self._stop_waiting()
        listing, request = self._pane.listing, self._request
        if request is None or listing.sources.is_ready(request):
            self.show()
        else:
            listing.sources.evidence_for(request)
            self._evidence_timer = self._pane.set_timer(_EVIDENCE_WAIT, self.show_now)

    @property
    def is_drawn(self) -> bool:
        """Whether the detail was given the row under the cursor as it is now, and painted a line of it since."""
        detail = self._pane.detail
        is_painted = detail.document is None or detail.drawn == detail.document.token
        return self._drawn_row is self._pane.rows.cursor_row and is_painted

    def _stop_waiting(self) -> None:
        if self._evidence_timer is not None:
            self._evidence_timer.stop()
            self._evidence_timer = None

    def _look_for_evidence_of_neighbours(self) -> None:
        listing, rows = self._pane.listing, self._pane.rows
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
        listing = self._pane.listing
        if self._request_read is not None:
            return request_outcome(self._request_read, listing.situation.view, listing.now)
        return NO_LONGER if listing.gone is not None else ""

    @property
    def newer_version(self) -> str:
        """Id of the version that took the place of what is read while it was; empty when none did."""
        read, view = self._request_read, self._pane.listing.situation.view
        now = row_now(read, view) if read is not None else None
        if view is None or now is None or now.state is not RequestState.SUPERSEDED:
            return ""
        newest = newest_version(now, view.requests)
        return newest.request_id if newest is not None else ""


# The line between list and thing.

_SHARES_SIDE_BY_SIDE, _SHARES_BELOW = (12, 13), (10, 10)
"""Shares of list and detail, side by side and below each other."""
_MOST = 8
"""Shares the divider moves at most."""


class Divider:
    """Shares the room of one pane; where the human moved the line, it is in all of them."""

    def __init__(self, pane: Container, cache: ScreenCache) -> None:
        self._pane, self._cache = pane, cache

    def move(self, shares: int) -> None:
        """Give the list more of the room, or less."""
        self._cache.divider = max(-_MOST, min(_MOST, self._cache.divider + shares))
        self.lay_out()

    def shrink_list(self, is_shrunk: bool) -> None:
        """Leave the list a few lines, or give it its room back."""
        self._pane.set_class(is_shrunk, "-inside")
        self.lay_out()

    def show_form(self, form: Widget) -> None:
        """Show a form below the thing it is about; a narrow list gives way."""
        self._pane.add_class("-asking")
        self._pane.query_one(".pane--thing").mount(form)
        self.lay_out()

    def remove_form(self, form: Widget) -> None:
        """Give the thing its room back."""
        self._pane.remove_class("-asking")
        form.remove()
        self.lay_out()

    def lay_out(self) -> None:
        """Put the divider where the human wants it."""
        pane = self._pane
        rows, thing = pane.query_one(".pane--rows"), pane.query_one(".pane--thing")
        is_wide = pane.screen.has_class("-wide")
        moved = 0 if pane.query_one(Detail).fills_screen else self._cache.divider
        is_inside = pane.has_class("-inside") or pane.has_class("-asking")
        for widget, place, sign in ((rows, 0, 1), (thing, 1, -1)):
            share = f"{max(1, (_SHARES_SIDE_BY_SIDE if is_wide else _SHARES_BELOW)[place] + sign * moved)}fr"
            widget.styles.width = share if moved and is_wide else None
            widget.styles.height = share if moved and not is_wide and not is_inside else None
