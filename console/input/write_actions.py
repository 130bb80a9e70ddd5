"""Actions that change the team: they decide, write or deliver."""

from __future__ import annotations

from functools import partial

from team_console.console.input.action import Action, Group
from team_console.console.input.reasons import (
    alone,
    no_approval,
    no_rejection,
    no_remedy,
    nobody_to_stop,
    not_lead,
    not_to_me,
    nothing_to_dismiss,
    nothing_unwritten,
    unnamed,
)
from team_console.console.input.subject import Mode
from team_console.store.service.failures import Remedy

_LETTERS = frozenset({Mode.NEEDS, Mode.INBOXES, Mode.REQUESTS, Mode.DELIVERIES, Mode.SPRINT, Mode.HISTORY})
_ANSWERING = frozenset({Mode.NEEDS, Mode.INBOXES, Mode.REQUESTS})
_ON_THE_WAY = frozenset({Mode.DELIVERIES, Mode.NEEDS, Mode.INBOXES})

_decide = partial(Action, group=Group.DECIDE)
_write = partial(Action, group=Group.WRITE)
_deliver = partial(Action, group=Group.DELIVER, deciding=True)

WRITE_ACTIONS: tuple[Action, ...] = (
    _decide(
        id="approve",
        keys=("a",),
        label="approve…",
        help="Say yes to the marked requests, else to the one under the cursor, or answer its question.",
        modes=_ANSWERING,
        wording=lambda subject: "answer…" if subject.asks_a_question else "",
        deciding=True,
        why_not=no_approval,
    ),
    _decide(
        id="reject",
        keys=("r",),
        label="reject…",
        help="Say no to them, with the reason the askers need.",
        modes=_ANSWERING,
        deciding=True,
        why_not=no_rejection,
    ),
    _decide(
        id="done",
        keys=("d",),
        label="done",
        help="Mark messages to you as read, the marked ones or the one under the cursor; they go to your archive.",
        modes=frozenset({Mode.NEEDS, Mode.INBOXES}),
        deciding=True,
        why_not=not_to_me,
    ),
    _decide(
        id="dismiss",
        keys=("D",),
        label="clear information",
        help="Mark everything listed that is only for your information as read.",
        modes=frozenset({Mode.NEEDS}),
        footer=False,
        why_not=nothing_to_dismiss,
    ),
    _decide(
        id="undo",
        keys=("U",),
        label="take back",
        help="Take back what you decided last, as long as it is not written.",
        footer=False,
        why_not=nothing_unwritten,
    ),
    _decide(
        id="write_now",
        keys=("W",),
        label="write now",
        help="Write at once what you decided, without waiting any longer.",
        footer=False,
        why_not=nothing_unwritten,
    ),
    _write(
        id="message",
        keys=("m",),
        label="message…",
        help="Write to the agents chosen; it quotes the message it answers.",
        modes=_LETTERS,
        why_not=unnamed,
    ),
    _deliver(
        id="retry",
        keys=("t",),
        label="try again…",
        help="Deliver the chosen messages again, from the first try on.",
        modes=frozenset({Mode.DELIVERIES, Mode.NEEDS}),
        why_not=no_remedy(Remedy.RETRY),
    ),
    _deliver(
        id="redirect",
        keys=("e",),
        label="redirect…",
        help="Send the chosen messages to another agent instead.",
        modes=frozenset({Mode.DELIVERIES, Mode.NEEDS}),
        why_not=no_remedy(Remedy.REDIRECT),
    ),
    _deliver(
        id="discard",
        keys=("x",),
        label="discard…",
        help="Set the chosen messages aside; they go to the archive with your reason.",
        modes=frozenset({Mode.DELIVERIES, Mode.NEEDS}),
        why_not=no_remedy(Remedy.DISCARD),
    ),
    _deliver(
        id="recall",
        keys=("u",),
        label="recall…",
        help="Take back the chosen messages that nobody has read yet.",
        modes=_ON_THE_WAY,
        footer=False,
        why_not=no_remedy(Remedy.RECALL),
    ),
    _write(
        id="broadcast",
        keys=("b",),
        label="broadcast…",
        help="Write to every member; how many that is comes first.",
        why_not=alone,
    ),
    _write(
        id="shutdown",
        keys=("s",),
        label="shut down…",
        help="Ask the chosen agents to stop.",
        modes=frozenset({Mode.NEEDS, Mode.INBOXES, Mode.REQUESTS, Mode.SPRINT}),
        deciding=True,
        why_not=nobody_to_stop,
    ),
    _write(
        id="shutdown_all",
        keys=("S",),
        label="shut down all…",
        help="Ask every listening member to stop, one after the other.",
        footer=False,
        why_not=not_lead,
    ),
    _write(
        id="correct_course",
        keys=("C",),
        label="correct course…",
        help="Ask the scrum master to plan the sprint again.",
        modes=frozenset({Mode.SPRINT}),
        why_not=not_lead,
    ),
    _write(
        id="send_roster",
        keys=("R",),
        label="send roster…",
        help="Send every resident the complete roster as it is now.",
        modes=frozenset({Mode.SPRINT, Mode.HEALTH}),
        footer=False,
        why_not=not_lead,
    ),
)
