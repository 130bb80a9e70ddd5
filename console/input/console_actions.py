"""Actions of the console itself: its modes, palette, help, theme and end."""

from __future__ import annotations

from functools import partial

from team_console.console.input.action import Action, Group
from team_console.console.input.subject import Mode

_console = partial(Action, group=Group.CONSOLE, footer=False)

CONSOLE_ACTIONS: tuple[Action, ...] = (
    *(
        _console(
            id=f"go_{mode}",
            keys=(str(number),),
            label=mode.label,
            help=f"Go to {mode.label}.",
        )
        for number, mode in enumerate(Mode, start=1)
    ),
    _console(
        id="palette",
        keys=("colon",),
        label="palette",
        help="Find any action by its name (also ctrl+p).",
    ),
    _console(
        id="help",
        keys=("question_mark",),
        label="help",
        help="Every key that does something here.",
    ),
    _console(
        id="redraw",
        keys=("ctrl+l",),
        label="redraw",
        help="Read the team again and draw everything anew.",
    ),
    _console(
        id="theme",
        keys=("f2",),
        label="theme…",
        help="Choose a theme; each shows while the cursor is on it.",
    ),
    _console(
        id="suspend",
        keys=("ctrl+z",),
        label="suspend",
        help="Back to the shell; fg returns.",
    ),
    _console(
        id="quit",
        keys=("q", "ctrl+q"),
        label="quit",
        help="Leave; what you were writing is kept.",
    ),
)
