"""Inboxes: who is in the team, what waits for each of them, and the message itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar

from msgspec.structs import replace
from team_console.console.modes.pane import FilterLine, ListPane, beside, beside_report
from team_console.console.selection import Mode, Selection
from team_console.console.team import asked_title, names_of, signs_of
from team_console.console.words import ScreenState, empty_words, first_step, first_step_lines, is_sure, set_title
from team_console.store.model.message import Message
from team_console.store.model.safe import safe_line
from team_console.store.protocol.verdicts import digest_of
from team_console.store.views.rows import RequestRow, RosterRow, View
from team_console.store.views.search import Found, message_found
from team_console.widgets.detail import Detail
from team_console.widgets.details import message_document
from team_console.widgets.document import Document
from team_console.widgets.row_list import Drawing, RowList
from team_console.widgets.rows import inbox_lines, roster_lines, state_parts
from team_console.widgets.signs import AGENTS, Sign
from team_console.widgets.text import Line
from textual import on
from textual.app import ComposeResult
from textual.containers import Container
from textual.events import DescendantFocus

_ROOM_FOR_BOTH = 26
"""Cells of the roster from which on its title says both how many agents there are and what is unread."""


class InboxesPane(ListPane[Message]):
    """Roster, the inbox of the agent under its cursor, and the message under the inbox's cursor."""

    DEFAULT_CSS = """
    InboxesPane .inboxes--lists { layout: horizontal; height: 1fr; }
    InboxesPane #roster { width: 37; height: 100%; }
    InboxesPane #inbox { width: 1fr; height: 100%; }
    """
    MODE: ClassVar[Mode] = Mode.INBOXES
    MARKABLE: ClassVar[bool] = True
    _sought_agent = ""
    _agent: str | None = None
    _signs: Mapping[str, Sign] = MappingProxyType({})

    @cached_property
    def rows(self) -> RowList[Message]:
        """The inbox."""
        return self.query_one("#inbox", RowList)

    @cached_property
    def roster(self) -> RowList[RosterRow]:
        """The agents."""
        return self.query_one("#roster", RowList)

    @property
    def _is_in_roster(self) -> bool:
        """Whether keys go to the roster; the screen knows it at once, the roster itself a little later."""
        return self.screen.focused is self.roster

    def compose(self) -> ComposeResult:
        """Roster and inbox side by side, the message right of them or below."""
        with Container(classes="pane--rows"):
            with Container(classes="inboxes--lists"):
                yield RowList[RosterRow](
                    lambda row: row.name, self._draw_agent, roomy=20, matter=lambda row: row.name, id="roster"
                )
                yield RowList(self.key_of, self.draw, roomy=self.ROOMY, matter=self.matter_of, id="inbox")
            yield FilterLine(self.query_values)
        yield Detail()

    def draw(self, row: Message, drawing: Drawing) -> Any:
        """A message as its recipient sees it."""
        return inbox_lines(row, drawing, asked=asked_title(self.situation.view, row))

    def _draw_agent(self, row: RosterRow, drawing: Drawing) -> tuple[Line, ...]:
        return roster_lines(row, drawing, self._sign_of(row))

    def _sign_of(self, row: RosterRow) -> Sign:
        return self._signs.get(row.name, AGENTS[row.state])

    def key_of(self, row: Message) -> str:
        """Its id; two records with one id are told apart by their state."""
        return row.message_id

    def matter_of(self, row: Message) -> object:
        """What it says and where it is on its way."""
        return row.status, row.payload

    def _with_what_is_read(self, rows: tuple[Message, ...]) -> tuple[Message, ...]:
        """See `ListPane`; in the inbox of another agent nothing of the former one is read."""
        former, self._agent = self._agent, self.roster.cursor_key
        if former == self._agent:
            return super()._with_what_is_read(rows)
        self._gone = None
        return rows

    def row_as_known(self, row: Message) -> Message:
        """See `ListPane.row_as_known`."""
        snapshot = self.situation.snapshot
        live = snapshot.messages if snapshot is not None else ()
        return next((message for message in live if message.message_id == row.message_id), row)

    def rows_of(self, view: View) -> tuple[Message, ...]:
        """The inbox of the agent under the roster's cursor."""
        agent = self.roster.cursor_key
        return tuple(view.inboxes.get(agent, ())) if agent is not None else ()

    def found_in(self, row: Message) -> Found:
        """The message."""
        return message_found(row)

    def request_of(self, row: Message) -> RequestRow | None:
        """The request it asks."""
        return self._request_of(row)

    def document_of(self, row: Message) -> Document | None:
        """The message; beside a request what stands beside it in the other lists, since it is answered here, too."""
        request, content = self._request_of(row), self.content_of(row)
        around = beside(self, request) if request is not None else None
        # guard: evidence-in-inboxes
        return message_document(
            row,
            now=self.now,
            content=content,
            token=digest_of(row),
            problems=self.problems_of(row),
            seal=self.seal_of(row),
            seen=around.seen if around is not None else None,
            above=around.above if around is not None else (),
            below=around.below if around is not None else beside_report(self, row, content),
        )

    def subject_of(self, row: Message | None, marked: tuple[Message, ...]) -> Selection:
        """In the roster its agents, in the inbox its messages."""
        if self._is_in_roster:
            agents = tuple(row.name for row in self.roster.marked_rows()) or tuple(
                filter(None, [self.roster.cursor_key])
            )
            return Selection(agents=agents)
        some = marked or ((row,) if row is not None else ())
        agents = tuple(dict.fromkeys(message.sender for message in some)) or tuple(
            filter(None, [self.roster.cursor_key])
        )
        return Selection(
            request=self._request_of(row),
            requests=self._requests_of(some),
            message=row,
            messages=some,
            letters=some,
            agents=agents,
            incomplete=self.is_incomplete(row),
        )

    def subject(self) -> Selection:
        """In the roster its row and its marks, in the inbox those of the inbox."""
        selection = super().subject()
        if not self._is_in_roster:
            return selection
        return replace(selection, key=self.roster.cursor_key, marked=len(self.roster.marks), token="")

    def _request_of(self, message: Message | None) -> RequestRow | None:
        """The request the message asks, so that it is answered here as in the other lists."""
        view = self.situation.view
        if message is None or view is None:
            return None
        return next((row for row in view.requests if row.question.message_id == message.message_id), None)

    def _requests_of(self, messages: Sequence[Message]) -> tuple[RequestRow, ...]:
        """The requests that these messages ask; one pass through the ledger, since thousands may be marked."""
        if len(messages) < 2 or self.situation.view is None:
            return tuple(filter(None, map(self._request_of, messages)))
        asked = {row.question.message_id: row for row in reversed(self.situation.view.requests)}
        return tuple(asked[message.message_id] for message in messages if message.message_id in asked)

    def show(self, situation: ScreenState, now: datetime) -> None:
        """Show another roster and the inbox that belongs to it."""
        view = situation.view
        self.situation, self.now = situation, now
        self._signs = signs_of(view)
        empty = empty_words(Mode.INBOXES, situation)
        if view is not None and view.snapshot.messages:
            empty = ((("No agents are known yet", "muted"),),)
        self.roster.set_rows(view.roster if view else (), now=now, empty=empty, names=names_of(view))
        if self._sought_agent:
            self.seek_agent(self._sought_agent)
        self._show_roster_title()
        super().show(situation, now)

    def on_resize(self) -> None:
        """A title that fits."""
        if self.is_complete:
            self._show_roster_title()

    def _show_roster_title(self) -> None:
        view = self.situation.view
        unread = sum(row.unread for row in view.roster) if view else 0
        count = f"* {len(self.roster.marks):,} marked" if self.roster.marks else ""
        # What is to be read matters more than how many agents there are, where there is room for one of them.
        number = f" · {len(self.roster.rows)}" if not 0 < self.roster.size.width < _ROOM_FOR_BOTH else ""
        set_title(self.roster, f"Agents{number}", count or (f"{unread:,} unread" if unread else ""))

    def seek_agent(self, name: str) -> None:
        """Put the roster's cursor on an agent, now or once it is there."""
        self._sought_agent = name
        if self.is_complete and self.roster.select(name):
            self._sought_agent = ""
            self.roster.focus()

    def tick(self, now: datetime) -> None:
        """Let ages go on in both lists."""
        self.roster.tick(now)
        super().tick(now)

    def focus_first(self) -> None:
        """The roster."""
        self.roster.focus()

    def undisturbed_for(self) -> float:
        """Of the list that has the focus."""
        return self.roster.undisturbed_for() if self._is_in_roster else self.rows.undisturbed_for()

    def title_of(self, shown: int, total: int) -> str:
        """Whose inbox it is."""
        row = self.roster.cursor_row
        if row is None:
            return "Inbox"
        number = f"{shown:,}" if shown == total else f"{shown:,} of {total:,}"
        return f"{safe_line(row.name, 64)} · {number} · {self._sign_of(row).word}"

    def back(self) -> bool:
        """From the inbox to the roster, after all else."""
        if super().back():
            return True
        if self.rows.has_focus:
            self.roster.focus()
            return True
        if self.roster.marks:
            self.roster.clear_marks()
            return True
        return False

    def first_step(self) -> str:
        """See `ListPane`; it fills the inbox that is shown."""
        if self.rows.rows or self.query_text:
            return ""
        return first_step(self.MODE, self.situation, inbox=self.roster.cursor_key or "")

    def _fill(self, *, again: bool = True) -> None:
        super()._fill(again=again)
        row = self.roster.cursor_row
        if row is not None and not self.rows.rows and not self.query_text and is_sure(self.situation):
            step = first_step_lines(self.MODE, self.situation, inbox=row.name)
            self.rows.set_rows((), now=self.now, empty=(*_why_empty(row, self._sign_of(row)), *step))

    @on(RowList.Moved, "#roster")
    def _agent_chosen(self, event: RowList.Moved) -> None:
        event.prevent_default()
        event.stop()
        super().show(self.situation, self.now)
        self.post_message(self.Looked(self))

    @on(RowList.Marked, "#roster")
    def _agent_marked(self, event: RowList.Marked) -> None:
        event.prevent_default()
        event.stop()
        self._show_roster_title()
        self.post_message(self.Looked(self))

    @on(RowList.Opened, "#roster")
    def _agent_opened(self, event: RowList.Opened) -> None:
        event.prevent_default()
        event.stop()
        self.rows.focus()

    @on(DescendantFocus)
    def _focused(self) -> None:
        self.post_message(self.Looked(self))


def _why_empty(row: RosterRow, sign: Sign) -> tuple[Line, ...]:
    state: Line = ((f"{sign.glyph} ", sign.tone), *state_parts(row, sign))
    return ((("No message waits for ", ""), (safe_line(row.name, 64), "")), (), state)
