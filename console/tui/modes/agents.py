"""Agents: everybody with state and unread mail, and the page of the one under the cursor; enter lists its messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import Any, ClassVar

from msgspec import Struct
from msgspec.structs import replace
from team_console.console.selection import Mode, Selection
from team_console.console.tui.cache import ScreenCache
from team_console.console.tui.modes.listing import Listing
from team_console.console.tui.modes.pane import Pane
from team_console.console.tui.reader import LocalFacts
from team_console.console.tui.screen_state import ScreenState, is_sure
from team_console.console.tui.words import asked_title, empty_words, first_step, first_step_lines
from team_console.store.model.clock import is_real_time
from team_console.store.model.message import Message, Status
from team_console.store.model.names import USER
from team_console.store.model.safe import safe_line
from team_console.store.protocol.placed_message import when_created
from team_console.store.protocol.transcript_extract import ToolCall
from team_console.store.views.agent_page import AgentPage, agent_page
from team_console.store.views.roster import MODES
from team_console.store.views.rows import AgentState, RequestRow, RosterRow, View
from team_console.store.views.search import Searchable, searchable_message
from team_console.widgets.ages import age, short_ago, span
from team_console.widgets.detail import Detail
from team_console.widgets.document import Block, Document, Heading, Lines, one_line
from team_console.widgets.message_words import decision_words, message_kind_words, request_kind_word, row_title
from team_console.widgets.row_drawing import Drawing, age_column, row_lines
from team_console.widgets.row_list import RowList
from team_console.widgets.signs import AGENTS, Sign, priority_sign, signs_of, status_sign
from team_console.widgets.text import Line, cell_len, crop_name, pad, spread, text_of, width_of
from textual import on
from textual.app import ComposeResult
from textual.containers import Container
from textual.events import DescendantFocus

_MOST_LISTED = 50
"""Messages of an agent that its page lists."""
_MOST_IN_SUMMARY = 5
"""Messages that the summary of an agent names."""
_LONGEST_OTHER = 32
"""Cells for whom an agent writes with, at most."""


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
            told = _words_below_name(row, sign, self._last_words.get(row.name, ""))
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
        told, said = page.told, page.said[:_MOST_LISTED]
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

    def show(self, situation: ScreenState, now: datetime) -> None:
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


# An agent in the roster, a message in its list, and the page of an agent.

_WAITS = "waits for the answer to "
"""The beginning of a reason that the word for the state says already."""
_STATE_WIDTH, _ROLE_WIDTH, _UNREAD_WIDTH = 13, 9, 9
"""Cells of the columns for the state, the role, and number and age of what is unread."""
_STATE_FROM, _ROLE_FROM = 40, 54
"""Cells from which on a row of one line has a column for the state, and one for the role."""


class Unread(Struct, frozen=True):
    """How many messages an agent has not read, and when the oldest of them was written."""

    number: int
    oldest: datetime | None

    def column(self, now: datetime) -> Line:
        """Return number and age in the cells of their column."""
        if not self.number:
            return ((" " * _UNREAD_WIDTH, ""),)
        return (f" {self.number:>3,}", "strong"), (f" {age(self.oldest, now):>4}", "muted")


def last_words(view: View) -> Mapping[str, str]:
    """Return agent -> the title of what it wrote last, safe text."""
    latest: dict[str, Message] = {}
    for message in view.snapshot.messages:
        known = latest.get(message.sender)
        if known is None or when_created(message) >= when_created(known):
            latest[message.sender] = message
    return {name: text_of(decision_words(message)) or row_title(message) for name, message in latest.items()}


_NOTHING_CAME = "nothing came yet"


def my_inbox_lines(unread: Unread, drawing: Drawing, newest: Message | None = None) -> tuple[Line, ...]:
    """Return the line of the human, and what was written to them last for the one below it."""
    name: Line = (("○ ", "muted"), ("my inbox", "strong" if unread.number else ""))
    told = f"“{row_title(newest)}” of {safe_line(newest.sender, 64)}" if newest is not None else _NOTHING_CAME
    return spread(name, unread.column(drawing.now), drawing.width), (("  ", ""), (told, "muted"))


def my_inbox_document(mail: Sequence[Message], view: View) -> Document:
    """Return what was written to the human; enter lists it."""
    unread = sum(message.status != Status.READ for message in mail)
    state = f"{unread:,} unread · enter lists all" if mail else _NOTHING_CAME
    return Document(
        key=f"agent:{view.me}",
        title="My inbox",
        headline="My inbox",
        facts=((state, "muted"),),
        blocks=(_message_lines(mail[:_MOST_LISTED], view.me, view),),
    )


def roster_lines(row: RosterRow, drawing: Drawing, sign: Sign, told: str, since: datetime | None) -> tuple[Line, ...]:
    """Return an agent with its state since when and what is unread, and what is told of it below; in one line its role
    in place of that.

    Args:
        told: What it waits for, or why it is in its state and what it wrote last, safe text.
        since: Since when it waits, or when it was heard of last.
    """
    end = Unread(row.unread, row.oldest_unread).column(drawing.now)
    odd = _oddity(row)
    name: Line = (sign.mark, (safe_line(row.name, 64), "strong" if row.unread else ""))
    name = (*name, (f" {odd}", "warn")) if odd else name
    in_one: Line = ((f" {pad(sign.word, _STATE_WIDTH)}", sign.tone), *end) if drawing.width >= _STATE_FROM else end
    role: Line = ((f" {pad(safe_line(row.role, 40), _ROLE_WIDTH)}", "muted"),)
    # Agents of one kind differ at the end of their names: all of them whole come before the roles.
    longest = max(width_of(name), width_of(name[:1]) + drawing.longest_name)
    has_role = drawing.width >= _ROLE_FROM and longest + width_of(role) + width_of(in_one) <= drawing.width
    if drawing.lines > 1:
        state = f"{sign.word} {age(since, drawing.now)}" if since is not None else sign.word
        nothing = "no message of it is known" if drawing.is_expanded and has_role else safe_line(row.role, 40)
        below: Line = (("  ", ""), (told or nothing, "muted"))
        end = ((f"  {state}", sign.tone), *end)
        return spread(_name_within(name, drawing.width - width_of(end)), end, drawing.width), below
    end = (*role, *in_one) if has_role else in_one
    return (spread(_name_within(name, drawing.width - width_of(end)), end, drawing.width),)


def _oddity(row: RosterRow) -> str:
    """Return what is odd about the name of an agent, in a word; empty for nothing."""
    if row.looks_like:
        return "look-alike"
    if not row.is_addressable:
        return "no name"
    return "stranger" if row.stranger else ""


def _name_within(line: Line, width: int) -> Line:
    """Return sign, name and what is odd in at most `width` cells: the name is cut before its last word."""
    sign, (name, tone), *odd = line
    over = width_of(line) - width
    return (sign, (crop_name(name, max(1, cell_len(name) - over)), tone), *odd) if over > 0 else line


def _words_below_name(row: RosterRow, sign: Sign, said: str) -> str:
    """Return why it is in its state, and its words where they say more; empty where neither is known."""
    why = _state_reason(row, sign)
    return why if not said or (why and said.endswith(why)) else " · ".join(filter(None, (why, f"“{said}”")))


def state_parts(row: RosterRow, sign: Sign) -> Line:
    """Return the word for its state, and of the reason what that word does not say."""
    more = _state_reason(row, sign)
    return (sign.word, sign.tone), (f" · {more}" if more else "", "muted")


def _state_reason(row: RosterRow, sign: Sign) -> str:
    """Return of the reason what the word for the state does not say, and what waits to be taken in."""
    reason = safe_line(row.reason, 120).removeprefix(_WAITS)
    if sign.word.startswith("waits for"):
        reason = reason.partition(" waits for ")[0]
    return " · ".join(filter(None, (reason, f"{row.dropped} in drop/" if row.dropped else "")))


def inbox_lines(message: Message, drawing: Drawing, *, asked: str = "", other: str = "") -> tuple[Line, ...]:
    """Return a message as its recipient sees it: who wrote it and what about; unread ones stand out.

    Args:
        asked: The title of the request that it decides, safe text.
        other: Whom to name in place of its sender.
    """
    unread = message.status != Status.READ
    status, priority, kind = status_sign(message), priority_sign(message), message_kind_words(message)
    # While it is unread both signs have the ink of what is more urgent: one look tells.
    urgent = next((tone for tone in ("bad", "warn") if tone in (status.tone, priority.tone)), "") if unread else ""
    sign = Sign(f"{status.glyph}{priority.glyph}", "", urgent or status.tone)
    title = decision_words(message, asked) or ((row_title(message), "strong" if unread else "muted"),)
    end = age_column(message.created_at, drawing)
    return row_lines(drawing, sign, title, end, who=other or message.sender, facts=((kind, "muted"),) if kind else ())


def agent_document(page: AgentPage, view: View, now: datetime, sign: Sign, local: LocalFacts) -> Document:
    """Return all that is known of an agent: what it does and how that is known, what is open, said, told and
    decided.
    """
    row = page.row
    name = safe_line(row.name, 64)
    facts = [safe_line(row.role, 40), "plans first" if row.plan_mode_required else ""]
    facts.append(f"last seen {short_ago(row.last_seen, now)}" if row.last_seen else "")
    facts.append(f"{row.unread:,} unread" if row.unread else "")
    facts.append(f"{row.unanswered:,} read and not answered" if row.unanswered else "")
    return Document(
        key=f"agent:{row.name}",
        title="Agent",
        headline=name,
        facts=tuple((fact, "muted") for fact in facts if fact),
        blocks=tuple(_page_blocks(page, view, now, sign, local)),
    )


def _page_blocks(page: AgentPage, view: View, now: datetime, sign: Sign, local: LocalFacts) -> Iterator[Block]:
    """Yield state, gates, open requests, messages, last calls and verdicts of an agent."""
    row = page.row
    state: list[Line] = [(sign.mark, *state_parts(row, sign))]
    process = local.processes.get(row.session, "")
    told = f"its hook said so {short_ago(row.heard_at, now)}" if row.source == "hook" else ""
    if row.is_only_heard and row.name != view.me:  # "last seen" tells when
        told = "it wrote or read within 5 minutes; no hook tells whether it still runs"
    mode = MODES.get(row.mode, "in manual mode") if row.mode else ""
    if known := " · ".join(filter(None, (told, "" if mode in row.reason else mode, process))):
        state.append((("  ", ""), (known, "muted")))
    if row.reported:
        said = f"it said {short_ago(row.reported_at, now)}: “{safe_line(row.reported, 300)}”"
        state.append((("  ", ""), (said, "muted")))
    yield Lines(tuple(state), indent=2)
    # Modules of a plugin concern every session here, a file that lost its part the member that joined by it.
    gates = [
        gate
        for gate in local.gates
        if (row.session if gate.code == "PLUGIN_MODULES" else gate.message.startswith(f"{row.name} "))
    ]
    if gates:
        yield Heading("what its calls may pass by")
        lines = (f"{gate.place}: {gate.message}" for gate in gates)
        yield Lines(tuple((("▲ ", "warn"), (safe_line(line, 300), "")) for line in lines), indent=2)
    others = "open" if row.name == view.me else "open with others"
    for title, requests in (("open with you", page.open_with_reader), (others, page.open_with_others)):
        if requests:
            yield Heading(title)
            yield Lines(tuple(_request_line(item, row.name, view) for item in requests), indent=2)
    for title, messages in (("it was told", page.told), ("it said", page.said)):
        if messages:
            yield Heading(f"{title} · {len(messages):,}")
            yield _message_lines(messages[:_MOST_IN_SUMMARY], row.name, view)
    if page.ran:
        yield Heading("it ran, before it last asked")
        yield Lines(tuple(_ran_line(call) for call in page.ran), is_table=True)
    blocked = page.blocked
    if page.verdicts or blocked is not None:
        yield Heading("decided")
        words = [", ".join(f"{number:,} {state}" for state, number in page.verdicts)]
        if blocked is not None:
            words.append(f"waited for a human {span(blocked.total)} in all")
            if blocked.median is not None:
                words.append(f"median {span(blocked.median)}")
            if blocked.now is not None:
                words.append(f"now for {span(blocked.now)}")
        yield one_line(" · ".join(filter(None, words)))


def _ran_line(call: ToolCall) -> Line:
    """Return a call of a tool with the sign of how it ended."""
    if call.state in ("ok", "exit 0"):
        sign, tone = ("✓", "good")
    elif call.state:
        sign, tone = ("✗", "bad")
    else:
        sign, tone = ("·", "muted")
    words = safe_line(f"{call.tool}  {call.subject}", 300)
    return (f"{sign} ", tone), (words, ""), (f"  {safe_line(call.state)}", "muted")


def _request_line(request: RequestRow, name: str, view: View) -> Line:
    """Return a request in a line: its kind, title, other party and wait."""
    is_own = request.asker == name
    other = safe_line(request.addressee if is_own else request.asker, 64)
    if other == view.me:
        other = ""
    elif is_own:
        other = f" → {other}"
    else:
        other = f" of {other}"
    waits = f" · waits {span(request.waiting_seconds(view.now))}" if is_real_time(request.waits_since) else ""
    return (
        (f"{request_kind_word(request.kind)} ", "open"),
        (safe_line(request.title, 300), ""),
        (other + waits, "muted"),
    )


def _message_lines(messages: Sequence[Message], name: str, view: View) -> Lines:
    """Return a line for each message that an agent has or wrote: its state, when, with whom, and what it says."""
    others = [_other_party(message, name, view) for message in messages]
    width = min(_LONGEST_OTHER, max(map(cell_len, others), default=0))
    lines: list[Line] = []
    for message, other in zip(messages, others, strict=True):
        when = f"{message.created_at.astimezone():%H:%M} " if message.created_at else "–     "
        said = text_of(decision_words(message, asked_title(view, message))) or row_title(message)
        tone = "muted" if message.sender == name else ""
        lines.append((status_sign(message).mark, (when, "muted"), (pad(other, width) + "  ", ""), (said, tone)))
    return Lines(tuple(lines), is_table=True)


def _other_party(message: Message, name: str, view: View) -> str:
    """Return who wrote a message, or to whom the agent `name` did, as safe text."""
    if message.sender == name:
        return safe_line(f"→ {', '.join(message.recipients)}", 64)
    return "you" if message.sender == view.me else safe_line(message.sender, 64)
