"""The failure desk on the screen: try again, redirect, discard, recall, one or many."""

from __future__ import annotations

from functools import partial

from msgspec import Struct
from team_console.console.app.workspace import Workspace
from team_console.console.handlers.writing import known_names
from team_console.console.input.subject import Subject
from team_console.store.model.message import Message
from team_console.store.model.safe import counted, safe_line
from team_console.store.service import failures
from team_console.store.service.caller import Receipt
from team_console.store.service.failures import Forecast, Remedy


class _Treatment(Struct, frozen=True):
    """What is said and asked of one remedy; `field` is what it wants typed, `wanted` stands there while it is empty."""

    title: str
    effect: str
    told: str
    field: str = ""
    wanted: str = ""


_TREATMENTS = {
    Remedy.RETRY: _Treatment("Try again", "is put back as if it had never been tried", "tried again"),
    Remedy.REDIRECT: _Treatment(
        *("Redirect", "goes to another agent instead", "redirected"),
        *("to", "the agent it goes to instead"),
    ),
    Remedy.DISCARD: _Treatment(
        *("Discard", "leaves the queue; its record and your reason stay in the archive", "discarded"),
        *("reason", "stays with its record in the archive"),
    ),
    Remedy.RECALL: _Treatment("Recall", "is taken back, unless somebody reads it first", "recalled"),
}


def _treat(remedy: Remedy, workspace: Workspace, subject: Subject) -> None:
    ids = list(dict.fromkeys(message.message_id for message in subject.selection.messages))
    look = partial(failures.forecast, workspace.caller, remedy, ids)
    workspace.background.run(look, None, then=partial(_confirm, workspace, subject))


def _confirm(workspace: Workspace, subject: Subject, seen: Forecast) -> None:
    from team_console.widgets.forms.confirm import Confirm

    how = _TREATMENTS[seen.remedy]
    fit = [message.message_id for message in seen.possible]
    if not fit:
        workspace.toast("\n".join(safe_line(why, 300) for why in seen.refused.values()), severity="warning")
        return
    lines = [f"It {how.effect}." if len(fit) == 1 else f"{counted(len(fit), 'message')}: each {how.effect}."]
    lines += [_named(message) for message in seen.possible[:5]]
    if len(fit) > 5:
        lines.append(f"  and {len(fit) - 5} more")
    lines += [f"△ left alone: {safe_line(why, 160)}" for why in list(seen.refused.values())[:3]]
    purpose = f"{seen.remedy}:{','.join(fit)}"
    form = Confirm[Receipt](
        how.title,
        tuple(lines),
        lambda words: failures.REMEDIES[seen.remedy](
            workspace.caller, ids=fit, **({how.field: words} if how.field else {})
        ),
        verb=f"{how.title} {len(fit)}",
        field=how.field,
        wanted=how.wanted,
        required=bool(how.field),
        names=partial(known_names, workspace, subject) if how.field == "to" else None,
        draft=workspace.drafts.get(purpose),
        on_draft=partial(workspace.drafts.keep, purpose),
    )
    workspace.ask(
        form,
        lambda receipt: f"✓ {counted(len(receipt.messages), 'message')} {how.told}{_warned(receipt)}",
        then=lambda receipt: workspace.step_on(fit),
    )


def _named(message: Message) -> str:
    """What the message is, where it goes, and its id."""
    what = f"{safe_line(message.summary, 60)} → {safe_line(', '.join(message.recipients), 60)}"
    return f"• {what}\n  {safe_line(message.message_id, 120)}"


def _warned(receipt: Receipt) -> str:
    return "".join(f"\n△ {safe_line(warning, 300)}" for warning in receipt.warnings)


HANDLERS = {str(remedy): partial(_treat, remedy) for remedy in Remedy}
