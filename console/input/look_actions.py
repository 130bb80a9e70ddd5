"""Actions that look: they open, mark, filter, sort, copy and move."""

from __future__ import annotations

from functools import partial

from team_console.console.input.action import Action, Group
from team_console.console.input.reasons import no_letter, no_row
from team_console.console.input.subject import Mode

_LETTERS = frozenset({Mode.NEEDS, Mode.INBOXES, Mode.REQUESTS, Mode.DELIVERIES, Mode.SPRINT, Mode.HISTORY})
_MARKABLE = frozenset({Mode.INBOXES, Mode.DELIVERIES, Mode.NEEDS, Mode.REQUESTS})

_look = partial(Action, group=Group.LOOK)
_in_help = partial(_look, footer=False)
"""Of those without a place in the footer."""

LOOK_ACTIONS: tuple[Action, ...] = (
    _look(
        id="open",
        keys=("enter",),
        label="open",
        help="Go into the thing under the cursor.",
        why_not=no_row,
    ),
    _look(
        id="mark",
        keys=("space",),
        label="mark",
        help="Mark the row, to treat many at once.",
        modes=_MARKABLE,
        why_not=no_row,
    ),
    _look(
        id="mark_all",
        keys=("asterisk",),
        label="mark all",
        help="Mark every row that is shown, or take all marks away.",
        modes=_MARKABLE,
        why_not=no_row,
    ),
    _in_help(
        id="mark_range",
        keys=("V",),
        label="mark range",
        help="Mark the rows from the one marked last to the one under the cursor.",
        modes=_MARKABLE,
        why_not=no_row,
    ),
    _look(
        id="conversation",
        keys=("c",),
        label="conversation",
        help="Open the conversation it belongs to: versions, answers, deliveries, in order.",
        modes=_LETTERS,
        why_not=no_letter,
    ),
    _in_help(
        id="stops",
        keys=("T",),
        label="shutdown",
        help="Watch the shutdown of the team: who was asked, agreed, refused, ended, and who is left.",
    ),
    _look(
        id="snooze",
        keys=("z",),
        label="snooze",
        help="Hide it for a quarter of an hour, or until something about it changes.",
        modes=frozenset({Mode.NEEDS}),
        why_not=no_row,
    ),
    _in_help(
        id="wake",
        keys=("Z",),
        label="show snoozed",
        help="Show everything that is snoozed again.",
        modes=frozenset({Mode.NEEDS}),
    ),
    _look(
        id="filter",
        keys=("slash",),
        label="filter",
        help="Show only rows that hold the words you type.",
    ),
    _in_help(
        id="next_hit",
        keys=("n",),
        label="next hit",
        help="Go to the next place that holds the words of the last filter.",
    ),
    _in_help(
        id="previous_hit",
        keys=("N",),
        label="hit before",
        help="Go to the place before that holds the words of the last filter.",
    ),
    _in_help(
        id="sort",
        keys=("o",),
        label="sort",
        help="Sort the rows by the next column, and at last in their own order again.",
        modes=frozenset({Mode.INBOXES, Mode.REQUESTS, Mode.DELIVERIES}),
    ),
    _in_help(
        id="raw",
        keys=("v",),
        label="as written",
        help="Show texts exactly as they were written, and back.",
    ),
    _in_help(
        id="ids",
        keys=("i",),
        label="ids",
        help="Show ids and exact moments of what stands beside the list, and hide them again.",
        why_not=no_row,
    ),
    _in_help(
        id="copy_id",
        keys=("y",),
        label="copy id",
        help="Copy its id to the clipboard (OSC 52).",
        why_not=no_row,
    ),
    _in_help(
        id="copy_text",
        keys=("Y",),
        label="copy text",
        help="Copy its text to the clipboard (OSC 52); in an empty list the command that fills it.",
    ),
    _look(
        id="export",
        keys=("w",),
        label="export…",
        help="Write the rows shown here to a file.",
        modes=frozenset({Mode.HISTORY}),
    ),
    _in_help(
        id="next_panel",
        keys=("tab",),
        label="next panel",
        help="Go to the next panel.",
    ),
    _in_help(
        id="previous_panel",
        keys=("shift+tab",),
        label="panel before",
        help="Go back a panel.",
    ),
    _in_help(
        id="back",
        keys=("escape",),
        label="back",
        help="Back out: of a panel, a filter, the marks.",
    ),
)
