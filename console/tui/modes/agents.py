"""Agents: everybody with state and unread mail, and the page of the one under the cursor; enter lists its messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import Any, ClassVar

from msgspec.structs import replace
from team_console.console.selection import Mode, Selection
from team_console.console.tui.cache import ScreenCache
from team_console.console.tui.empty_lists import empty_words, first_step, first_step_lines
from team_console.console.tui.modes.agent_page import (
    MOST_LISTED,
    Unread,
    agent_document,
    inbox_lines,
    last_words,
    my_inbox_document,
    my_inbox_lines,
    roster_lines,
    state_parts,
    words_below_name,
)
from team_console.console.tui.modes.listing import Listing
from team_console.console.tui.modes.pane import Pane
from team_console.console.tui.outcomes import asked_title
from team_console.console.tui.reader import LocalFacts
from team_console.console.tui.situation import Situation, is_sure
from team_console.store.model.message import Message
from team_console.store.model.names import USER
from team_console.store.model.safe import safe_line
from team_console.store.protocol.placed_message import when_created
from team_console.store.views.roster import AgentPage, agent_page
from team_console.store.views.rows import AgentState, RequestRow, RosterRow, View
from team_console.store.views.search import Searchable, searchable_message
from team_console.widgets.detail import Detail
from team_console.widgets.document import Document, Lines
from team_console.widgets.row_drawing import Drawing
from team_console.widgets.row_list import RowList
from team_console.widgets.signs import AGENTS, Sign, signs_of
from team_console.widgets.text import Line
from textual import on
from textual.app import ComposeResult
from textual.containers import Container
from textual.events import DescendantFocus


class AgentListing(Listing[Message]):
    """The messages of the agent that is chosen in the roster, and what is known of all agents.

    Attributes:
        chosen: The agent under the roster's cursor; None without agents.
        page: What is known of that agent.
    """

    MODE: ClassVar[Mode] = Mode.AGENTS
    MARKABLE: ClassVar[bool] = True
    KEY: ClassVar[str] = "message_id"

    def __init__(self, cache: ScreenCache) -> None:
        super().__init__(cache)
        self.chosen: RosterRow | None = None
        self.page: AgentPage | None = None
        self._listed_agent: str | None = None
        self._last_words: Mapping[str, str] = {}
        self._asked_by: Mapping[str, RequestRow] = {}
        self._newest_mail: Message | None = None
        self._groups: Mapping[str, str] = {}
        self._signs: Mapping[str, Sign] = {}
        self._by_question: Mapping[str, RequestRow] = {}

    def take_roster(self, view: View | None) -> tuple[RosterRow, ...]:
        """Learn the signs, last words and requests of all agents; returns the agents in their order."""
        self._signs = signs_of(view)
        self._by_question = {request.question.message_id: request for request in reversed(self.requests)}
        self._last_words = last_words(view) if view is not None else {}
        waiting = {item.request.key for item in view.attention if item.answerable and item.request} if view else set()
        self._asked_by = {request.asker: request for request in reversed(self.requests) if request.key in waiting}
        self._newest_mail = max(self._own_mail(view), key=when_created, default=None) if view is not None else None
        return self.everybody(view) if view is not None else ()

    def draw(self, row: Message, drawing: Drawing) -> tuple[Line, ...]:
        """Return a message as its recipient sees it; of what the agent wrote, to whom."""
        is_own = row.sender == self._listed_agent and self.group_of(row) == _IT_SAID
        other = f"→ {', '.join(row.recipients)}" if is_own else ""
        return inbox_lines(row, drawing, asked=asked_title(self.situation.view, row), other=other)

    def group_of(self, row: Message) -> str:
        """Return the heading of a row: open with the human, told to the agent, said by it."""
        return self._groups.get(row.message_id, "")

    def draw_agent(self, row: RosterRow, drawing: Drawing) -> tuple[Line, ...]:
        """Return the lines of an agent; the human's own is an inbox."""
        if row.name == self.me:
            return my_inbox_lines(self._unread_of(row), drawing, self._newest_mail)
        sign, asked = self.sign_of(row), self._asked_by.get(row.name)
        if asked is not None and sign == AGENTS[AgentState.WAITING]:
            told, since = f"its {asked.kind.noun} · “{safe_line(asked.title, 400)}”", asked.waits_since
        else:
            told = words_below_name(row, sign, self._last_words.get(row.name, ""))
            since = row.heard_at or row.last_seen
        return roster_lines(row, drawing, sign, told, since)

    def _unread_of(self, row: RosterRow) -> Unread:
        """Return what a row has not read; the human's also what was written to `user`."""
        user = self.user
        if user is None or row.name != self.me:
            return Unread(row.unread, row.oldest_unread)
        moments = [moment for moment in (row.oldest_unread, user.oldest_unread) if moment is not None]
        return Unread(row.unread + user.unread, min(moments, default=None))

    @property
    def user(self) -> RosterRow | None:
        """The row of `user`, whose mail is the human's own; None where somebody else looks on, or has that name."""
        view = self.situation.view
        if view is None or view.me == USER or view.me != view.snapshot.config.lead:
            return None
        return next((row for row in view.roster if row.name == USER), None)

    def everybody(self, view: View) -> tuple[RosterRow, ...]:
        """Return the roster with the human last."""
        own = (view.me, USER) if self.user is not None else (view.me,)
        others = [row for row in view.roster if row.name not in own]
        return (*others, *(row for row in view.roster if row.name == view.me))

    def sign_of(self, row: RosterRow) -> Sign:
        """Return the sign of an agent's state, or of what it waits for."""
        return self._signs.get(row.name, AGENTS[row.state])

    def basis_of(self, row: Message) -> object:
        """Return its text and delivery state."""
        return row.status, row.payload

    def with_read_row(
        self, rows: tuple[Message, ...], read: Message | None, before: Sequence[Message], *, is_leaving: bool
    ) -> tuple[Message, ...]:
        """See `Listing`; on the page of another agent nothing of the former one is read."""
        former, self._listed_agent = self._listed_agent, self._chosen_name
        if former == self._listed_agent:
            return super().with_read_row(rows, read, before, is_leaving=is_leaving)
        self.gone = None
        return rows

    @property
    def _chosen_name(self) -> str | None:
        """The agent whose messages are listed."""
        return self.chosen.name if self.chosen is not None else None

    def row_as_known(self, row: Message) -> Message:
        """See `Listing.row_as_known`."""
        snapshot = self.situation.snapshot
        live = snapshot.messages if snapshot is not None else ()
        return next((message for message in live if message.message_id == row.message_id), row)

    def rows_of(self, view: View) -> tuple[Message, ...]:
        """Return the messages of the chosen agent: open with the human, its inbox, what it said."""
        agent = self._chosen_name
        page = self.page = agent_page(view, agent) if agent is not None else None
        if page is None:
            return ()
        asked = [row.question for row in page.open_with_reader if row.asker == agent]
        told, said = page.told, page.said[:MOST_LISTED]
        if agent == view.me:
            told, said = self._own_mail(view), ()
        groups: dict[str, str] = {}
        rows: list[Message] = []
        for group, messages in ((_OPEN, asked), (_INBOX, told), (_IT_SAID, said)):
            for message in messages:
                if groups.setdefault(message.message_id, group) == group:
                    rows.append(message)
        self._groups = groups
        return tuple(rows)

    def _own_mail(self, view: View) -> tuple[Message, ...]:
        mine = tuple(view.inboxes.get(view.me, ()))
        return (*mine, *view.inboxes.get(USER, ())) if self.user is not None else mine

    def searchable_of(self, row: Message) -> Searchable:
        """Return the message."""
        return searchable_message(row)

    def request_of(self, row: Message) -> RequestRow | None:
        """Return the request it asks, so that it is answered here as in the other lists."""
        return self._by_question.get(row.message_id)

    def page_document(self, page: AgentPage, view: View) -> Document:
        """Return the page of an agent; the human's own is an inbox."""
        if page.row.name == self.me:
            return my_inbox_document(self._own_mail(view), view)
        local = self.situation.reading.local if self.situation.reading is not None else LocalFacts()
        return agent_document(page, view, self.now, self.sign_of(page.row), local)

    def document_of(self, row: Message) -> Document:
        """Return the message; beside a request what stands beside it in the other lists, since it is answered here,
        too.
        """
        request = self.request_of(row)
        # guard: evidence-in-inboxes
        return self.sources.document_of(row, self.sources.evidence_for(request) if request is not None else None)

    def selection_of(self, row: Message, chosen: tuple[Message, ...]) -> Selection:
        """Return the messages, and who wrote them."""
        return Selection(
            request=self.request_of(row),
            requests=tuple(filter(None, map(self.request_of, chosen))),
            message=row,
            messages=chosen,
            mail=chosen,
            agents=tuple(dict.fromkeys(message.sender for message in chosen)),
            incomplete=self.sources.is_incomplete(row),
        )

    def title_of(self, shown: int, total: int) -> str:
        """Return the agent's name with its state."""
        row = self.chosen
        if row is None:
            return "Messages"
        number = f"{shown:,}" if shown == total else f"{shown:,} of {total:,}"
        if row.name == self.me:
            return f"my inbox · {number}"
        return f"{safe_line(row.name, 64)} · {number} · {self.sign_of(row).word}"

    def empty(self) -> tuple[Line, ...]:
        """See `Listing`; of an agent its state, and what lets it ask here."""
        if self.chosen is None or self.query_text or not is_sure(self.situation):
            return super().empty()
        step = first_step_lines(self.situation, self.chosen.name)
        return (*_why_empty(self.chosen, self.sign_of(self.chosen)), *step)


class AgentsPane(Pane[Message]):
    """The roster with the page of the agent under its cursor, or that agent's messages with the one under theirs."""

    DEFAULT_CSS = """
    AgentsPane RowList { display: none; }
    AgentsPane RowList.-front { display: block; }
    """
    LISTING = AgentListing
    listing: AgentListing
    _sought_agent = ""
    _was_in_roster = True

    @cached_property
    def rows(self) -> RowList[Message]:
        """The messages of one agent."""
        return self.query_one("#inbox", RowList)

    @cached_property
    def roster(self) -> RowList[RosterRow]:
        """The agents."""
        return self.query_one("#roster", RowList)

    @property
    def chosen_from(self) -> RowList[Any]:
        """The roster while its page is read, else the messages."""
        return self.roster if self._is_in_roster else self.rows

    @property
    def _is_in_roster(self) -> bool:
        """Whether keys are about the agent under the roster's cursor, also while its page is read.

        The screen knows what has the focus at once, the lists a little later.
        """
        focused = self.screen.focused
        if focused in (self.roster, self.rows):
            self._was_in_roster = focused is self.roster
        return self._was_in_roster and (focused in (self.roster, self.detail) or self.has_class("-asking"))

    def compose(self) -> ComposeResult:
        """Yield roster and messages at one place, one of them shown, and the page or the message beside it."""
        draw = self.listing.draw_agent
        with Container(classes="pane--rows"):
            yield RowList[RosterRow](_name_of, draw, basis=_name_of, who=_name_of, id="roster")
            yield self.make_list(id="inbox")
            yield self.search.line
        with Container(classes="pane--thing"):
            yield Detail()

    def shown_document(self) -> Document | None:
        """Return the page of the agent in the roster, in its messages the one under the cursor."""
        page, view = self.listing.page, self.listing.situation.view
        if not self._is_in_roster or page is None or view is None:
            return super().shown_document()
        document = self.listing.page_document(page, view)
        if self.first_step():  # where the page has nothing to tell
            step = Lines(first_step_lines(self.listing.situation, self.roster.cursor_key or ""))
            document = replace(document, blocks=(*document.blocks, step))
        return document

    def selection(self) -> Selection:
        """Return the agents that are chosen in the roster, else the messages."""
        selection = super().selection()
        key = self.roster.cursor_key
        chosen = (key,) if key not in (None, self.listing.me) else ()
        if not self._is_in_roster:
            return selection if selection.agents else replace(selection, agents=chosen)
        agents = tuple(row.name for row in self.roster.marked_rows()) or chosen
        # What was on the screen stays known, whichever list has the focus.
        return Selection(
            agents=agents,
            key=key,
            marked=len(self.roster.marks),
            seen=selection.seen,
            looked_at=selection.looked_at,
            gone=selection.gone,
        )

    def show(self, situation: Situation, now: datetime) -> None:
        """Show another roster and the messages that belong to it."""
        listing, view = self.listing, situation.view
        listing.situation, listing.now = situation, now
        empty = empty_words(Mode.AGENTS, situation)
        if view is not None and view.snapshot.messages:
            empty = ((("No agents are known yet", "muted"),),)
        agents = listing.take_roster(view)
        self.roster.set_two_lines_from(max(2, 2 * len(agents)))  # two lines each where all of them fit
        self.roster.set_rows(agents, now=now, empty=empty)
        if self._sought_agent:
            self.seek_agent(self._sought_agent)
        self._show_roster_title()
        self._show_messages()

    def _show_messages(self) -> None:
        """Show the messages of the agent under the roster's cursor."""
        self.listing.chosen = self.roster.cursor_row
        super().show(self.listing.situation, self.listing.now)

    def on_resize(self) -> None:
        """Write a title that fits."""
        super().on_resize()
        if self.is_complete:
            self._put_in_front(self.chosen_from)
            self._show_roster_title()

    def _show_roster_title(self) -> None:
        """Write the number of agents above the roster, and how many are marked or what is unread."""
        title, marked, situation = "Agents", len(self.roster.marks), self.listing.situation
        if situation.view is not None:
            title += f" · {sum(row.name != self.listing.me for row in self.roster.rows):,}"
        if marked:
            self.roster.set_title(((title, ""), (f"   * {marked:,} marked", "warn")))
            return
        unread = sum(row.unread for row in situation.roster)
        self.roster.set_title(((title, ""),), ((f"{unread:,} unread", "muted"),) if unread else ())

    def seek_agent(self, name: str) -> None:
        """Put the roster's cursor on an agent, now or once it is there."""
        self._sought_agent = name = self.listing.me if name == USER and self.listing.user is not None else name
        if self.is_complete and self.roster.select(name):
            self._sought_agent = ""
            self._focus_list(self.roster)

    def tick(self, now: datetime) -> None:
        """Let ages go on in both lists."""
        self.roster.tick(now)
        super().tick(now)

    def focus_first(self) -> None:
        """Go to the roster."""
        self._focus_list(self.roster)

    def filter(self) -> None:
        """Ask for words to filter the messages by, which take the place of the roster."""
        self._put_in_front(self.rows)
        super().filter()

    def _focus_list(self, front: RowList[Any]) -> None:
        self._put_in_front(front)
        # At once: `focus` takes its turn in a queue, and a change of size before it would hide that list.
        self.screen.set_focus(front)

    def _put_in_front(self, front: RowList[Any]) -> None:
        """Show the list in front at the place of both."""
        for rows in (self.roster, self.rows):
            rows.set_class(rows is front, "-front")

    def back(self) -> bool:
        """Go back from the messages to the roster, after all else."""
        if super().back():
            return True
        if self.rows.has_focus:
            self._focus_list(self.roster)
            return True
        if self.roster.marks:
            self.roster.clear_marks()
            return True
        return False

    def first_step(self) -> str:
        """See `Pane`; it lets an agent ask here that never did, and whoever is first where nothing was written yet."""
        row, situation = self.roster.cursor_row, self.listing.situation
        was_seen = row is not None and row.name != self.listing.me and row.last_seen is not None
        if self.rows.rows or self.listing.query_text or was_seen or not is_sure(situation):
            return ""
        return first_step(situation, self.roster.cursor_key or "")

    @on(RowList.Moved, "#roster")
    def _agent_chosen(self, event: RowList.Moved) -> None:
        event.prevent_default()
        event.stop()
        self._show_messages()
        self.post_message(self.Looked())

    @on(RowList.Marked, "#roster")
    def _agent_marked(self, event: RowList.Marked) -> None:
        event.prevent_default()
        event.stop()
        self._show_roster_title()
        self.post_message(self.Looked())

    @on(RowList.Opened, "#roster")
    def _agent_opened(self, event: RowList.Opened) -> None:
        event.prevent_default()
        event.stop()
        self._focus_list(self.rows)

    @on(DescendantFocus)
    def _focused(self, event: DescendantFocus) -> None:
        if isinstance(event.widget, RowList):
            self._put_in_front(event.widget)
        self.presenter.show()
        self.post_message(self.Looked())


def _name_of(row: RosterRow) -> str:
    return row.name


_OPEN, _INBOX, _IT_SAID = "WAITS FOR YOU", "INBOX", "IT SAID"
"""Groups of the messages of an agent."""


def _why_empty(row: RosterRow, sign: Sign) -> tuple[Line, ...]:
    return (("No message waits for ", ""), (safe_line(row.name, 64), "")), (), (sign.mark, *state_parts(row, sign))
