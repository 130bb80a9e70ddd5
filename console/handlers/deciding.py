"""Answering what waits: approve, reject, done."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from console.subject import Subject
from console.wording import count, written
from console.workspace import Workspace
from store.desk import inbox, requests
from store.desk.seat import Receipt, Seat
from store.errors import TeamError
from store.message import Message
from store.protocol.kinds import RequestKind
from store.safe import safe_line
from store.views.rows import RequestRow


def approve(workspace: Workspace, subject: Subject) -> None:
    """Ask for a note and say yes to what was drawn."""
    _verdict(workspace, subject, approving=True)


def reject(workspace: Workspace, subject: Subject) -> None:
    """Ask for the reason and say no to what was drawn."""
    _verdict(workspace, subject, approving=False)


def done(workspace: Workspace, subject: Subject) -> None:
    """Mark the chosen messages as read: the marked ones, else the one under the cursor."""
    letters = subject.to_read
    readers = [(letter, reader) for letter in letters if (reader := subject.reader_of(letter)) is not None]
    if not readers:
        return
    left = subject.selection.marked - len(readers)
    kept = f" · {count(left, 'marked row')} left alone" if left > 0 else ""
    many = f"Read {count(len(readers), 'message')}"
    what = f"Read: {safe_line(letters[0].summary, 60)}" if len(readers) == 1 else many
    workspace.background.run(partial(_read, workspace.seat, readers), lambda _: f"✓ {what}{kept}")


def _read(seat: Seat, readers: Sequence[tuple[Message, str]]) -> None:
    """Mark each as read; when one cannot be, say how many were before it."""
    for number, (letter, reader) in enumerate(readers):
        try:
            inbox.read_message(seat, agent=reader, message_id=letter.message_id)
        except TeamError as error:
            before = f"{count(number, 'message')} read; " if number else ""
            raise TeamError(error.code, before + error.message, error.hint, **error.facts) from error


def _verdict(workspace: Workspace, subject: Subject, *, approving: bool) -> None:
    from widgets.forms.reason import ReasonPrompt

    row = subject.selection.request
    if row is None:
        return
    if not subject.selection.token or subject.selection.token != requests.fingerprint(row.question):
        workspace.toast("It changed since it was drawn. Look at it, then decide.", severity="warning")
        return
    word = "Approve" if approving else "Reject"
    purpose = f"{word.lower()}:{row.request_id}"
    prompt = ReasonPrompt[Receipt](
        _question(row, approving),
        _about(row),
        partial(_answer, workspace, row.request_id, subject.selection.token, approving),
        verb=word,
        label="note" if approving else "reason",
        required=not approving,
        suggestion=not approving,
        draft=workspace.drafts.get(purpose),
        on_draft=partial(workspace.drafts.keep, purpose),
    )
    told = f"{'approved' if approving else 'rejected'} the {row.kind} of {safe_line(row.asker, 64)}"
    workspace.ask(prompt, lambda receipt: written(told, receipt))


def _question(row: RequestRow, approving: bool) -> str:
    """What is decided, in the words of what comes of it."""
    asker, title = safe_line(row.asker, 64), safe_line(row.title, 120)
    if row.kind is RequestKind.CREATE and title.startswith("Wants "):
        thing = title.removeprefix("Wants ")
        return f"Let {asker} have {thing}" if approving else f"Refuse {asker} {thing}"
    return f"{'Approve' if approving else 'Reject'} the {row.kind} of {asker}"


def _about(row: RequestRow) -> str:
    return f"{safe_line(row.title, 240)}\n{safe_line(row.request_id, 120)}"


def _answer(workspace: Workspace, request_id: str, token: str, approving: bool, words: str, suggestion: str) -> Receipt:
    if approving:
        return requests.approve(workspace.seat, request_id=request_id, note=words or None, seen=token)
    return requests.reject(workspace.seat, request_id=request_id, reason=words, suggest=suggestion or None, seen=token)


HANDLERS = {"approve": approve, "reject": reject, "done": done}
