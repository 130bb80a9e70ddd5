"""What every list of the console lists: its rows, which of them are shown, and what is read of one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, ClassVar, Generic, TypeVar

from team_console.console.preferences import Sort, properties_of
from team_console.console.selection import Mode, Selection
from team_console.console.tui.cache import ScreenCache
from team_console.console.tui.empty_lists import empty_words
from team_console.console.tui.modes.message_sources import MessageSources
from team_console.console.tui.outcomes import with_pending
from team_console.console.tui.screen_state import ScreenState
from team_console.store.model.message import Message, Status
from team_console.store.protocol.kinds import RequestKind
from team_console.store.views.rows import DeliveryRow, RequestRow, RequestState, View
from team_console.store.views.search import Query, Searchable
from team_console.widgets.document import Document
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
        self.situation, self.now = ScreenState(), datetime.now(UTC)
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
        """Take in that the filter asks for other times; `shown` asks it each time."""

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
