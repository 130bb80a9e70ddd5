"""Looking without writing: open, mark, filter, copy, snooze."""

from __future__ import annotations

from functools import partial
from typing import Any

from team_console.console.app.workspace import Workspace
from team_console.console.input.subject import Subject
from team_console.console.panes.list_pane import ListPane
from team_console.console.panes.needs import NeedsPane
from team_console.store.model.safe import counted, safe_line
from team_console.widgets.rows.row_list import RowList


def open_row(workspace: Workspace, subject: Subject) -> None:
    """Go into the thing under the cursor."""
    if isinstance(workspace.pane, ListPane):
        workspace.pane.open()


def mark(workspace: Workspace, subject: Subject) -> None:
    """Mark the row that has the focus."""
    if isinstance(workspace.focused, RowList):
        workspace.focused.action_mark()


def mark_all(workspace: Workspace, subject: Subject) -> None:
    """Mark every row of the list that has the focus."""
    list_of_marks(workspace).mark_all()


def mark_range(workspace: Workspace, subject: Subject) -> None:
    """Mark from the row marked last to the cursor."""
    list_of_marks(workspace).mark_range()


def list_of_marks(workspace: Workspace) -> RowList[Any]:
    """The list that has the focus, else the one of the mode."""
    focused = workspace.focused
    return focused if isinstance(focused, RowList) else workspace.pane.query_one(RowList)


def snooze(workspace: Workspace, subject: Subject) -> None:
    """Put the chosen items aside for a while."""
    if isinstance(workspace.pane, NeedsPane) and (number := workspace.pane.snooze()):
        workspace.toast(f"{number} snoozed for a quarter of an hour; Z shows them again")


def wake(workspace: Workspace, subject: Subject) -> None:
    """Show what is snoozed."""
    if isinstance(workspace.pane, NeedsPane):
        workspace.pane.wake()


def filter_rows(workspace: Workspace, subject: Subject) -> None:
    """Ask for words."""
    if isinstance(workspace.pane, ListPane):
        workspace.pane.filter()


def raw(workspace: Workspace, subject: Subject) -> None:
    """Change between read and plain texts."""
    if isinstance(workspace.pane, ListPane):
        plain = workspace.pane.toggle_raw()
        workspace.toast("texts as they were written" if plain else "texts as they are meant")


def ids(workspace: Workspace, subject: Subject) -> None:
    """Show ids and further facts, or hide them."""
    if isinstance(workspace.pane, ListPane):
        workspace.pane.detail.toggle_full()


def next_hit(workspace: Workspace, subject: Subject, direction: int = 1) -> None:
    """Go to the next place with the words of the last filter; from a thing that left the list to the next thing."""
    if isinstance(workspace.pane, ListPane) and not (workspace.pane.go_on() or workspace.pane.next_hit(direction)):
        workspace.toast("There is no such place. / asks for words to look for.", severity="warning")


def sort(workspace: Workspace, subject: Subject) -> None:
    """Sort by the next column."""
    if isinstance(workspace.pane, ListPane) and (name := workspace.pane.sort_next()) is not None:
        workspace.toast(f"sorted by {name}" if name else "in their own order")


def copy_id(workspace: Workspace, subject: Subject) -> None:
    """Copy the id of the request, else of the message, else the key of the row."""
    selection = subject.selection
    if selection.request is not None:
        _copy(workspace, selection.request.request_id, "id")
    elif selection.message is not None:
        _copy(workspace, selection.message.message_id, "id")
    elif selection.agents and not selection.marked:
        _copy(workspace, selection.agents[0], "name")
    elif selection.key:  # of marked agents it is still the one under the cursor
        _copy(workspace, selection.key, "name")


def copy_text(workspace: Workspace, subject: Subject) -> None:
    """Copy the text of what the cursor is on; a cursor that moves fast is ahead of the detail."""
    workspace.pane.draw_now()
    document = workspace.pane.detail.document if isinstance(workspace.pane, ListPane) else None
    if document is not None and document.source:
        _copy(workspace, document.source.rstrip(), "text")
    elif document is None and isinstance(workspace.pane, ListPane) and (command := workspace.pane.first_step()):
        _copy(workspace, command, "command")
    else:
        workspace.toast("There is no text to copy here.", severity="warning")


def _copy(workspace: Workspace, text: str, what: str) -> None:
    """Copy one safe line: pasted into a shell, an escape could end a bracketed paste, a line break press Enter.

    Line breaks become `⏎`, since not every program that reads a terminal knows bracketed pastes.
    """
    text = safe_line(text)
    workspace.app.copy_to_clipboard(text)
    breaks = " · ⏎ stands for each line break" if "⏎" in text else ""
    workspace.toast(f"Copied the {what}, {counted(len(text), 'character')}{breaks}")


HANDLERS = {
    "open": open_row,
    "mark": mark,
    "mark_all": mark_all,
    "mark_range": mark_range,
    "snooze": snooze,
    "wake": wake,
    "filter": filter_rows,
    "raw": raw,
    "ids": ids,
    "next_hit": next_hit,
    "previous_hit": partial(next_hit, direction=-1),
    "sort": sort,
    "copy_id": copy_id,
    "copy_text": copy_text,
}
