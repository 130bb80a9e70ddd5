"""The list behind `?` and `:`, of every action and place: what is typed filters it, enter runs the chosen one."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import ClassVar

from msgspec import Struct
from team_console.widgets.line_field import Field
from team_console.widgets.panel import Overlay
from team_console.widgets.row_drawing import Drawing
from team_console.widgets.row_list import RowList
from team_console.widgets.text import Line, pad
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.content import Content
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Input, Static

_KEY, _LABEL = 12, 20
"""Cells of the columns of keys and names."""


class HelpRow(Struct, frozen=True):
    """A key and what it does.

    Attributes:
        label: What the footer calls it.
        group: The heading that it stands below.
        why_not: Why it cannot be used now; empty when it can.
        action: Its id, for enter; empty for a key that only the list itself takes.
    """

    key: str
    text: str
    label: str = ""
    group: str = ""
    why_not: str = ""
    action: str = ""


class HelpPanel(Overlay, ModalScreen[str]):
    """Actions by group with their keys, and a line to filter them; its result is the action that was chosen."""

    DEFAULT_CSS = """
    HelpPanel { background: transparent; }
    HelpPanel > .help--ground { margin: 1 0 0 0; align: center middle; background: $background; }
    HelpPanel .help--box { width: 100; max-width: 100%; height: 95%; background: $surface; border: round $accent;
        border-title-color: $text-accent; border-title-style: bold; border-subtitle-color: $text-muted; }
    HelpPanel Static { height: auto; max-height: 3; color: $text-muted; padding: 0 1; }
    HelpPanel #whole { color: $foreground; border-top: solid $border-blurred; max-height: 5; }
    HelpPanel RowList { height: 1fr; }
    HelpPanel.-low #intro { display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "Close", show=False),
        Binding("up", "move(-1)", "Up", show=False, priority=True),
        Binding("down", "move(1)", "Down", show=False, priority=True),
        Binding("pageup", "page(-1)", "Page up", show=False, priority=True),
        Binding("pagedown", "page(1)", "Page down", show=False, priority=True),
    ]
    HELP = "All actions of this place. What you type filters them, enter runs the one under the cursor."

    def __init__(
        self,
        title: str,
        rows: tuple[HelpRow, ...],
        *,
        intro: str,
    ) -> None:
        """`intro` is safe text above the rows."""
        super().__init__()
        self._title, self._rows, self._intro = title, rows, intro

    def set_focus(self, widget: Widget | None, scroll_visible: bool = True, from_app_focus: bool = False) -> None:
        """Give a widget the focus; the line keeps it where nothing would have it, as after a click beside all."""
        super().set_focus(widget or next(iter(self.query(Field)), None), scroll_visible, from_app_focus)

    def compose(self) -> ComposeResult:
        """Yield the line to filter by, and the keys; the head above says as ever how current all is."""
        with Container(classes="help--ground"), Container(classes="help--box") as box:
            box.border_title = Content(self._title)
            box.border_subtitle = Content("type to filter · enter run · esc back")
            yield Field(placeholder="such as: reject, mark, agent, a title")
            if self._intro:
                yield Static(Content(self._intro), id="intro", markup=False)
            yield RowList[HelpRow](_name, _lines, markable=False, group=lambda row: row.group, heading=_heading)
            yield Static(id="whole", markup=False)

    def on_mount(self) -> None:
        """Show all."""
        self.query_one(Field).focus()
        self._show("")

    def action_move(self, by: int) -> None:
        """Go to another row."""
        self.query_one(RowList).action_move(by)

    def action_page(self, by: int) -> None:
        """Go a page on."""
        self.query_one(RowList).action_page(by)

    @on(Input.Changed)
    def _filter(self, event: Input.Changed) -> None:
        self._show(event.value)

    def _show(self, words: str) -> None:
        """Show the rows that have each of these words somewhere in their texts."""
        wanted = words.casefold().split()
        found = (row for row in self._rows if all(word in _name(row).casefold() for word in wanted))
        empty: tuple[Line, ...] = ((("Nothing is called that.", "muted"),),)
        rows = self.query_one(RowList)
        rows.set_rows(tuple(found), now=datetime.now(UTC), empty=empty)
        rows.begin_at_top()

    @on(RowList.Moved)
    def _describe_row(self) -> None:
        """Show the whole description of the key under the cursor, and why it cannot be used now."""
        row = self.query_one(RowList).cursor_row
        why = f"\nNot now: {row.why_not}." if row is not None and row.why_not else ""
        self.query_one("#whole", Static).update(Content(f"{row.text}{why}" if row is not None else ""))

    @on(Input.Submitted)
    @on(RowList.Opened)
    def _choose(self) -> None:
        """Close with the action under the cursor, if it has one."""
        row = self.query_one(RowList).cursor_row
        if row is not None and row.action:
            self.dismiss(row.action)


def _name(row: HelpRow) -> str:
    """Return all texts of a row: what the filter looks in, and its key in the list."""
    return f"{row.key} {row.group} {row.label} {row.text} {row.action}"


def _heading(below: tuple[HelpRow, ...], drawing: Drawing) -> Line:
    return ((f" {below[0].group}", "section"),)


def _lines(row: HelpRow, drawing: Drawing) -> tuple[Line, ...]:
    """Draw the key's name and effect; muted where it does nothing now."""
    key, label, text = ("muted", "muted", "muted") if row.why_not else ("key", "strong", "")
    return (((pad(row.key, _KEY - 1) + " ", key), (pad(row.label, _LABEL - 1) + " ", label), (row.text, text)),)
