"""Everything the console can do, once: keys, footer, help, palette and the README table are all made from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum

from msgspec import Struct

from console.subject import Mode, Subject
from store.desk.failures import Remedy
from store.protocol.kinds import RequestKind


class Group(StrEnum):
    """How actions are grouped in help."""

    DECIDE = "Decide"
    WRITE = "Write"
    DELIVER = "Deliver"
    LOOK = "Look"
    CONSOLE = "Console"


Reason = Callable[[Subject], str | None]
"""Why an action cannot be used on a subject, as a short sentence; None when it can."""


class Action(Struct, frozen=True):
    """One thing the console can do.

    Attributes:
        id: Stable name; the method that does it is called the same.
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
    row = subject.request
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
    if subject.marked:
        return "answer one at a time; esc takes the marks away"
    if subject.incomplete:
        return "its whole text is not on the screen yet"
    return None


def _nobody(subject: Subject) -> str | None:
    return None if subject.agents else "no agent is chosen"


def _nobody_to_stop(subject: Subject) -> str | None:
    if subject.me != subject.lead:
        return f"only {subject.lead} asks agents to stop"
    return None if subject.stoppable else "no agent is chosen that could stop"


def _not_to_me(subject: Subject) -> str | None:
    message = subject.message
    if message is None:
        return "no message is chosen"
    if subject.request is not None and subject.request.is_open:
        return "it still wants an answer"
    return None if subject.to_read else "it is not an unread message to you"


def _not_lead(subject: Subject) -> str | None:
    return None if subject.me == subject.lead else f"only {subject.lead} does this"


def _nothing(subject: Subject) -> str | None:
    return None if subject.has_row else "nothing is chosen"


def _no_marks(subject: Subject) -> str | None:
    return None if subject.marked else "nothing is marked"


def _remedy(remedy: Remedy) -> Reason:
    states = {
        Remedy.RETRY: ("failed", "expired", "retry"),
        Remedy.REDIRECT: ("pending", "failed", "expired", "retry"),
        Remedy.DISCARD: ("failed", "expired", "retry", "recalled"),
        Remedy.RECALL: ("pending", "retry"),
    }[remedy]

    def reason(subject: Subject) -> str | None:
        if not subject.messages:
            return "no message is chosen"
        if any(one.status in states for one in subject.messages):
            return None
        return f"it is {subject.messages[0].status}; only {', '.join(states)} can be"

    return reason


_LETTERS = frozenset({Mode.NEEDS, Mode.INBOXES, Mode.REQUESTS, Mode.DELIVERIES, Mode.SPRINT, Mode.HISTORY})
_ON_THE_WAY = frozenset({Mode.DELIVERIES, Mode.NEEDS, Mode.INBOXES})

ACTIONS: tuple[Action, ...] = (
    Action(
        *("approve", ("a",), "a", "approve…", "Say yes to the request under the cursor, with a note if you like."),
        *(Group.DECIDE, frozenset({Mode.NEEDS, Mode.REQUESTS})),
        writes=True,
        deciding=True,
        why_not=_no_verdict,
    ),
    Action(
        *("reject", ("r",), "r", "reject…", "Say no to it, with the reason the asker needs."),
        *(Group.DECIDE, frozenset({Mode.NEEDS, Mode.REQUESTS})),
        writes=True,
        deciding=True,
        why_not=_no_verdict,
    ),
    Action(
        *("done", ("d",), "d", "done", "Mark a message to you as read; it goes to your archive."),
        *(Group.DECIDE, frozenset({Mode.NEEDS, Mode.INBOXES})),
        writes=True,
        deciding=True,
        why_not=_not_to_me,
    ),
    Action(
        *("message", ("m",), "m", "message…", "Write to the agents chosen; it quotes the message it answers."),
        *(Group.WRITE, _LETTERS),
        writes=True,
    ),
    Action(
        *("retry", ("t",), "t", "try again", "Deliver the chosen messages again, from the first try on."),
        *(Group.DELIVER, frozenset({Mode.DELIVERIES, Mode.NEEDS})),
        writes=True,
        deciding=True,
        footer=True,
        why_not=_remedy(Remedy.RETRY),
    ),
    Action(
        *("redirect", ("e",), "e", "redirect…", "Send the chosen messages to another agent instead."),
        *(Group.DELIVER, frozenset({Mode.DELIVERIES, Mode.NEEDS})),
        writes=True,
        deciding=True,
        why_not=_remedy(Remedy.REDIRECT),
    ),
    Action(
        *(
            "discard",
            ("x",),
            "x",
            "discard…",
            "Set the chosen messages aside; they go to the archive with your reason.",
        ),
        *(Group.DELIVER, frozenset({Mode.DELIVERIES, Mode.NEEDS})),
        writes=True,
        deciding=True,
        why_not=_remedy(Remedy.DISCARD),
    ),
    Action(
        *("recall", ("u",), "u", "recall…", "Take back the chosen messages that nobody has read yet."),
        *(Group.DELIVER, _ON_THE_WAY),
        writes=True,
        deciding=True,
        footer=False,
        why_not=_remedy(Remedy.RECALL),
    ),
    Action(
        *("broadcast", ("b",), "b", "broadcast…", "Write to every member; how many that is comes first."),
        *(Group.WRITE, frozenset()),
        writes=True,
    ),
    Action(
        *("shutdown", ("s",), "s", "shut down…", "Ask the chosen agents to stop."),
        *(Group.WRITE, frozenset({Mode.NEEDS, Mode.INBOXES, Mode.REQUESTS, Mode.SPRINT})),
        writes=True,
        deciding=True,
        why_not=_nobody_to_stop,
    ),
    Action(
        *("shutdown_all", ("S",), "S", "shut down all…", "Ask every listening member to stop, one after the other."),
        *(Group.WRITE, frozenset()),
        writes=True,
        footer=False,
        why_not=_not_lead,
    ),
    Action(
        *("correct_course", ("C",), "C", "correct course…", "Ask the scrum master to plan the sprint again."),
        *(Group.WRITE, frozenset({Mode.SPRINT})),
        writes=True,
        why_not=_not_lead,
    ),
    Action("open", ("enter",), "enter", "open", "Go into the thing under the cursor.", Group.LOOK, why_not=_nothing),
    Action(
        *("mark", ("space",), "space", "mark", "Mark the row, to treat many at once."),
        *(Group.LOOK, frozenset({Mode.INBOXES, Mode.DELIVERIES, Mode.NEEDS})),
        why_not=_nothing,
    ),
    Action(
        *("snooze", ("z",), "z", "snooze", "Hide it for a quarter of an hour, or until something about it changes."),
        *(Group.LOOK, frozenset({Mode.NEEDS})),
        why_not=_nothing,
    ),
    Action(
        *("wake", ("Z",), "Z", "show snoozed", "Show everything that is snoozed again."),
        *(Group.LOOK, frozenset({Mode.NEEDS})),
        footer=False,
    ),
    Action("filter", ("slash",), "/", "filter", "Show only rows that hold the words you type.", Group.LOOK),
    Action(
        *("raw", ("v",), "v", "as written", "Show texts exactly as they were written, and back."),
        *(Group.LOOK, frozenset()),
        footer=False,
    ),
    Action(
        *("copy_id", ("y",), "y", "copy id", "Copy its id to the clipboard (OSC 52)."),
        *(Group.LOOK, frozenset()),
        footer=False,
        why_not=_nothing,
    ),
    Action(
        *("copy_text", ("Y",), "Y", "copy text", "Copy its text to the clipboard (OSC 52)."),
        *(Group.LOOK, frozenset()),
        footer=False,
        why_not=_nothing,
    ),
    Action(
        *("export", ("w",), "w", "export…", "Write the rows shown here to a file."),
        *(Group.LOOK, frozenset({Mode.HISTORY})),
    ),
    Action("next_panel", ("tab",), "tab", "next panel", "Go to the next panel.", Group.LOOK, footer=False),
    Action("previous_panel", ("shift+tab",), "⇧tab", "panel before", "Go back a panel.", Group.LOOK, footer=False),
    Action(
        *("back", ("escape",), "esc", "back", "Back out: of a panel, a filter, the marks."),
        Group.LOOK,
        footer=False,
    ),
    *(
        Action(
            *(f"go_{mode}", (str(number),), str(number), mode.label, f"Go to {mode.label}."),
            Group.CONSOLE,
            footer=False,
        )
        for number, mode in enumerate(Mode, start=1)
    ),
    Action(
        "palette", ("colon",), ":", "palette", "Find any action by its name (also ctrl+p).", Group.CONSOLE, footer=False
    ),
    Action("help", ("question_mark",), "?", "help", "Every key that does something here.", Group.CONSOLE, footer=False),
    Action(
        *("redraw", ("ctrl+l",), "^l", "redraw", "Read the team again and draw everything anew."),
        Group.CONSOLE,
        footer=False,
    ),
    Action(
        "theme",
        ("f2",),
        "F2",
        "dark or light",
        "Change between the dark and the light theme.",
        Group.CONSOLE,
        footer=False,
    ),
    Action("suspend", ("ctrl+z",), "^z", "suspend", "Back to the shell; fg returns.", Group.CONSOLE, footer=False),
    Action("quit", ("q", "ctrl+q"), "q", "quit", "Leave; what you were writing is kept.", Group.CONSOLE, footer=False),
)

BY_ID = {action.id: action for action in ACTIONS}
PINNED = ("palette", "help")
"""Always at the right end of the footer."""


def actions_in(mode: Mode, *, read_only: bool) -> tuple[Action, ...]:
    """The actions that apply in `mode`; a read-only team has no writing ones."""
    return tuple(one for one in ACTIONS if one.is_here(mode) and not (read_only and one.writes))


def grouped(actions: Iterable[Action]) -> dict[Group, tuple[Action, ...]]:
    """The actions by group, in the order of the groups."""
    found = tuple(actions)
    return {group: some for group in Group if (some := tuple(one for one in found if one.group is group))}


def keys_table() -> str:
    """A Markdown table of all keys for the README, ending with a newline."""
    lines = ["| Key | Action | Where |", "| --- | --- | --- |"]
    for action in ACTIONS:
        where = ", ".join(mode.label for mode in Mode if mode in action.modes) or "everywhere"
        lines.append(f"| `{action.shown}` | {action.help} | {where} |")
    return "\n".join(lines) + "\n"
