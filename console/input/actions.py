"""Everything the console can do, once: keys, footer, help, palette and the README table are all made from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum

from msgspec import Struct
from team_console.console.input.reasons import (
    Reason,
    no_approval,
    no_letter,
    no_rejection,
    no_remedy,
    no_row,
    nobody_to_stop,
    not_lead,
    not_to_me,
    nothing_to_dismiss,
    nothing_unwritten,
)
from team_console.console.input.subject import Mode, Subject
from team_console.store.desk.delivery.failures import Remedy


class Group(StrEnum):
    """How actions are grouped in help."""

    DECIDE = "Decide"
    WRITE = "Write"
    DELIVER = "Deliver"
    LOOK = "Look"
    CONSOLE = "Console"


class Action(Struct, frozen=True, kw_only=True):
    """One thing the console can do.

    Attributes:
        id: Stable name; `team_console.console.handlers` has the function that does it under this name.
        keys: Textual key names, the first one shown.
        shown: The key as people write it.
        label: A few words for the footer; `…` when a question follows.
        help: A sentence.
        modes: Where it applies; empty for everywhere.
        writes: Changes the team, so it is not there when the team is read-only.
        deciding: Must not happen on a row that just changed by itself.
        footer: Whether it is worth a place in the footer.
    """

    id: str
    keys: tuple[str, ...]
    shown: str
    label: str
    help: str
    group: Group
    modes: frozenset[Mode] = frozenset()
    writes: bool = False
    deciding: bool = False
    footer: bool = True
    why_not: Reason = lambda subject: None

    @property
    def asks(self) -> bool:
        """Whether a question follows before anything is done."""
        return self.label.endswith("…")

    def is_here(self, mode: Mode) -> bool:
        """Whether it applies in `mode` at all."""
        return not self.modes or mode in self.modes

    def disabled(self, subject: Subject) -> str | None:
        """Why it cannot be used on `subject`, None when it can."""
        if not self.is_here(subject.mode):
            return f"{self.label.rstrip('…')} does not apply here"
        if self.writes:
            return subject.no_writing or self.why_not(subject)
        return self.why_not(subject)


_LETTERS = frozenset({Mode.NEEDS, Mode.INBOXES, Mode.REQUESTS, Mode.DELIVERIES, Mode.SPRINT, Mode.HISTORY})
_ANSWERING = frozenset({Mode.NEEDS, Mode.INBOXES, Mode.REQUESTS})
_MARKABLE = frozenset({Mode.INBOXES, Mode.DELIVERIES, Mode.NEEDS, Mode.REQUESTS})
_ON_THE_WAY = frozenset({Mode.DELIVERIES, Mode.NEEDS, Mode.INBOXES})

ACTIONS: tuple[Action, ...] = (
    Action(
        id="approve",
        keys=("a",),
        shown="a",
        label="approve…",
        help="Say yes to the marked requests, else to the one under the cursor, or answer its question.",
        group=Group.DECIDE,
        modes=_ANSWERING,
        writes=True,
        deciding=True,
        why_not=no_approval,
    ),
    Action(
        id="reject",
        keys=("r",),
        shown="r",
        label="reject…",
        help="Say no to them, with the reason the askers need.",
        group=Group.DECIDE,
        modes=_ANSWERING,
        writes=True,
        deciding=True,
        why_not=no_rejection,
    ),
    Action(
        id="done",
        keys=("d",),
        shown="d",
        label="done",
        help="Mark messages to you as read, the marked ones or the one under the cursor; they go to your archive.",
        group=Group.DECIDE,
        modes=frozenset({Mode.NEEDS, Mode.INBOXES}),
        writes=True,
        deciding=True,
        why_not=not_to_me,
    ),
    Action(
        id="dismiss",
        keys=("D",),
        shown="D",
        label="clear information",
        help="Mark everything that is only for your information as read.",
        group=Group.DECIDE,
        modes=frozenset({Mode.NEEDS}),
        writes=True,
        footer=False,
        why_not=nothing_to_dismiss,
    ),
    Action(
        id="undo",
        keys=("U",),
        shown="U",
        label="take back",
        help="Take back what you decided last, as long as it is not written.",
        group=Group.DECIDE,
        writes=True,
        footer=False,
        why_not=nothing_unwritten,
    ),
    Action(
        id="write_now",
        keys=("W",),
        shown="W",
        label="write now",
        help="Write at once what you decided, without waiting any longer.",
        group=Group.DECIDE,
        writes=True,
        footer=False,
        why_not=nothing_unwritten,
    ),
    Action(
        id="message",
        keys=("m",),
        shown="m",
        label="message…",
        help="Write to the agents chosen; it quotes the message it answers.",
        group=Group.WRITE,
        modes=_LETTERS,
        writes=True,
    ),
    Action(
        id="retry",
        keys=("t",),
        shown="t",
        label="try again…",
        help="Deliver the chosen messages again, from the first try on.",
        group=Group.DELIVER,
        modes=frozenset({Mode.DELIVERIES, Mode.NEEDS}),
        writes=True,
        deciding=True,
        why_not=no_remedy(Remedy.RETRY),
    ),
    Action(
        id="redirect",
        keys=("e",),
        shown="e",
        label="redirect…",
        help="Send the chosen messages to another agent instead.",
        group=Group.DELIVER,
        modes=frozenset({Mode.DELIVERIES, Mode.NEEDS}),
        writes=True,
        deciding=True,
        why_not=no_remedy(Remedy.REDIRECT),
    ),
    Action(
        id="discard",
        keys=("x",),
        shown="x",
        label="discard…",
        help="Set the chosen messages aside; they go to the archive with your reason.",
        group=Group.DELIVER,
        modes=frozenset({Mode.DELIVERIES, Mode.NEEDS}),
        writes=True,
        deciding=True,
        why_not=no_remedy(Remedy.DISCARD),
    ),
    Action(
        id="recall",
        keys=("u",),
        shown="u",
        label="recall…",
        help="Take back the chosen messages that nobody has read yet.",
        group=Group.DELIVER,
        modes=_ON_THE_WAY,
        writes=True,
        deciding=True,
        footer=False,
        why_not=no_remedy(Remedy.RECALL),
    ),
    Action(
        id="broadcast",
        keys=("b",),
        shown="b",
        label="broadcast…",
        help="Write to every member; how many that is comes first.",
        group=Group.WRITE,
        writes=True,
    ),
    Action(
        id="shutdown",
        keys=("s",),
        shown="s",
        label="shut down…",
        help="Ask the chosen agents to stop.",
        group=Group.WRITE,
        modes=frozenset({Mode.NEEDS, Mode.INBOXES, Mode.REQUESTS, Mode.SPRINT}),
        writes=True,
        deciding=True,
        why_not=nobody_to_stop,
    ),
    Action(
        id="shutdown_all",
        keys=("S",),
        shown="S",
        label="shut down all…",
        help="Ask every listening member to stop, one after the other.",
        group=Group.WRITE,
        writes=True,
        footer=False,
        why_not=not_lead,
    ),
    Action(
        id="correct_course",
        keys=("C",),
        shown="C",
        label="correct course…",
        help="Ask the scrum master to plan the sprint again.",
        group=Group.WRITE,
        modes=frozenset({Mode.SPRINT}),
        writes=True,
        why_not=not_lead,
    ),
    Action(
        id="open",
        keys=("enter",),
        shown="enter",
        label="open",
        help="Go into the thing under the cursor.",
        group=Group.LOOK,
        why_not=no_row,
    ),
    Action(
        id="mark",
        keys=("space",),
        shown="space",
        label="mark",
        help="Mark the row, to treat many at once.",
        group=Group.LOOK,
        modes=_MARKABLE,
        why_not=no_row,
    ),
    Action(
        id="mark_all",
        keys=("asterisk",),
        shown="*",
        label="mark all",
        help="Mark every row that is shown, or take all marks away.",
        group=Group.LOOK,
        modes=_MARKABLE,
        why_not=no_row,
    ),
    Action(
        id="mark_range",
        keys=("V",),
        shown="V",
        label="mark range",
        help="Mark the rows from the one marked last to the one under the cursor.",
        group=Group.LOOK,
        modes=_MARKABLE,
        footer=False,
        why_not=no_row,
    ),
    Action(
        id="conversation",
        keys=("c",),
        shown="c",
        label="conversation",
        help="Open the conversation it belongs to: versions, answers, deliveries, in order.",
        group=Group.LOOK,
        modes=_LETTERS,
        why_not=no_letter,
    ),
    Action(
        id="stops",
        keys=("T",),
        shown="T",
        label="shutdown",
        help="Watch the shutdown of the team: who was asked, agreed, refused, ended, and who is left.",
        group=Group.LOOK,
        footer=False,
    ),
    Action(
        id="snooze",
        keys=("z",),
        shown="z",
        label="snooze",
        help="Hide it for a quarter of an hour, or until something about it changes.",
        group=Group.LOOK,
        modes=frozenset({Mode.NEEDS}),
        why_not=no_row,
    ),
    Action(
        id="wake",
        keys=("Z",),
        shown="Z",
        label="show snoozed",
        help="Show everything that is snoozed again.",
        group=Group.LOOK,
        modes=frozenset({Mode.NEEDS}),
        footer=False,
    ),
    Action(
        id="filter",
        keys=("slash",),
        shown="/",
        label="filter",
        help="Show only rows that hold the words you type.",
        group=Group.LOOK,
    ),
    Action(
        id="next_hit",
        keys=("n",),
        shown="n",
        label="next hit",
        help="Go to the next place that holds the words of the last filter.",
        group=Group.LOOK,
        footer=False,
    ),
    Action(
        id="previous_hit",
        keys=("N",),
        shown="N",
        label="hit before",
        help="Go to the place before that holds the words of the last filter.",
        group=Group.LOOK,
        footer=False,
    ),
    Action(
        id="sort",
        keys=("o",),
        shown="o",
        label="sort",
        help="Sort the rows by the next column, and at last in their own order again.",
        group=Group.LOOK,
        modes=frozenset({Mode.INBOXES, Mode.REQUESTS, Mode.DELIVERIES}),
        footer=False,
    ),
    Action(
        id="raw",
        keys=("v",),
        shown="v",
        label="as written",
        help="Show texts exactly as they were written, and back.",
        group=Group.LOOK,
        footer=False,
    ),
    Action(
        id="ids",
        keys=("i",),
        shown="i",
        label="ids",
        help="Show ids and exact moments of what stands beside the list, and hide them again.",
        group=Group.LOOK,
        footer=False,
        why_not=no_row,
    ),
    Action(
        id="copy_id",
        keys=("y",),
        shown="y",
        label="copy id",
        help="Copy its id to the clipboard (OSC 52).",
        group=Group.LOOK,
        footer=False,
        why_not=no_row,
    ),
    Action(
        id="copy_text",
        keys=("Y",),
        shown="Y",
        label="copy text",
        help="Copy its text to the clipboard (OSC 52); in an empty list the command that fills it.",
        group=Group.LOOK,
        footer=False,
    ),
    Action(
        id="export",
        keys=("w",),
        shown="w",
        label="export…",
        help="Write the rows shown here to a file.",
        group=Group.LOOK,
        modes=frozenset({Mode.HISTORY}),
    ),
    Action(
        id="next_panel",
        keys=("tab",),
        shown="tab",
        label="next panel",
        help="Go to the next panel.",
        group=Group.LOOK,
        footer=False,
    ),
    Action(
        id="previous_panel",
        keys=("shift+tab",),
        shown="⇧tab",
        label="panel before",
        help="Go back a panel.",
        group=Group.LOOK,
        footer=False,
    ),
    Action(
        id="back",
        keys=("escape",),
        shown="esc",
        label="back",
        help="Back out: of a panel, a filter, the marks.",
        group=Group.LOOK,
        footer=False,
    ),
    *(
        Action(
            id=f"go_{mode}",
            keys=(str(number),),
            shown=str(number),
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
        shown=":",
        label="palette",
        help="Find any action by its name (also ctrl+p).",
        group=Group.CONSOLE,
        footer=False,
    ),
    Action(
        id="help",
        keys=("question_mark",),
        shown="?",
        label="help",
        help="Every key that does something here.",
        group=Group.CONSOLE,
        footer=False,
    ),
    Action(
        id="redraw",
        keys=("ctrl+l",),
        shown="^l",
        label="redraw",
        help="Read the team again and draw everything anew.",
        group=Group.CONSOLE,
        footer=False,
    ),
    Action(
        id="theme",
        keys=("f2",),
        shown="F2",
        label="theme…",
        help="Choose a theme; each shows while the cursor is on it.",
        group=Group.CONSOLE,
        footer=False,
    ),
    Action(
        id="suspend",
        keys=("ctrl+z",),
        shown="^z",
        label="suspend",
        help="Back to the shell; fg returns.",
        group=Group.CONSOLE,
        footer=False,
    ),
    Action(
        id="quit",
        keys=("q", "ctrl+q"),
        shown="q",
        label="quit",
        help="Leave; what you were writing is kept.",
        group=Group.CONSOLE,
        footer=False,
    ),
)

BY_ID = {action.id: action for action in ACTIONS}
PINNED = ("palette", "help")
"""Always at the right end of the footer."""


def actions_in(mode: Mode, *, read_only: bool) -> tuple[Action, ...]:
    """The actions that apply in `mode`; a read-only team has no writing ones."""
    return tuple(action for action in ACTIONS if action.is_here(mode) and not (read_only and action.writes))


def grouped(actions: Iterable[Action]) -> dict[Group, tuple[Action, ...]]:
    """The actions by group, in the order of the groups."""
    given = tuple(actions)
    groups = {group: tuple(action for action in given if action.group is group) for group in Group}
    return {group: members for group, members in groups.items() if members}


_own_keys: Mapping[str, tuple[str, ...]] = {}


def configure_keys(keys: Mapping[str, tuple[str, ...]]) -> None:
    """Take the keys of the user's settings, by action id."""
    global _own_keys
    _own_keys = keys


def shown_key(action: Action) -> str:
    """The key of an action as people write it: the user's own, else the usual one."""
    own = _own_keys.get(action.id)
    names = {"slash": "/", "colon": ":", "question_mark": "?", "escape": "esc"}
    return names.get(own[0], own[0].replace("ctrl+", "^")) if own else action.shown


def usual_keys() -> dict[str, tuple[str, ...]]:
    """Action id -> its keys, as long as the user has chosen no others."""
    return {action.id: action.keys for action in ACTIONS}
