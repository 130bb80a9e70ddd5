"""Screens over the main one: something to read, a choice of team or theme."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, ClassVar

from team_console.console.crash_guard import ContainedApp
from team_console.console.leaving import run_to_the_end
from team_console.console.themes import THEMES, choices, first_theme, native_colours, remember_theme
from team_console.store.model.safe import safe_line
from team_console.store.views.rows import View
from team_console.widgets.bars import KeyBar, KeyHint
from team_console.widgets.detail import Detail
from team_console.widgets.document import Document
from team_console.widgets.overlay import Overlay
from team_console.widgets.row_list import Drawing, RowList
from team_console.widgets.text import Line
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.content import Content
from textual.screen import ModalScreen
from textual.worker import Worker, WorkerState


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
        """A box with one scrolled document."""
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
        self._view = view
        if view is None:
            return
        self._again = self._making
        if not self._making:
            self._making = True
            self.run_worker(lambda: self._document(view), thread=True, group="reading", exit_on_error=False)

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
            self.follow(self._view)

    def action_stop(self) -> None:
        """Stop what goes on, where there is something to stop."""
        if self._stop is not None:
            self._stop()


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
