"""Needs you: everything that waits for the human, ranked, with the rank explained."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, ClassVar

from msgspec.structs import replace
from team_console.console.modes.pane import AttachmentCache, ListPane, beside, beside_report
from team_console.console.selection import Mode, Selection
from team_console.console.words import row_now, unwritten
from team_console.store.model.safe import safe_line
from team_console.store.protocol.verdicts import digest_of
from team_console.store.views.needs import ItemPart, arranged, part_of, rank_of, to_do
from team_console.store.views.rows import ActionItem, Need, RequestRow, View
from team_console.store.views.search import Found, message_found, request_found, text_found
from team_console.widgets.details import earlier_plans, message_document, request_document
from team_console.widgets.document import Document, Fact, Lines
from team_console.widgets.row_list import Drawing, Headings
from team_console.widgets.rows import attention_lines
from team_console.widgets.signs import NEEDS
from team_console.widgets.text import Line, spread

SNOOZE = timedelta(minutes=15)


class NeedsPane(ListPane[ActionItem]):
    """The list the console opens with."""

    MODE: ClassVar[Mode] = Mode.NEEDS
    MARKABLE: ClassVar[bool] = True

    def __init__(self, shelf: AttachmentCache) -> None:
        super().__init__(shelf)
        self._snoozed: dict[str, tuple[datetime, object]] = {}

    def draw(self, row: ActionItem, drawing: Drawing) -> Any:
        """An item in one line or two; what was decided about it says so until it is written."""
        decided = self.unwritten_of(row)
        return attention_lines(replace(row, title=f"{unwritten(decided)} · {row.title}") if decided else row, drawing)

    def headings(self) -> Headings[ActionItem]:
        """Its part, and for decisions why they rank there."""
        return Headings(self._group_of, self._heading_of)

    def _group_of(self, row: ActionItem) -> object:
        """Its part, and its rank among what is to decide."""
        part = part_of(row)
        return (part, rank_of(row)) if part is ItemPart.DECIDE else (part, None)

    def _heading_of(self, below: tuple[ActionItem, ...], drawing: Drawing) -> Line:
        """The part and the rank, how many, and the key that clears what is for information."""
        part = part_of(below[0])
        words = f" {part.upper()} {len(below):,}"
        if part is ItemPart.DECIDE:
            words += f" · {rank_of(below[0])}"
        key: Line = (("D", "key"), (" clears ", "muted")) if part is ItemPart.INFORMATION else ()
        return spread(((words, "muted"),), key, drawing.width)

    def title_of(self, shown: int, total: int) -> str:
        """How many are to be done, as the tab says, and how many are only to be known."""
        if shown != total:
            return super().title_of(shown, total)
        known = total - to_do(self.rows.rows)
        words = (f"{total - known:,}" if total > known or not known else "", f"{known:,} to know" if known else "")
        return " · ".join(filter(None, (self.MODE.label, *words)))

    def key_of(self, row: ActionItem) -> str:
        """Its own key."""
        return row.key

    def matter_of(self, row: ActionItem) -> object:
        """The message and where its request stands; ages and ranks are no disturbance."""
        return row.need, row.message, row.request.question if row.request else None

    def rows_of(self, view: View) -> tuple[ActionItem, ...]:
        """All items but the snoozed ones."""
        self._wake_due(view)
        items = view.attention
        if self._snoozed:
            items = tuple(item for item in items if item.key not in self._snoozed)
        return self._arrange(items)

    def row_as_known(self, row: ActionItem) -> ActionItem:
        """See `ListPane.row_as_known`; its request is still known."""
        request = row_now(row.request, self.situation.view) if row.request is not None else None
        return row if request is None or request is row.request else replace(row, request=request)

    def _arrange(self, items: tuple[ActionItem, ...]) -> tuple[ActionItem, ...]:
        if any(item.need is Need.DAMAGED for item in items):
            items = tuple(self._shortened(item) if item.need is Need.DAMAGED else item for item in items)
        return arranged(items)

    def tick(self, now: datetime) -> None:
        """Let ages go on; what was put aside long enough comes back, also where nothing else changes."""
        if any(until <= now for until, _ in self._snoozed.values()):
            self.show(self.situation, now)
        else:
            super().tick(now)

    def _shortened(self, item: ActionItem) -> ActionItem:
        short = self.situation.short
        return replace(item, who=short(item.who), title=short(item.title))

    def found_in(self, row: ActionItem) -> Found:
        """The request or message, why it is here, and what it blocks."""
        found = text_found(at=row.since)
        if row.request is not None:
            found = request_found(row.request, me=self.me)
        elif row.message is not None:
            found = message_found(row.message)
        said = (row.need, row.who, row.title, row.why, *row.blocks)
        return replace(found, texts=(*found.texts, *said), sender=found.sender or row.who)

    def document_of(self, row: ActionItem) -> Document | None:
        """The request, else the message, else the item itself."""
        if row.request is not None:
            view = self.situation.view
            around = beside(self, row.request)
            return request_document(
                row.request,
                now=self.now,
                earlier=earlier_plans(row.request, view.requests) if view else (),
                content=self.content_of(row.request.question),
                token=digest_of(row.request.question),
                item=row,
                seal=self.seal_of(row.request.question),
                me=view.me if view else "",
                seen=around.seen,
                above=around.above,
                below=around.below,
            )
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

    def drawn_from(self, view: View | None) -> tuple[object, ...]:
        """Earlier plans, the story asked about, what departs from a protocol; not what else was written meanwhile."""
        return (view.me, view.snapshot.config, view.requests, view.batches, view.findings) if view is not None else ()

    def request_of(self, row: ActionItem) -> RequestRow | None:
        """The request that waits, if it is one."""
        return row.request

    def subject_of(self, row: ActionItem | None, marked: tuple[ActionItem, ...]) -> Selection:
        """The item under the cursor; agents and messages of the marked ones when there are any."""
        some = marked or ((row,) if row is not None else ())
        message = row.message if row is not None else None
        question = row.request.question if row is not None and row.request is not None else None
        return Selection(
            request=row.request if row is not None else None,
            message=message or question,
            agents=tuple(dict.fromkeys(item.who for item in some if item.who and item.need is not Need.DAMAGED)),
            messages=tuple(item.message for item in some if item.message is not None and item.need is Need.FAILED),
            letters=tuple(item.message for item in some if item.message is not None),
            incomplete=self.is_incomplete(question),
            requests=tuple(item.request for item in some if item.request is not None),
            listed=self.rows.rows,
        )

    def snooze(self) -> int:
        """Put the chosen items aside for a while; returns how many."""
        row = self.rows.cursor_row
        some = self.rows.marked_rows() or ((row,) if row is not None else ())
        for item in some:
            self._snoozed[item.key] = (self.now + SNOOZE, self.matter_of(item))
        self.rows.step_on(lambda item: item.key in self._snoozed)
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


def _plain_document(row: ActionItem) -> Document:
    sign = NEEDS[row.need]
    return Document(
        key=f"item:{row.key}",
        title=sign.word.capitalize(),
        blocks=(
            Fact("about", ((safe_line(row.who, 200), "strong"),)),
            Fact("rank", ((safe_line(row.why, 300), "muted"),)),
            Lines((((safe_line(row.title, 2000), ""),),)),
        ),
        source=row.title,
    )
