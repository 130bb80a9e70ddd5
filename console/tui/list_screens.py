"""Lists from which one row is chosen: themes, and teams with what waits in each, also before any of them is open."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from msgspec import Struct
from team_console.console.preferences import load_preferences, theme_names
from team_console.console.tui.empty_lists import first_step, no_team_lines
from team_console.console.tui.guarded_app import GuardedApp
from team_console.console.tui.situation import Situation
from team_console.console.tui.textual_fixes import start_worker
from team_console.console.tui.themes import remember_theme, theme_name
from team_console.store.backends.locations import absolute
from team_console.store.backends.open import find_teams, open_team
from team_console.store.contract.team import Team
from team_console.store.model.errors import TeamError
from team_console.store.model.names import USER
from team_console.store.model.safe import counted, safe_line
from team_console.store.settings.team_config import TeamConfig
from team_console.store.views.needs import count_to_do
from team_console.store.views.status import assess, view_of_team
from team_console.widgets.detail import Detail
from team_console.widgets.document import Document, Lines
from team_console.widgets.panel import Overlay
from team_console.widgets.row_drawing import Draw, Drawing
from team_console.widgets.row_list import RowList
from team_console.widgets.text import Line, spread
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen

RowT = TypeVar("RowT")


class ListScreen(Overlay, ModalScreen[str], Generic[RowT]):
    """A list; its result is the key of the row that was opened, where nothing else is done with it."""

    DEFAULT_CSS = """
    ListScreen { align: center middle; background: $background 60%; }
    ListScreen > RowList { max-width: 96%; height: 70%; background: $surface; border: round $accent;
        border-title-color: $text-accent; border-subtitle-color: $text-muted; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "dismiss", "Close", show=False)]

    def __init__(
        self,
        title: str,
        keys: str,
        key_of: Callable[[RowT], str],
        draw: Draw[RowT],
        shown: tuple[RowT, ...] = (),
        *,
        lines: int = 1,
    ) -> None:
        """`keys` stands on the border, `shown` are the rows to begin with, `lines` are those of a row."""
        super().__init__()
        self._title, self._keys, self._shown = title, keys, shown
        self.rows = RowList[RowT](key_of, draw, lines=lines, markable=False)

    def compose(self) -> ComposeResult:
        """Yield the list."""
        self.rows.set_rows(self._shown, now=datetime.now(UTC))
        yield self.rows

    def on_mount(self) -> None:
        """Say what it is and which keys there are, and take them."""
        self.rows.border_title = Content(self._title)
        self.rows.border_subtitle = Content(self._keys)
        self.rows.focus()

    @on(RowList.Opened)
    def _opened(self, event: RowList.Opened) -> None:
        self.choose(event.key)

    def choose(self, key: str) -> None:
        """Do what enter means on a row."""
        self.dismiss(key)


class ThemeList(ListScreen[str]):
    """At the right, so that most of the console shows the theme under the cursor; enter keeps it."""

    DEFAULT_CSS = """
    ThemeList { align: right middle; background: $background 0%; }
    ThemeList > RowList { width: 34; background: $panel; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "leave", "Back", show=False)]

    def __init__(self, *, remembers: bool) -> None:
        """`remembers` whether the choice is kept for the next time."""
        self._before, self._remembers, self._choices = "", remembers, theme_names()
        super().__init__("Theme", "enter confirm · esc back", str, self._line, tuple(self._choices))

    def on_mount(self) -> None:
        """Put the cursor on the theme in use."""
        self._before = self.app.theme
        self.rows.select(theme_name(self._before), by_user=False)

    def action_leave(self) -> None:
        """Go back to the theme of before."""
        self.app.theme = self._before
        self.dismiss()

    @on(RowList.Moved)
    def _moved(self, event: RowList.Moved) -> None:
        if event.key is not None and event.by_user:
            self.app.theme = self._choices[event.key]

    def choose(self, key: str) -> None:
        """Keep the theme."""
        self.app.theme = self._choices[key]
        if self._remembers:
            remember_theme(self.app.theme)
        self.dismiss()

    def _line(self, name: str, drawing: Drawing) -> tuple[Line, ...]:
        return (((safe_line(name, 40), ""), ("  current" if self._choices[name] == self._before else "", "muted")),)


class TeamRow(Struct, frozen=True):
    """One team: its name, how many things wait for its lead, and what else there is to say of it; safe text."""

    location: str
    name: str
    waiting: int = 0
    words: str = ""


class TeamsScreen(ListScreen[TeamRow]):
    """Teams with what waits in each; its result is the one that is chosen."""

    DEFAULT_CSS = """
    TeamsScreen > RowList { width: 90; }
    """

    def __init__(self, find: Callable[[], Iterable[str]], keys: str = "enter go there · esc back") -> None:
        """`find` returns the locations of the teams; it runs in a thread."""
        super().__init__("Teams", keys, lambda row: row.location, _team_lines, lines=2)
        self._find = find

    def on_mount(self) -> None:
        """Look for the teams in a thread."""
        self.rows.set_rows((), now=datetime.now(UTC), empty=((("◔ looking for teams …", "muted"),),))
        start_worker(self, self._look, group="teams")

    async def _look(self) -> None:
        found = await asyncio.to_thread(lambda: tuple(map(_team_row, self._find())))
        shown = tuple(sorted(found, key=lambda row: -row.waiting))
        self.rows.set_rows(shown, now=datetime.now(UTC), empty=((("No team was found.", "muted"),),))


def teams_beside(team: Team) -> Iterable[str]:
    """Return the locations of this team, those beside it and those below the present folder."""
    found = [team.location]
    if team.root is not None:
        found += find_teams(Path(team.root).resolve().parent, depth=1)
    with suppress(TeamError):  # the present folder is gone
        found += find_teams(absolute("."))
    return dict.fromkeys(found)


def _team_row(location: str) -> TeamRow:
    """Return the row of a team: what waits, or why it cannot be read."""
    name = safe_line(Path(location).name, 60)
    try:
        with closing(open_team(location, read_only=True)) as team:
            snapshot = team.snapshot()
            lead, given = snapshot.config.lead, snapshot.config.name
            view = view_of_team(team, snapshot, me=lead, archived=0)
    except TeamError as error:
        return TeamRow(location, name, words=safe_line(error.message, 200))
    state = assess(snapshot, view.now).state
    agents = sum(row.name not in (lead, USER) for row in view.roster)
    words = f"{counted(agents, 'agent')} · {safe_line(lead, 64)} leads · {state}"
    name = name if given == TeamConfig().name else safe_line(given, 60)
    return TeamRow(location, name, count_to_do(view.attention), words)


def _team_lines(row: TeamRow, drawing: Drawing) -> tuple[Line, ...]:
    waits = f"{row.waiting:,} waiting" if row.waiting else ""
    head = spread((("◆ ", "accent"), (row.name, "strong")), ((waits + " ", "warn"),), drawing.width)
    return head, ((f"  {row.words}  ", "muted"), (safe_line(row.location, 300), "muted"))


_LOOK_FOR_A_TEAM = 1.0
"""Seconds between two looks for the first team of a folder."""


class FirstStepsScreen(Overlay, ModalScreen[str | None]):
    """What to do in a folder without a team; it is left with the location of the team as soon as there is one."""

    DEFAULT_CSS = """
    FirstStepsScreen { background: $surface; }
    FirstStepsScreen Detail { height: 1fr; margin: 1 2; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("Y", "copy", "Copy the command", show=False),
        Binding("escape,q", "leave", "Leave", show=False),
    ]

    def __init__(self, find: Callable[[], str | None]) -> None:
        super().__init__()
        self._find = find

    def compose(self) -> ComposeResult:
        """Yield the one text there is."""
        yield Detail()

    def on_mount(self) -> None:
        """Show the commands, and look for the team that one of them makes."""
        detail = self.query_one(Detail)
        closing_words: Line = (("q quit", "muted"),)
        text = Lines((*no_team_lines(), (), closing_words))
        detail.show(Document(key="first steps", title="team-console", blocks=(text,)))
        detail.focus()
        self.set_interval(_LOOK_FOR_A_TEAM, self._look)

    def _look(self) -> None:
        with suppress(TeamError):  # a folder that cannot be looked into now
            if (location := self._find()) is not None:
                self.dismiss(location)

    def action_copy(self) -> None:
        """Copy the command that lets an agent ask here."""
        self.app.copy_to_clipboard(first_step(Situation()))
        self.notify("Copied the command", markup=False)

    def action_leave(self) -> None:
        """Leave without a team."""
        self.dismiss(None)


class PickerApp(GuardedApp[str | None]):
    """The list of teams alone, before any of them is open; what makes the first one where there is none."""

    ENABLE_COMMAND_PALETTE = False

    def __init__(self, make: Callable[[], ModalScreen[Any]]) -> None:
        """`make` returns its one screen, whose result is the location of a team; None for none."""
        super().__init__(load_preferences().preferences.theme)
        self._make = make

    def on_mount(self) -> None:
        """Show the teams, or the first steps."""
        self.push_screen(self._make(), self.exit)


def pick_team(locations: Sequence[str]) -> str | None:
    """Let the human choose one of the locations; None when none was chosen."""
    return PickerApp(lambda: TeamsScreen(lambda: locations, "enter open · q quit")).run_to_the_end()[0]


def wait_for_team(find: Callable[[], str | None]) -> str | None:
    """Show the first steps until `find` returns the location of a team; None when the human leaves before."""
    return PickerApp(lambda: FirstStepsScreen(find)).run_to_the_end()[0]
