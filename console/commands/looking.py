"""Looking without writing: open, mark, filter, copy, snooze."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from team_console.console.actions import Action, Group, actions_in, grouped, shown_key, written_key
from team_console.console.decisions import Workspace
from team_console.console.modes.history import HistoryPane
from team_console.console.modes.needs import NeedsPane
from team_console.console.selection import PLACES, Mode, Subject
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message
from team_console.store.model.safe import counted, safe_line
from team_console.store.views.history import CSV_FIELDS, csv_row, csv_text, history_json, log_line
from team_console.widgets.bars import Card
from team_console.widgets.row_list import RowList
from textual.binding import Binding

if TYPE_CHECKING:
    from team_console.widgets.help_panel import HelpRow


_RECENT = timedelta(hours=12)
"""How far back is told where it is not known when the human left."""


def open_row(workspace: Workspace, subject: Subject) -> None:
    """Go into the thing under the cursor."""
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
    workspace.pane.filter()


def raw(workspace: Workspace, subject: Subject) -> None:
    """Change between read and plain texts."""
    plain = workspace.pane.detail.toggle_raw()
    workspace.toast("texts as they were written" if plain else "texts as they are meant")


def ids(workspace: Workspace, subject: Subject) -> None:
    """Show ids and further facts, or hide them."""
    workspace.pane.detail.toggle_full()


def sort(workspace: Workspace, subject: Subject) -> None:
    """Sort by the next column."""
    if (name := workspace.pane.sort_next()) is not None:
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
    document = workspace.pane.detail.document
    if document is not None and document.source:
        _copy(workspace, document.source.rstrip(), "text")
    elif command := workspace.pane.first_step():
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


HANDLERS: dict[str, Callable[[Workspace, Subject], None]] = {
    "open": open_row,
    "mark": mark,
    "mark_all": mark_all,
    "mark_range": mark_range,
    "snooze": snooze,
    "wake": wake,
    "filter": filter_rows,
    "raw": raw,
    "ids": ids,
    "sort": sort,
    "copy_id": copy_id,
    "copy_text": copy_text,
}


# Moving about in the console: modes, panels, help, palette, theme, leaving.


def go(mode: Mode, workspace: Workspace, subject: Subject) -> None:
    """Go to a mode."""
    workspace.go(mode)


def other_view(workspace: Workspace, subject: Subject) -> None:
    """The other view of the place."""
    if subject.mode.other is not None:
        workspace.go(subject.mode.other)


def since(workspace: Workspace, subject: Subject) -> None:
    """What happened since the human was last here: in a few lines, then all of it."""
    from team_console.console.screens import DigestScreen

    moment = workspace.left_at or workspace.caller.team.clock() - _RECENT
    if workspace.app.query_one(Card).dismiss():
        workspace.app.push_screen(DigestScreen(workspace, moment))
    else:
        workspace.tell_since(moment, always=True)


def move_divider(shares: int, workspace: Workspace, subject: Subject) -> None:
    """Give the list more of the room, or less."""
    workspace.pane.move_divider(shares)


def next_panel(workspace: Workspace, subject: Subject) -> None:
    """The next panel."""
    workspace.focus_next()


def previous_panel(workspace: Workspace, subject: Subject) -> None:
    """The panel before."""
    workspace.focus_previous()


def back(workspace: Workspace, subject: Subject) -> None:
    """Back out of the innermost thing."""
    workspace.back()


def palette(workspace: Workspace, subject: Subject) -> None:
    """Find an action by its name."""
    workspace.app.action_command_palette()


def show_help(workspace: Workspace, subject: Subject) -> None:
    """All keys of this place; the one that is chosen is run."""
    from team_console.widgets.help_panel import HelpPanel, HelpRow

    found = grouped(actions_in(subject.mode, read_only=workspace.cannot_write))
    first = [Group.DECIDE, Group.WRITE, Group.DELIVER]
    rows = [
        _row(action, subject)
        for group in sorted(found, key=lambda group: group not in first)
        for action in found[group]
    ]
    commands = enumerate(workspace.preferences.commands)
    own = [
        HelpRow(written_key(one.key), safe_line(one.run), one.name, "Your own", "", f"own:{number}")
        for number, one in commands
    ]
    intro = getattr(workspace.focused, "HELP", "") or ""
    panel = HelpPanel(subject.mode.label, intro, (*own, *rows, *movement()))
    workspace.app.push_screen(panel, lambda action: workspace.action_perform(action) if action else None)


def movement() -> tuple[HelpRow, ...]:
    """The keys of lists, from their real bindings."""
    from team_console.widgets.help_panel import HelpRow

    made = [binding for binding in RowList.BINDINGS if isinstance(binding, Binding)]
    rows: dict[str, list[str]] = {}
    for item in made:
        if item.key not in ("space", "enter"):
            rows.setdefault(item.description, []).extend(item.key.split(","))
    return tuple(HelpRow(" ".join(map(written_key, keys)), f"{words}.", group="Move") for words, keys in rows.items())


def redraw(workspace: Workspace, subject: Subject) -> None:
    """Read and draw everything anew."""
    workspace.redraw()


def theme(workspace: Workspace, subject: Subject) -> None:
    """Choose a theme, for the next time too."""
    from team_console.console.screens import ThemeList

    workspace.app.push_screen(ThemeList(remembers=not workspace.read_only))


def settings(workspace: Workspace, subject: Subject) -> None:
    """Change settings, which hold at once."""
    if workspace.read_only:
        workspace.toast("A read-only console changes no file. Change settings in another one.", severity="warning")
        return
    from team_console.console.config_screen import ConfigScreen

    workspace.app.push_screen(ConfigScreen(workspace.preferences, workspace.take_preferences))


def teams(workspace: Workspace, subject: Subject) -> None:
    """Show all teams, and go to the one that is chosen."""
    from team_console.console.teams_screen import TeamsScreen

    def go(location: str | None) -> None:
        if location is None or location == workspace.caller.team.location:
            return
        try:
            workspace.app.switch_team(location)  # type: ignore[attr-defined]
        except TeamError as error:
            workspace.toast(f"✗ {safe_line(error.message, 200)}. {safe_line(error.hint, 200)}", severity="error")

    workspace.app.push_screen(TeamsScreen(workspace), go)


def suspend(workspace: Workspace, subject: Subject) -> None:
    """Back to the shell."""
    workspace.app.action_suspend_process()


def leave(workspace: Workspace, subject: Subject) -> None:
    """Leave the console."""
    workspace.app.exit(0)


def _row(action: Action, subject: Subject) -> HelpRow:
    from team_console.widgets.help_panel import HelpRow

    why = action.disabled(subject) if action.group is not Group.CONSOLE else None
    return HelpRow(shown_key(action), action.help, action.label.rstrip("…"), str(action.group), why or "", action.id)


MOVING_HANDLERS: dict[str, Callable[[Workspace, Subject], None]] = {
    "next_panel": next_panel,
    "previous_panel": previous_panel,
    "back": back,
    "palette": palette,
    "help": show_help,
    "redraw": redraw,
    "theme": theme,
    "teams": teams,
    "settings": settings,
    "suspend": suspend,
    "quit": leave,
    "other_view": other_view,
    "since": since,
    "narrower": partial(move_divider, -1),
    "wider": partial(move_divider, 1),
    **{f"go_{mode}": partial(go, mode) for mode in PLACES},
}


# Writes the rows of the history to a new file, in the format its name asks for.


def export(workspace: Workspace, subject: Subject) -> None:
    """Ask for a file name and write what the list shows."""
    from team_console.widgets.forms import Confirm

    if not isinstance(workspace.pane, HistoryPane):
        return
    if workspace.read_only:
        workspace.toast("export: the console is read-only and writes no file", severity="warning")
        return
    messages = workspace.pane.messages()
    more = "" if workspace.pane.at_end else " Not all of the history is read yet; G reads on."
    form = Confirm[Path](
        "Export",
        (
            f"{counted(len(messages), 'message')} as shown, newest first, to a new file.{more}",
            "Its name says the format.",
        ),
        partial(write_export, messages),
        verb=f"Write {len(messages):,}",
        field="file",
        required=True,
        draft={"words": "history.csv"},
    )
    workspace.ask(form, lambda path: f"✓ {counted(len(messages), 'message')} in {safe_line(path, 200)}")


def write_export(messages: Sequence[Message], name: str) -> Path:
    """Write `messages` to the new file `name`, private to the user; returns its path.

    Raises:
        TeamError: `INVALID_FIELD` for another format, a file that exists or a place that cannot be written.
    """
    if "\0" in name:
        raise TeamError(Code.INVALID_FIELD, "no file has a NUL in its name", "Choose another name.")
    path = Path(os.path.expanduser(name)).absolute()
    form = _FORMATS.get(path.suffix)
    if form is None:
        names = ", ".join(_FORMATS)
        raise TeamError(Code.INVALID_FIELD, f"{path.name}: no format is called that", f"End the name in {names}.")
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as file:
                file.write(form(messages))
        except BaseException:  # half of a file would pass for the whole, and keep the next try from its name
            path.unlink(missing_ok=True)
            raise
    except FileExistsError:
        raise TeamError(Code.INVALID_FIELD, f"{path} exists", "Nothing is written over; choose another name.") from None
    except OSError as error:
        raise TeamError(Code.INVALID_FIELD, f"{path}: {error.strerror}", "Choose another place.") from error
    return path


def _csv(messages: Sequence[Message]) -> str:
    return csv_text(CSV_FIELDS, map(csv_row, messages))


def _json(messages: Sequence[Message]) -> str:
    return json.dumps(history_json(messages), ensure_ascii=False, indent=1, default=str) + "\n"


def _log(messages: Sequence[Message]) -> str:
    return "".join(f"{log_line(message)}\n" for message in messages)


_FORMATS: Mapping[str, Callable[[Sequence[Message]], str]] = {".csv": _csv, ".json": _json, ".log": _log}

EXPORTING_HANDLERS: dict[str, Callable[[Workspace, Subject], None]] = {"export": export}


# Watching things over time: a conversation, a shutdown.


def conversation(workspace: Workspace, subject: Subject) -> None:
    """Open what belongs to the message or request under the cursor."""
    from team_console.console.screens import ConversationScreen

    request, message = subject.selection.request, subject.selection.message
    word = request.request_id if request is not None else message.message_id if message is not None else ""
    if word:
        workspace.app.push_screen(ConversationScreen(workspace, word))


def stops(workspace: Workspace, subject: Subject) -> None:
    """Watch the shutdown of the team."""
    watch_stops(workspace)


def watch_stops(workspace: Workspace) -> None:
    """Open the view of the shutdown."""
    from team_console.console.screens import StopsScreen

    workspace.app.push_screen(StopsScreen(workspace))


def said(workspace: Workspace, subject: Subject) -> None:
    """Read again what the console said last."""
    from team_console.console.screens import SaidScreen

    workspace.app.push_screen(SaidScreen(workspace))


WATCHING_HANDLERS: dict[str, Callable[[Workspace, Subject], None]] = {
    "conversation": conversation,
    "stops": stops,
    "said": said,
}
