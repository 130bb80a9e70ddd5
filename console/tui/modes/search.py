"""The search line of a list, and what its words do: rows are filtered, what is read is searched in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

from team_console.console.tui.modes.listing import Listing
from team_console.store.model.errors import TeamError
from team_console.store.model.safe import safe_line
from team_console.store.views.search import Query, parse_query, query_completions
from team_console.widgets.detail import Detail
from team_console.widgets.line_field import Completer, Field
from team_console.widgets.row_list import RowList
from textual.app import ComposeResult
from textual.containers import Container
from textual.widgets import Static

if TYPE_CHECKING:
    from textual.widget import Widget
    from textual.widgets import Input


LONGEST_WORDS = 1_000
"""Characters of words that are searched for: each line that is drawn is looked through for each of them."""


class SearchLine(Container):
    """Words to search for, behind the `/` that opened the line; not there until it is asked for."""

    DEFAULT_CSS = """
    SearchLine { display: none; height: 1; layout: horizontal; background: $panel; }
    SearchLine.-shown { display: block; }
    SearchLine > #slash { width: 3; padding: 0 1; color: $text-accent; text-style: bold; }
    SearchLine > Field { width: 1fr; }
    SearchLine.-trouble { height: auto; }
    SearchLine > #trouble { display: none; dock: bottom; height: auto; padding: 0 1; color: $text-warning; }
    SearchLine.-trouble > #trouble { display: block; }
    """

    def __init__(
        self,
        values: Callable[[], Mapping[str, Iterable[str]]],
        typed: Callable[[str], object],
        submitted: Callable[[str], object],
    ) -> None:
        """Make a closed line.

        Args:
            values: Values that complete a key of a query.
            typed: Takes the words after each change.
            submitted: Takes the words when they are as they should be.
        """
        super().__init__()
        self._values, self._when_typed, self._when_submitted = values, typed, submitted
        self._field: Field | None = None
        self._asked_from: Widget | None = None
        self.trouble = ""

    def compose(self) -> ComposeResult:
        """Yield the slash; the field is made when it is first asked for."""
        yield Static("/", id="slash")
        yield Static(id="trouble", markup=False)

    def say(self, trouble: str) -> None:
        """Say what of the words is not understood, safe text; empty where all is."""
        if trouble != self.trouble:
            self.trouble = safe_line(trouble, 300)
            self.set_class(bool(trouble), "-trouble")
            self.query_one("#trouble", Static).update(f"△ {self.trouble}")

    @property
    def is_open(self) -> bool:
        """Whether words are being typed."""
        return self._field is not None and self.is_attached and self.has_class("-shown")

    def open(self, words: str) -> None:
        """Ask for words, beginning with those that hold now."""
        if self._field is None:
            wanted = 'words  from: to: kind: status: is: since: before:  -without  "exact"'
            self._field = Field(placeholder=wanted, suggester=Completer(self._completions))
            # Mounted in a place that is there already: a field whose parent is new cannot have the focus at once, and
            # what is typed meanwhile would be keys.
            self.mount(self._field, before="#trouble")
        if not self.is_open:
            self._asked_from = self.screen.focused
        self.add_class("-shown")
        self._field.value = words
        self._field.select_all()
        # At once: `focus` takes its turn in a queue, and a key that is there already would act on the list.
        self.screen.set_focus(self._field)

    def _completions(self, typed: str) -> Iterable[str]:
        return query_completions(typed, self._values()) if len(typed) <= LONGEST_WORDS else ()

    def close(self) -> Widget | None:
        """Ask no more; what had the focus before, None when nothing was asked."""
        self.remove_class("-shown")
        before, self._asked_from = self._asked_from, None
        return before

    def on_input_changed(self, event: Input.Changed) -> None:
        """Take the words after each change."""
        event.stop()
        self._when_typed(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Take the words as they should be."""
        event.stop()
        self._when_submitted(event.value)


class SearchedList(Protocol):
    """A list with its thing under the cursor beside it, as its search uses it."""

    @property
    def listing(self) -> Listing[Any]:
        """What the list is of."""

    @property
    def rows(self) -> RowList[Any]:
        """The list."""

    @property
    def detail(self) -> Detail:
        """The thing under the cursor."""

    @property
    def is_reading(self) -> bool:
        """Whether the thing has the whole screen."""

    def set_filter(self, text: str) -> None:
        """Show only rows that fit a query."""

    def step(self, direction: int) -> bool:
        """Go to the next thing, or the one before; False at the end."""


class Search:
    """The search of one list: its line, the query of the words in it, and the way from hit to hit.

    It is a part of each mode's pane and no mode itself. What is typed goes by the line to `_search`. While one thing is
    read its detail looks for the words; else `set_filter` of the pane keeps them in its listing, lets `take_words` make
    the query of them, and lists the rows anew.

    Attributes:
        line: Where the words are typed.
    """

    def __init__(self, host: SearchedList) -> None:
        self._host = host
        self.line = SearchLine(lambda: host.listing.query_values(), self._search, self._submit)
        self._last_query = Query()

    @property
    def is_open(self) -> bool:
        """Whether words are being typed."""
        return self.line.is_open

    @property
    def takes_keys(self) -> bool:
        """Whether keys are letters of the words: who clicks on a row meanwhile has left them."""
        focused = self.line.screen.focused if self.is_open else None
        return focused is not None and focused.parent is self.line

    @property
    def _words(self) -> str:
        """The words that hold now."""
        return self._host.detail.sought if self._host.is_reading else self._host.listing.query_text

    def open(self) -> None:
        """Ask for words to filter by, or to look for in what is read."""
        self.line.open(self._words)

    def close(self, *, keep: bool) -> None:
        """Ask for no more words; without `keep`, show all rows again."""
        words = self._words if keep else ""
        self._search(words)
        host, before = self._host, self.line.close()
        if host.is_reading:
            host.detail.focus()
        elif words or before is None:
            host.rows.focus()
        else:
            before.focus()

    def _search(self, text: str) -> None:
        """Search in what is read, or filter the list; by no page that was pasted, which would take minutes."""
        # guard: no-page-is-searched-for
        if len(text) > LONGEST_WORDS:
            self.line.say(f"{len(text):,} characters are too many to look for; {LONGEST_WORDS:,} at most. esc ends it")
            return
        if self._host.is_reading:
            is_found = self._host.detail.find(text)
            self.line.say("no line of it holds these words" if text and not is_found else "")
        else:
            self._host.set_filter(text)

    def _submit(self, text: str) -> None:
        self._search(text)
        if not self.line.trouble:
            self.close(keep=True)

    def take_words(self, text: str) -> None:
        """Understand the query, mark its words in rows and detail, and remember it for `next_hit`. What is not
        understood is said, and the rows are those of the words before the last one: they stay as they were before it.
        """
        try:
            query = self._parse(text)
        except TeamError as error:
            self.line.say(f"{error.message}. {error.hint}")
            with suppress(TeamError):  # what is wrong stands further ahead: the rows stay as they are
                self._take_query(self._parse(text.rpartition(" ")[0]))
        else:
            self.line.say("")
            self._take_query(query)

    def renew_times(self) -> bool:
        """Understand the times of the query as of now; return whether they are others, as `today` is past midnight."""
        listing = self._host.listing
        before = listing.query
        if any(term.moment is not None for term in before.every_term):
            with suppress(TeamError):  # not understood: the rows are those of the words before the last one
                listing.query = self._parse(listing.query_text)
        if listing.query == before:
            return False
        listing.filter_again()
        return True

    def _parse(self, text: str) -> Query:
        listing = self._host.listing
        return parse_query(text, now=listing.now, saved=listing.cache.preferences.filters, me=listing.me)

    def _take_query(self, query: Query) -> None:
        """Let the rows and the detail be those of the query."""
        self._host.listing.query = query
        self._last_query = query if query.terms else self._last_query
        shown = tuple(word.casefold() for word in query.words)
        self._host.rows.set_hits(shown)
        self._host.detail.set_hits(shown)

    def next_hit(self, direction: int) -> bool:
        """Go to the next place with the words of the last filter: in the detail a line, else a row; False for none."""
        host, detail, rows = self._host, self._host.detail, self._host.rows
        if host.is_reading and detail.sought:
            return detail.next_hit((detail.sought,), direction)
        if host.is_reading:
            return host.step(direction)
        if not self._last_query.terms:
            return False
        if detail.has_focus:
            return detail.next_hit(tuple(word.casefold() for word in self._last_query.words), direction)
        all_rows, (place, number) = rows.rows, rows.position
        order = [(place - 1 + direction * step) % number for step in range(1, number + 1)] if number else []
        fits = (index for index in order if self._last_query.fits(host.listing.searchable_of(all_rows[index])))
        index = next(fits, None)
        return index is not None and rows.select(host.listing.key_of(all_rows[index]))
