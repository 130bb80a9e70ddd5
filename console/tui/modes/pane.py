"""What every list of the console has in common: rows, the thing itself, a filter, and what keys act on."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace
from team_console.console.preferences import Preferences
from team_console.console.selection import NOTHING, Mode, Selection
from team_console.console.tui.drafts import Drafts
from team_console.console.tui.evidence import EvidenceRequest
from team_console.console.tui.words import (
    BROKEN,
    BROKEN_DOCUMENT,
    NO_LONGER,
    ScreenState,
    empty_words,
    first_step,
    has_command,
    next_sort,
    request_outcome,
    row_now,
    sorted_rows,
    with_banner,
    with_pending,
)
from team_console.store.contract.team import Team, attachment_of
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message, Status
from team_console.store.model.names import USER
from team_console.store.model.safe import safe_line, safe_text
from team_console.store.protocol.kinds import RequestKind
from team_console.store.protocol.parsing import parse_message
from team_console.store.protocol.verdicts import Seal, Seen, digest_of, message_seal, seen_of
from team_console.store.views.evidence import Evidence, Mark, claimed_checks, version_before
from team_console.store.views.rows import RequestRow, RequestState, View
from team_console.store.views.search import Query, Searchable, parse_query, query_completions
from team_console.widgets.bars import OneLine
from team_console.widgets.detail import Detail, Painted
from team_console.widgets.details import asked_blocks, diff_text, message_document
from team_console.widgets.document import Block, Document, Heading, Lines, Text, said
from team_console.widgets.fields import Completer, Field
from team_console.widgets.form import CHANGED
from team_console.widgets.requests import earlier_plans, remarks_on
from team_console.widgets.row_list import Draw, Drawing, RowList
from team_console.widgets.scrolled import NotShown
from team_console.widgets.signs import Sign
from team_console.widgets.text import Line
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.message import Message as TextualMessage
from textual.timer import Timer

if TYPE_CHECKING:
    from textual.widget import Widget
    from textual.widgets import Input

RowT = TypeVar("RowT")

_REST = 0.04
"""Seconds for which a thing waits for its evidence before it is drawn without."""
_AROUND = 0.15
"""Seconds after which what stands beside the rows around the cursor is looked for, since one of them is next."""
_WIDE, _HIGH = (12, 13), (10, 10)
"""Shares of list and detail, side by side and below each other."""
_MOST = 8
"""Shares the divider moves at most."""


class FilterLine(Container):
    """Words to filter by, behind the `/` that opened the line; not there until it is asked for."""

    DEFAULT_CSS = """
    FilterLine { display: none; height: 1; layout: horizontal; background: $panel; }
    FilterLine.-shown { display: block; }
    FilterLine > OneLine { width: 3; padding: 0 1; background: $panel; }
    FilterLine > Field { width: 1fr; }
    FilterLine.-trouble { height: 2; }
    FilterLine > .filter--trouble { display: none; dock: bottom; width: 100%; }
    FilterLine.-trouble > .filter--trouble { display: block; }
    """

    def compose(self) -> ComposeResult:
        """Yield the slash; the field is made when it is first asked for."""
        slash = OneLine()
        slash.set_line((("/", "key"),))
        yield slash
        yield OneLine(classes="filter--trouble")

    def __init__(self, values: Callable[[], Mapping[str, Iterable[str]]]) -> None:
        super().__init__()
        self._values = values
        self._field: Field | None = None
        self._asked_from: Widget | None = None
        self.trouble = ""

    def say(self, trouble: str) -> None:
        """Say what of the words is not understood, safe text; empty where all is."""
        if trouble != self.trouble:
            self.trouble = safe_line(trouble, 300)
            self.set_class(bool(trouble), "-trouble")
            self.query_one(".filter--trouble", OneLine).set_line((("△ ", "warn"), (self.trouble, "warn")))

    @property
    def is_open(self) -> bool:
        """Whether words are being typed."""
        return self._field is not None and self.has_class("-shown")

    def open(self, words: str) -> None:
        """Ask for words, beginning with those that hold now."""
        if self._field is None:
            wanted = 'words  from: to: kind: status: is: since: before:  -without  "exact"'
            self._field = Field(
                placeholder=wanted, suggester=Completer(lambda typed: query_completions(typed, self._values()))
            )
            # Mounted in a place that is there already: a field whose parent is new cannot have the focus at once, and
            # what is typed meanwhile would be keys.
            self.mount(self._field, before=".filter--trouble")
        if not self.is_open:
            self._asked_from = self.screen.focused
        self.add_class("-shown")
        self._field.value = words
        self._field.select_all()
        # At once: `focus` takes its turn in a queue, and a key that is there already would act on the list.
        self.screen.set_focus(self._field)

    def close(self) -> Widget | None:
        """Ask no more; what had the focus before, None when nothing was asked."""
        self.remove_class("-shown")
        before, self._asked_from = self._asked_from, None
        return before


# The cache of what panes read from beside the view, and the contents of messages stored beside the queue.


class AttachmentCache(Struct):
    """What panes read from beside the view.

    Attributes:
        contents: Texts stored beside the queue that have been read, by their reference.
        pending: Id of a request or message -> what was decided about it and is not written yet, or `DRAFT`.
        looked_at: Tokens of the documents that were on the screen, each with all that was last shown with it.
        painted: Tokens of these documents, each with the lines that were painted (`detail.Painted`).
        evidence: What was looked at beside a request or report, by its key.
        preferences: What the user chose.
        divider: Shares by which lists are wider than usual, or narrower.
        new_since: What came later than this was not seen before; None when that is not known.
        drafts: What was typed and not sent: remarks are drawn below their lines.
    """

    team: Team
    contents: dict[str, str] = field(default_factory=dict)
    pending: Mapping[str, str] = field(default_factory=dict)
    looked_at: dict[str, Seen | None] = field(default_factory=dict)
    painted: dict[str, Painted] = field(default_factory=dict)
    evidence: dict[str, Gathered] = field(default_factory=dict)
    preferences: Preferences = field(default_factory=Preferences)
    divider: int = 0
    new_since: datetime | None = None
    drafts: Drafts | None = None

    def is_new(self, since: datetime | None, token: str) -> bool:
        """Return whether the human has not seen what came at `since` and is shown under `token`."""
        return (
            since is not None and self.new_since is not None and since > self.new_since and token not in self.looked_at
        )

    def as_painted(self, seen: Seen, frame: int) -> Seen:
        """Return what was shown of a request, with the lines of it that the terminal held up to a frame.

        Raises:
            TeamError: Nothing of it was held.
        """
        painted = self.painted.get(seen.question, Painted()).until(frame)
        changed = self.painted.get(f"{CHANGED}{seen.question}", Painted()).until(frame)
        if not painted.text and changed.text:
            return replace(seen, painted=f"what changed meanwhile, {changed.words}", hides_evidence=True)
        # guard: nothing-decided-that-was-never-drawn
        if painted.shown is None:
            text = "nothing of it was on the screen when the key was pressed"
            raise TeamError(Code.NOT_PERMITTED, text, "esc, then enter shows it.")
        evidence = painted.has_evidence
        return replace(seen, painted=painted.words, hides_evidence=not evidence, is_whole=painted.is_whole)

    def unseen(self, token: str) -> str:
        """Return what was not painted of a request so far, as safe words; empty when all of it was."""
        painted = self.painted.get(token, Painted())
        if painted.is_whole:
            return ""
        return (
            "not shown yet" if painted.shown is None else f"shown {len(painted.text):,} of {painted.text_lines:,} lines"
        )


class Pane(Container, Generic[RowT]):
    """A list with the thing itself right or below, and a filter. What is read stays, also once it left the rows, until
    the cursor leaves it: a key never acts on another thing than the one that is shown.
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
    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "go_on", "Go on with what is read", show=False)]
    MODE: ClassVar[Mode]
    MARKABLE: ClassVar[bool] = False
    KEY: ClassVar[str] = "key"
    """Attribute that names a row."""
    HAS_GROUP_IN_TITLE: ClassVar[bool] = False
    """Whether the title names the group of the rows at the top."""
    ROOMY: ClassVar[int] = 18
    """Height of the list from which on its rows have two lines; 0 for never."""
    draw: Draw[RowT]

    @dataclass
    class Looked(TextualMessage):
        """Another row, mark or panel: what keys act on may be another thing now."""

        pane: Pane[Any]

    @dataclass
    class Wanted(TextualMessage):
        """The whole content of `message` is stored beside the queue and should be read."""

        message: Message

    @dataclass
    class GoTo(TextualMessage):
        """The row `key` of another list is what the human wants to see."""

        mode: Mode
        key: str

    def __init__(self, cache: AttachmentCache) -> None:
        super().__init__(id=f"pane-{self.MODE}")
        self.cache = cache
        self.situation = ScreenState()
        self.now = datetime.now(UTC)
        self.query_text = ""
        self.sort = getattr(cache.preferences.sort, self.MODE, "")
        self._drawn: object = None
        self._all: tuple[RowT, ...] = ()
        self._gone: RowT | None = None
        self._asked: RequestRow | None = None
        self._sought = ""
        self.wanted = Query()
        self._last_query = Query()
        self._resting: Timer | None = None
        self._around: Timer | None = None

    def on_mount(self) -> None:
        """Lines of rows as the user wants them."""
        self.take_preferences()

    def take_preferences(self) -> None:
        """Lines of rows as the user wants them now."""
        self.rows.set_density(is_roomy=self.cache.preferences.density == "roomy")

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

    @cached_property
    def _asking(self) -> FilterLine:
        """The line in which words to filter by are typed."""
        return self.query_one(FilterLine)

    # What a list says of its rows.

    def key_of(self, row: RowT) -> str:
        """Return the key of a row."""
        return str(getattr(row, self.KEY))

    @abstractmethod
    def rows_of(self, view: View) -> tuple[RowT, ...]:
        """Return the rows of this list."""

    @abstractmethod
    def found_in(self, row: RowT) -> Searchable:
        """Return the fields that a filter searches."""

    def query_values(self) -> Mapping[str, Iterable[str]]:
        """Return the values that complete a key of a query."""
        view = self.situation.view
        names = [agent.name for agent in view.roster] if view is not None else []
        kinds = [str(kind) for kind in RequestKind]
        states = [*map(str, Status), *map(str, RequestState)]
        return {"from": names, "kind": kinds, "status": states, "@": sorted(self.cache.preferences.filters)}

    @property
    def me(self) -> str:
        """The person the team is shown to."""
        return self.situation.view.me if self.situation.view is not None else ""

    @property
    def requests(self) -> tuple[RequestRow, ...]:
        """Every request that is known."""
        return self.situation.view.requests if self.situation.view is not None else ()

    def earlier(self, row: RequestRow) -> tuple[RequestRow, ...]:
        """Return the versions before a request, newest first."""
        return earlier_plans(row, self.requests)

    @abstractmethod
    def document_of(self, row: RowT) -> Document | None:
        """Return the document of a row."""

    @abstractmethod
    def subject_of(self, row: RowT, some: tuple[RowT, ...]) -> Selection:
        """Return the selection: the row under the cursor, and `some`: the marked rows if any, else that row."""

    def row_as_known(self, row: RowT) -> RowT:
        """Return a row that is none of the list any more, as it is known now."""
        return row

    def matter_of(self, row: RowT) -> object:
        """Return the part of a row that a human decides on."""
        return row

    def group_of(self, row: RowT) -> str:
        """Return the heading a row stands under; empty for none."""
        return ""

    def heading(self, below: tuple[RowT, ...], drawing: Drawing) -> Line:
        """Return the line above a group of rows."""
        return ((f" {self.group_of(below[0])} {len(below):,}", "muted"),)

    def is_new(self, row: RowT) -> bool:
        """Return whether the human has not seen a row yet."""
        return False

    def request_of(self, row: RowT) -> RequestRow | None:
        """Return the request of a row, whose evidence is looked for before the row is drawn; None for one without."""
        return None

    def title_of(self, shown: int, total: int) -> str:
        """Return the words on the border of the list."""
        return f"{self.MODE.label} · {shown:,}" if shown == total else f"{self.MODE.label} · {shown:,} of {total:,}"

    def notes(self) -> list[str]:
        """Further words on the border."""
        return []

    def hidden(self) -> int:
        """Return the number of rows the human put aside."""
        return 0

    # What a message carries beside its record.

    def content_of(self, message: Message) -> str | None:
        """Return the whole content of a message whose record holds only its beginning; asks for it when it is not
        read yet.
        """
        place = attachment_of(message)
        if place is None:
            return None
        text = self.cache.contents.get(place)
        if text is None:
            self.post_message(self.Wanted(message))
        return text

    def is_incomplete(self, message: Message | None) -> bool:
        """Return whether a part of the message's content has not been read yet."""
        place = attachment_of(message) if message is not None else None
        return place is not None and place not in self.cache.contents

    def seal_of(self, message: Message) -> Seal | None:
        """Return the state of the message's signature; None when the team has no key to check it with."""
        key = self.situation.snapshot.config.key if self.situation.snapshot else b""
        return message_seal(message, key) if key else None

    def letter(self, message: Message, around: Gathered | None = None) -> Document:
        """Return a message that can be answered, with what stands beside it and where it departs from its protocol."""
        content, view = self.content_of(message), self.situation.view
        findings = view.findings if view is not None else ()
        return message_document(
            message,
            now=self.now,
            content=content,
            token=digest_of(message),
            problems=tuple(each for each in findings if each.place.partition(" ")[0] == message.message_id),
            seal=self.seal_of(message),
            seen=around.seen if around is not None else None,
            above=around.above if around is not None else (),
            below=around.below if around is not None else self.below_report(message, content),
        )

    # What is shown.

    def compose(self) -> ComposeResult:
        """List and filter left, detail right."""
        with Container(classes="pane--rows"):
            yield self.make_list()
            yield FilterLine(self.query_values)
        with Container(classes="pane--thing"):
            yield Detail()

    def make_list(self, *, id: str | None = None) -> RowList[RowT]:
        """Return the list of this pane."""
        return RowList(
            self.key_of,
            self.draw,
            roomy=self.ROOMY,
            matter=self.matter_of,
            markable=self.MARKABLE,
            group=self.group_of,
            has_group_in_title=self.HAS_GROUP_IN_TITLE,
            heading=self.heading,
            is_new=self.is_new,
            id=id,
        )

    @property
    def is_complete(self) -> bool:
        """Whether it has its widgets: a new pane gets them later, and one that goes loses them before it is gone."""
        return self.is_mounted and self.is_attached

    def show(self, situation: ScreenState, now: datetime) -> None:
        """Show the rows of another view."""
        first_whole = situation.is_read and not self.situation.is_read
        self.situation, self.now = situation, now
        view = situation.view
        rows = self.rows_of(view) if view is not None else ()
        self._all = rows if first_whole or view is None else self._with_what_is_read(rows)
        self._fill()
        if first_whole:
            self.rows.begin_at_top()

    def give_up(self) -> None:
        """Say that the rows cannot be shown; those that stand there may be true no more."""
        for rows in self.query(RowList):
            rows.set_rows((), now=self.now, empty=BROKEN)
        self.detail.show(None)

    def tick(self, now: datetime) -> None:
        """Let ages go on."""
        self.now = now
        self.rows.tick(now)
        self._show_detail()

    def _fill(self) -> None:
        shown = self._filtered()
        self.set_class(self.situation.is_read and not self._all, "-empty")
        self.rows.set_rows(shown, now=self.now, empty=() if shown else self._empty())
        if self._sought and self.rows.select(self._sought):
            self._sought = ""
        self._show_titles()
        if self._resting is None:
            self._show_detail()
        else:
            self._draw_once()

    def _filtered(self) -> tuple[RowT, ...]:
        if not self.wanted.terms:
            return sorted_rows(self._all, self.sort)
        return sorted_rows(tuple(row for row in self._all if self.wanted.fits(self.found_in(row))), self.sort)

    def _empty(self) -> tuple[Line, ...]:
        return empty_words(self.MODE, self.situation, query=self.query_text, snoozed=self.hidden())

    def first_step(self) -> str:
        """Return the command that an empty list offers; empty where it says something else, as while a filter hides
        all.
        """
        return first_step(self.situation) if not self.rows.rows and has_command(self._empty()) else ""

    def _show_titles(self) -> None:
        shown, total = self._counted(self.rows.rows), self._counted(self._all)
        notes = self.notes()
        if self.rows.marks:
            notes.append(f"* {len(self.rows.marks):,} marked")
        if self.sort:
            notes.append(f"o by {self.sort}")
        if self.query_text:
            notes.append(f"/ {self.query_text}  esc ✕")
        title = self.title_of(shown, total) if self.situation.view is not None else self.MODE.label
        words: Line = (("   " + "  ".join(notes), "warn"),) if notes else ()
        self.rows.set_title(((title, ""), *words), self.quiet_words())

    def quiet_words(self) -> Line:
        """Return what stands at the right end of the title: where the arrow keys lead."""
        other = self.MODE.other
        if other is None:
            return ()
        label = other.label.lower()
        return ((f"{label} →" if other.place is not other else f"← {label}", "muted"),)

    @on(RowList.Topped)
    def _topped(self, event: RowList.Topped) -> None:
        event.stop()
        self._show_titles()

    def _show_detail(self) -> None:
        self._follow_request()
        row = self._drawn = self.rows.cursor_row
        if self.chosen_from.cursor_key is None and self.is_reading:
            self.read(False)
        try:
            document = self.shown_document()
        except Exception as error:
            self.post_message(NotShown(error))
            document = BROKEN_DOCUMENT
        request = self.request_of(row) if row is not None else None
        if document is not None and request is not None and document.token == digest_of(request.question):
            drafts, of, content = self.cache.drafts, digest_of(request.question), self.content_of(request.question)
            typed = drafts.remarks(request.request_id, of) if drafts is not None else {}
            remarks = remarks_on(request, self.earlier(request), content, typed=typed)
            document = replace(document, remarks=remarks)
        if document is not None and (outcome := self.outcome):
            document = with_banner(document, f"{outcome}{' · enter shows' * bool(self._newer)} · n next")
        self.detail.show(document)
        if self._around is not None:
            self._around.stop()
        self._around = self.set_timer(_AROUND, self._prepare_around)

    def shown_document(self) -> Document | None:
        """Return the document of the row under the cursor, which says first what is pending about it."""
        if (row := self.rows.cursor_row) is None:
            return None
        document, decided = self.document_of(row), self.pending_of(row)
        return with_pending(document, decided) if document and decided else document

    def draw_now(self, *, whole: bool = False) -> None:
        """Draw the thing under the cursor now; `whole`, also the lines that are on the screen already."""
        self._stop_resting()
        self._show_detail()
        if whole:
            self.detail.refresh()

    @property
    def is_drawn(self) -> bool:
        """Whether the detail was given the row under the cursor as it is now, and painted a line of it since."""
        document = self.detail.document
        return self._drawn is self.rows.cursor_row and (document is None or self.detail.drawn == document.token)

    def _draw_once(self) -> None:
        """Draw the thing under the cursor, a moment later where its evidence is still looked for: once with it."""
        self._stop_resting()
        row = self.rows.cursor_row
        request = self.request_of(row) if row is not None else None
        if request is None or self.is_ready(request):
            self._show_detail()
        else:
            self.decision_context(request)
            self._resting = self.set_timer(_REST, self.draw_now)

    def _stop_resting(self) -> None:
        if self._resting is not None:
            self._resting.stop()
            self._resting = None

    def _prepare_around(self) -> None:
        place, _ = self.rows.position
        for row in (*self.rows.rows[max(0, place - 2) : max(0, place - 1)], *self.rows.rows[place : place + 1]):
            request = self.request_of(row)
            if request is not None and not self.is_ready(request):
                self.decision_context(request)

    # What is read stays where it stood, until the cursor leaves it.

    @property
    def outcome(self) -> str:
        """The outcome of the request being read, as safe text; empty while it is still open."""
        if self._asked is not None:
            return request_outcome(self._asked, self.situation.view, self.now)
        return NO_LONGER if self._gone is not None else ""

    def _with_what_is_read(self, rows: tuple[RowT, ...]) -> tuple[RowT, ...]:
        """Return the rows, with the one under the cursor where it stood: who reads it is told there that it left
        them.
        """
        read, key = self.rows.cursor_row, self.rows.cursor_key
        self._gone = None
        if read is None or self.rows.is_leaving or any(self.key_of(row) == key for row in rows):
            return rows
        self._gone = self.row_as_known(read)
        places = {self.key_of(row): place for place, row in enumerate(rows)}
        before = reversed(self.rows.rows[: self.rows.position[0] - 1])
        place = next((places[key] + 1 for key in map(self.key_of, before) if key in places), 0)
        return (*rows[:place], self._gone, *rows[place:])

    def is_gone(self, row: RowT) -> bool:
        """Return whether a row is only there because it is read: it left the list, and no number counts it."""
        # guard: what-is-gone-is-not-counted
        return self._gone is not None and self.key_of(row) == self.key_of(self._gone)

    def _counted(self, rows: Sequence[RowT]) -> int:
        """Return the number of rows; of all of a long list it is known at once."""
        return len(rows) - (self._gone is not None and sum(map(self.is_gone, rows)))

    def _follow_request(self) -> None:
        """Remember the request that is read as long as it waits, to tell what became of it."""
        row = self.rows.cursor_row
        request = self.request_of(row) if row is not None else None
        if request is None or request.is_open:
            self._asked = request
        elif self._asked is not None and self._asked.key != request.key:
            self._asked = None

    def go_on(self) -> bool:
        """Go on from a thing that waits no more to the next one; False where the cursor is on no such thing."""
        if not self.outcome:
            return False
        place, number = self.rows.position
        if not self.leave_gone():
            self.rows.action_move(1 if place < number else -1)
        return True

    def leave_gone(self) -> bool:
        """Go on from a thing that left the list to the next one; False where the cursor is on no such thing."""
        if self._gone is None:
            return False
        key = self.key_of(self._gone)
        self._gone = self._asked = None
        self._all = tuple(row for row in self._all if self.key_of(row) != key)
        if self.rows.cursor_key == key:
            self.rows.step_on(lambda row: self.key_of(row) == key)
        self._fill()
        return True

    @property
    def _newer(self) -> str:
        """Id of the version that took the place of what is read while it was; empty when none did."""
        now = row_now(self._asked, self.situation.view) if self._asked is not None else None
        return now.superseded_by or "" if now is not None and now.state is RequestState.SUPERSEDED else ""

    def action_go_on(self) -> None:
        """Go to the version that took the place of this one, else give it the whole screen."""
        if newer := self._newer:
            self.seek_subject(newer)
        elif not self.is_reading:
            self.read(True)

    # What keys act on.

    def selection(self) -> Selection:
        """Return the row under the cursor and the marked ones."""
        row, marked = self.rows.cursor_row, self.rows.marked_rows()
        self.keep_painted(self.detail)
        return replace(
            self.subject_of(row, marked or (row,)) if row is not None else NOTHING,
            key=self.rows.cursor_key,
            marked=len(marked),
            token=self.detail.drawn,
            seen=self.detail.seen,
            looked_at=dict(self.cache.looked_at),
            gone=self.outcome,
        )

    def keep_painted(self, detail: Detail) -> None:
        """Keep what was on the screen, here and in the other lists: the most that was painted of each request."""
        self.cache.looked_at |= detail.drawn_before
        for token, painted in detail.painted_before.items():
            known = self.cache.painted.get(token)
            if known is None or len(painted.text) >= len(known.text) or known.layout[2:] != painted.layout[2:]:
                self.cache.painted[token] = painted

    def shows_row(self, subject: str, frame: int) -> bool:
        """Return whether the row about a request or message, as it is now, stood on the screen up to a frame."""
        rows = (row for row in self.rows.rows if subject in self.subjects_of(row))
        return any(self.rows.was_held(row, frame) for row in rows)

    def subjects_of(self, row: RowT) -> tuple[str, ...]:
        """Return ids of the request and the message that a row is about."""
        chosen = self.subject_of(row, (row,))
        ids = [chosen.request.request_id] if chosen.request is not None else []
        return (*ids, chosen.message.message_id) if chosen.message is not None else tuple(ids)

    def pending_of(self, row: RowT) -> str:
        """Return the verb of the row's pending decision; empty for none."""
        decided = self.cache.pending
        return next((decided[key] for key in self.subjects_of(row) if key in decided), "") if decided else ""

    def step_on(self, decided: Collection[str]) -> None:
        """Go from the chosen rows, about which was just decided, to the next one; their leaving is no disturbance."""
        self.rows.step_on(lambda row: not set(decided).isdisjoint(self.subjects_of(row)))
        if self._gone is not None and not set(decided).isdisjoint(self.subjects_of(self._gone)):
            self.leave_gone()

    @property
    def is_leaving(self) -> bool:
        """Whether the row under the cursor is written about and only waits for the next reading to leave."""
        row = self.rows.cursor_row
        return row is not None and self.rows.is_leaving and not self.pending_of(row)

    def undisturbed_for(self) -> float:
        """Return seconds since the row under the cursor last changed by itself."""
        return self.rows.undisturbed_for()

    def seek(self, key: str) -> None:
        """Put the cursor on the row `key`, now or once it is there; a filter would hide it."""
        self._sought = key
        if self.is_complete:
            self._close_filter("")
            self._fill()

    def seek_subject(self, subject: str) -> None:
        """Put the cursor on the row about the request or message `subject`, when it is here."""
        row = next((row for row in self._all if subject in self.subjects_of(row)), None)
        if row is not None:
            self.rows.select(self.key_of(row))

    # A form about the thing, below it; a narrow list gives way.

    def hold(self, form: Widget) -> None:
        """Show a form below the thing it is about."""
        self.add_class("-asking")
        self.query_one(".pane--thing").mount(form)
        self.lay_out()

    def take_away(self, form: Widget) -> None:
        """Give the thing its room back."""
        self.remove_class("-asking")
        form.remove()
        self.lay_out()

    # Panels, and the line between them.

    def focus_first(self) -> None:
        """Put the focus where it belongs when the list is entered."""
        self.rows.focus()

    def open(self) -> None:
        """Go into the thing under the cursor, or to the version that took its place."""
        self.draw_now()
        if self._newer:
            self.action_go_on()
        elif self.rows.cursor_key is not None:
            self._go_inside(True)
            self.detail.focus()

    @property
    def is_reading(self) -> bool:
        """Whether what is read has the whole screen."""
        return self.is_complete and self.detail.is_room

    def read(self, reads: bool) -> bool:
        """Give what is under the cursor the whole screen, or the list its place again; False where nothing is."""
        if reads and self.chosen_from.cursor_key is None:
            return False
        if not reads:
            self.detail.find("")
            self._mark_hits(self.query_text)
        self.detail.is_room = reads
        self.screen.set_class(reads, "-reading")
        self._go_inside(False)
        (self.detail if reads else self.chosen_from).focus()
        self._show_detail()
        self.post_message(self.Looked(self))
        return True

    def step(self, direction: int) -> bool:
        """Go to the next thing, or the one before; False at the end."""
        place = self.chosen_from.position
        self.chosen_from.action_move(direction)
        return self.chosen_from.position != place

    def _go_inside(self, is_inside: bool) -> None:
        self.set_class(is_inside, "-inside")
        self.lay_out()

    def back(self) -> bool:
        """Out of the detail, the marks, the filter, one after the other; False when there is nothing to back out of."""
        if self.is_reading and (self.is_asking or self.detail.sought):
            self._close_filter("")
        elif self.detail.has_focus or self.is_reading:
            self.read(False)
        elif self.rows.marks:
            self.rows.clear_marks()
        elif self.query_text or self.is_asking:
            self._close_filter("")
        else:
            return self.leave_gone()
        return True

    def move_divider(self, shares: int) -> None:
        """Give the list more of the room, or less."""
        self.cache.divider = max(-_MOST, min(_MOST, self.cache.divider + shares))
        self.lay_out()

    def lay_out(self) -> None:
        """Put the divider where the human wants it."""
        rows, is_wide = self.query_one(".pane--rows"), self.screen.has_class("-wide")
        moved = 0 if self.is_reading else self.cache.divider
        is_inside = self.has_class("-inside") or self.has_class("-asking")
        for widget, place, sign in ((rows, 0, 1), (self.query_one(".pane--thing"), 1, -1)):
            share = f"{max(1, (_WIDE if is_wide else _HIGH)[place] + sign * moved)}fr"
            widget.styles.width = share if moved and is_wide else None
            widget.styles.height = share if moved and not is_wide and not is_inside else None

    def on_resize(self) -> None:
        """Titles that fit, and the divider where it belongs: lists may stand above what is read now."""
        if self.is_complete:
            self.lay_out()
            self._show_titles()

    # The filter.

    @property
    def is_asking(self) -> bool:
        """Whether words to filter by are being typed."""
        return self.is_complete and self._asking.is_open

    def filter(self) -> None:
        """Ask for words to filter by, or to look for in what is read."""
        self._asking.open(self.detail.sought if self.is_reading else self.query_text)

    def _typed(self, text: str) -> None:
        """Words in the line: what is read is searched in, a list is filtered."""
        if self.is_reading:
            self.detail.find(text)
        else:
            self.set_filter(text)

    def set_filter(self, text: str) -> None:
        """Show only rows that fit the query `text`; see `store.views.search` for its language."""
        if text != self.query_text:
            self.query_text = text
            self._mark_hits(text)
            if not self._asking.trouble:
                self._fill()

    def end_asking(self, *, keep: bool) -> None:
        """Ask for no more words to filter by; without `keep`, show all rows again."""
        self._close_filter((self.detail.sought if self.is_reading else self.query_text) if keep else "")

    def _close_filter(self, text: str) -> None:
        self._typed(text)
        before = self._asking.close()
        (self.detail if self.is_reading else self.rows if text or before is None else before).focus()

    def _mark_hits(self, text: str) -> None:
        """Understand the query, mark its words in rows and detail, and remember it for `next_hit`."""
        try:
            self.wanted = parse_query(text, now=self.now, saved=self.cache.preferences.filters, me=self.me)
        except TeamError as error:  # the rows stay as they were until it is understood
            self._asking.say(f"{error.message}. {error.hint}")
            return
        self._asking.say("")
        self._last_query = self.wanted if self.wanted.terms else self._last_query
        shown = tuple(word.casefold() for word in self.wanted.words)
        self.rows.set_hits(shown)
        self.detail.set_hits(shown)

    def next_hit(self, direction: int) -> bool:
        """Go to the next place with the words of the last filter: in the detail a line, else a row; False for none."""
        if self.is_reading and self.detail.sought:
            return self.detail.next_hit((self.detail.sought,), direction)
        if self.is_reading:
            return self.step(direction)
        if not self._last_query.terms:
            return False
        if self.detail.has_focus:
            return self.detail.next_hit(tuple(word.casefold() for word in self._last_query.words), direction)
        rows, (place, number) = self.rows.rows, self.rows.position
        order = [(place - 1 + direction * step) % number for step in range(1, number + 1)] if number else []
        index = next((index for index in order if self._last_query.fits(self.found_in(rows[index]))), None)
        return index is not None and self.rows.select(self.key_of(rows[index]))

    def sort_next(self) -> str | None:
        """Sort by the next thing this list can be sorted by; its name, empty for its own order, None without any."""
        name = next_sort(self.MODE, self.sort)
        if name is not None:
            self.sort = name
            self._fill()
        return name

    @on(RowList.Opened)
    def _opened(self) -> None:
        self.open()

    @on(RowList.Moved)
    def _moved(self, event: RowList.Moved) -> None:
        event.stop()
        if event.by_user:
            if self._gone is not None and self.rows.cursor_key != self.key_of(self._gone):
                self.leave_gone()
            self._draw_once()
        else:
            self._show_detail()
        self.post_message(self.Looked(self))

    @on(RowList.Marked)
    def _marked(self, event: RowList.Marked) -> None:
        event.stop()
        self._show_titles()
        self.post_message(self.Looked(self))

    def on_input_changed(self, event: Input.Changed) -> None:
        """Words of the filter were typed."""
        event.stop()
        self._typed(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """The filter is as it should be."""
        event.stop()
        self._typed(event.value)
        if not self._asking.trouble or self.is_reading:
            self.end_asking(keep=True)

    # Evidence beside what is read, looked for in a thread, and the digest of all that is shown.

    def decision_context(self, row: RequestRow) -> Gathered:
        """Return what stands beside a request; asks for evidence that is missing or stale."""
        request = evidence_request(self, row)
        if request is None:
            return Gathered(seen_of(row.question))
        return self._known(request) or Gathered(seen_of(row.question, evidence=(NOT_YET,)), below=_LOOKING)

    def is_ready(self, row: RequestRow) -> bool:
        """Return whether the evidence of a request is gathered, so that it need not be drawn twice."""
        request = evidence_request(self, row)
        return self._found(request) is not None if request is not None else not self.is_incomplete(row.question)

    def below_report(self, message: Message, content: str | None) -> tuple[Block, ...]:
        """Return the blocks below an agent's report that claims to have run checks."""
        text = message.content if content is None else content
        is_report = message.sender != USER and parse_message(message).opens is None
        if not is_report or not text or not claimed_checks(text):
            return ()
        known = self._known(EvidenceRequest(f"report:{message.message_id}", message, None, text))
        return known.below if known is not None else _LOOKING

    def _found(self, request: EvidenceRequest) -> Gathered | None:
        known = self.cache.evidence.get(request.key)
        return known if known is not None and known.is_for(request) else None

    def _known(self, request: EvidenceRequest) -> Gathered | None:
        known = self._found(request)
        if known is None or monotonic() - known.at > FRESH:
            self.post_message(EvidenceWanted(request))
        return known


KINDS = frozenset({RequestKind.PLAN, RequestKind.PERMISSION})
"""Requests that evidence is looked for."""
FRESH = 2.0
"""Seconds for which evidence that is on the screen is not looked for again."""
NOT_YET = "evidence was still looked for"


class Gathered(Struct, frozen=True):
    """What stands beside a request or report.

    Attributes:
        seen: All that is shown, for the record of whoever decides.
        above, below: How it is shown, above and below the text of the request.
        evidence: What was found for `request`; None where there is none to be had, or it is still looked for.
        at: When, in seconds of `time.monotonic`.
    """

    seen: Seen
    above: tuple[Block, ...] = ()
    below: tuple[Block, ...] = ()
    request: EvidenceRequest | None = None
    evidence: Evidence | None = None
    at: float = 0.0

    def is_for(self, request: EvidenceRequest) -> bool:
        """Return whether this evidence was gathered for an equal request."""
        return self.request is not None and self.request.is_for_the_same(request)


@dataclass
class EvidenceWanted(TextualMessage):
    """The evidence for `request` is not known, or it was looked for some time ago."""

    request: EvidenceRequest


def gathered(request: EvidenceRequest, evidence: Evidence, known: Gathered | None = None) -> Gathered:
    """Evidence made ready to be shown; where it is `known` already, only the moment is another."""
    if known is not None and known.is_for(request) and known.evidence == evidence:
        return replace(known, at=monotonic())
    if request.row is not None and request.row.kind is RequestKind.PERMISSION:
        asked_blocks(
            request.message
        )  # remembered: a change of thousands of lines is compared here, not while keys wait
    seen = seen_of(request.message, before=evidence.before, evidence=evidence.lines)
    return Gathered(seen, _compared(evidence), _pieces(evidence), request, evidence, monotonic())


def evidence_request(pane: Pane[Any], row: RequestRow) -> EvidenceRequest | None:
    """Return the request for a row's evidence; None where there is none to gather, or its text is still being read."""
    view = pane.situation.view
    if row.kind not in KINDS or not row.is_open or view is None:
        return None
    former = version_before(row, pane.earlier(row), pane.cache.looked_at)
    # Both are asked for at once: the second would otherwise be read only when the first was shown.
    former_text = pane.content_of(former.question) if former is not None else None
    whole = pane.content_of(row.question)
    if pane.is_incomplete(row.question):
        return None
    if former is not None and pane.is_incomplete(former.question):
        former = None
    before = "" if former is None else former.question.content if former_text is None else former_text
    text = row.question.content if whole is None else whole
    return EvidenceRequest(row.key, row.question, row, text, former, before, view.batches)


MARKS: Mapping[Mark, Sign] = {
    Mark.THERE: Sign("·", "there"),
    Mark.MISSING: Sign("∅", "missing", "warn"),
    Mark.CHANGED: Sign("△", "changed since it was written", "warn"),
    Mark.RAN: Sign("✓", "ran", "good"),
    Mark.FAILED: Sign("✗", "failed", "bad"),
    Mark.NOT_RUN: Sign("✗", "did not run", "bad"),
    Mark.TOLD: Sign("·", ""),
    Mark.NOT_KNOWN: Sign("?", "not known", "warn"),
}
_LONGEST = 400
_LOOKING = (
    Heading("evidence", beside=True),
    replace(said("◔ looking for what it names, and for what ran", "muted"), beside=True),
)
"""Stands in the place of evidence that is still looked for."""


def _compared(evidence: Evidence) -> tuple[Block, ...]:
    """Return the difference to the rejected version, with the reason of the rejection."""
    if not evidence.compared:
        return ()
    why = Heading("why the version before was rejected", beside=True), Text(safe_text(evidence.words), beside=True)
    # The record names the version by its id; on the screen ids stand behind a key.
    what = f"what is new: {safe_line(evidence.compared.partition(' against ')[0], _LONGEST)}"
    new = diff_text(evidence.diff) if evidence.diff else said("not a line differs", "warn")
    return (*(why if evidence.words else ()), Heading(what, beside=True), replace(new, beside=True))


def _pieces(evidence: Evidence) -> tuple[Block, ...]:
    """Return everything else that stands beside it; a source is named once where pieces share it."""
    blocks: list[Block] = []
    for section in evidence.sections:
        lines: list[Line] = []
        source = ""
        for piece in section.pieces:
            if piece.source and piece.source != source:
                source = piece.source
                lines.append((("from ", "faint"), (safe_line(source, _LONGEST), "muted")))
            sign = MARKS[piece.mark]
            word = f" · {sign.word}" if sign.word and piece.mark not in (Mark.RAN, Mark.FAILED, Mark.NOT_KNOWN) else ""
            lines.append((sign.mark, (safe_line(piece.text, _LONGEST), ""), (word, sign.tone or "muted")))
        blocks += [Heading(section.heading, beside=True), Lines(tuple(lines), indent=2, beside=True)]
    return tuple(blocks)
