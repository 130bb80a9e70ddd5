"""The failure desk on the screen: try again, redirect, discard, recall, one or many."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from team_console.console.app.workspace import Workspace
from team_console.console.handlers.writing import known_names
from team_console.console.input.subject import Subject
from team_console.store.desk.caller import Receipt
from team_console.store.desk.delivery import failures
from team_console.store.desk.delivery.failures import Forecast, Remedy
from team_console.store.model.message import Message
from team_console.store.model.safe import safe_line
from team_console.store.model.words import counted

Act = Callable[[Sequence[str], str], Receipt]

_SAYS = {
    Remedy.RETRY: ("Try again", "is put back as if it had never been tried", "tried again"),
    Remedy.REDIRECT: ("Redirect", "goes to another agent instead", "redirected"),
    Remedy.DISCARD: ("Discard", "leaves the queue; its record and your reason stay in the archive", "discarded"),
    Remedy.RECALL: ("Recall", "is taken back, unless somebody reads it first", "recalled"),
}


def retry(workspace: Workspace, subject: Subject) -> None:
    """Deliver again."""
    _treat(workspace, subject, Remedy.RETRY, lambda ids, _: failures.retry(workspace.caller, ids=ids))


_WANTED = {"to": "the agent it goes to instead", "reason": "stays with its record in the archive"}
"""What stands in an empty field."""


def redirect(workspace: Workspace, subject: Subject) -> None:
    """Send to somebody else."""
    _treat(
        workspace,
        subject,
        Remedy.REDIRECT,
        lambda ids, to: failures.redirect(workspace.caller, ids=ids, to=to),
        field="to",
    )


def discard(workspace: Workspace, subject: Subject) -> None:
    """Set aside, with a reason."""
    _treat(
        workspace,
        subject,
        Remedy.DISCARD,
        lambda ids, why: failures.discard(workspace.caller, ids=ids, reason=why),
        field="reason",
    )


def recall(workspace: Workspace, subject: Subject) -> None:
    """Take back."""
    _treat(workspace, subject, Remedy.RECALL, lambda ids, _: failures.recall(workspace.caller, ids=ids))


def _treat(workspace: Workspace, subject: Subject, remedy: Remedy, act: Act, *, field: str = "") -> None:
    ids = list(dict.fromkeys(message.message_id for message in subject.selection.messages))
    names = partial(known_names, workspace, subject) if field == "to" else None
    workspace.background.run(
        partial(failures.forecast, workspace.caller, remedy, ids),
        None,
        then=lambda seen: _confirm(workspace, seen, act, field, names),
    )


def _confirm(
    workspace: Workspace, seen: Forecast, act: Act, field: str, names: Callable[[], tuple[str, ...]] | None
) -> None:
    from team_console.widgets.forms.confirm import Confirm

    title, effect, told = _SAYS[seen.remedy]
    fit = [message.message_id for message in seen.possible]
    if not fit:
        workspace.toast("\n".join(safe_line(why, 300) for why in seen.refused.values()), severity="warning")
        return
    lines = [f"{counted(len(fit), 'message')}: each {effect}."]
    lines += [_named(message) for message in seen.possible[:5]]
    if len(fit) > 5:
        lines.append(f"  and {len(fit) - 5} more")
    lines += [f"△ left alone: {safe_line(why, 160)}" for why in list(seen.refused.values())[:3]]
    purpose = f"{seen.remedy}:{','.join(fit)}"
    form = Confirm[Receipt](
        title,
        tuple(lines),
        lambda words: act(fit, words),
        verb=f"{title} {len(fit)}",
        field=field,
        wanted=_WANTED.get(field, ""),
        required=bool(field),
        names=names,
        draft=workspace.drafts.get(purpose),
        on_draft=partial(workspace.drafts.keep, purpose),
    )
    workspace.ask(form, lambda receipt: f"✓ {counted(len(receipt.messages), 'message')} {told}{_warned(receipt)}")


def _named(message: Message) -> str:
    """What the message is, where it goes, and its id."""
    what = f"{safe_line(message.summary, 60)} → {safe_line(', '.join(message.recipients), 60)}"
    return f"• {what}\n  {safe_line(message.message_id, 120)}"


def _warned(receipt: Receipt) -> str:
    return "".join(f"\n△ {safe_line(warning, 300)}" for warning in receipt.warnings)


HANDLERS = {"retry": retry, "redirect": redirect, "discard": discard, "recall": recall}
