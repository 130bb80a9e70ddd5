"""Needs you: what waits for the human, by how urgent it is, alike ones as one row; and all open requests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import ClassVar

from msgspec.structs import replace
from team_console.console.selection import Mode, Selection
from team_console.console.tui.cache import ScreenCache
from team_console.console.tui.empty_lists import empty_words
from team_console.console.tui.modes.listing import Listing
from team_console.console.tui.modes.pane import Pane
from team_console.console.tui.outcomes import pending_words, row_now
from team_console.store.contract.team import attachment_of
from team_console.store.model.names import USER
from team_console.store.model.safe import counted, first_of, safe_line
from team_console.store.protocol.client_requests import permission_of, questions_of
from team_console.store.protocol.shown_when_decided import digest_of
from team_console.store.views.alike import causes_of, spans_that_differ
from team_console.store.views.needs import SAID_BY_KIND, ItemPart, arrange_items, group_of, need_of, part_of
from team_console.store.views.rows import ActionItem, Flag, Need, RequestRow, View
from team_console.store.views.search import Searchable, searchable_message, searchable_request, searchable_texts
from team_console.widgets.client_request_documents import alike_facts, alike_part, source_of
from team_console.widgets.detail import Detail
from team_console.widgets.document import Document, DocumentArea, Lines, fact, laid_out, one_line
from team_console.widgets.message_words import request_kind_word
from team_console.widgets.panel import room_of
from team_console.widgets.request_documents import earlier_plans, late_by, late_tone, request_document, version_words
from team_console.widgets.row_drawing import WORDY, Drawing, age_column, row_lines
from team_console.widgets.signs import NEEDS, REQUESTS, Sign
from team_console.widgets.text import Line, Part, span, spread
from textual import on
from textual.message import Message as TextualMessage

SNOOZE = timedelta(minutes=15)
_WORDS_NAMED = 4
"""Words that differ between alike rows that their row names."""


def _is_due(until: datetime, now: datetime) -> bool:
    """Return whether what was put aside until a moment is due; also where the clock was set back meanwhile."""
    return not timedelta() < until - now <= SNOOZE


@dataclass
class LinesWanted(TextualMessage):
    """The lines of a plan are not counted yet, as it is laid out in the reader now."""

    request: RequestRow
    layout: object


class NeedsListing(Listing[ActionItem]):
    """What waits for the human, those that are alike as one row.

    Attributes:
        reader: Shows a row; a plan has as many lines as there. None before it is there.
    """

    MODE: ClassVar[Mode] = Mode.NEEDS
    MARKABLE: ClassVar[bool] = True
    HAS_GROUP_IN_TITLE: ClassVar[bool] = True

    def __init__(self, cache: ScreenCache) -> None:
        super().__init__(cache)
        self._snoozed: dict[str, tuple[datetime, object]] = {}
        self._alike: dict[str, tuple[ActionItem, ...]] = {}
        self._unfolded: set[str] = set()
        self.reader: Detail | None = None
        self._line_counts: dict[object, int] = {}

    def draw(self, row: ActionItem, drawing: Drawing) -> tuple[Line, ...]:
        """Draw the item, its lateness and the facts to decide on; a pending decision says so until it is written."""
        decided, sign = self.pending_of(row), self._sign_of(row)
        words, ahead, kind = safe_line(row.title, 400), pending_words(decided) if decided else "", sign.word
        if drawing.lines == 1 and ahead:  # there is no second line that could tell
            words, ahead = f"{ahead} · {words}", ""
        elif drawing.width < WORDY and ahead:  # behind a long name there is no room
            kind, ahead = ahead, ""
        end = waiting_column(None if row.is_left_behind else row.request, row.since, drawing)
        title: Line = ((words, "" if row.need is Need.MESSAGE else "strong"),)
        facts: list[Part] = [(ahead, "alert")] if ahead else []
        facts += [(fact, "muted") for fact in self._facts(row)]
        return row_lines(drawing, sign, title, end, word=kind, who=row.who, facts=facts)

    def _sign_of(self, row: ActionItem) -> Sign:
        """Return the sign of its need, or of what became of it while it was read: what was late may be refused now."""
        request = row.request
        if request is None or request.is_open or not self.is_gone(row):
            return NEEDS[row.need]
        state = REQUESTS[request.state]
        return replace(state, word=state.word.upper())

    def _facts(self, row: ActionItem) -> Iterator[str]:
        """Yield the facts to decide on, in a few words, and the reason for its rank, as safe text."""
        message, request = row.message, row.request
        if differing := self._words_that_differ(row):
            yield safe_line(first_of(differing, _WORDS_NAMED), 200)
        if row.answerable and message is not None:
            if row.need is Need.PLAN and attachment_of(message) is None:
                if number := self._lines_of(row.request):
                    yield counted(number, "line")
                if row.request is not None and (missing := self.cache.missing_for(row.request)):
                    yield f"{missing} missing"
            elif row.need is Need.QUESTION:
                number = sum(len(item.options) for item in questions_of(message.payload))
                if number:
                    yield counted(number, "option")
        if request is not None and request.supersedes and (earlier := earlier_plans(request, self.requests)):
            yield version_words(request, earlier)
        # What the first line and the name say, or all rows of its kind have: requests of a human are of high priority.
        who = self._items_behind(row)[0].who
        told = {
            "overdue",
            f"blocks {who}",
            "high priority" if request is not None else "",
            *SAID_BY_KIND,
        }
        for why in row.why.split(" · "):
            if why and why not in told:
                others = why.removeprefix(f"blocks {who}, ")  # that the asker waits itself says its name already
                yield safe_line(why if others == why else f"blocks {others}", 200)

    def _lines_of(self, request: RequestRow | None) -> int:
        """Return the number of lines of a plan as the reader counts them; 0 while they are not counted."""
        if request is None or self.reader is None:
            return 0
        layout = _layout_of(request, self.reader)
        if layout not in self._line_counts:
            self._line_counts[layout] = 0
            self.ask_screen(LinesWanted(request, layout))
        return self._line_counts[layout]

    def count_lines(self, request: RequestRow, layout: object) -> None:
        """Count the lines of a plan as the reader does, unless that lays texts out otherwise meanwhile."""
        if self.reader is None or layout != _layout_of(request, self.reader):
            del self._line_counts[layout]  # a window that is dragged has another width each moment
        else:
            document = request_document(request, now=self.now, requests=self.requests, me=self.me)
            laid = laid_out(document, max(1, room_of(self.reader).width), raw=self.reader.raw)
            number = sum(line.area is DocumentArea.TEXT for line in laid)
            self._line_counts[layout] = number

    def group_of(self, row: ActionItem) -> str:
        """Return the heading of a row: by urgency, trouble, news; of one that is gone, the one it had."""
        return self.group_of_gone if self.is_gone(row) else group_of(row).upper()

    def who_of(self, row: ActionItem) -> str:
        """Return the agent it comes from or is about."""
        return row.who

    def heading(self, below: tuple[ActionItem, ...], drawing: Drawing) -> Line:
        """Return the group, how many, and the key that marks the news as read."""
        return spread(((f" {self.group_words(below)}", "muted"),), self.shortcut_of_group(below), drawing.width)

    def shortcut_of_group(self, below: tuple[ActionItem, ...]) -> Line:
        """Return the key that marks a group of news as read; empty for another group, and where no key writes."""
        is_news = part_of(below[0]) is ItemPart.INFORMATION and not self.cache.read_only
        return (("D", "key"), (" mark all read ", "muted")) if is_news else ()

    def group_words(self, below: tuple[ActionItem, ...]) -> str:
        """Return a group and how many items are in it."""
        number = sum(len(self._items_behind(row)) for row in below if not self.is_gone(row))
        return f"{self.group_of(below[0])} {number:,}"

    def is_new(self, row: ActionItem) -> bool:
        """Return whether it came since the human was here last, and was not on the screen yet."""
        if row.message is None:
            return self.cache.is_new(row.since, "")
        return self.cache.is_new(row.message.created_at, digest_of(row.message))

    def basis_of(self, row: ActionItem) -> object:
        """Return the message and where its request stands, of all that are alike; ages and ranks are no disturbance."""
        if row.key in self._alike:
            return tuple(item.key for item in self._alike[row.key])
        return row.need, row.message, row.request.question if row.request else None

    def rows_of(self, view: View) -> tuple[ActionItem, ...]:
        """Return all items but the snoozed ones."""
        self._wake_due(view)
        short = self.situation.with_short_paths
        items = arrange_items(item for item in view.attention if item.key not in self._snoozed)
        folded = fold_alike(items, self._unfolded, self.pending_of)
        self._alike = {row.key: alike for row, alike in folded if alike}
        return tuple(
            replace(row, who=short(row.who), title=short(row.title)) if row.need is Need.DAMAGED else row
            for row, _ in folded
        )

    def _words_that_differ(self, row: ActionItem) -> list[str]:
        """Return of a row that stands for alike permissions the word of each that not all of them share."""
        questions = [item.message for item in self._alike.get(row.key, ()) if item.message is not None]
        if not questions or not is_open_permission(row):
            return []
        spans = zip(questions, spans_that_differ(questions), strict=True)
        words = (permission_of(each.payload).input["command"][start:end] for each, (start, end) in spans if end)
        return list(dict.fromkeys(words))

    def items_of(self, rows: tuple[ActionItem, ...]) -> tuple[ActionItem, ...]:
        """Return the items that rows stand for."""
        return tuple(item for row in rows for item in self._items_behind(row))

    def _items_behind(self, row: ActionItem) -> tuple[ActionItem, ...]:
        return self._alike.get(row.key, (row,))

    def row_as_known(self, row: ActionItem) -> ActionItem:
        """See `Listing.row_as_known`; its request is still known."""
        request = row_now(row.request, self.situation.view) if row.request is not None else None
        return row if request is None or request is row.request else replace(row, request=request)

    def searchable_of(self, row: ActionItem) -> Searchable:
        """Return the request or message, why it is here, and what it blocks."""
        found = searchable_texts(at=row.since)
        if row.request is not None:
            found = searchable_request(row.request, me=self.me)
        elif row.message is not None:
            found = searchable_message(row.message)
        who = (item.who for item in self._items_behind(row))
        said = (NEEDS[row.need].word, row.need, *who, row.title, row.why, *row.blocks)
        return replace(found, texts=(*found.texts, *said), sender=found.sender or row.who)

    def document_of(self, row: ActionItem) -> Document:
        """Return the request, else the message, else the item itself."""
        if row.key in self._alike:
            return self._alike_document(row)
        if row.request is not None:
            return self.sources.document_of_request(row.request, row)
        if row.message is not None:
            return self.sources.document_of(row.message)
        return Document(
            key=f"item:{row.key}",
            title=NEEDS[row.need].word.capitalize(),
            blocks=(
                fact("about", safe_line(row.who, 200), "strong"),
                fact("why here", safe_line(row.why, 300)),
                one_line(safe_line(row.title, 2000)),
            ),
            source=row.title,
        )

    def _alike_document(self, row: ActionItem) -> Document:
        """Return the items of one row: news by its writer, permissions each whole, with differences marked."""
        same = self._alike[row.key]
        page = Document(key=row.key, title=f"{len(same):,} alike", headline=safe_line(row.title, 400))
        questions = [item.message for item in same if item.message is not None]
        if not is_open_permission(row) or not questions:
            writers: list[Line] = [((safe_line(item.who, 64), ""),) for item in same]
            return replace(page, blocks=(Lines(tuple(writers), indent=2),))
        hint = "a and r decide on all that were shown whole, each with a record of its own; enter lists them as rows"
        parts = [alike_part(each, span) for each, span in zip(questions, spans_that_differ(questions), strict=True)]
        return replace(
            page,
            facts=((hint, "muted"),),
            blocks=tuple(alike_facts(questions[0])),
            parts=tuple(parts),
            source="\n".join(map(source_of, questions)),
        )

    def alike_permissions(self, row: ActionItem) -> tuple[ActionItem, ...]:
        """Return the permissions of one cause that a row stands for; none where it stands for itself."""
        return self._alike.get(row.key, ()) if is_open_permission(row) else ()

    def unfold(self, row: ActionItem) -> None:
        """Make the items of a row that stands for several rows of their own."""
        self._unfolded.add(row.key)

    def request_of(self, row: ActionItem) -> RequestRow | None:
        """Return the request that waits, if it is one."""
        return None if self.alike_permissions(row) else row.request

    def selection_of(self, row: ActionItem, chosen: tuple[ActionItem, ...]) -> Selection:
        """Return the item under the cursor; agents and messages of the marked ones when there are any."""
        meant = self.items_of(chosen)
        request, mail = self.request_of(row), tuple(item.message for item in meant if item.message is not None)
        question = request.question if request is not None else None
        return Selection(
            request=request,
            message=row.message or question,
            agents=tuple(dict.fromkeys(item.who for item in meant if item.who and item.need is not Need.DAMAGED)),
            messages=tuple(item.message for item in meant if item.message is not None and item.need is Need.FAILED),
            mail=mail,
            incomplete=self.sources.is_incomplete(question),
            requests=tuple(item.request for item in meant if item.request is not None),
        )

    def subjects_of(self, row: ActionItem) -> tuple[str, ...]:
        """See `Listing`; of a row that stands for several the messages of all."""
        same = self._alike.get(row.key, ())
        messages = (item.message.message_id for item in same if item.message is not None)
        return (*super().subjects_of(row), *messages, *(item.request.request_id for item in same if item.request))

    def snooze(self, chosen: tuple[ActionItem, ...]) -> float:
        """Put items aside for a while; returns after how many seconds the first is back.

        A request with an end is back in half of what is left: hidden past its end it would be lost unanswered.
        """
        items = self.items_of(chosen)
        ends = [item.request.expires_at for item in items if item.request and item.request.expires_at]
        pause = min((SNOOZE, *((end - self.now) / 2 for end in ends)))
        for item in items:
            self._snoozed[item.key] = (self.now + pause, self.basis_of(item))
        return pause.total_seconds()

    def wake(self) -> None:
        """Put no item aside any more."""
        self._snoozed.clear()

    def is_any_due(self, now: datetime) -> bool:
        """Return whether an item was put aside long enough."""
        return any(_is_due(until, now) for until, _ in self._snoozed.values())

    def empty(self) -> tuple[Line, ...]:
        """See `Listing`; what was put aside is told."""
        return empty_words(self.MODE, self.situation, query=self.query_text, snoozed=len(self._snoozed))

    def notes(self) -> list[str]:
        """Return the number of snoozed items in words."""
        return [f"z {len(self._snoozed)} snoozed"] if self._snoozed else []

    def _wake_due(self, view: View) -> None:
        if not self._snoozed:
            return
        present = {item.key: item for item in view.attention}
        for key, (until, basis) in list(self._snoozed.items()):
            item = present.get(key)
            if item is None or _is_due(until, self.now) or self.basis_of(item) != basis:
                del self._snoozed[key]


class NeedsPane(Pane[ActionItem]):
    """The list the console opens with."""

    LISTING = NeedsListing
    listing: NeedsListing

    def on_mount(self) -> None:
        """Count lines as the reader does from now on."""
        self.listing.reader = self.detail

    @on(LinesWanted)
    def _count_lines(self, event: LinesWanted) -> None:
        """Count behind the keys that came meanwhile: a long plan takes some milliseconds."""
        event.stop()
        self.listing.count_lines(event.request, event.layout)
        self.rows.refresh()

    def title_of(self, shown: int, total: int) -> str:
        """Return the group at the top, which needs no heading then; of a part of all the number of rows, too."""
        top = self.rows.rows_at_top
        group = self.listing.group_words(top) if top else Mode.NEEDS.label
        if shown == total:
            return group
        return f"{shown:,} of {total:,} · {group.removesuffix(f' {shown:,}')}"

    def words_at_end(self) -> Line:
        """See `Pane`; of the news also the key that marks them as read."""
        top = self.rows.rows_at_top
        key, words = self.listing.shortcut_of_group(top) if top else (), super().words_at_end()
        return (*key, ("  ", ""), *words) if key else words

    def tick(self, now: datetime) -> None:
        """Let ages go on; what was put aside long enough comes back, also where nothing else changes."""
        if self.listing.is_any_due(now):
            self.show(self.listing.situation, now)
        else:
            super().tick(now)

    def open(self) -> None:
        """Go into the thing under the cursor; permissions of one cause become rows of their own."""
        row = self.rows.cursor_row
        asked = self.listing.alike_permissions(row) if row is not None else ()
        if row is not None and asked:
            self.listing.unfold(row)
            self._show_now()
            self.rows.select(asked[0].key)
        else:
            super().open()

    def selection(self) -> Selection:
        """See `Pane.selection`; a row that stands for several requests is as good as marks on them."""
        row, selection = self.rows.cursor_row, super().selection()
        if row is None:
            return selection
        marked = selection.marked or len(self.listing.alike_permissions(row))
        chosen_as = "marked" if selection.marked else "alike"
        return replace(selection, listed=self.listing.items_of(self.rows.rows), marked=marked, chosen_as=chosen_as)

    def snooze(self) -> tuple[int, float]:
        """Put the chosen items aside for a while; returns how many, and after how many seconds the first is back."""
        row = self.rows.cursor_row
        chosen = self.rows.marked_rows() or ((row,) if row is not None else ())
        keys = {row.key for row in chosen}
        seconds = self.listing.snooze(chosen)
        self.rows.step_on(lambda item: item.key in keys)
        self._show_now()
        return len(chosen), seconds

    def wake(self) -> None:
        """Show all snoozed items again."""
        self.listing.wake()
        self._show_now()

    def _show_now(self) -> None:
        self.show(self.listing.situation, self.listing.now)


def _layout_of(request: RequestRow, reader: Detail) -> object:
    """Return what decides how many lines a request has in the reader."""
    return digest_of(request.question), len(request.talk), room_of(reader).width, reader.raw


_FOLDED_FROM = 3
"""News, ends that do not come and permissions of one cause, from which on they are one row."""

FoldedRow = tuple[ActionItem, tuple[ActionItem, ...]]
"""A row, and the items that it stands for; none where it is an item of its own."""


def is_open_permission(item: ActionItem) -> bool:
    """Return whether it is a permission that waits: those that are alike can be decided together."""
    return item.need is Need.PERMIT and item.request is not None and item.request.is_open


def fold_alike(
    items: Iterable[ActionItem], unfolded: AbstractSet[str], decided_on: Callable[[ActionItem], str]
) -> Sequence[FoldedRow]:
    """Return the rows of a list: items of their own, and one for each lot of alike ones, where its first item stood.

    What was decided about some of a lot is said of those alone: they are a row, or rows, beside that of the others.

    Args:
        unfolded: Keys of rows that were opened: their items are rows of their own.
        decided_on: Item -> the verb of what was decided about it and is not written yet; empty for nothing.
    """
    listed = list(items)
    causes = _causes_of_permissions(listed)
    lots: dict[str, list[ActionItem]] = {}
    for item in listed:
        lots.setdefault(_key_of_lot(item, causes), []).append(item)
    rows: list[FoldedRow] = []
    for key, lot in lots.items():
        is_apart = len(lot) < _FOLDED_FROM or key in unfolded
        parts: dict[str, list[ActionItem]] = {}
        for item in lot:
            # guard: decided-ones-leave-their-lot
            parts.setdefault("" if is_apart else decided_on(item), []).append(item)
        for verb, part in parts.items():
            name = f"{key} {verb}" if verb and len(parts) > 1 else key
            if len(part) < _FOLDED_FROM or name in unfolded:
                rows += [(item, ()) for item in part]
            else:
                rows.append((_row_of_lot(name, part, causes.get(part[0].key)), tuple(part)))
    return rows


def _causes_of_permissions(items: Iterable[ActionItem]) -> Mapping[str, str]:
    """Return for the key of each permission that waits its cause: what it shares with others of its group."""
    groups: dict[str, dict[str, RequestRow]] = {}
    for item in items:
        if item.request is not None and is_open_permission(item):
            groups.setdefault(group_of(item), {})[item.key] = item.request
    found: dict[str, str] = {}
    for asked in groups.values():
        causes = causes_of(asked.values())
        found |= {key: causes[request.key] for key, request in asked.items()}
    return found


def _key_of_lot(item: ActionItem, causes: Mapping[str, str]) -> str:
    """Return the key that alike items share; an item's own key where it is neither a permission nor news nor late."""
    if item.key in causes:
        return f"alike:{group_of(item)} alike {causes[item.key]}"
    is_news = part_of(item) is ItemPart.INFORMATION and not item.key.startswith("drop:")
    if is_news or item.need is Need.OVERDUE:
        return f"alike:{item.need}:{item.why}:{item.title}"
    return item.key


def _row_of_lot(key: str, lot: Sequence[ActionItem], cause: str | None) -> ActionItem:
    """Return the row that stands for alike items, with the `cause` of permissions as its title."""
    names = list(dict.fromkeys(item.who for item in lot))
    if cause is not None:
        shared = cause.rpartition(" #")[0]  # behind it stands a digest that tells causes apart
        return replace(lot[0], who=first_of(names, 1), title=f"{len(lot):,} alike: {shared}", key=key)
    who = f"{len(names):,} agents" if len(names) == len(lot) else f"{len(lot):,} times"
    return replace(lot[0], who=who, key=key)


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
