"""Answering what waits: approve, reject, done."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from team_console.console.app.workspace import Workspace
from team_console.console.display.wording import written
from team_console.console.handlers.asking_again import SeenRequest
from team_console.console.handlers.client_requests import OWN_FORMS, ask_for_yes
from team_console.console.input.subject import Subject
from team_console.store.desk import inbox, requests
from team_console.store.desk.caller import Caller, Receipt
from team_console.store.model.errors import TeamError
from team_console.store.model.message import Message
from team_console.store.model.safe import safe_line
from team_console.store.model.words import counted
from team_console.store.protocol.kinds.kind import RequestKind
from team_console.store.protocol.reading import reading
from team_console.store.protocol.seen import Seen
from team_console.store.views.rows import RequestRow


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
    kept = f" · {counted(left, 'marked row')} left alone" if left > 0 else ""
    many = f"Read {counted(len(readers), 'message')}"
    what = f"Read: {safe_line(letters[0].summary, 60)}" if len(readers) == 1 else many
    workspace.background.run(partial(_read, workspace.caller, readers), lambda _: f"✓ {what}{kept}")


def _read(caller: Caller, readers: Sequence[tuple[Message, str]]) -> None:
    """Mark each as read; when one cannot be, say how many were before it."""
    for number, (letter, reader) in enumerate(readers):
        try:
            inbox.read_message(caller, agent=reader, message_id=letter.message_id, seen=letter)
        except TeamError as error:
            before = f"{counted(number, 'message')} read; " if number else ""
            raise TeamError(error.code, before + error.message, error.hint, **error.facts) from error


def _verdict(workspace: Workspace, subject: Subject, *, approving: bool) -> None:
    from team_console.widgets.forms.reason import ReasonPrompt, Second

    row = subject.selection.request
    if row is None:
        return
    if not subject.selection.token or subject.selection.token != requests.fingerprint(row.question):
        workspace.toast("It changed since it was drawn. Look at it, then decide.", severity="warning")
        return
    shown = SeenRequest(workspace, row, subject.selection.seen or subject.selection.token)
    if approving and row.kind in OWN_FORMS:
        ask_for_yes(workspace, row, shown)
        return
    word = "Approve" if approving else "Reject"
    purpose = f"{word.lower()}:{row.request_id}"
    creates = approving and row.kind is RequestKind.CREATE
    second = Second("agent name", "made from its type when left empty") if creates else None
    prompt = ReasonPrompt[Receipt](
        _title(row, word),
        _about(row),
        partial(_answer, workspace, row.request_id, shown, approving),
        verb=word,
        label="note" if approving else "reason",
        required=not approving,
        second=second if approving else Second("suggest", "what would be accepted instead"),
        foresee=partial(_foresee, workspace, row) if approving and row.kind in _FORESEEN else None,
        draft=workspace.drafts.get(purpose),
        on_draft=partial(workspace.drafts.keep, purpose),
    )
    told = f"{'approved' if approving else 'rejected'} the {row.kind} of {safe_line(row.asker, 64)}"
    workspace.ask(prompt, lambda receipt: written(told, receipt))


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
    return f"{word} the {row.kind} of {asker}"


def _foresee(workspace: Workspace, row: RequestRow, agent_name: str) -> str:
    """Who is created or ended, and who will be told; why not, where that is known already."""
    if workspace.view is None:
        return ""
    try:
        name = agent_name if row.kind is RequestKind.CREATE and agent_name else None
        lines = requests.foresee(workspace.view.snapshot, request_id=row.request_id, agent_name=name)
    except TeamError as error:
        return f"✗ {safe_line(error.message, 200)}"
    return "\n".join(safe_line(line, 300) for line in lines)


def _about(row: RequestRow) -> str:
    return f"{safe_line(row.title, 240)}\n{safe_line(row.request_id, 120)}"


def _answer(
    workspace: Workspace, request_id: str, shown: SeenRequest, approving: bool, words: str, second: str
) -> Receipt:
    caller = workspace.caller

    def say(seen: Seen | str) -> Receipt:
        if approving:
            return requests.approve(
                caller, request_id=request_id, note=words or None, agent_name=second or None, seen=seen
            )
        return requests.reject(caller, request_id=request_id, reason=words, suggest=second or None, seen=seen)

    return shown.act(say)


HANDLERS = {"approve": approve, "reject": reject, "done": done}
