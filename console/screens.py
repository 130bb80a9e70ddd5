"""Screens over the main one: a conversation, a supervised shutdown, a choice of team or theme, toasts."""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from time import monotonic
from typing import Any, ClassVar

from team_console.console.crash_guard import ContainedApp
from team_console.console.decisions import Workspace
from team_console.console.leaving import run_to_the_end
from team_console.console.themes import THEMES, choices, first_theme, native_colours, remember_theme
from team_console.store.model.safe import counted, safe_line, safe_text
from team_console.store.views.conversation import conversation_of
from team_console.store.views.digest import DigestGroup, digest_of_team, group_head, told
from team_console.store.views.roster import stops_of
from team_console.store.views.rows import View
from team_console.widgets.bars import KeyBar, KeyHint
from team_console.widgets.detail import Detail
from team_console.widgets.details import conversation_document, stopping_document
from team_console.widgets.document import Block, Document, Heading, Lines
from team_console.widgets.overlay import Overlay
from team_console.widgets.row_list import Drawing, RowList
from team_console.widgets.text import Line, clock_time
from textual import on
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.content import Content
from textual.screen import ModalScreen
from textual.worker import Worker, WorkerState


class ReadingScreen(Overlay, ModalScreen[None]):
    """One document, made in a thread, again whenever the team changed."""

    DEFAULT_CSS = """
    ReadingScreen { background: $background 60%; align: center top; }
    ReadingScreen > .reading--box { width: 100%; height: 100%; background: $surface; border-top: heavy $accent;
        border-title-color: $text-accent; border-title-style: bold; border-bottom: solid $border-blurred;
        border-subtitle-color: $text-muted; }
    ReadingScreen Detail { height: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "dismiss", "Close", show=False)]
    TITLE_WORDS: ClassVar[str] = ""
    KEYS: ClassVar[str] = "j k scroll · esc back"

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self.workspace = workspace
        self._making = self._again = False

    def compose(self) -> ComposeResult:
        """A box with one scrolled document."""
        with Container(classes="reading--box") as box:
            box.border_title = Content(self.TITLE_WORDS)
            box.border_subtitle = Content(self.KEYS)
            yield Detail()

    def on_mount(self) -> None:
        """Begin to read."""
        detail = self.query_one(Detail)
        detail.show(Document(key="reading", title=self.TITLE_WORDS, headline="◔ reading …"))
        detail.focus()
        self.follow()

    def follow(self) -> None:
        """The team changed: make the document anew."""
        view = self.workspace.view
        if view is None:
            return
        self._again = self._making
        if not self._making:
            self._making = True
            self.run_worker(lambda: self.document(view), thread=True, group="reading", exit_on_error=False)

    @abstractmethod
    def document(self, view: View) -> Document:
        """What to show; runs in a thread."""

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Show what was read."""
        if event.worker.group != "reading" or event.state not in (WorkerState.SUCCESS, WorkerState.ERROR):
            return
        self._making = False
        result: Any = event.worker.result
        if event.state is WorkerState.SUCCESS:
            self.query_one(Detail).show(result)
        elif event.worker.error is not None:
            self.app.report(event.worker.error)  # type: ignore[attr-defined]
        if self._again:
            self.follow()


# The conversation of one message or request, over the whole screen.


class ConversationScreen(ReadingScreen):
    """Everything said about one thing, live and archived, in order."""

    TITLE_WORDS: ClassVar[str] = "Conversation"
    HELP = "Everything that belongs to it, the oldest first. v shows texts as they were written."

    def __init__(self, workspace: Workspace, word: str) -> None:
        super().__init__(workspace)
        self._word = word

    def document(self, view: View) -> Document:
        """The conversation as it is now."""
        snapshot, team = view.snapshot, self.workspace.caller.team
        live = (*snapshot.messages, *snapshot.dropped)
        conversation = conversation_of(self._word, live, team.archived, view.requests)
        if conversation is None:
            text = f"Nothing is known any more under {safe_line(self._word, 120)}."
            return Document(key="nothing", title="Conversation", blocks=(Lines((((text, "muted"),),)),))
        return conversation_document(conversation, now=team.clock())


# What happened since the human left, over the whole screen.


class DigestScreen(ReadingScreen):
    """All that happened since a moment, by kind."""

    TITLE_WORDS: ClassVar[str] = "Since you left"
    HELP = "What was asked, decided, withdrawn, done and failed since then, made from records alone."

    def __init__(self, workspace: Workspace, since: datetime) -> None:
        super().__init__(workspace)
        self._since = since

    def document(self, view: View) -> Document:
        """The digest as it is now."""
        team = self.workspace.caller.team
        found, now = digest_of_team(team, view, self._since), team.clock()
        blocks: list[Block] = []
        for group in DigestGroup:
            items = found.of(group)
            if items:
                lines = tuple(
                    ((f"{clock_time(item.at, now)}  ", "muted"), (safe_line(told(item), 400), "")) for item in items
                )
                blocks += [Heading(group_head(group, len(items))), Lines(lines, indent=10)]
        blocks += [Heading("not known"), Lines(tuple(((safe_line(text, 300), "muted"),) for text in found.unknown))]
        head = f"{counted(len(found.happenings), 'thing')} since {clock_time(self._since, now)}"
        return Document(key="digest", title=self.TITLE_WORDS, headline=head, blocks=tuple(blocks))


# What the console said last, over the whole screen.


class SaidScreen(ReadingScreen):
    """The last things that were said in a line at the bottom, the newest first."""

    TITLE_WORDS: ClassVar[str] = "Said last"
    HELP = "The last ten things that stood in the line at the bottom."

    def document(self, view: View) -> Document:
        """All of them."""
        now, blocks = self.workspace.caller.team.clock(), []
        for at, severity, text in self.workspace.last_said:
            tone = {"error": "bad", "warning": "warn"}.get(severity, "")
            first, *more = text.split("\n")
            lines: tuple[Line, ...] = (((f"{clock_time(at, now)}  ", "muted"), (first, tone)),)
            blocks.append(Lines((*lines, *(((f"  {line}", tone),) for line in more)), indent=10))
        nothing = Lines((((("Nothing was said yet."), "muted"),),))
        return Document(key="said", title=self.TITLE_WORDS, blocks=tuple(blocks) or (nothing,))


# The shutdown of the team, supervised, over the whole screen.

_CLOCK = 5.0
"""Seconds between two looks at the clock while somebody is asked and has not answered."""


class StopsScreen(ReadingScreen):
    """Who was asked to stop, what became of it, and who is left."""

    TITLE_WORDS: ClassVar[str] = "Shutdown of the team"
    HELP = "Who was asked to stop, has it, saw it, agreed or refused, ended, and who is left."
    BINDINGS: ClassVar[list[BindingType]] = [Binding("x", "ask_nobody_else", "Ask nobody else", show=False)]

    def on_mount(self) -> None:
        """Clocks go on while it is looked at."""
        self.set_interval(_CLOCK, self.follow)

    def document(self, view: View) -> Document:
        """The shutdown as it is now."""
        workspace = self.workspace
        busy = workspace.busy if workspace.busy.startswith("stopping") else ""
        return stopping_document(stops_of(view), now=workspace.caller.team.clock(), busy=busy)

    def action_ask_nobody_else(self) -> None:
        """Stop asking agents that were not asked yet."""
        self.workspace.background.cancel_stopping()


# Lets the human choose among the teams that were found.


class PickerApp(ContainedApp[str | None]):
    """A list of locations; enter chooses."""

    CSS = """
    Screen { background: $surface; }
    RowList { height: 1fr; border: round $accent; border-title-color: $text-accent; margin: 1 2; }
    """
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [Binding("q,escape,ctrl+q", "quit", "Quit", show=False)]

    def __init__(self, locations: tuple[str, ...]) -> None:
        super().__init__(ansi_color=native_colours())
        self._locations = locations
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = first_theme(self.console.color_system)

    def compose(self) -> ComposeResult:
        """The list and its keys."""
        yield RowList(str, _location_lines, markable=False)
        yield KeyBar()

    def on_mount(self) -> None:
        """Show the locations."""
        rows = self.query_one(RowList)
        rows.border_title = Content(f"Choose a team · {len(self._locations)}")
        rows.set_rows(self._locations, now=datetime.now(UTC))
        rows.focus()
        hints = (KeyHint("enter", "open"), KeyHint("j k", "move"))
        self.call_after_refresh(lambda: self.query_one(KeyBar).show(hints, (KeyHint("q", "quit"),)))

    @on(RowList.Opened)
    def _chosen(self, event: RowList.Opened) -> None:
        self.exit(event.key)


def pick_team(locations: Sequence[str]) -> str | None:
    """Let the human choose one of the locations; None when none was chosen."""
    return run_to_the_end(PickerApp(tuple(locations)))[0]


def _location_lines(location: str, drawing: Drawing) -> tuple[Line, ...]:
    folder, _, name = location.rstrip("/").rpartition("/")
    return ((("◆ ", "accent"), (safe_line(name, 80), "strong"), (f"  {safe_line(folder, 300)}", "muted")),)


# A list of themes; each shows while the cursor is on it, enter keeps it.


class ThemeList(Overlay, ModalScreen[None]):
    """At the right, so that most of the console shows what a theme looks like."""

    DEFAULT_CSS = """
    ThemeList { align: right middle; background: $background 0%; }
    ThemeList > RowList { width: 34; height: 70%; background: $panel; border: round $accent;
        border-title-color: $text-accent; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,f2", "leave", "Back", show=False)]

    def __init__(self, *, remembers: bool = True) -> None:
        """`remembers` whether the choice is kept for the next time."""
        super().__init__()
        self._before, self._remembers = "", remembers
        self._choices: Mapping[str, str] = choices()

    def compose(self) -> ComposeResult:
        """The list."""
        yield RowList[str](str, self._line, markable=False)

    def on_mount(self) -> None:
        """Begin at the theme there is."""
        self._before = self.app.theme
        rows = self.query_one(RowList)
        rows.border_title = Content("Theme · enter keeps it")
        rows.set_rows(tuple(self._choices), now=datetime.now(UTC))
        present = next((name for name, theme in self._choices.items() if theme == self.app.theme), "")
        rows.select(present, by_user=False)
        rows.focus()

    def action_leave(self) -> None:
        """Go back to the theme of before."""
        self.app.theme = self._before
        self.dismiss()

    @on(RowList.Moved)
    def _moved(self, event: RowList.Moved) -> None:
        if event.key is not None and event.by_user:
            self.app.theme = self._choices[event.key]

    @on(RowList.Opened)
    def _chosen(self, event: RowList.Opened) -> None:
        self.app.theme = self._choices[event.key]
        if self._remembers:
            remember_theme(self.app.theme)
        self.dismiss()

    def _line(self, name: str, drawing: Drawing) -> tuple[Line, ...]:
        return (((safe_line(name, 40), ""), ("  current" if self._choices[name] == self._before else "", "muted")),)


# Toasts: what is said for a few seconds at the lower right.

_SECONDS, _SECONDS_OF_WARNING = 6.0, 9.0


_KEPT = 10
"""How many of the things said can be read again."""


class Toasts:
    """Says things once: a key held down says no ten times, and that is one warning."""

    def __init__(self, app: Callable[[], App[Any]], clock: Callable[[], float] = monotonic) -> None:
        self._app, self._clock = app, clock
        self._warned: dict[str, float] = {}
        self.last: deque[tuple[datetime, str, str]] = deque(maxlen=_KEPT)

    def say(self, text: str, *, severity: str = "information") -> None:
        """Say something, a warning that still stands there only once; whatever is in `text`, it is only text."""
        text = safe_text(text)
        moment, seconds = self._clock(), _SECONDS if severity == "information" else _SECONDS_OF_WARNING
        self._warned = {said: until for said, until in self._warned.items() if until > moment}
        if text in self._warned:
            return
        if severity == "warning":
            self._warned[text] = moment + seconds
        self.last.appendleft((datetime.now(UTC), severity, text))
        self._app().notify(text, severity=severity, markup=False, timeout=seconds)  # type: ignore[arg-type]
