"""Reading over the whole screen: one thing after the other, what happened, and what was said."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import ClassVar

from team_console.console.selection import ActionContext
from team_console.console.tui.absence import digest_title, news_of_team
from team_console.console.tui.main import MainScreen
from team_console.console.tui.textual_fixes import start_worker
from team_console.store.model.safe import counted, safe_line
from team_console.store.views.conversation import gather_thread
from team_console.store.views.digest import DigestGroup, group_head, happening_line
from team_console.store.views.history import newest_archived
from team_console.store.views.rows import View
from team_console.store.views.status import MOST_ARCHIVED
from team_console.widgets.bars import Card
from team_console.widgets.detail import Detail
from team_console.widgets.document import Block, Document, Heading, Lines, one_line
from team_console.widgets.message_documents import conversation_document
from team_console.widgets.panel import Overlay
from team_console.widgets.text import Line, clock_time
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.content import Content
from textual.screen import ModalScreen


def read(screen: MainScreen, context: ActionContext) -> None:
    """Give what is under the cursor the whole screen, or the list its place again."""
    screen.pane.presenter.show_now()
    screen.pane.set_reading(not context.is_reading)
    screen.bars.show()  # in the same picture as the list or the text


def next_hit(direction: int, screen: MainScreen, context: ActionContext) -> None:
    """Go to the next place with the words looked for; while reading without any, to the next thing."""
    pane = screen.pane
    if not ((direction > 0 and pane.leave_ended()) or pane.search.next_hit(direction)):
        last = "That was the last one." if context.is_reading else "No more matches. / searches for other words."
        screen.toast(last, severity="warning")


def previous_thing(screen: MainScreen, context: ActionContext) -> None:
    """Go to the thing before the one that is read."""
    if not screen.pane.step(-1):
        screen.toast("That was the first one.", severity="warning")


def next_heading(direction: int, screen: MainScreen, context: ActionContext) -> None:
    """Go to the next heading, or the one before."""
    screen.pane.presenter.show_now()
    screen.pane.detail.next_heading(direction)


_TOLD_BACK_TO = timedelta(hours=12)
"""How far back is told where it is not known when the human left."""
RENEWED_EVERY = 5.0
"""Seconds between two looks at the clock while somebody is asked and has not answered."""


def since(screen: MainScreen, context: ActionContext) -> None:
    """Show what happened since the human was last here: a summary, then everything."""
    moment = screen.absence.left_at or screen.caller.team.clock() - _TOLD_BACK_TO
    if screen.query_one(Card).dismiss():
        title = digest_title(moment, screen.now, has_left=screen.absence.left_at is not None)
        screen.app.push_screen(ReadingScreen(title, screen.view, partial(_digest_document, screen, moment)))
    else:
        screen.absence.tell(moment, always=True)


def _digest_document(screen: MainScreen, since: datetime, view: View) -> Document:
    """Return all that happened since a moment, by kind, made from records alone."""
    team = screen.caller.team
    found, now = news_of_team(team, view, since), team.clock()
    blocks: list[Block] = []
    for group in DigestGroup:
        if items := found.of(group):
            lines = (
                ((f"{clock_time(item.at, now)}  ", "muted"), (safe_line(happening_line(item), 400), ""))
                for item in items
            )
            blocks += [Heading(group_head(group, len(items))), Lines(tuple(lines), indent=10)]
    blocks += [Heading("not known"), Lines(tuple(((safe_line(text, 300), "muted"),) for text in found.unknown))]
    return Document(key="digest", title=counted(len(found.happened), "thing"), blocks=tuple(blocks))


def said(screen: MainScreen, context: ActionContext) -> None:
    """Read again what the console said last."""

    def document(view: View) -> Document:
        now, blocks = screen.caller.team.clock(), []
        for at, severity, text in screen.last_said:
            tone = {"error": "bad", "warning": "warn"}.get(severity, "")
            first, *more = text.split("\n")
            lines: tuple[Line, ...] = (((f"{clock_time(at, now)}  ", "muted"), (first, tone)),)
            blocks.append(Lines((*lines, *(((f"  {line}", tone),) for line in more)), indent=10))
        return Document(
            key="said", title="Said last", blocks=tuple(blocks) or (one_line("Nothing was said yet.", "muted"),)
        )

    screen.app.push_screen(ReadingScreen("Said last", screen.view, document))


def conversation(screen: MainScreen, context: ActionContext) -> None:
    """Open what belongs to the message or request under the cursor, live and archived, the oldest first."""
    word, team = context.selection.subject, screen.caller.team

    def document(view: View) -> Document:
        thread = gather_thread(team, view.snapshot, word, newest_archived(team, limit=MOST_ARCHIVED), view.requests)
        if thread is not None:
            return conversation_document(thread, view.requests, now=team.clock())
        text = f"Nothing is known any more under {safe_line(word, 120)}."
        return Document(key="nothing", title="Conversation", blocks=(one_line(text, "muted"),))

    if word:
        screen.app.push_screen(ReadingScreen("Conversation", screen.view, document))


class ReadingScreen(Overlay, ModalScreen[None]):
    """One document over the whole screen, made in a thread, again whenever the team changed."""

    DEFAULT_CSS = """
    ReadingScreen { background: $background 60%; align: center top; }
    ReadingScreen > .reading--box { width: 100%; height: 100%; background: $surface; border-top: heavy $accent;
        border-title-color: $text-accent; border-title-style: bold; border-bottom: solid $border-blurred;
        border-subtitle-color: $text-muted; }
    ReadingScreen Detail { height: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss", "Close", show=False),
        Binding("x", "stop", "Ask nobody else", show=False),
    ]

    def __init__(
        self,
        title: str,
        view: View | None,
        document: Callable[[View], Document],
        *,
        every: float = 0.0,
        stop: Callable[[], None] | None = None,
    ) -> None:
        """Make the screen.

        Args:
            document: Makes what is read; runs in a thread.
            every: Seconds after which it is made again, whether anything changed or not; 0 for never.
            stop: What `x` stops.
        """
        super().__init__()
        self._title, self._view, self._document, self._every, self._stop = title, view, document, every, stop
        self._making = self._again = False

    def compose(self) -> ComposeResult:
        """Yield a box with one scrolled document."""
        with Container(classes="reading--box") as box:
            box.border_title = Content(self._title)
            box.border_subtitle = Content("j k scroll · esc back")
            yield Detail()

    def on_mount(self) -> None:
        """Begin to read."""
        detail = self.query_one(Detail)
        detail.show(Document(key="reading", title=self._title, headline="◔ reading …"))
        detail.focus()
        self.follow(self._view)
        if self._every:
            self.set_interval(self._every, lambda: self.follow(self._view))

    def follow(self, view: View | None) -> None:
        """Make the document anew, because the team changed."""
        self._view, self._again = view, True
        if view is not None and not self._making:
            self._making = True
            start_worker(self, self._read, group="reading")

    async def _read(self) -> None:
        """Show what is read, made in a thread; once more where the team changed meanwhile."""
        while self._again and self._view is not None:
            self._again = False
            try:
                document = await asyncio.to_thread(self._document, self._view)
                if self._is_open():  # else its widgets may be gone
                    self.query_one(Detail).show(document)
            except Exception as error:
                self.app.report(error)  # type: ignore[attr-defined]
        self._making = False

    def action_stop(self) -> None:
        """Stop the running shutdown, if there is one."""
        if self._stop is not None:
            self._stop()
