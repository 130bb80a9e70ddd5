"""Screens over the main one: something to read, and lists of themes, teams and settings to choose from."""

from __future__ import annotations

import asyncio
import os
import re
import tomllib
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from msgspec import Struct
from team_console.console.actions import usual_keys
from team_console.console.preferences import DENSITIES, Preferences, check, config_path, line_of, text_of
from team_console.console.tui.crash_guard import ContainedApp
from team_console.console.tui.drafts import replace_file
from team_console.console.tui.themes import THEMES, choices, first_theme, name_of, native_colours, remember_theme
from team_console.store.backends.open import find_teams, open_team
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.safe import counted, safe_line
from team_console.store.service.caller import Caller
from team_console.store.settings.team_config import TeamConfig
from team_console.store.views.needs import to_do
from team_console.store.views.rows import View
from team_console.store.views.status import assess, view_of_team
from team_console.widgets.detail import Detail
from team_console.widgets.document import Document
from team_console.widgets.overlay import Overlay
from team_console.widgets.row_list import Draw, Drawing, RowList
from team_console.widgets.text import Line, pad, spread
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.content import Content
from textual.screen import ModalScreen

RowT = TypeVar("RowT")


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
            self.run_worker(self._read(), group="reading", exit_on_error=False)

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


# Lists over the main screen, from which one row is chosen or changed.


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
        """Focus the text, so that keys scroll it."""
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
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,f2", "leave", "Back", show=False)]

    def __init__(self, *, remembers: bool = True) -> None:
        """`remembers` whether the choice is kept for the next time."""
        self._before, self._remembers, self._choices = "", remembers, choices()
        super().__init__("Theme", "enter confirm · esc back", str, self._line, tuple(self._choices))

    def on_mount(self) -> None:
        """Put the cursor on the theme in use."""
        self._before = self.app.theme
        self.rows.select(name_of(self._before), by_user=False)

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


# All teams that are known here, with what waits in each.


class TeamRow(Struct, frozen=True):
    """One team: its name, how many things wait for its lead, and what else there is to say of it; safe text."""

    location: str
    name: str
    waiting: int = 0
    words: str = ""


class TeamsScreen(ListScreen[TeamRow]):
    """Teams beside this one and below the folder the console was opened in; its result is the one that is chosen."""

    DEFAULT_CSS = """
    TeamsScreen > RowList { width: 90; }
    """

    def __init__(self, caller: Caller) -> None:
        super().__init__("Teams", "enter go there · esc back", lambda row: row.location, _team_lines, lines=2)
        self._caller = caller

    def on_mount(self) -> None:
        """Look for the teams in a thread."""
        self.rows.set_rows((), now=datetime.now(UTC), empty=((("◔ looking for teams …", "muted"),),))
        self._look()

    @work(thread=True, exit_on_error=False, group="teams")
    def _look(self) -> None:
        found = teams_here(self._caller)
        show = self.rows.set_rows
        nothing: tuple[Line, ...] = ((("No team was found.", "muted"),),)
        self.app.call_from_thread(show, found, now=datetime.now(UTC), empty=nothing)


def teams_here(caller: Caller) -> tuple[TeamRow, ...]:
    """This team, those beside it and those below the present folder; those with most to do first. Runs in a thread."""
    root, here = caller.team.root, Path.cwd()
    folders = find_teams(Path(root).resolve().parent, depth=1) if root is not None else []
    found = dict.fromkeys((caller.team.location, *folders, *find_teams(here)))
    return tuple(sorted(map(_team_row, found), key=lambda row: -row.waiting))


def _team_row(location: str) -> TeamRow:
    name = safe_line(Path(location).name, 60)
    try:
        with closing(open_team(location, read_only=True)) as team:
            snapshot = team.snapshot()
            lead, given = snapshot.config.lead, snapshot.config.name
            view = view_of_team(team, snapshot, me=lead, archived=0)
    except TeamError as error:
        return TeamRow(location, name, words=safe_line(error.message, 200))
    state = assess(snapshot, view.now).state
    words = f"{counted(len(view.roster), 'agent')} · {safe_line(lead, 64)} leads · {state}"
    name = name if given == TeamConfig().name else safe_line(given, 60)
    return TeamRow(location, name, to_do(view.attention), words)


def _team_lines(row: TeamRow, drawing: Drawing) -> tuple[Line, ...]:
    waits = f"{row.waiting:,} waiting" if row.waiting else ""
    head = spread((("◆ ", "accent"), (row.name, "strong")), ((waits + " ", "warn"),), drawing.width)
    return head, ((f"  {row.words}  ", "muted"), (safe_line(row.location, 300), "faint"))


# Settings changed inside: each shows at once, and stands in `config.toml` with all that was written there.

_NAME = 20
"""Cells of the first column."""
_FLAG = (True, False)
_MEANINGS = {
    "title": "the title of the terminal says how many things wait",
    "status": "the terminal is told whether something waits",
    "progress": "the bar of the terminal or of the task shows it",
    "bell": "the bell rings for a new decision",
    "desktop": "the desktop tells of a new decision",
    "read_only": "notices over a team that is only read, too",
}
"""What the notices do."""


class SettingChoice(Struct, frozen=True):
    """A setting, the values it may have, and what it does; `table` is empty for one that stands above all tables."""

    table: str
    name: str
    values: tuple[Any, ...]
    meaning: str

    def value_in(self, preferences: Preferences) -> Any:
        """Return the value that holds."""
        return getattr(preferences.notices if self.table else preferences, self.name)


def settings_rows() -> tuple[SettingChoice, ...]:
    """Return the settings that can be changed while the console runs."""
    grace = "seconds to undo a decision; 0 writes at once"
    return (
        SettingChoice("", "theme", tuple(choices()), "colours"),
        SettingChoice("", "density", DENSITIES, "rows of two lines where there is room, or of one"),
        SettingChoice("", "remember", _FLAG, "go back to the place and the filter of last time"),
        SettingChoice("", "grace_seconds", (0, 3, 5, 10, 30, 60), grace),
        *(SettingChoice("notices", name, _FLAG, meaning) for name, meaning in _MEANINGS.items()),
    )


class ConfigScreen(ListScreen[SettingChoice]):
    """A line for each setting; enter goes on to its next value."""

    DEFAULT_CSS = """
    ConfigScreen { background: $background 40%; }
    ConfigScreen > RowList { width: 76; height: 22; max-height: 96%; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "change(-1)", "Value before", show=False),
        Binding("right,l,space", "change(1)", "Next value", show=False),
    ]

    def __init__(self, preferences: Preferences, take: Callable[[Preferences], None]) -> None:
        """`take` makes new preferences hold."""
        title, keys = f"Settings · {config_path()}", "enter or ← → change · esc back"
        super().__init__(title, keys, lambda row: f"{row.table}.{row.name}", self._lines, settings_rows(), lines=2)
        self._preferences, self._take = preferences, take

    def action_change(self, by: int) -> None:
        """Go on to the next value, or the one before, and write it."""
        row = self.rows.cursor_row
        if row is None:
            return
        value = row.value_in(self._preferences)
        place = row.values.index(value) if value in row.values else -1
        try:
            self._preferences = write_setting(row.table, row.name, row.values[(place + by) % len(row.values)])
        except TeamError as error:
            self.app.notify(f"✗ {error.message}. {error.hint}", severity="error", markup=False)
            return
        self._take(self._preferences)
        self.rows.refresh()

    def choose(self, key: str) -> None:
        """Go on to the next value."""
        self.action_change(1)

    def _lines(self, row: SettingChoice, drawing: Drawing) -> tuple[Line, ...]:
        value = row.value_in(self._preferences)
        unset = f"{name_of(self.app.theme)} (current)"
        said = {True: "yes", False: "no", None: "as usual", "": unset}.get(value, str(value))
        said = f"{value:g}" if isinstance(value, float) else said
        name = f"{row.table} {row.name}".strip().replace("_", " ")
        return (((pad(name, _NAME) + " ", ""), (said, "strong")), ((row.meaning, "muted"),))


def write_setting(table: str, name: str, value: Any) -> Preferences:
    """Write one setting into `config.toml`, whose other lines and comments stay; what the whole file then says.

    Raises:
        TeamError: `INVALID_FIELD` for a file with mistakes, `STORE_FAILED` for one that cannot be written.
    """
    path = Path(os.path.realpath(config_path()))
    try:
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        if mistakes := check(before, usual_keys()).mistakes:
            what = f"{path}: line {mistakes[0].line}: {mistakes[0].message}"
            raise TeamError(Code.INVALID_FIELD, what, "Mend it, then change settings here.")
        after = with_setting(before, table, name, value)
        replace_file(path, after.encode())
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or "it is no UTF-8 text"
        raise TeamError(Code.STORE_FAILED, f"{path} cannot be changed: {said}", "Nothing was written.") from error
    return check(after, usual_keys()).preferences


def with_setting(text: str, table: str, name: str, value: Any) -> str:
    """Return the TOML `text` with one setting: in its line where it has one, else where its table begins.

    Raises:
        TeamError: `INVALID_FIELD` where it stands over several lines.
    """
    wanted = tomllib.loads(text)
    (wanted.setdefault(table, {}) if table else wanted)[name] = value
    line, lines = f"{name} = {text_of(value)}", text.splitlines()
    place = line_of(lines, table, name) - 1
    if place >= 0:
        comment = re.search(r"\s+#[^\"']*$", lines[place])
        lines[place] = line + (comment[0] if comment else "")
    elif not table:
        lines.insert(0, line)
    elif (head := line_of(lines, "", table)) > 0:
        lines.insert(head, line)
    else:
        lines += [*([""] if lines else []), f"[{table}]", line]
    after = "\n".join(lines) + "\n"
    with suppress(tomllib.TOMLDecodeError):
        if tomllib.loads(after) == wanted:
            return after
    raise TeamError(Code.INVALID_FIELD, f"{name} stands over several lines of the file", "Change it there.")


# Lets the human choose among the teams that were found.


class PickerApp(ContainedApp[str | None]):
    """A list of locations; enter chooses."""

    ENABLE_COMMAND_PALETTE = False

    def __init__(self, locations: tuple[str, ...]) -> None:
        super().__init__(ansi_color=native_colours())
        self._locations = locations
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = first_theme(self.console.color_system)

    def on_mount(self) -> None:
        """Show the locations."""
        title = f"Choose a team · {len(self._locations)}"
        self.push_screen(ListScreen(title, "enter open · q quit", str, _location_lines, self._locations), self.exit)


def pick_team(locations: Sequence[str]) -> str | None:
    """Let the human choose one of the locations; None when none was chosen."""
    return PickerApp(tuple(locations)).run_to_the_end()[0]


def _location_lines(location: str, drawing: Drawing) -> tuple[Line, ...]:
    folder, _, name = location.rstrip("/").rpartition("/")
    return ((("◆ ", "accent"), (safe_line(name, 80), "strong"), (f"  {safe_line(folder, 300)}", "muted")),)
