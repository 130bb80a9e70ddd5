"""The registry of actions of the console: keys, footer, help, palette and reference are made from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from functools import partial
from typing import Any

from msgspec import Struct
from team_console.console.selection import (
    PLACES,
    ActionContext,
    Mode,
    Reason,
    why_no_asking_back,
    why_no_broadcast,
    why_no_conversation,
    why_no_dismissal,
    why_no_message,
    why_no_remark,
    why_no_remedy,
    why_no_row,
    why_no_stop,
    why_no_verdict,
    why_not_done,
    why_not_lead,
    why_not_reading,
    why_nothing_pending,
)
from team_console.store.service.deliveries import Remedy


class Group(StrEnum):
    """How actions are grouped in help, in this order."""

    DECIDE = "Decide"
    WRITE = "Write"
    DELIVER = "Deliver"
    LOOK = "Look"
    CONSOLE = "Console"


_GROUPS_THAT_WRITE = frozenset({Group.DECIDE, Group.WRITE, Group.DELIVER})
_WRITTEN_KEYS = {
    "slash": "/",
    "colon": ":",
    "question_mark": "?",
    "asterisk": "*",
    "escape": "esc",
    "shift+tab": "⇧tab",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "vertical_line": "|",
    "down": "↓",
    "up": "↑",
    "pagedown": "PgDn",
    "pageup": "PgUp",
    "right": "→",
    "left": "←",
    "f1": "F1",
    "f2": "F2",
    "full_stop": ".",
    "semicolon": ";",
    "comma": ",",
    "less_than_sign": "<",
    "greater_than_sign": ">",
}


def written_key(key: str) -> str:
    """Return a key of Textual as people write it: `^l` for `ctrl+l`."""
    return _WRITTEN_KEYS.get(key, key.replace("ctrl+", "^"))


_KEYS_OF_WRITTEN = {written: key for key, written in _WRITTEN_KEYS.items()}


def key_of_written(written: str) -> str:
    """Return the key of Textual that people write so: `ctrl+l` for `^l`."""
    return _KEYS_OF_WRITTEN.get(written, written.replace("^", "ctrl+"))


class Action(Struct, frozen=True):
    """One thing the console can do.

    Attributes:
        id: Stable name; `team_console.console.tui.commands` has the function that does it under this name.
        keys: Textual key names, the first one shown; none for one that is run by its name.
        label: A few words for the footer; `…` when a question follows.
        help: A sentence.
        modes: Where it applies; empty for everywhere.
        deciding: Must not happen on a row that just changed by itself.
        footer: Whether it is worth a place in the footer.
        why_not: Why it cannot be used on a context.
        wording: Another label on a context; empty for the usual one.
    """

    id: str
    keys: tuple[str, ...]
    label: str
    help: str
    group: Group
    modes: frozenset[Mode] = frozenset()
    deciding: bool = False
    footer: bool = True
    why_not: Reason = lambda context: None
    wording: Callable[[ActionContext], str] = lambda context: ""

    @property
    def writes(self) -> bool:
        """Whether it changes the team, so that it is not there when the team is read-only."""
        return self.group in _GROUPS_THAT_WRITE

    def label_on(self, context: ActionContext) -> str:
        """Return the words for the footer, of what it does to `context`."""
        marked = context.selection.marked
        if marked and self.deciding and (self.group is Group.DECIDE or context.selection.chosen_as == "marked"):
            return f"{self.label.rstrip('…')} {marked:,} {context.selection.chosen_as}"
        return self.wording(context) or self.label

    @property
    def asks(self) -> bool:
        """Whether a question follows before anything is done."""
        return self.label.endswith("…")

    def is_here(self, mode: Mode) -> bool:
        """Return whether it applies in `mode` at all."""
        return not self.modes or mode in self.modes

    def disabled(self, context: ActionContext) -> str | None:
        """Return why it cannot be used on `context`; None when it can."""
        if not self.is_here(context.mode):
            return f"{self.label.rstrip('…')} does not apply here"
        if self.deciding and context.selection.gone and not context.selection.marked:
            return context.selection.gone
        if self.writes:
            return context.no_writing or self.why_not(context)
        return self.why_not(context)


def _row(group: Group, id: str, keys: str, label: str, help: str, *, modes: Iterable[Mode] = (), **more: Any) -> Action:
    """Return a row of the tables below.

    Args:
        keys: Names of keys with spaces between them; empty for none.
        more: The other attributes of `Action`.
    """
    return Action(id, tuple(keys.split()), label, help, group, frozenset(modes), **more)


# Actions of the console itself: its modes, palette, help, theme and end.

_console = partial(_row, Group.CONSOLE, footer=False)

CONSOLE_ACTIONS: tuple[Action, ...] = (
    *(_console(f"go_{mode}", mode.key, mode.label, f"Go to {mode.label}.") for mode in PLACES),
    _console(
        "other_view",
        "right left l h",
        "other view",
        "Change between what waits for you and every open request, or between history and decisions.",
        modes=(
            Mode.NEEDS,
            Mode.REQUESTS,
            Mode.HISTORY,
            Mode.DECISIONS,
        ),
    ),
    _console(
        "since", "full_stop", "since you left", "Say what happened since you were last here; again for all of it."
    ),
    _console("narrower", "", "narrower list", "Give the list less room, and what is read more."),
    _console("wider", "", "wider list", "Give the list more room."),
    _console("palette", "colon", "palette", "Find any action, agent or open request by its name (also ctrl+p)."),
    _console("help", "question_mark f1", "help", "The same: every key that does something here, and why one does not."),
    _console("redraw", "ctrl+l", "redraw", "Read the team again and draw everything anew."),
    _console("theme", "", "theme…", "Choose a theme; each shows while the cursor is on it."),
    _console(
        "settings",
        "comma",
        "settings…",
        "Open config.toml in your own editor; what you save holds at once.",
    ),
    _console("teams", "", "teams", "All teams that are found here, with what waits in each; enter goes there."),
    _console("suspend", "ctrl+z", "suspend", "Back to the shell; fg returns."),
    _console("quit", "q ctrl+q", "quit", "Leave; what you were writing is kept."),
)


# Actions that look: they open, mark, filter, sort, copy and move.

_LETTERS = (Mode.NEEDS, Mode.AGENTS, Mode.REQUESTS, Mode.DELIVERIES, Mode.SPRINT, Mode.HISTORY)
_MARKABLE = (Mode.AGENTS, Mode.DELIVERIES, Mode.NEEDS, Mode.REQUESTS)

_look = partial(_row, Group.LOOK)
_in_help = partial(_look, footer=False)
"""Of those without a place in the footer."""

LOOK_ACTIONS: tuple[Action, ...] = (
    _look("open", "enter", "open", "Go into the thing under the cursor.", why_not=why_no_row),
    _look(
        "read",
        "f",
        "full screen",
        "Read it on the whole screen, where every key works, space and b page, n and p go on; esc leaves.",
        why_not=why_no_row,
        wording=lambda context: "list" if context.is_reading else "",
    ),
    _look("mark", "space", "mark", "Mark the row, to treat many at once.", modes=_MARKABLE, why_not=why_no_row),
    _look(
        "mark_all",
        "asterisk",
        "mark all",
        "Mark every row that is shown, or take all marks away.",
        modes=_MARKABLE,
        why_not=why_no_row,
    ),
    _in_help(
        "mark_range",
        "",
        "mark range",
        "Mark the rows from the one marked last to the one under the cursor.",
        modes=_MARKABLE,
        why_not=why_no_row,
    ),
    _look(
        "conversation",
        "c",
        "conversation",
        "Open the conversation it belongs to: versions, answers, deliveries, in order.",
        modes=(*_LETTERS, Mode.DECISIONS),
        why_not=why_no_conversation,
    ),
    _in_help(
        "stops",
        "",
        "shutdown",
        "Watch the shutdown of the team: who was asked, agreed, refused, ended, and who is left.",
    ),
    _in_help("said", "semicolon", "said last", "Read again the last ten things that the console said."),
    _look(
        "snooze",
        "z",
        "snooze",
        "Hide it for a quarter of an hour, at most half of the time it has left, or until it changes.",
        modes=(Mode.NEEDS,),
        why_not=why_no_row,
    ),
    _in_help("wake", "", "show snoozed", "Show everything that is snoozed again.", modes=(Mode.NEEDS,)),
    _look(
        "filter",
        "slash",
        "filter",
        "Show only rows that hold the words you type; while reading, look for them in the text.",
        wording=lambda context: "search" if context.is_reading else "",
    ),
    _in_help(
        "next_hit",
        "n",
        "next",
        "Go to the next place that holds the words looked for; while reading without any, to the next thing.",
    ),
    _in_help("previous_hit", "", "hit before", "Go to the place before that holds the words looked for."),
    _in_help("previous_thing", "p", "previous", "While reading: go to the thing before.", why_not=why_not_reading),
    _in_help("next_heading", "", "heading", "Go to the next heading of what is read.", why_not=why_no_row),
    _in_help("previous_heading", "", "heading before", "Go to the heading before.", why_not=why_no_row),
    _in_help(
        "editor", "E", "editor", "Read its text in your own editor, or in PAGER where none is set.", why_not=why_no_row
    ),
    _in_help("pipe", "", "pipe…", "Hand its text to a command of yours.", why_not=why_no_row),
    _in_help(
        "sort",
        "o",
        "sort",
        "Sort the rows by the next column, and at last in their own order again.",
        modes=(
            Mode.AGENTS,
            Mode.REQUESTS,
            Mode.DELIVERIES,
        ),
    ),
    _in_help("raw", "", "as written", "Show texts exactly as they were written, and back."),
    _in_help(
        "ids",
        "",
        "ids",
        "Show ids and exact moments of what stands beside the list, and hide them again.",
        why_not=why_no_row,
    ),
    _in_help("copy_id", "y", "copy id", "Copy its id to the clipboard (OSC 52).", why_not=why_no_row),
    _in_help(
        "copy_text",
        "Y",
        "copy text",
        "Copy its text to the clipboard (OSC 52); in an empty list the command that fills it.",
    ),
    _in_help("next_panel", "tab", "next panel", "Go to the next panel."),
    _in_help("previous_panel", "shift+tab", "panel before", "Go back a panel."),
    _in_help("back", "escape", "back", "Back out: of a panel, a filter, the marks."),
)


# Actions that change the team: they decide, write or deliver.

_ANSWERING = (Mode.NEEDS, Mode.AGENTS, Mode.REQUESTS)
_FAILED = (Mode.DELIVERIES, Mode.NEEDS)
_ON_THE_WAY = (*_FAILED, Mode.AGENTS)

_decide = partial(_row, Group.DECIDE)
_write = partial(_row, Group.WRITE)
_deliver = partial(_row, Group.DELIVER, deciding=True)

WRITE_ACTIONS: tuple[Action, ...] = (
    _decide(
        "approve",
        "a",
        "approve…",
        "Approve or answer: the marked ones, or this one.",
        modes=_ANSWERING,
        wording=lambda context: "answer…" if context.asks_a_question else "",
        deciding=True,
        why_not=partial(why_no_verdict, approving=True),
    ),
    _decide(
        "reject",
        "r",
        "reject…",
        "Say no to them, with the reason the askers need.",
        modes=_ANSWERING,
        deciding=True,
        why_not=partial(why_no_verdict, approving=False),
    ),
    _decide(
        "ask_back",
        "B",
        "ask back…",
        "Ask its asker something; the request goes on waiting for you.",
        modes=_ANSWERING,
        footer=False,
        why_not=why_no_asking_back,
    ),
    _decide(
        "remark",
        "L",
        "remark on a line…",
        "Point at a line of what is asked; j and k move, enter writes a remark on it.",
        modes=_ANSWERING,
        footer=False,
        why_not=why_no_remark,
    ),
    _decide(
        "done",
        "d",
        "done",
        "Mark messages to you as read, the marked ones or the one under the cursor; they go to your archive.",
        modes=(
            Mode.NEEDS,
            Mode.AGENTS,
        ),
        deciding=True,
        why_not=why_not_done,
    ),
    _decide(
        "dismiss",
        "D",
        "mark all news read",
        "Mark all news in the list as read.",
        modes=(Mode.NEEDS,),
        footer=False,
        why_not=why_no_dismissal,
    ),
    _decide(
        "undo",
        "U",
        "undo",
        "Take back what you decided last, as long as it is not written.",
        footer=False,
        why_not=why_nothing_pending,
    ),
    _decide(
        "write_now",
        "W",
        "write now",
        "Write at once what you decided, without waiting any longer.",
        footer=False,
        why_not=why_nothing_pending,
    ),
    _write(
        "message",
        "m",
        "message…",
        "Write to the agents chosen; it quotes the message it answers.",
        modes=_LETTERS,
        why_not=why_no_message,
    ),
    _deliver(
        "retry",
        "t",
        "try again…",
        "Deliver the chosen messages again, from the first try on.",
        modes=_FAILED,
        why_not=why_no_remedy(Remedy.RETRY),
    ),
    _deliver(
        "redirect",
        "e",
        "redirect…",
        "Send the chosen messages to another agent instead.",
        modes=_FAILED,
        why_not=why_no_remedy(Remedy.REDIRECT),
    ),
    _deliver(
        "discard",
        "x",
        "discard…",
        "Set the chosen messages aside; they go to the archive with your reason.",
        modes=_FAILED,
        why_not=why_no_remedy(Remedy.DISCARD),
    ),
    _deliver(
        "recall",
        "u",
        "recall…",
        "Take back the chosen messages that nobody has read yet.",
        modes=_ON_THE_WAY,
        footer=False,
        why_not=why_no_remedy(Remedy.RECALL),
    ),
    _write(
        "broadcast", "b", "broadcast…", "Write to every member; how many that is comes first.", why_not=why_no_broadcast
    ),
    _write(
        "shutdown",
        "s",
        "shut down…",
        "Ask the chosen agents to stop.",
        modes=(
            Mode.NEEDS,
            Mode.AGENTS,
            Mode.REQUESTS,
            Mode.SPRINT,
        ),
        deciding=True,
        why_not=why_no_stop,
    ),
    _write(
        "shutdown_all",
        "S",
        "shut down all…",
        "Ask every listening member to stop, one after the other; show it while that goes on.",
        footer=False,
        why_not=why_not_lead,
    ),
    _write(
        "correct_course",
        "C",
        "correct course…",
        "Ask the scrum master to plan the sprint again.",
        modes=(Mode.SPRINT,),
        why_not=why_not_lead,
    ),
    _write(
        "send_roster",
        "R",
        "send roster…",
        "Send every resident the complete roster as it is now.",
        modes=(
            Mode.SPRINT,
            Mode.HEALTH,
        ),
        footer=False,
        why_not=why_not_lead,
    ),
)


# The registry of all actions: keys, footer, help, palette and reference are made from it.

ACTIONS: tuple[Action, ...] = (*WRITE_ACTIONS, *LOOK_ACTIONS, *CONSOLE_ACTIONS)
BY_ID = {action.id: action for action in ACTIONS}
FOOTER_WHILE_READING = (
    "approve",
    "reject",
    "ask_back",
    "remark",
    "done",
    "next_hit",
    "previous_thing",
    "message",
    "filter",
    "editor",
    "conversation",
)
"""What the footer names while one thing is read."""
FOOTER_END = ("palette", "help")
"""Always at the right end of the footer."""


def actions_in(mode: Mode, *, read_only: bool) -> tuple[Action, ...]:
    """Return the actions that apply in `mode`; a read-only team has no writing ones."""
    return tuple(action for action in ACTIONS if action.is_here(mode) and not (read_only and action.writes))


FIXED_KEYS: Mapping[str, str] = {
    **dict.fromkeys(("j", "k", "g", "G", "down", "up", "home", "end", "ctrl+d", "ctrl+u"), "moves the cursor"),
    **dict.fromkeys(("pagedown", "pageup", "ctrl+f", "ctrl+b"), "moves by a page"),
    "ctrl+q": "leaves",
}
"""Keys that lists and the console take before any action, and what each does: nothing else can be on them."""

_own_keys: Mapping[str, tuple[str, ...]] = {}


def configure_keys(keys: Mapping[str, tuple[str, ...]]) -> None:
    """Take the keys of the user's settings, by action id."""
    global _own_keys
    _own_keys = keys


def shown_key(action: Action) -> str:
    """Return the key of an action as people write it: the user's own, else the usual one; empty for none."""
    keys = _own_keys.get(action.id) or action.keys
    return written_key(keys[0]) if keys else ""


def usual_keys() -> dict[str, tuple[str, ...]]:
    """Action id -> its keys, as long as the user has chosen no others."""
    return {action.id: action.keys for action in ACTIONS}
