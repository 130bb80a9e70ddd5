"""Settings changed inside: each shows at once, and stands in `config.toml` with all that was written there."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

from msgspec import Struct
from team_console.console.actions import usual_keys
from team_console.console.preferences import DENSITIES, NOTICE_FLAGS, Preferences, check, config_path, line_of, text_of
from team_console.console.themes import choices
from team_console.store.model.errors import Code, TeamError
from team_console.widgets.overlay import Overlay
from team_console.widgets.row_list import Drawing, RowList
from team_console.widgets.text import Line, pad
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen

_NAME, _VALUE = 20, 16
"""Cells of the first two columns."""
_FLAG = (True, False)
_MEANINGS = {
    "theme": "colours",
    "density": "rows of two lines where there is room, or of one",
    "remember": "go back to the place and the filter of last time",
    "grace_seconds": "seconds in which a decision can be taken back; 0 writes at once",
    "title": "how many things wait stands in the title of the terminal",
    "status": "the terminal is told whether something waits",
    "progress": "the bar of the terminal or of the task shows it",
    "bell": "the bell rings for a new decision",
    "desktop": "the desktop tells of a new decision",
    "read_only": "notices over a team that is only read, too",
}


class Choice(Struct, frozen=True):
    """A setting and the values it may have; `table` is empty for one that stands above all tables."""

    table: str
    name: str
    values: tuple[Any, ...]

    def value_in(self, preferences: Preferences) -> Any:
        """The value that holds."""
        return getattr(preferences.notices if self.table else preferences, self.name)


def choices_of_settings() -> tuple[Choice, ...]:
    """What can be changed while the console runs."""
    return (
        Choice("", "theme", tuple(choices())),
        Choice("", "density", DENSITIES),
        Choice("", "remember", _FLAG),
        Choice("", "grace_seconds", (0, 3, 5, 10, 30, 60)),
        *(Choice("notices", name, _FLAG) for name in NOTICE_FLAGS),
    )


class ConfigScreen(Overlay, ModalScreen[None]):
    """A line for each setting; enter goes on to its next value."""

    DEFAULT_CSS = """
    ConfigScreen { align: center middle; background: $background 40%; }
    ConfigScreen > RowList { width: 100; max-width: 96%; height: 12; background: $surface; border: round $accent;
        border-title-color: $text-accent; border-subtitle-color: $text-muted; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss", "Close", show=False),
        Binding("left,h", "change(-1)", "Value before", show=False),
        Binding("right,l,space", "change(1)", "Next value", show=False),
    ]
    HELP = "Settings that hold at once and from now on. Enter and the arrows change one, esc goes back."

    def __init__(self, preferences: Preferences, take: Callable[[Preferences], None]) -> None:
        """`take` makes new preferences hold."""
        super().__init__()
        self._preferences, self._take = preferences, take

    def compose(self) -> ComposeResult:
        """The list."""
        yield RowList[Choice](lambda row: f"{row.table}.{row.name}", self._lines, markable=False)

    def on_mount(self) -> None:
        """Show what holds."""
        rows = self.query_one(RowList)
        rows.border_title = Content(f"Settings · {config_path()}")
        rows.border_subtitle = Content("enter or ← → change · esc back")
        rows.set_rows(choices_of_settings(), now=datetime.now(UTC))
        rows.focus()

    def action_change(self, by: int) -> None:
        """Go on to the next value, or the one before, and write it."""
        rows = self.query_one(RowList[Choice])
        row = rows.cursor_row
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
        rows.refresh()

    @on(RowList.Opened)
    def _opened(self) -> None:
        self.action_change(1)

    def _lines(self, row: Choice, drawing: Drawing) -> tuple[Line, ...]:
        value = row.value_in(self._preferences)
        said = {True: "yes", False: "no", None: "as usual", "": "of last time"}.get(value, str(value))
        said = f"{value:g}" if isinstance(value, float) else said
        name = f"{row.table} {row.name}".strip().replace("_", " ")
        meaning = _MEANINGS[row.name]
        return (((pad(name, _NAME) + " ", ""), (pad(said, _VALUE) + " ", "strong"), (meaning, "muted")),)


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
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        staged = path.with_suffix(f".{os.getpid()}.tmp")
        staged.write_text(after, encoding="utf-8")
        if path.exists():
            staged.chmod(path.stat().st_mode & 0o777)
        staged.replace(path)
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or "it is no UTF-8 text"
        raise TeamError(Code.STORE_FAILED, f"{path} cannot be changed: {said}", "Nothing was written.") from error
    return check(after, usual_keys()).preferences


def with_setting(text: str, table: str, name: str, value: Any) -> str:
    """The TOML `text` with one setting: in its line where it has one, else where its table begins.

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
