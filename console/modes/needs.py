"""Needs you: what waits for the human, by how urgent it is; its other view has all requests and their answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any, ClassVar

from msgspec.structs import replace
from team_console.console.modes.pane import AttachmentCache, Pane, beside, beside_report
from team_console.console.selection import NOTHING, Mode, Selection
from team_console.console.words import row_now, unwritten
from team_console.store.model.safe import counted, safe_line
from team_console.store.protocol.client_requests import origin_of
from team_console.store.protocol.verdicts import digest_of
from team_console.store.views.alike import cause_of, decided_before, outcome_of
from team_console.store.views.needs import ItemPart, arranged, group_of, part_of, to_do
from team_console.store.views.rows import ActionItem, Need, RequestRow, View
from team_console.store.views.search import Searchable, message_found, request_found, text_found
from team_console.widgets.details import earlier_plans, message_document, request_document
from team_console.widgets.document import Document, Fact, Lines
from team_console.widgets.row_list import Drawing, Headings
from team_console.widgets.rows import attention_lines, kind_word, request_lines
from team_console.widgets.signs import NEEDS
from team_console.widgets.text import Line, marked_differences, spread

SNOOZE = timedelta(minutes=15)
_ALIKE = 3
"""News, ends that do not come and permissions of one cause, from which on they are one row."""
_LISTED = 40
"""Of these the ones that are named."""


def request_document_of(pane: Pane[Any], row: RequestRow, item: ActionItem | None = None) -> Document:
    """A request with its answers, its history and what stands beside it."""
    view, around = pane.situation.view, beside(pane, row)
    earlier = earlier_plans(row, view.requests) if view is not None else ()
    known = view.requests if view is not None and row.is_open else ()
    return request_document(
        row,
        before=[(other, outcome_of(other, known)) for other in decided_before(row, known) if other not in earlier],
        now=pane.now,
        earlier=earlier,
        content=pane.content_of(row.question),
        token=digest_of(row.question),
        item=item,
        seal=pane.seal_of(row.question),
        me=view.me if view else "",
        seen=around.seen,
        above=around.above,
        below=around.below,
    )


class NeedsPane(Pane[ActionItem]):
    """The list the console opens with."""

    MODE: ClassVar[Mode] = Mode.NEEDS
    MARKABLE: ClassVar[bool] = True

    def __init__(self, shelf: AttachmentCache) -> None:
        super().__init__(shelf)
        self._snoozed: dict[str, tuple[datetime, object]] = {}
        self._alike: dict[str, tuple[ActionItem, ...]] = {}
        self._opened_up: set[str] = set()

    def draw(self, row: ActionItem, drawing: Drawing) -> Any:
        """An item in one line or two; what was decided about it says so until it is written."""
        decided = self.unwritten_of(row)
        shown = replace(row, title=f"{unwritten(decided)} · {row.title}") if decided else row
        view, request = self.situation.view, row.request
        earlier = earlier_plans(request, view.requests) if view and request and request.supersedes else ()
        return attention_lines(shown, drawing, earlier)

    def headings(self) -> Headings[ActionItem]:
        """How urgent they are, what went wrong, and what is news."""
        return Headings(group_of, self._heading_of)

    def _heading_of(self, below: tuple[ActionItem, ...], drawing: Drawing) -> Line:
        """The group, how many, and the key that marks the news as read."""
        group = group_of(below[0])
        key: Line = (("D", "key"), (" mark all read ", "muted")) if group is ItemPart.INFORMATION else ()
        number = sum(len(self._standing_for(row)) for row in below)
        return spread(((f" {group.upper()} {number:,}", "muted"),), key, drawing.width)

    def title_of(self, shown: int, total: int) -> str:
        """How many are to be done, as the tab says, by kind; of a part of them how many that is."""
        if shown != total:
            return super().title_of(shown, total)
        kinds: Counter[str] = Counter()
        for row in self.rows.rows:
            kinds[NEEDS[row.need].word.lower()] += len(self._standing_for(row)) * (part_of(row) is ItemPart.DECIDE)
        kinds = +kinds
        words = [counted(number, kind) for kind, number in kinds.most_common()]
        number = to_do(item for row in self.rows.rows for item in self._standing_for(row))
        return " · ".join((self.MODE.label, *((f"{number:,}",) if number else ()), *words))

    def key_of(self, row: ActionItem) -> str:
        """Its own key."""
        return row.key

    def is_new(self, row: ActionItem) -> bool:
        """Whether it came since the human was here last, and was not on the screen yet."""
        return self.shelf.is_new(row.since, digest_of(row.message) if row.message is not None else "")

    def matter_of(self, row: ActionItem) -> object:
        """The message and where its request stands, of all that are alike; ages and ranks are no disturbance."""
        if row.key in self._alike:
            return tuple(item.key for item in self._alike[row.key])
        return row.need, row.message, row.request.question if row.request else None

    def rows_of(self, view: View) -> tuple[ActionItem, ...]:
        """All items but the snoozed ones."""
        self._wake_due(view)
        short = self.situation.short
        items = (item for item in view.attention if item.key not in self._snoozed)
        return tuple(
            replace(item, who=short(item.who), title=short(item.title)) if item.need is Need.DAMAGED else item
            for item in self._folded(arranged(items))
        )

    def _folded(self, items: Iterable[ActionItem]) -> Iterator[ActionItem]:
        """The items, those that are alike as one row that stands for all of them."""
        alike: dict[str, list[ActionItem]] = {}
        for item in items:
            alike.setdefault(self._likeness(item), []).append(item)
        self._alike = {}
        for key, same in alike.items():
            if len(same) < _ALIKE or key in self._opened_up:
                yield from same
                continue
            names = list(dict.fromkeys(item.who for item in same))
            title, who = same[0].title, f"{len(names):,} agents" if len(names) == len(same) else f"{len(same):,} times"
            if self._asks(same[0]):
                title, who = f"{len(same):,} alike: {title}", ", ".join(names[:3]) + " …" * (len(names) > 3)
            self._alike[key] = tuple(same)
            yield replace(same[0], who=who, title=title, key=key)

    def _likeness(self, item: ActionItem) -> str:
        """What those have in common that one row stands for; its own key for one that stands alone."""
        is_news = part_of(item) is ItemPart.INFORMATION and not item.key.startswith("drop:")
        if is_news or item.need is Need.OVERDUE:
            return f"alike:{item.need}:{item.why}:{item.title}"
        if item.request is not None and self._asks(item):
            return f"alike:{group_of(item)}:{cause_of(item.request)}"
        return item.key

    @staticmethod
    def _asks(item: ActionItem) -> bool:
        """Whether it is a permission that waits: those of one cause can be decided together."""
        return item.need is Need.PERMIT and item.request is not None and item.request.is_open

    def _standing_for(self, row: ActionItem) -> tuple[ActionItem, ...]:
        return self._alike.get(row.key, (row,))

    def row_as_known(self, row: ActionItem) -> ActionItem:
        """See `Pane.row_as_known`; its request is still known."""
        request = row_now(row.request, self.situation.view) if row.request is not None else None
        return row if request is None or request is row.request else replace(row, request=request)

    def tick(self, now: datetime) -> None:
        """Let ages go on; what was put aside long enough comes back, also where nothing else changes."""
        if any(until <= now for until, _ in self._snoozed.values()):
            self.show(self.situation, now)
        else:
            super().tick(now)

    def found_in(self, row: ActionItem) -> Searchable:
        """The request or message, why it is here, and what it blocks."""
        found = text_found(at=row.since)
        if row.request is not None:
            found = request_found(row.request, me=self.me)
        elif row.message is not None:
            found = message_found(row.message)
        who = (item.who for item in self._standing_for(row))
        said = (NEEDS[row.need].word, row.need, *who, row.title, row.why, *row.blocks)
        return replace(found, texts=(*found.texts, *said), sender=found.sender or row.who)

    def document_of(self, row: ActionItem) -> Document | None:
        """The request, else the message, else the item itself."""
        if row.key in self._alike:
            return self._alike_document(row)
        if row.request is not None:
            return request_document_of(self, row.request, row)
        if row.message is not None:
            content = self.content_of(row.message)
            return message_document(
                row.message,
                now=self.now,
                content=content,
                token=digest_of(row.message),
                problems=self.problems_of(row.message),
                seal=self.seal_of(row.message),
                below=beside_report(self, row.message, content),
            )
        return _plain_document(row)

    def _alike_document(self, row: ActionItem) -> Document:
        """What one row stands for: news by who wrote it, permissions each whole, with what differs marked."""
        same = self._alike[row.key]
        more = (((f"and {len(same) - _LISTED:,} more", "muted"),),) if len(same) > _LISTED else ()
        if not self._asks(row):
            lines: tuple[Line, ...] = tuple(((safe_line(item.who, 64), ""),) for item in same[:_LISTED])
            hint = ""
        else:
            titles = marked_differences([safe_line(item.title, 2000) for item in same])
            folders = (origin_of(item.message.payload).directory if item.message is not None else "" for item in same)
            lines = tuple(
                ((f"{safe_line(item.who, 64)}  ", "muted"), *title, (f"  in {safe_line(folder, 300)}", "faint"))
                for item, title, folder in zip(same[:_LISTED], titles, folders, strict=False)
            )
            hint = "a and r decide on all that are listed, each with a record of its own; enter lists them as rows"
        return Document(
            key=row.key,
            title=f"{len(same):,} alike",
            headline=safe_line(row.title, 400),
            facts=((hint, "muted"),) if hint else (),
            blocks=(Lines((*lines, *more), indent=2),),
        )

    def open(self) -> None:
        """Go into the thing under the cursor; permissions of one cause become rows of their own."""
        row = self.rows.cursor_row
        if row is not None and row.key in self._alike and self._asks(row):
            first = self._alike[row.key][0]
            self._opened_up.add(row.key)
            self.show(self.situation, self.now)
            self.rows.select(first.key)
        else:
            super().open()

    def request_of(self, row: ActionItem) -> RequestRow | None:
        """The request that waits, if it is one."""
        return None if row.key in self._alike and self._asks(row) else row.request

    def subject(self) -> Selection:
        """See `Pane.subject`; a row that stands for several requests is as good as marks on them."""
        selection, row = super().subject(), self.rows.cursor_row
        if row is None or selection.marked or row.key not in self._alike or not self._asks(row):
            return selection
        return replace(selection, marked=len(self._alike[row.key]))

    def subject_of(self, row: ActionItem | None, marked: tuple[ActionItem, ...]) -> Selection:
        """The item under the cursor; agents and messages of the marked ones when there are any."""
        chosen = marked or ((row,) if row is not None else ())
        some = tuple(item for standing in chosen for item in self._standing_for(standing))
        message = row.message if row is not None else None
        request = self.request_of(row) if row is not None else None
        question = request.question if request is not None else None
        return Selection(
            request=request,
            message=message or question,
            agents=tuple(dict.fromkeys(item.who for item in some if item.who and item.need is not Need.DAMAGED)),
            messages=tuple(item.message for item in some if item.message is not None and item.need is Need.FAILED),
            letters=tuple(item.message for item in some if item.message is not None),
            incomplete=self.is_incomplete(question),
            requests=tuple(item.request for item in some if item.request is not None),
            listed=tuple(item for standing in self.rows.rows for item in self._standing_for(standing)),
        )

    def subjects_of(self, row: ActionItem) -> tuple[str, ...]:
        """See `Pane`; of a row that stands for several the messages of all."""
        same = self._alike.get(row.key, ())
        messages = (item.message.message_id for item in same if item.message is not None)
        return (*super().subjects_of(row), *messages, *(item.request.request_id for item in same if item.request))

    def snooze(self) -> int:
        """Put the chosen items aside for a while; returns how many."""
        row = self.rows.cursor_row
        some = self.rows.marked_rows() or ((row,) if row is not None else ())
        chosen = {row.key for row in some}
        for item in (item for row in some for item in self._standing_for(row)):
            self._snoozed[item.key] = (self.now + SNOOZE, self.matter_of(item))
        self.rows.step_on(lambda item: item.key in chosen)
        self.show(self.situation, self.now)
        return len(some)

    def wake(self) -> int:
        """Show all snoozed items again; returns how many."""
        number = len(self._snoozed)
        self._snoozed.clear()
        self.show(self.situation, self.now)
        return number

    def hidden(self) -> int:
        """How many items are snoozed."""
        return len(self._snoozed)

    def notes(self) -> list[str]:
        """How many are snoozed."""
        return [f"z {len(self._snoozed)} snoozed"] if self._snoozed else []

    def _wake_due(self, view: View) -> None:
        if not self._snoozed:
            return
        present = {item.key: item for item in view.attention}
        for key, (until, matter) in list(self._snoozed.items()):
            item = present.get(key)
            if item is None or until <= self.now or self.matter_of(item) != matter:
                del self._snoozed[key]


class RequestsPane(Pane[RequestRow]):
    """Everything that was asked: open requests first, then the answered ones."""

    MODE: ClassVar[Mode] = Mode.REQUESTS
    MARKABLE: ClassVar[bool] = True

    def draw(self, row: RequestRow, drawing: Drawing) -> Any:
        """A request in one line or two; what was decided about it says so until it is written."""
        decided = self.unwritten_of(row)
        return request_lines(replace(row, title=f"{unwritten(decided)} · {row.title}") if decided else row, drawing)

    def headings(self) -> Headings[RequestRow]:
        """Mine, those of others, and what is decided."""

        def line(below: tuple[RequestRow, ...], drawing: Drawing) -> Line:
            return ((f" {self._group_of(below[0])} {len(below):,}", "muted"),)

        return Headings(self._group_of, line)

    def _group_of(self, row: RequestRow) -> str:
        view = self.situation.view
        return "DECIDED" if not row.is_open else "ASKED BY YOU" if view and row.asker == view.me else "OPEN"

    def key_of(self, row: RequestRow) -> str:
        """Its own key."""
        return row.key

    def matter_of(self, row: RequestRow) -> object:
        """The question and whether it is open."""
        return row.question, row.is_open

    def rows_of(self, view: View) -> tuple[RequestRow, ...]:
        """The whole ledger, what the human asked behind what others did."""
        order = {"OPEN": 0, "ASKED BY YOU": 1, "DECIDED": 2}
        return tuple(sorted(view.requests, key=lambda row: order[self._group_of(row)]))

    def found_in(self, row: RequestRow) -> Searchable:
        """The request, its kind in plain words, and what is odd about it."""
        found = request_found(row, me=self.me)
        return replace(found, texts=(*found.texts, kind_word(row.kind), *row.flags))

    def document_of(self, row: RequestRow) -> Document | None:
        """The request with its answers and its history."""
        return request_document_of(self, row)

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
        return f"All requests · {count:,} open" if shown == total else f"All requests · {shown:,} of {total:,}"


def _plain_document(row: ActionItem) -> Document:
    sign = NEEDS[row.need]
    return Document(
        key=f"item:{row.key}",
        title=sign.word.capitalize(),
        blocks=(
            Fact("about", ((safe_line(row.who, 200), "strong"),)),
            Fact("why here", ((safe_line(row.why, 300), "muted"),)),
            Lines((((safe_line(row.title, 2000), ""),),)),
        ),
        source=row.title,
    )
