"""Rows of the list in front: they are marked, put aside or sorted, and their texts read plain."""

from __future__ import annotations

from typing import Any

from team_console.console.selection import ActionContext
from team_console.console.tui.main import MainScreen
from team_console.console.tui.modes.needs import NeedsPane
from team_console.widgets.ages import span
from team_console.widgets.row_list import RowList


def list_of_marks(screen: MainScreen) -> RowList[Any]:
    """Return the list that has the focus, else the one of the mode."""
    return screen.focused if isinstance(screen.focused, RowList) else screen.pane.query_one(RowList)


def mark(screen: MainScreen, context: ActionContext) -> None:
    """Mark the row that has the focus."""
    if isinstance(screen.focused, RowList):
        screen.focused.action_mark()


def snooze(screen: MainScreen, context: ActionContext) -> None:
    """Put the chosen items aside for a while."""
    if isinstance(screen.pane, NeedsPane):
        number, seconds = screen.pane.snooze()
        if number:
            screen.toast(f"{number} snoozed for {span(seconds)}; :wake shows {'it' if number == 1 else 'them'} again")


def wake(screen: MainScreen, context: ActionContext) -> None:
    """Show what is snoozed."""
    if isinstance(screen.pane, NeedsPane):
        screen.pane.wake()


def raw(screen: MainScreen, context: ActionContext) -> None:
    """Change between read and plain texts."""
    plain = screen.pane.detail.toggle_raw()
    screen.toast("texts as they were written" if plain else "texts as they are meant")


def sort(screen: MainScreen, context: ActionContext) -> None:
    """Sort by the next column."""
    name = screen.pane.listing.sort_next()
    if name is not None:
        screen.pane.fill()
        screen.toast(f"sorted by {name}" if name else "in their own order")
