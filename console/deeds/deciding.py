"""Answering what waits: approve, reject, done."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from console.deeds.telling import written
from console.subject import Subject
from store.desk import inbox, requests
from store.desk.seat import Receipt
from store.safe import safe_line
from store.views.rows import RequestRow

if TYPE_CHECKING:
    from console.screens.main import MainScreen


def approve(screen: MainScreen, subject: Subject) -> None:
    """Ask for a note and say yes to what was drawn."""
    _verdict(screen, subject, approving=True)


def reject(screen: MainScreen, subject: Subject) -> None:
    """Ask for the reason and say no to what was drawn."""
    _verdict(screen, subject, approving=False)


def done(screen: MainScreen, subject: Subject) -> None:
    """Mark the message as read."""
    message, reader = subject.message, subject.reader
    if message is None or reader is None:
        return
    what = f"read: {safe_line(message.summary, 60)}"
    screen.act(
        partial(inbox.read_message, screen.seat, agent=reader, message_id=message.message_id, seen=message),
        lambda receipt: f"✓ {what}",
    )


def _verdict(screen: MainScreen, subject: Subject, *, approving: bool) -> None:
    from widgets.forms.reason import ReasonPrompt

    row = subject.request
    if row is None:
        return
    if not subject.token or subject.token != requests.fingerprint(row.question):
        screen.toast("It changed since it was drawn. Look at it, then decide.", severity="warning")
        return
    word = "Approve" if approving else "Reject"
    purpose = f"{word.lower()}:{row.request_id}"
    prompt = ReasonPrompt[Receipt](
        f"{word} {row.kind} of {safe_line(row.asker, 64)}",
        _about(row),
        partial(_answer, screen, row.request_id, subject.token, approving),
        verb=word,
        label="note" if approving else "reason",
        required=not approving,
        suggestion=not approving,
        draft=screen.drafts.get(purpose),
        on_draft=partial(screen.drafts.keep, purpose),
    )
    told = f"{'approved' if approving else 'rejected'} the {row.kind} of {safe_line(row.asker, 64)}"
    screen.ask(prompt, lambda receipt: written(told, receipt))


def _about(row: RequestRow) -> str:
    return f"{safe_line(row.title, 240)}\n{safe_line(row.request_id, 120)}"


def _answer(screen: MainScreen, request_id: str, token: str, approving: bool, words: str, suggestion: str) -> Receipt:
    if approving:
        return requests.approve(screen.seat, request_id=request_id, note=words or None, seen=token)
    return requests.reject(screen.seat, request_id=request_id, reason=words, suggest=suggestion or None, seen=token)


DEEDS = {"approve": approve, "reject": reject, "done": done}
