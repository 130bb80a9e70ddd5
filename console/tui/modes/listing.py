"""What every list of the console lists: its rows, which of them are shown, what is read of one, and its evidence."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from time import monotonic
from typing import Any, ClassVar, Generic, TypeVar

from msgspec.structs import replace
from team_console.console.preferences import Sort, properties_of
from team_console.console.selection import Mode, Selection
from team_console.console.tui.cache import ScreenCache
from team_console.console.tui.empty_lists import empty_words
from team_console.console.tui.evidence import EvidenceRequest, ShownEvidence
from team_console.console.tui.outcomes import with_pending
from team_console.console.tui.situation import Situation
from team_console.store.contract.team import attachment_of
from team_console.store.model.message import Message, Status
from team_console.store.model.names import USER
from team_console.store.protocol.kinds import RequestKind
from team_console.store.protocol.message_seal import Seal, message_seal
from team_console.store.protocol.parsing import parse_message
from team_console.store.protocol.shown_when_decided import digest_of, seen_of
from team_console.store.views.evidence import claimed_checks, version_before
from team_console.store.views.rows import ActionItem, DeliveryRow, RequestRow, RequestState, View
from team_console.store.views.search import Query, Searchable
from team_console.widgets.document import Block, Document, Heading, one_line
from team_console.widgets.message_documents import message_document
from team_console.widgets.request_documents import earlier_plans, request_document
from team_console.widgets.row_drawing import Drawing
from team_console.widgets.text import Line
from textual.message import Message as TextualMessage

RowT = TypeVar("RowT")


class Listing(ABC, Generic[RowT]):
    """The rows of one list, and what is known of each; `Pane` shows them.

    Attributes:
        situation, now: The state of the store that is listed, and when that was.
        all: Every row, the one that is read included although it left.
        gone: The row that is only there because it is read; None for none.
        group_of_gone: The heading that it stood below when it left.
        query: What the rows are filtered by, as it was typed in `query_text`.
        sort: What the rows are sorted by; empty for their own order.
        sources: What belongs to a message beside its record.
        ask_screen: Asks the screen for what is not known yet.
    """

    MODE: ClassVar[Mode]
    MARKABLE: ClassVar[bool] = False
    KEY: ClassVar[str] = "key"
    """Attribute that names a row."""
    HAS_GROUP_IN_TITLE: ClassVar[bool] = False
    """Whether the title names the group of the rows at the top."""
    TWO_LINES_FROM: ClassVar[int] = 18
    """Height of the list from which on its rows have two lines; 0 for never."""

    def __init__(self, cache: ScreenCache) -> None:
        self.cache = cache
        self.ask_screen: Callable[[TextualMessage], object] = lambda message: None
        self.situation, self.now = Situation(), datetime.now(UTC)
        self.all: tuple[RowT, ...] = ()
        self.gone: RowT | None = None
        self.group_of_gone = ""
        self.query, self.query_text = Query(), ""
        self.sort = self._sort_in_settings = self._sort_chosen()
        self.sources = MessageSources(self)

    @property
    def me(self) -> str:
        """The person the team is shown to."""
        return self.situation.view.me if self.situation.view is not None else ""

    @property
    def requests(self) -> tuple[RequestRow, ...]:
        """Every request that is known."""
        return self.situation.requests

    # What each list says of its rows.

    def rows_of(self, view: View) -> tuple[RowT, ...]:
        """Return the rows of this list; of one that is read by itself those that were read."""
        return self.all

    @abstractmethod
    def draw(self, row: RowT, drawing: Drawing) -> tuple[Line, ...]:
        """Return the lines of a row."""

    @abstractmethod
    def searchable_of(self, row: RowT) -> Searchable:
        """Return the fields that a filter searches."""

    @abstractmethod
    def document_of(self, row: RowT) -> Document | None:
        """Return the document of a row."""

    @abstractmethod
    def selection_of(self, row: RowT, chosen: tuple[RowT, ...]) -> Selection:
        """Return the selection: the row under the cursor, and `chosen`: the marked rows if any, else that row."""

    def key_of(self, row: RowT) -> str:
        """Return the key of a row."""
        return str(getattr(row, self.KEY))

    def row_as_known(self, row: RowT) -> RowT:
        """Return a row that is none of the list any more, as it is known now."""
        return row

    def basis_of(self, row: RowT) -> object:
        """Return the part of a row that a human decides on."""
        return row

    def group_of(self, row: RowT) -> str:
        """Return the heading a row stands under; empty for none."""
        return ""

    def heading(self, below: tuple[RowT, ...], drawing: Drawing) -> Line:
        """Return the line above a group of rows."""
        return ((f" {self.group_of(below[0])} {len(below):,}", "muted"),)

    def who_of(self, row: RowT) -> str:
        """Return the agent whose name a row has in a column; empty for none."""
        return ""

    def is_new(self, row: RowT) -> bool:
        """Return whether the human has not seen a row yet."""
        return False

    def request_of(self, row: RowT) -> RequestRow | None:
        """Return the request of a row, whose evidence is looked for before the row is drawn; None for one without."""
        return None

    def subjects_of(self, row: RowT) -> tuple[str, ...]:
        """Return ids of the request and the message that a row is about."""
        selection, ids = self.selection_of(row, (row,)), []
        if selection.request is not None:
            ids.append(selection.request.request_id)
        if selection.message is not None:
            ids.append(selection.message.message_id)
        return tuple(ids)

    def title_of(self, shown: int, total: int) -> str:
        """Return the words on the border of the list."""
        return f"{self.MODE.label} · {shown:,}" if shown == total else f"{self.MODE.label} · {shown:,} of {total:,}"

    def notes(self) -> list[str]:
        """Return further words on the border."""
        return []

    def empty(self) -> tuple[Line, ...]:
        """Return what stands where no row is shown."""
        return empty_words(self.MODE, self.situation, query=self.query_text)

    # The rows that are shown.

    def shown(self) -> tuple[RowT, ...]:
        """Return the rows that fit the filter, in their order."""
        if not self.query.terms:
            return sorted_rows(self.all, self.sort)
        return sorted_rows(tuple(row for row in self.all if self.query.fits(self.searchable_of(row))), self.sort)

    def filter_again(self) -> None:
        """Take in that times in the query mean others now, as `since:1h` does; nothing where each showing filters."""

    def _sort_chosen(self) -> str:
        return getattr(self.cache.preferences.sort, self.MODE, "")

    def take_preferences(self) -> bool:
        """Sort as the settings say, if they did not say so before; return whether they did not."""
        before, self._sort_in_settings = self._sort_in_settings, self._sort_chosen()
        if before == self._sort_in_settings:
            return False
        self.sort = self._sort_in_settings
        return True

    def sort_next(self) -> str | None:
        """Sort by the next thing this list can be sorted by; its name, empty for its own order, None without any."""
        name = next_sort(self.MODE, self.sort)
        if name is not None:
            self.sort = name
        return name

    def query_values(self) -> Mapping[str, Iterable[str]]:
        """Return the values that complete a key of a query."""
        names = [agent.name for agent in self.situation.roster]
        kinds = [str(kind) for kind in RequestKind]
        states = [*map(str, Status), *map(str, RequestState)]
        return {"from": names, "kind": kinds, "status": states, "@": sorted(self.cache.preferences.filters)}

    def with_read_row(
        self, rows: tuple[RowT, ...], read: RowT | None, before: Sequence[RowT], *, is_leaving: bool
    ) -> tuple[RowT, ...]:
        """Return the rows, with the one that is read where it stood: who reads it is told there that it left them.

        Args:
            read: The row under the cursor.
            before: The rows above it.
            is_leaving: Whether it was just decided on, so that nobody is surprised that it left.
        """
        gone_before = self.key_of(self.gone) if self.gone is not None else None
        self.gone = None
        key = self.key_of(read) if read is not None else None
        if read is None or is_leaving or any(self.key_of(row) == key for row in rows):
            return rows
        if key != gone_before:
            self.group_of_gone = self.group_of(read)
        self.gone = self.row_as_known(read)
        places = {self.key_of(row): place for place, row in enumerate(rows)}
        above = map(self.key_of, reversed(before))
        place = next((places[key] + 1 for key in above if key in places), 0)
        return (*rows[:place], self.gone, *rows[place:])

    def forget_gone(self) -> str:
        """Take the row away that is only there because it was read; returns its key."""
        assert self.gone is not None
        key = self.key_of(self.gone)
        self.gone = None
        self.all = tuple(row for row in self.all if self.key_of(row) != key)
        return key

    def is_gone(self, row: RowT) -> bool:
        """Return whether a row is only there because it is read: it left the list, and no number counts it."""
        # guard: what-is-gone-is-not-counted
        return self.gone is not None and self.key_of(row) == self.key_of(self.gone)

    def count(self, rows: Sequence[RowT]) -> int:
        """Return the number of rows, without one that is only there because it is read."""
        if self.gone is None:  # the usual case, also of a long list
            return len(rows)
        return len(rows) - sum(map(self.is_gone, rows))

    def pending_of(self, row: RowT) -> str:
        """Return the verb of the row's pending decision; empty for none."""
        decided = self.cache.pending
        return next((decided[key] for key in self.subjects_of(row) if key in decided), "") if decided else ""

    def whole_document_of(self, row: RowT) -> Document | None:
        """Return the document of a row, which says first what is pending about it."""
        document, decided = self.document_of(row), self.pending_of(row)
        return with_pending(document, decided) if document and decided else document


_NEVER = datetime.max.replace(tzinfo=UTC)


def sorted_rows(rows: tuple[RowT, ...], name: str) -> tuple[RowT, ...]:
    """Return the rows by `name`, oldest first; as they are for an empty name."""
    key = _SORT_KEYS.get(name)
    return tuple(sorted(rows, key=key)) if key is not None else rows


def _message_of(row: Any) -> Message:
    if isinstance(row, RequestRow):
        return row.question
    return row.message if isinstance(row, DeliveryRow) else row


def _state_of(row: Any) -> str:
    return str(row.state) if isinstance(row, RequestRow | DeliveryRow) else _message_of(row).status


_SORT_KEYS: Mapping[str, Callable[[Any], Any]] = {
    "age": lambda row: _message_of(row).created_at or _NEVER,
    "agent": lambda row: (row.recipient if isinstance(row, DeliveryRow) else _message_of(row).sender).casefold(),
    "kind": lambda row: str(row.kind) if isinstance(row, RequestRow) else _message_of(row).type,
    "state": _state_of,
}


def next_sort(mode: str, present: str) -> str | None:
    """Return the column after `present`: at the end none, which is ""; None where there is no choice."""
    shape = properties_of(Sort).get(mode)
    if shape is None:
        return None
    names = shape["enum"]
    return names[(names.index(present) + 1) % len(names)] if present in names else ""


# What belongs to a message beside its record: its whole content, its signature, the evidence that was gathered.

KINDS_WITH_EVIDENCE = frozenset({RequestKind.PLAN, RequestKind.PERMISSION})
"""Kinds of request that evidence is gathered for."""
FRESH_SECONDS = 2.0
"""Seconds for which evidence that is on the screen is not looked for again."""
NOT_YET = "evidence was still looked for"
_LOOKING = (
    Heading("evidence", is_evidence=True),
    replace(one_line("◔ looking for what it names, and for what ran", "muted"), is_evidence=True),
)
"""Stands in the place of evidence that is still looked for."""


@dataclass
class ContentWanted(TextualMessage):
    """The whole content of `message` is stored beside the queue and should be read."""

    message: Message


@dataclass
class EvidenceWanted(TextualMessage):
    """The evidence for `request` is not known, or it was looked for some time ago."""

    request: EvidenceRequest


class MessageSources:
    """Give what belongs to a message beside its record, and ask the screen for what is missing or stale."""

    def __init__(self, listing: Listing[Any]) -> None:
        self._listing = listing

    def content_of(self, message: Message) -> str | None:
        """Return the whole content of a message whose record holds only its beginning; asks for it when it is not
        read yet.
        """
        place = attachment_of(message)
        if place is None:
            return None
        text = self._listing.cache.contents.get(place)
        if text is None:
            self._listing.ask_screen(ContentWanted(message))
        return text

    def is_incomplete(self, message: Message | None) -> bool:
        """Return whether a part of the message's content has not been read yet."""
        place = attachment_of(message) if message is not None else None
        return place is not None and place not in self._listing.cache.contents

    def seal_of(self, message: Message) -> Seal | None:
        """Return the state of the message's signature; None when the team has no key to check it with."""
        snapshot = self._listing.situation.snapshot
        key = snapshot.config.key if snapshot else b""
        return message_seal(message, key) if key else None

    def document_of(self, message: Message, evidence: ShownEvidence | None = None) -> Document:
        """Return a message that can be answered, with what stands beside it and where it departs from its protocol."""
        content, view = self.content_of(message), self._listing.situation.view
        findings = view.findings if view is not None else ()
        return message_document(
            message,
            now=self._listing.now,
            reader=self._listing.me,
            content=content,
            token=digest_of(message),
            problems=tuple(each for each in findings if each.place.partition(" ")[0] == message.message_id),
            seal=self.seal_of(message),
            seen=evidence.seen if evidence is not None else None,
            above=evidence.above if evidence is not None else (),
            below=evidence.below if evidence is not None else self._below_report(message, content),
        )

    def document_of_request(self, row: RequestRow, item: ActionItem | None = None) -> Document:
        """Return a request with what stands beside it; `item` tells why it stands in the list of what waits."""
        listing, evidence = self._listing, self.evidence_for(row)
        return request_document(
            row,
            now=listing.now,
            requests=listing.requests,
            me=listing.me,
            item=item,
            content=self.content_of(row.question),
            seal=self.seal_of(row.question),
            seen=evidence.seen,
            above=evidence.above,
            below=evidence.below,
        )

    def evidence_for(self, row: RequestRow) -> ShownEvidence:
        """Return what stands beside a request; asks for evidence that is missing or stale."""
        request = self.evidence_request(row)
        if request is None:
            return ShownEvidence(seen_of(row.question))
        looking = ShownEvidence(seen_of(row.question, evidence=(NOT_YET,)), below=_LOOKING)
        return self._evidence_or_ask(request) or looking

    def is_ready(self, row: RequestRow) -> bool:
        """Return whether the evidence of a request is gathered, so that it need not be drawn twice."""
        request = self.evidence_request(row)
        if request is None:
            return not self.is_incomplete(row.question)
        return self._known_evidence(request) is not None

    def evidence_request(self, row: RequestRow) -> EvidenceRequest | None:
        """Return the request for a row's evidence; None where there is none to gather, or its text is still being
        read.
        """
        view = self._listing.situation.view
        if row.kind not in KINDS_WITH_EVIDENCE or not row.is_open or view is None:
            return None
        former = version_before(row, earlier_plans(row, self._listing.requests), self._listing.cache.looked_at)
        # Both are asked for at once: the second would otherwise be read only when the first was shown.
        former_text = self.content_of(former.question) if former is not None else None
        whole = self.content_of(row.question)
        if self.is_incomplete(row.question):
            return None
        if former is not None and self.is_incomplete(former.question):
            former = None
        if former is None:
            before = ""
        elif former_text is None:
            before = former.question.content
        else:
            before = former_text
        text = row.question.content if whole is None else whole
        return EvidenceRequest(row.key, row.question, row, text, former, before, view.batches)

    def _below_report(self, message: Message, content: str | None) -> tuple[Block, ...]:
        """Return the blocks below an agent's report that claims to have run checks."""
        text = message.content if content is None else content
        is_report = message.sender != USER and parse_message(message).opens is None
        if not is_report or not text or not claimed_checks(text):
            return ()
        known = self._evidence_or_ask(EvidenceRequest(f"report:{message.message_id}", message, None, text))
        return known.below if known is not None else _LOOKING

    def _known_evidence(self, request: EvidenceRequest) -> ShownEvidence | None:
        known = self._listing.cache.evidence.get(request.key)
        return known if known is not None and known.is_for(request) else None

    def _evidence_or_ask(self, request: EvidenceRequest) -> ShownEvidence | None:
        known = self._known_evidence(request)
        if known is None or monotonic() - known.at > FRESH_SECONDS:
            self._listing.ask_screen(EvidenceWanted(request))
        return known
