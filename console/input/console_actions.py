"""Actions of the console itself: its modes, palette, help, theme and end."""

from __future__ import annotations

from team_console.console.input.action import Action, Group
from team_console.console.input.subject import Mode

CONSOLE_ACTIONS: tuple[Action, ...] = (
    *(
        Action(
            id=f"go_{mode}",
            keys=(str(number),),
            label=mode.label,
            help=f"Go to {mode.label}.",
            group=Group.CONSOLE,
            footer=False,
        )
        for number, mode in enumerate(Mode, start=1)
    ),
    Action(
        id="palette",
        keys=("colon",),
        label="palette",
        help="Find any action by its name (also ctrl+p).",
        group=Group.CONSOLE,
        footer=False,
    ),
    Action(
        id="help",
        keys=("question_mark",),
        label="help",
        help="Every key that does something here.",
        group=Group.CONSOLE,
        footer=False,
    ),
    Action(
        id="redraw",
        keys=("ctrl+l",),
        label="redraw",
        help="Read the team again and draw everything anew.",
        group=Group.CONSOLE,
        footer=False,
    ),
    Action(
        id="theme",
        keys=("f2",),
        label="theme…",
        help="Choose a theme; each shows while the cursor is on it.",
        group=Group.CONSOLE,
        footer=False,
    ),
    Action(
        id="suspend",
        keys=("ctrl+z",),
        label="suspend",
        help="Back to the shell; fg returns.",
        group=Group.CONSOLE,
        footer=False,
    ),
    Action(
        id="quit",
        keys=("q", "ctrl+q"),
        label="quit",
        help="Leave; what you were writing is kept.",
        group=Group.CONSOLE,
        footer=False,
    ),
)
