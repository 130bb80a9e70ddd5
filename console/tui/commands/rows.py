"""What the cursor is on: marked, put aside, sorted, read plain, copied, or handed to another program."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from team_console.console.selection import ActionContext
from team_console.console.tui.main import MainScreen
from team_console.console.tui.modes.needs import NeedsPane
from team_console.console.tui.terminal_programs import run_in_terminal, view_text
from team_console.store.model.safe import counted, safe_line, safe_text
from team_console.widgets.fields import FieldKind, words_of_a_decision
from team_console.widgets.prompt_form import Confirm
from team_console.widgets.row_list import RowList
from team_console.widgets.text import span


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


def copy_id(screen: MainScreen, context: ActionContext) -> None:
    """Copy the id of the request, else of the message, else the key of the row."""
    selection = context.selection
    if selection.subject:
        _copy(screen, safe_line(selection.subject), "id")
    elif selection.agents and not selection.marked:
        _copy(screen, safe_line(selection.agents[0]), "name")
    elif selection.key:  # of marked agents it is still the one under the cursor
        _copy(screen, safe_line(selection.key), "name")


def copy_text(screen: MainScreen, context: ActionContext) -> None:
    """Copy the text of what the cursor is on; a cursor that moves fast is ahead of the detail."""
    screen.pane.presenter.show_now()
    document = screen.pane.detail.document
    if document is not None and document.source:
        # As it is written, lines as lines; what could end a bracketed paste is a symbol in it.
        _copy(screen, safe_text(document.source).rstrip(), "text")
    elif command := screen.pane.first_step():
        _copy(screen, safe_line(command), "command")
    else:
        screen.toast("There is no text to copy here.", severity="warning")


def _copy(screen: MainScreen, text: str, what: str) -> None:
    """Copy safe text, and say how much: a program without bracketed pastes takes each line break for enter."""
    screen.app.copy_to_clipboard(text)
    lines = text.count("\n") + 1
    screen.toast(f"Copied the {what}, {counted(lines, 'line') if lines > 1 else counted(len(text), 'character')}")


def editor(screen: MainScreen, context: ActionContext) -> None:
    """Show the text in the human's own editor."""
    _try_with_text(screen, partial(view_text, screen.app), screen.pane.presenter.text_read())


def pipe(screen: MainScreen, context: ActionContext) -> None:
    """Ask for a command, and hand it the text."""
    text = screen.pane.presenter.text_read()
    wanted = "less, wc -w, grep rollback, glow -p ..."
    form = Confirm[str](
        "Pipe the text",
        ("The command runs in your shell and reads the text as its input.",),
        lambda command: command,
        verb="Run",
        words=words_of_a_decision("command", FieldKind.LINE, required=True, wanted=wanted),
        draft=screen.drafts.get("pipe"),
    )

    def then(command: str) -> None:
        screen.drafts.keep("pipe", {"words": command})
        _try_with_text(screen, lambda text: run_in_terminal(screen.app, command, text), text)

    screen.ask(form, then)


def _try_with_text(screen: MainScreen, do: Callable[[str], str], text: str) -> None:
    if text:
        screen.try_to(lambda: do(text))
    else:
        screen.toast("There is no text here.", severity="warning")
