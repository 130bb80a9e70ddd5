"""Everything the console can do, once: keys, footer, help, palette and the README table are all made from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum

from msgspec import Struct
from team_console.console.input.subject import Mode, Subject
from team_console.store.desk.delivery.failures import Remedy
from team_console.store.model.clock import from_text
from team_console.store.model.message import Message, Status
from team_console.store.model.safe import safe_line
from team_console.store.protocol.kinds.kind import RequestKind


class Group(StrEnum):
    """How actions are grouped in help."""

    DECIDE = "Decide"
    WRITE = "Write"
    DELIVER = "Deliver"
    LOOK = "Look"
    CONSOLE = "Console"


Reason = Callable[[Subject], str | None]
"""Why an action cannot be used on a subject, as a short sentence; None when it can."""


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


def _no_verdict(subject: Subject) -> str | None:
    row = subject.selection.request
    if row is None:
        return "this is not a request; m writes a message"
    if not row.is_open:
        return f"it was {row.state} already"
    if not subject.may_answer:
        return f"only {row.addressee} answers it"
    if row.kind in (RequestKind.ESCALATION, RequestKind.CLARIFICATION, RequestKind.DEBUG):
        return "it wants words, not a verdict; m replies"
    if row.kind in (RequestKind.BROWSER, RequestKind.RESEARCH):
        return "its result comes from the agent asked"
    if subject.selection.marked:
        return "each is answered by itself; esc takes the marks away"
    if subject.selection.incomplete:
        return "its whole text is not on the screen yet"
    return None


def _nobody(subject: Subject) -> str | None:
    return None if subject.selection.agents else "no agent is chosen"


def _nobody_to_stop(subject: Subject) -> str | None:
    if subject.me != subject.lead:
        return f"only {subject.lead} asks agents to stop"
    return None if subject.stoppable else "no agent is chosen that could stop"


def _not_to_me(subject: Subject) -> str | None:
    if subject.to_read:
        return None
    if subject.selection.marked:
        return "none of the marked ones is an unread message to you that wants no answer"
    if subject.selection.message is None:
        return "no message is chosen"
    if subject.selection.request is not None and subject.selection.request.is_open:
        return "it still wants an answer"
    return "it is not an unread message to you"


def _not_lead(subject: Subject) -> str | None:
    return None if subject.me == subject.lead else f"only {subject.lead} does this"


def _nothing(subject: Subject) -> str | None:
    return None if subject.has_row else "nothing is chosen"


def _no_marks(subject: Subject) -> str | None:
    return None if subject.selection.marked else "nothing is marked"


def _remedy(remedy: Remedy) -> Reason:
    states = {
        Remedy.RETRY: ("failed", "expired", "retry"),
        Remedy.REDIRECT: ("pending", "failed", "expired", "retry"),
        Remedy.DISCARD: ("failed", "expired", "retry", "recalled"),
        Remedy.RECALL: ("pending", "retry"),
    }[remedy]

    def reason(subject: Subject) -> str | None:
        if not subject.selection.messages:
            return "no message is chosen"
        if any(message.status in states for message in subject.selection.messages):
            return None
        return _too_late(remedy, subject.selection.messages[0])

    return reason


def _too_late(remedy: Remedy, message: Message) -> str:
    """Why the remedy does not fit the state of the message, in words for a person."""
    status, name = message.status, safe_line(", ".join(message.recipients), 64)
    if status == Status.READ:
        when = clock_of(message.record.get("read_at"))
        return f"too late, {name} read it{when}"
    if status in (Status.DELIVERED, Status.CLAIMED):
        return f"too late, {name} has it already" if remedy is Remedy.RECALL else f"it was handed to {name}"
    if status == Status.PENDING:
        return "it is still on its way; nothing went wrong with it"
    words: dict[str, str] = {
        Status.RETRY: "it is tried again by itself",
        Status.FAILED: "it failed and waits here; t tries again, x discards",
        Status.EXPIRED: "it expired unread; t tries again, x discards",
        Status.RECALLED: "it was taken back already",
    }
    return words.get(status, f"its state is “{safe_line(status, 24)}”, which another program wrote")


def clock_of(moment: object) -> str:
    """` at 19:48` in local time, nothing when the moment cannot be read."""
    read = from_text(moment) if isinstance(moment, str) else None
    return f" at {read.astimezone():%H:%M}" if read is not None else ""


_LETTERS = frozenset({Mode.NEEDS, Mode.INBOXES, Mode.REQUESTS, Mode.DELIVERIES, Mode.SPRINT, Mode.HISTORY})
_ANSWERING = frozenset({Mode.NEEDS, Mode.INBOXES, Mode.REQUESTS})
_ON_THE_WAY = frozenset({Mode.DELIVERIES, Mode.NEEDS, Mode.INBOXES})

ACTIONS: tuple[Action, ...] = (
    Action(
        id="approve",
        keys=("a",),
        shown="a",
        label="approve…",
        help="Say yes to the request under the cursor, or answer its question.",
        group=Group.DECIDE,
        modes=_ANSWERING,
        writes=True,
        deciding=True,
        why_not=_no_verdict,
    ),
    Action(
        id="reject",
        keys=("r",),
        shown="r",
        label="reject…",
        help="Say no to it, with the reason the asker needs.",
        group=Group.DECIDE,
        modes=_ANSWERING,
        writes=True,
        deciding=True,
        why_not=_no_verdict,
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
        why_not=_not_to_me,
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
        why_not=_remedy(Remedy.RETRY),
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
        why_not=_remedy(Remedy.REDIRECT),
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
        why_not=_remedy(Remedy.DISCARD),
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
        why_not=_remedy(Remedy.RECALL),
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
        why_not=_nobody_to_stop,
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
        why_not=_not_lead,
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
        why_not=_not_lead,
    ),
    Action(
        id="open",
        keys=("enter",),
        shown="enter",
        label="open",
        help="Go into the thing under the cursor.",
        group=Group.LOOK,
        why_not=_nothing,
    ),
    Action(
        id="mark",
        keys=("space",),
        shown="space",
        label="mark",
        help="Mark the row, to treat many at once.",
        group=Group.LOOK,
        modes=frozenset({Mode.INBOXES, Mode.DELIVERIES, Mode.NEEDS}),
        why_not=_nothing,
    ),
    Action(
        id="snooze",
        keys=("z",),
        shown="z",
        label="snooze",
        help="Hide it for a quarter of an hour, or until something about it changes.",
        group=Group.LOOK,
        modes=frozenset({Mode.NEEDS}),
        why_not=_nothing,
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
        why_not=_nothing,
    ),
    Action(
        id="copy_id",
        keys=("y",),
        shown="y",
        label="copy id",
        help="Copy its id to the clipboard (OSC 52).",
        group=Group.LOOK,
        footer=False,
        why_not=_nothing,
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
