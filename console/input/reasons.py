"""Why an action cannot be used on a subject, as a short sentence; None when it can."""

from __future__ import annotations

from collections.abc import Callable

from team_console.console.input.subject import Subject
from team_console.store.model.clock import from_text
from team_console.store.model.message import Message, Status
from team_console.store.model.names import USER, is_name
from team_console.store.model.safe import safe_line
from team_console.store.service.failures import Remedy

Reason = Callable[[Subject], str | None]
"""Why an action cannot be used on a subject, as a short sentence; None when it can."""


def no_approval(subject: Subject) -> str | None:
    """For approving what is marked, else what is under the cursor; a question is answered instead."""
    if subject.wants_words and not subject.selection.marked:
        return None
    return _no_verdict(subject, approving=True)


def no_rejection(subject: Subject) -> str | None:
    """For rejecting it."""
    return _no_verdict(subject, approving=False)


def _no_verdict(subject: Subject, *, approving: bool) -> str | None:
    if subject.selection.marked:
        many = subject.to_decide(approving=approving)
        return None if many else "none of the marked ones takes a verdict without further words"
    row = subject.selection.request
    if row is None:
        return "this is not a request; m writes a message"
    why = subject.no_verdict_on(row)
    if why is None and subject.selection.incomplete:
        return "its whole text is not on the screen yet"
    return why


def alone(subject: Subject) -> str | None:
    """For writing to everybody."""
    if subject.view is None or any(row.name not in (subject.me, USER) for row in subject.view.roster):
        return None
    return "nobody else is in the team yet"


def nobody_to_stop(subject: Subject) -> str | None:
    """For asking agents to stop."""
    if subject.me != subject.lead:
        return f"only {subject.lead} asks agents to stop"
    return None if subject.stoppable else unnamed(subject) or "no agent is chosen that could stop"


def unnamed(subject: Subject) -> str | None:
    """For writing to the agents chosen: other programs write names to which nothing can be sent."""
    wrong = next((name for name in subject.selection.agents if not is_name(name)), None)
    return None if wrong is None else f"“{safe_line(wrong, 40)}” is no name that could be written to"


def not_to_me(subject: Subject) -> str | None:
    """For marking as read."""
    if subject.to_read:
        return None
    if subject.selection.marked:
        return "none of the marked ones is an unread message to you that wants no answer"
    if subject.selection.message is None:
        return "no message is chosen"
    if subject.selection.request is not None and subject.selection.request.is_open:
        return "it still wants an answer"
    return "it is not an unread message to you"


def not_lead(subject: Subject) -> str | None:
    """For what the lead alone does."""
    return None if subject.me == subject.lead else f"only {subject.lead} does this"


def no_row(subject: Subject) -> str | None:
    """For what is about the row under the cursor."""
    return None if subject.has_row else "nothing is chosen"


def no_remedy(remedy: Remedy) -> Reason:
    """For a remedy of the failure desk on the chosen messages."""
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


def nothing_unwritten(subject: Subject) -> str | None:
    """For taking back, and for writing at once."""
    return None if subject.unwritten else "everything you decided is written"


def nothing_to_dismiss(subject: Subject) -> str | None:
    """For clearing what is for information."""
    return None if subject.to_dismiss else "nothing is only for your information"


def no_letter(subject: Subject) -> str | None:
    """For what is about a message or a request."""
    return None if subject.selection.message or subject.selection.request else "no message is chosen"
