"""Looking without writing: open, mark, filter, copy, snooze."""

from __future__ import annotations

from typing import TYPE_CHECKING

from console.panes.needs import NeedsPane
from console.panes.pane import ListPane
from console.subject import Subject
from widgets.row_list import RowList

if TYPE_CHECKING:
    from console.screens.main import MainScreen


def open_row(screen: MainScreen, subject: Subject) -> None:
    """Go into the thing under the cursor."""
    if isinstance(screen.pane, ListPane):
        screen.pane.open()


def mark(screen: MainScreen, subject: Subject) -> None:
    """Mark the row that has the focus."""
    if isinstance(screen.focused, RowList):
        screen.focused.action_mark()


def snooze(screen: MainScreen, subject: Subject) -> None:
    """Put the chosen items aside for a while."""
    if isinstance(screen.pane, NeedsPane) and (number := screen.pane.snooze()):
        screen.toast(f"{number} snoozed for a quarter of an hour; Z shows them again")


def wake(screen: MainScreen, subject: Subject) -> None:
    """Show what is snoozed."""
    if isinstance(screen.pane, NeedsPane):
        screen.pane.wake()


def filter_rows(screen: MainScreen, subject: Subject) -> None:
    """Ask for words."""
    if isinstance(screen.pane, ListPane):
        screen.pane.filter()


def raw(screen: MainScreen, subject: Subject) -> None:
    """Change between read and plain texts."""
    if isinstance(screen.pane, ListPane):
        plain = screen.pane.toggle_raw()
        screen.toast("texts as they were written" if plain else "texts as they are meant")


def copy_id(screen: MainScreen, subject: Subject) -> None:
    """Copy the id of the request, else of the message, else the key of the row."""
    if subject.request is not None:
        _copy(screen, subject.request.request_id, "id")
    elif subject.message is not None:
        _copy(screen, subject.message.message_id, "id")
    elif subject.agents or subject.key:
        _copy(screen, subject.agents[0] if subject.agents else str(subject.key), "name")


def copy_text(screen: MainScreen, subject: Subject) -> None:
    """Copy the text of what the detail shows."""
    document = screen.pane.detail.document if isinstance(screen.pane, ListPane) else None
    if document is not None and document.source:
        _copy(screen, document.source, "text")
    else:
        screen.toast("There is no text to copy here.", severity="warning")


def _copy(screen: MainScreen, text: str, what: str) -> None:
    """The clipboard gets the stored text; it travels encoded, so nothing in it reaches the terminal."""
    screen.app.copy_to_clipboard(text)
    screen.toast(f"copied the {what}, {len(text):,} characters")


DEEDS = {
    "open": open_row,
    "mark": mark,
    "snooze": snooze,
    "wake": wake,
    "filter": filter_rows,
    "raw": raw,
    "copy_id": copy_id,
    "copy_text": copy_text,
}
