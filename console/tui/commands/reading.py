"""Reading over the whole screen: one thing after the other, what happened, was said, and who is asked to stop."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import partial

from team_console.console.selection import ActionContext
from team_console.console.tui.absence import digest_title, news_of_team
from team_console.console.tui.main import MainScreen
from team_console.console.tui.reading_screen import ReadingScreen
from team_console.store.model.safe import counted, safe_line
from team_console.store.views.conversation import gather_thread
from team_console.store.views.digest import DigestGroup, group_head, happening_line
from team_console.store.views.history import newest_archived
from team_console.store.views.rows import View
from team_console.store.views.status import MOST_ARCHIVED
from team_console.store.views.stopping import stops_of
from team_console.widgets.ages import clock_time
from team_console.widgets.bars import Card
from team_console.widgets.conversation_document import conversation_document
from team_console.widgets.document import Block, Document, Heading, Lines
from team_console.widgets.shutdown_document import shutdown_document
from team_console.widgets.text import Line


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
_RENEWED_EVERY = 5.0
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
        nothing = Lines((((("Nothing was said yet."), "muted"),),))
        return Document(key="said", title="Said last", blocks=tuple(blocks) or (nothing,))

    screen.app.push_screen(ReadingScreen("Said last", screen.view, document))


def conversation(screen: MainScreen, context: ActionContext) -> None:
    """Open what belongs to the message or request under the cursor, live and archived, the oldest first."""
    word, team = context.selection.subject, screen.caller.team

    def document(view: View) -> Document:
        thread = gather_thread(team, view.snapshot, word, newest_archived(team, limit=MOST_ARCHIVED), view.requests)
        if thread is not None:
            return conversation_document(thread, view.requests, now=team.clock())
        text = f"Nothing is known any more under {safe_line(word, 120)}."
        return Document(key="nothing", title="Conversation", blocks=(Lines((((text, "muted"),),)),))

    if word:
        screen.app.push_screen(ReadingScreen("Conversation", screen.view, document))


def stops(screen: MainScreen, context: ActionContext) -> None:
    """Watch the shutdown of the team: who was asked, has it, agreed or refused, ended, and who is left."""

    def document(view: View) -> Document:
        busy = screen.bars.busy if screen.bars.busy.startswith("stopping") else ""
        return shutdown_document(stops_of(view), now=screen.caller.team.clock(), busy=busy)

    stop = screen.background.cancel_stopping
    screen.app.push_screen(
        ReadingScreen("Shutdown of the team", screen.view, document, every=_RENEWED_EVERY, stop=stop)
    )
