"""History: queue and archives as one, read a page at a time from the newest on; a filter searches all of it."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import ClassVar

from msgspec.structs import replace
from team_console.console.selection import Mode, Selection
from team_console.console.tui.cache import ScreenCache
from team_console.console.tui.empty_lists import empty_words
from team_console.console.tui.modes.listing import Listing
from team_console.console.tui.modes.pane import Pane
from team_console.console.tui.outcomes import asked_title, reason_of
from team_console.console.tui.situation import Situation
from team_console.console.tui.textual_fixes import start_worker
from team_console.store.contract.snapshot import LOST, Snapshot
from team_console.store.model.clock import from_text, local_day
from team_console.store.model.errors import Problem
from team_console.store.model.message import Message, Status
from team_console.store.model.names import USER
from team_console.store.model.safe import safe_line
from team_console.store.protocol.message_seal import Seal
from team_console.store.protocol.placed_message import newest_first, when_created
from team_console.store.views.conversation import group_copies, merge_copies
from team_console.store.views.deliveries import deliveries_of
from team_console.store.views.history import SearchStep, search
from team_console.store.views.rows import RequestRow
from team_console.store.views.search import Searchable, searchable_with_requests
from team_console.widgets.document import Block, Document, Heading, Lines
from team_console.widgets.message_documents import delivery_lines, message_document
from team_console.widgets.message_words import decision_words, message_kind_words, row_title
from team_console.widgets.row_drawing import Drawing
from team_console.widgets.row_list import RowList
from team_console.widgets.signs import status_sign
from team_console.widgets.text import Line, Part, cell_len, crop_name, pad, text_of, width_of
from textual import on
from textual.timer import Timer

_AHEAD = 100
"""Rows below the cursor that should be read already."""
_STEPS = 4
"""Pages read at once when the cursor comes near the end of what is read."""
_ALL_PAGES = 1_000_000
"""More pages than there are: a search goes on to the end."""
_PAUSE = 0.25
"""Seconds without typing after which a search begins."""
_MINUTE, _SECONDS = 16, 19
"""Characters of a time as text to the end of its minute, and of its seconds: `2026-02-24T10:30` and `:59`."""


class HistoryListing(Listing[Message]):
    """The messages that were read so far, those of one broadcast as one row.

    Attributes:
        scanned: Messages that were looked at.
        at_end: Whether everything there is has been read.
        stopped: Why the walk ended before that, safe text; empty when it did not.
        is_busy: Whether a walk through the archives is under way.
        gaps: What could not be read.
    """

    MODE: ClassVar[Mode] = Mode.HISTORY
    TWO_LINES_FROM: ClassVar[int] = 24
    KEY: ClassVar[str] = "message_id"

    def __init__(self, cache: ScreenCache) -> None:
        super().__init__(cache)
        self.scanned, self.at_end, self.stopped, self.is_busy = 0, False, "", False
        self.gaps: dict[Problem, None] = {}
        self._copies: dict[str, tuple[Message, ...]] = {}
        self._finder_for_requests: tuple[tuple[RequestRow, ...], Callable[[Message], Searchable]] | None = None

    def draw(self, row: Message, drawing: Drawing) -> tuple[Line, ...]:
        """Return a message in one line or two."""
        is_mine = bool({self.me, USER} & {*row.recipients})
        return history_lines(row, drawing, asked=asked_title(self.situation.view, row), is_mine=is_mine)

    def group_of(self, row: Message) -> str:
        """Return the day it was written."""
        # Told by its minute and zone, without seconds and their fractions: few of them differ, and all are remembered.
        zone = row.created[_SECONDS:].lstrip(".0123456789")
        return _local_day(row.created[:_MINUTE], zone, time.tzname)

    def heading(self, below: tuple[Message, ...], drawing: Drawing) -> Line:
        """Return a day, with its distance from today where that has a name."""
        day = below[0].created_at
        if day is None:
            return (("at an unknown time", "muted"),)
        local, today = day.astimezone().date(), drawing.now.astimezone().date()
        near = {0: "today · ", 1: "yesterday · "}.get((today - local).days, "")
        words = f"── {near}{local:%A} {local_day(day)} "
        return (words, "muted"), ("─" * (drawing.width - len(words)), "faint")

    def shown(self) -> tuple[Message, ...]:
        """Return all that was read: the filter was asked while it was."""
        return self.all

    def searchable_of(self, row: Message) -> Searchable:
        """Return the message."""
        return self.searchable_with_requests()(row)

    def searchable_with_requests(self) -> Callable[[Message], Searchable]:
        """Return what finds messages as their requests stand now."""
        if self._finder_for_requests is None or self._finder_for_requests[0] is not self.requests:
            self._finder_for_requests = self.requests, searchable_with_requests(self.requests, self.me)
        return self._finder_for_requests[1]

    def document_of(self, row: Message) -> Document:
        """Return the message, and of a broadcast how far each of its copies is."""
        copies = self.copies_of(row)
        seals = [self.sources.seal_of(copy) for copy in copies]
        seal = next((seal for seal in (Seal.BROKEN, Seal.UNSIGNED) if seal in seals), seals[0])
        below = copies_blocks(copies, self.now)
        return message_document(
            row, now=self.now, reader=self.me, content=self.sources.content_of(row), seal=seal, below=below
        )

    def selection_of(self, row: Message, chosen: tuple[Message, ...]) -> Selection:
        """Return the message and who wrote it."""
        return Selection(message=row, agents=(row.sender,), messages=self.copies_of(row))

    def title_of(self, shown: int, total: int) -> str:
        """Return the number of messages read, and whether there are more."""
        more = "" if self.at_end else "+"
        if self.query_text:
            return f"History · {shown:,} found in {self.scanned:,}{more}"
        return f"History · {shown:,}{more}"

    def notes(self) -> list[str]:
        """Return what could not be read, and the work under way."""
        notes = [f"✗ not all of it can be read: {_gap_words(next(iter(self.gaps)))}"] if self.gaps else []
        if self.stopped:
            notes.append(f"✗ not all of it was looked at: {self.stopped}")
        if self.is_busy:
            notes.append("◔ searching, esc stops" if self.query_text else "◔ reading")
        return notes

    def empty(self) -> tuple[Line, ...]:
        """Return what is under way, else why there is nothing."""
        if self.stopped:
            return ((("✗  ", "alarm"), ("Not all of it was looked at", "strong")), (), ((self.stopped, "muted"),))
        if not self.is_busy and self.at_end:
            return _unread_lines(next(iter(self.gaps))) if self.gaps else super().empty()
        if self.situation.snapshot is None:
            return empty_words(self.MODE, self.situation)
        words = "Searching …" if self.query_text else "Reading the archives …"
        return ((("◔  ", "open"), (words, "strong")),)

    def begin(self) -> None:
        """Forget all that was read, because a walk begins anew."""
        self.scanned, self.at_end, self.stopped, self.all = 0, False, "", ()
        self.gaps.clear()
        self._copies.clear()

    def add(self, found: tuple[Message, ...]) -> None:
        """Add messages of the past; a broadcast may go on where this page begins."""
        last = self._copies.pop(self.all[-1].message_id, self.all[-1:]) if self.all else ()
        self.all = (*self.all[:-1], *self._as_rows((*last, *found)))

    def filter_again(self) -> None:
        """See `Listing`; only messages of the queue come in by it, without a new walk through the archives."""
        self.all = tuple(row for row in self.all if self.query.fits(self.searchable_of(row)))
        self.refresh(self.situation.snapshot.messages if self.situation.snapshot is not None else ())

    def refresh(self, live: Sequence[Message]) -> None:
        """Take in new messages and new states of known ones."""
        states = {message.message_id: message for message in live}
        known = {row.message_id for row in self.all}
        known.update(copy.message_id for copies in self._copies.values() for copy in copies)
        new = [message for message in live if message.message_id not in known]
        new = [message for message in new if self.query.fits(self.searchable_of(message))]
        self.all = (
            *self._as_rows(newest_first(new, when_created)),
            *(self._with_new_states(row, states) for row in self.all),
        )

    def _as_rows(self, messages: Iterable[Message]) -> Iterator[Message]:
        """Yield the messages, those of one broadcast as one, whose copies are remembered."""
        for copies in group_copies(messages):
            row = merge_copies(copies)
            if len(copies) > 1:
                self._copies[row.message_id] = copies
            yield row

    def copies_of(self, row: Message) -> tuple[Message, ...]:
        """Return the messages that a row stands for."""
        return self._copies.get(row.message_id, (row,))

    def _with_new_states(self, row: Message, states: Mapping[str, Message]) -> Message:
        """Return a row with the present states of its copies; the same row where none changed."""
        copies = self._copies.get(row.message_id)
        if copies is None:
            return states.get(row.message_id, row)
        now = tuple([states.get(copy.message_id, copy) for copy in copies])
        if all(copy is other for copy, other in zip(copies, now, strict=True)):
            return row
        self._copies[row.message_id] = now
        return merge_copies(now)


class HistoryPane(Pane[Message]):
    """Everything that was ever said, newest first; enter opens a message beside the list."""

    LISTING = HistoryListing
    listing: HistoryListing

    def __init__(self, cache: ScreenCache) -> None:
        super().__init__(cache)
        self._steps: Iterator[SearchStep] | None = None
        self._typing: Timer | None = None

    def show(self, situation: Situation, now: datetime) -> None:
        """Begin to read at the first showing; later bring in what is new."""
        listing = self.listing
        before, snapshot = listing.situation.snapshot, situation.snapshot
        listing.situation, listing.now = situation, now
        has_begun = self._steps is not None or listing.at_end or listing.stopped
        if snapshot is not None and (not has_begun or (listing.gaps and _is_newer(before, snapshot))):
            self._walk_anew()
            return
        if snapshot is not None and _is_newer(before, snapshot):
            listing.refresh(snapshot.messages)
        self.fill()

    def set_filter(self, text: str) -> None:
        """Search for the words of `text` once the typing pauses."""
        if text == self.listing.query_text:
            return
        before, self.listing.query_text = self.listing.query, text
        self.search.take_words(text)
        if self.listing.query is before:  # not understood: the walk goes on
            return
        if self._typing is not None:
            self._typing.stop()
        self._typing = self.set_timer(_PAUSE, self._walk_anew)

    def back(self) -> bool:
        """Stop a search first; out of the message next."""
        if self.listing.is_busy and self.listing.query_text and not self.search.is_open:
            self._stop()
            self.listing.stopped = "you stopped the search; type to search anew"
            self.fill()
            return True
        return super().back()

    def on_unmount(self) -> None:
        """Let a walk end."""
        self._stop()

    def _stop(self) -> None:
        self._steps, self.listing.is_busy = None, False

    def _walk_anew(self) -> None:
        """Walk anew from the newest message."""
        self._stop()
        listing = self.listing
        listing.begin()
        snapshot = listing.situation.snapshot
        query, found = listing.query, listing.searchable_with_requests()
        live = snapshot.messages if snapshot is not None else ()
        self._steps = search(self.cache.team, live, lambda message: query.fits(found(message)))
        self._read_on(first=True)

    def _read_on(self, *, first: bool = False) -> None:
        """Read further pages in a thread, as many as are wanted now."""
        if self._steps is None or self.listing.is_busy or self.listing.at_end:
            return
        if self.listing.query_text:
            most = _ALL_PAGES
        elif first:
            most = 1
        else:
            most = _STEPS
        self.listing.is_busy = True
        start_worker(self, self._read, self._steps, most, group="history")
        self.fill()

    async def _read(self, steps: Iterator[SearchStep], most: int) -> None:
        """Show `most` stretches as they are read, in threads, unless the walk is stopped or another one begins."""
        listing = self.listing
        try:
            for _ in range(most):
                stretch = await asyncio.to_thread(next, steps)
                if steps is not self._steps:
                    return
                listing.at_end, listing.scanned = stretch.is_last, stretch.scanned
                listing.gaps.update(dict.fromkeys(stretch.problems))
                if stretch.messages:
                    listing.add(stretch.messages)
                if stretch.is_last:
                    break
                if stretch.messages or stretch.problems:
                    self.fill()
                else:
                    self.show_titles()
        except Exception as error:
            if steps is not self._steps:
                return
            self._stop()
            listing.stopped = reason_of(error)
            self.app.notify(f"✗ History cannot be read: {listing.stopped}", severity="error", markup=False)
        listing.is_busy = False
        self.fill()
        self._read_near_the_end()

    @on(RowList.Moved)
    def _read_near_the_end(self) -> None:
        place, number = self.rows.position
        if not self.listing.query_text and number - place < _AHEAD:
            self._read_on()


def copies_blocks(copies: Sequence[Message], now: datetime) -> tuple[Block, ...]:
    """Return the number of copies per delivery state, then each recipient with its state; empty for one message."""
    if len(copies) < 2:
        return ()
    total: list[Part] = []
    for sign, number in Counter(map(status_sign, copies)).most_common():
        if total:
            total.append(("   ", ""))
        total.append((f"{sign.glyph} {number} {sign.word}", sign.tone))
    each = delivery_lines((delivery for copy in copies for delivery in deliveries_of(copy)), now)
    return Heading(f"{len(copies)} recipients"), Lines((tuple(total),)), replace(each, is_close=True)


@lru_cache(maxsize=4096)
def _local_day(minute: str, zone: str, here: tuple[str, str]) -> str:
    """Return the local day of a minute, remembered: every message of a long history is asked at each showing.

    Args:
        zone: What stands behind the seconds of the time: `Z`, `+02:00` or nothing.
        here: The zone of this machine: in another one the same minute is of another day.
    """
    moment = from_text(f"{minute}:00{zone}")
    return local_day(moment) if moment is not None else "unknown"


def _is_newer(before: Snapshot | None, now: Snapshot) -> bool:
    return before is None or before.revision != now.revision


def _gap_words(problem: Problem) -> str:
    return safe_line(f"{problem.place}: {problem.message}", 120)


def _unread_lines(problem: Problem) -> tuple[Line, ...]:
    words = "History was lost" if problem.code in LOST else "The archives cannot be read"
    head: Line = (("✗  ", "alarm"), (words, "strong"))
    return head, (), ((_gap_words(problem), "muted"),), ((safe_line(problem.hint, 200), "muted"),)


_WHEN = 8
"""Cells of a time."""
_MANY = 3
"""Recipients from which on their number is told, since their names have no room."""
_NARROWEST_PARTIES, _WIDEST_PARTIES = 16, 44
"""Cells of the column of sender and recipients, a third of the width between them; more where the title leaves room."""
_LEAST_TITLE = 28
"""Cells that names leave for the title of a message."""
_NAMES_FROM = 42
"""Cells of a row of one line from which on names have a column: in fewer they would leave no room for the title."""


def history_lines(message: Message, drawing: Drawing, *, asked: str, is_mine: bool) -> tuple[Line, ...]:
    """Return a message of the past: when, what, from whom to whom, in one line or two.

    Args:
        asked: The title of the request that it decides.
        is_mine: Whether it waits for the reader, who need not be told that nobody picked it up.
    """
    status, moment = status_sign(message), message.created_at
    when = f"{moment.astimezone():%H:%M:%S}" if moment is not None else "–"
    # Of the states only what went wrong stands out here.
    sign: Part = (f"{status.glyph} ", "muted" if status.tone == "open" else status.tone)
    time: Line = ((pad(when, _WHEN) + "  ", "muted"),)
    set_in: Part = (" " * (width_of(time) + 2), "")
    kind, names = (
        message_kind_words(message),
        f"{safe_line(message.sender, 64)} → {safe_line(_recipients(message), 400)}",
    )
    if drawing.is_expanded:
        above = _single_line(message, drawing, (*time, sign), asked)
        state = "unread" if is_mine and message.status == Status.PENDING else status.word
        not_told_above = [fact for fact in (names, kind) if fact not in text_of(above)]
        return above, (set_in, (" · ".join([*not_told_above, state]), "muted"))
    if drawing.lines > 1:
        what = decision_words(message, asked) or ((row_title(message), ""),)
        return (*time, sign, *what), (set_in, (" · ".join(filter(None, (names, kind))), "muted"))
    return (_single_line(message, drawing, (*time, sign), asked),)


def _recipients(message: Message) -> str:
    """Return the names of who has a message, or how many they are."""
    names = message.recipients
    return ", ".join(names) if len(names) < _MANY else f"{len(names)} agents"


def _single_line(message: Message, drawing: Drawing, begin: Line, asked: str) -> Line:
    """Return the message in one line behind its time and sign: the column of names, then what it says."""
    title, kind, decision = row_title(message), message_kind_words(message), decision_words(message, asked)
    what: Line = decision or ((title, ""),)
    if drawing.width < _NAMES_FROM:
        return (*begin, *what)
    room = drawing.width - width_of(begin) - min(_LEAST_TITLE, width_of(what)) - 2
    names = _names_column(safe_line(message.sender, 64), safe_line(_recipients(message), 200), drawing.width, room)
    if not decision and kind and kind not in title:
        # The kind behind it where it has room as a whole.
        with_kind: Line = ((title, ""), (f"  {kind}", "muted"))
        has_room = width_of((*begin, names, ("  ", ""), *with_kind)) < drawing.width
        what = with_kind if has_room else what
    return (*begin, names, ("  ", ""), *what)


def _names_column(sender: str, to: str, width: int, room: int) -> Part:
    """Return both names in one column: where one is short, the other is seen whole, and both where the title is.

    Args:
        width: Cells of the whole line; a third of it is the column, within limits.
        room: Cells that the column may have where both names need them.
    """
    arrow = " → "
    size = max(_NARROWEST_PARTIES, min(_WIDEST_PARTIES, width // 3), min(cell_len(f"{sender}{arrow}{to}"), room))
    for_names = size - len(arrow)
    shorter = min(cell_len(sender), cell_len(to))
    sender = crop_name(sender, max(for_names // 2, for_names - shorter))
    return pad(f"{sender}{arrow}{crop_name(to, for_names - cell_len(sender))}", size), ""
