"""Commands: what keys do, one function for each action of the registry, taking the screen and what the key is about."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from team_console.console.selection import PLACES, ActionContext, Mode
from team_console.console.tui.commands import (
    deciding,
    deciding_many,
    help_and_settings,
    reading,
    rows,
    stopping,
    writing,
)
from team_console.console.tui.commands.own_commands import run_own as run_own
from team_console.console.tui.main import MainScreen
from team_console.store.service.deliveries import Remedy


def _go(mode: Mode, screen: MainScreen, context: ActionContext) -> None:
    screen.lists.go(mode)


HANDLERS: Mapping[str, Callable[[MainScreen, ActionContext], object]] = {
    "approve": deciding.approve,
    "reject": deciding.reject,
    "done": deciding_many.done,
    "dismiss": deciding_many.dismiss,
    "undo": deciding.undo,
    "write_now": lambda screen, context: screen.pending_decisions.write_now(),
    "ask_back": deciding.ask_back,
    "remark": deciding.remark,
    "message": writing.message,
    "broadcast": writing.broadcast,
    "shutdown": stopping.shutdown,
    "shutdown_all": stopping.shutdown_all,
    "correct_course": writing.correct_course,
    "send_roster": writing.send_roster,
    **{str(remedy): partial(writing.treat, remedy) for remedy in Remedy},
    "open": lambda screen, context: screen.pane.open(),
    "mark": rows.mark,
    "mark_all": lambda screen, context: rows.list_of_marks(screen).mark_all(),
    "mark_range": lambda screen, context: rows.list_of_marks(screen).mark_range(),
    "snooze": rows.snooze,
    "wake": rows.wake,
    "filter": lambda screen, context: screen.pane.filter(),
    "raw": rows.raw,
    "ids": lambda screen, context: screen.pane.detail.toggle_full(),
    "sort": rows.sort,
    "copy_id": rows.copy_id,
    "copy_text": rows.copy_text,
    "read": reading.read,
    "next_hit": partial(reading.next_hit, 1),
    "previous_hit": partial(reading.next_hit, -1),
    "previous_thing": reading.previous_thing,
    "next_heading": partial(reading.next_heading, 1),
    "previous_heading": partial(reading.next_heading, -1),
    "editor": rows.editor,
    "pipe": rows.pipe,
    "conversation": reading.conversation,
    "stops": stopping.stops,
    "said": reading.said,
    "since": reading.since,
    **{f"go_{mode}": partial(_go, mode) for mode in PLACES},
    "other_view": lambda screen, context: screen.lists.go(context.mode.other or context.mode),
    "narrower": lambda screen, context: screen.pane.divider.move(-1),
    "wider": lambda screen, context: screen.pane.divider.move(1),
    "next_panel": lambda screen, context: screen.focus_next(),
    "previous_panel": lambda screen, context: screen.focus_previous(),
    "back": lambda screen, context: screen.back(),
    "palette": help_and_settings.show_help,
    "help": help_and_settings.show_help,
    "redraw": lambda screen, context: screen.redraw(),
    "theme": help_and_settings.theme,
    "settings": help_and_settings.settings,
    "teams": help_and_settings.teams,
    "suspend": lambda screen, context: screen.app.action_suspend_process(),
    "quit": lambda screen, context: screen.app.exit(0),
}
"""Action id -> what it does."""
