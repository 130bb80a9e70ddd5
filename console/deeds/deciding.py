"""Answering what waits: approve, reject, done."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from console.deeds.telling import written
from console.subject import Subject
from store.desk import inbox, requests
from store.desk.seat import Receipt
from store.errors import TeamError
from store.protocol.kinds import RequestKind
from store.protocol.reading import reading
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
        partial(inbox.read_message, screen.seat, agent=reader, message_id=message.message_id),
        lambda receipt: f"✓ {what}",
    )


def _verdict(screen: MainScreen, subject: Subject, *, approving: bool) -> None:
    from widgets.forms.reason import ReasonPrompt, Second

    row = subject.request
    if row is None:
        return
    if not subject.token or subject.token != requests.fingerprint(row.question):
        screen.toast("It changed since it was drawn. Look at it, then decide.", severity="warning")
        return
    word = "Approve" if approving else "Reject"
    purpose = f"{word.lower()}:{row.request_id}"
    creates = approving and row.kind is RequestKind.CREATE
    second = Second("agent name", "made from its type when left empty") if creates else None
    prompt = ReasonPrompt[Receipt](
        _title(row, word),
        _about(row),
        partial(_answer, screen, row.request_id, subject.token, approving),
        verb=word,
        label="note" if approving else "reason",
        required=not approving,
        second=second if approving else Second("suggest", "what would be accepted instead"),
        foresee=partial(_foresee, screen, row) if approving and row.kind in _FORESEEN else None,
        draft=screen.drafts.get(purpose),
        on_draft=partial(screen.drafts.keep, purpose),
    )
    told = f"{'approved' if approving else 'rejected'} the {row.kind} of {safe_line(row.asker, 64)}"
    screen.ask(prompt, lambda receipt: written(told, receipt))


_FORESEEN = (RequestKind.CREATE, RequestKind.DESTROY)
"""Requests whose approval does more than send an answer to the asker."""


def _title(row: RequestRow, word: str) -> str:
    """What is decided, as a sentence would say it."""
    asker = safe_line(row.asker, 64)
    subject = safe_line(reading(row.question).subject or "", 64)
    if row.kind is RequestKind.CREATE and subject:
        article = "an" if subject[0].lower() in "aeiou" else "a"
        return f"Let {asker} have {article} {subject}" if word == "Approve" else f"No {subject} for {asker}"
    if row.kind is RequestKind.DESTROY and subject:
        return f"End {subject}, as {asker} asks" if word == "Approve" else f"Keep {subject}"
    return f"{word} {row.kind} of {asker}"


def _foresee(screen: MainScreen, row: RequestRow, agent_name: str) -> str:
    """Who is created or ended, and who will be told; why not, where that is known already."""
    if screen.view is None:
        return ""
    try:
        name = agent_name if row.kind is RequestKind.CREATE and agent_name else None
        lines = requests.foresee(screen.view.snapshot, request_id=row.request_id, agent_name=name)
    except TeamError as error:
        return f"✗ {safe_line(error.message, 200)}"
    return "\n".join(safe_line(line, 300) for line in lines)


def _about(row: RequestRow) -> str:
    return f"{safe_line(row.title, 240)}\n{safe_line(row.request_id, 120)}"


def _answer(screen: MainScreen, request_id: str, token: str, approving: bool, words: str, second: str) -> Receipt:
    seat = screen.seat
    if approving:
        return requests.approve(seat, request_id=request_id, note=words or None, agent_name=second or None, seen=token)
    return requests.reject(seat, request_id=request_id, reason=words, suggest=second or None, seen=token)


DEEDS = {"approve": approve, "reject": reject, "done": done}
