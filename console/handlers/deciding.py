"""Answering what waits: approve, reject, done."""

from __future__ import annotations

from functools import partial

from team_console.console.app.unwritten import Agreed
from team_console.console.app.workspace import Workspace
from team_console.console.display.wording import quoted, written
from team_console.console.handlers.agreeing import agree, ask, at_once, single
from team_console.console.handlers.asking_again import SeenRequest
from team_console.console.handlers.client_requests import OWN_FORMS, ask_for_yes
from team_console.console.handlers.many import decide_many, read_many, reading_of
from team_console.console.handlers.writing import message
from team_console.console.input.subject import Subject
from team_console.console.panes.list_pane import ListPane
from team_console.store.model.errors import TeamError
from team_console.store.model.safe import safe_line
from team_console.store.protocol.kinds import RequestKind
from team_console.store.protocol.parsing import reading
from team_console.store.protocol.seen import Seen, digest_of
from team_console.store.service import requests
from team_console.store.service.caller import Caller, Receipt
from team_console.store.views.rows import RequestRow


def approve(workspace: Workspace, subject: Subject) -> None:
    """Ask for a note and say yes to what was drawn; a question is answered in words."""
    if subject.wants_words and not subject.selection.marked:
        message(workspace, subject)
        return
    _verdict(workspace, subject, approving=True)


def reject(workspace: Workspace, subject: Subject) -> None:
    """Ask for the reason and say no to what was drawn."""
    _verdict(workspace, subject, approving=False)


def done(workspace: Workspace, subject: Subject) -> None:
    """Mark the chosen messages as read: the marked ones, else the one under the cursor."""
    letters = subject.to_read
    if subject.selection.marked > 1:
        read_many(workspace, subject)
        return
    if letters:
        at_once(workspace, reading_of(workspace, subject, letters))


def dismiss(workspace: Workspace, subject: Subject) -> None:
    """Mark everything that is only for information as read."""
    at_once(workspace, reading_of(workspace, subject, subject.to_dismiss))


def undo(workspace: Workspace, subject: Subject) -> None:
    """Take back what was decided last."""
    if not workspace.unwritten.undo():
        workspace.toast("It is being written already.", severity="warning")


def write_now(workspace: Workspace, subject: Subject) -> None:
    """Write what was decided without waiting any longer."""
    workspace.unwritten.write_now()


def _verdict(workspace: Workspace, subject: Subject, *, approving: bool) -> None:
    from team_console.widgets.forms.reason import ReasonPrompt, Second

    if isinstance(workspace.pane, ListPane):
        workspace.pane.detail.lay_out_rest()  # of how many lines some were painted, is kept with the verdict
    if subject.selection.marked:
        decide_many(workspace, subject, approving=approving)
        return
    row = subject.selection.request
    if row is None:
        return
    if not subject.selection.token or subject.selection.token != digest_of(row.question):
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
    prompt = ReasonPrompt[Agreed](
        _title(row, word),
        quoted(row.title),
        lambda words, second: shown.act(lambda seen: agree(workspace, _agreed(row, seen, approving, words, second))),
        verb=word,
        label="note" if approving else "reason",
        required=not approving,
        second=second if approving else Second("suggest", "what would be accepted instead"),
        foresee=partial(_foresee, workspace, row) if approving and row.kind in _FORESEEN else None,
        draft=workspace.drafts.get(purpose),
        on_draft=partial(workspace.drafts.keep, purpose),
    )
    ask(workspace, prompt, about=row)


def _agreed(row: RequestRow, seen: Seen | str, approving: bool, words: str, second: str) -> Agreed:
    verb, asker = "approve" if approving else "reject", safe_line(row.asker, 64)

    def do(caller: Caller) -> Receipt:
        if approving:
            return requests.approve(
                caller, request_id=row.request_id, note=words or None, agent_name=second or None, seen=seen
            )
        return requests.reject(caller, request_id=row.request_id, reason=words, suggest=second or None, seen=seen)

    told = f"{'approved' if approving else 'rejected'} the {row.kind} of {asker}"
    return single(
        row.request_id,
        verb,
        f"{verb} the {row.kind} of {asker}",
        do,
        told=partial(written, told),
        purpose=f"{verb}:{row.request_id}",
    )


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


HANDLERS = {
    "approve": approve,
    "reject": reject,
    "done": done,
    "dismiss": dismiss,
    "undo": undo,
    "write_now": write_now,
}
