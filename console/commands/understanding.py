"""Understand before deciding: remarks on lines, a question back, and a grant made of what was decided."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial

from team_console.console.commands.agreeing import SeenRequest, agree, ask, at_once, single
from team_console.console.decisions import Agreed, Workspace
from team_console.console.selection import Subject
from team_console.console.words import quoted, written
from team_console.store.model.message import Message
from team_console.store.model.safe import counted, safe_line
from team_console.store.protocol.grants import Running, ends_at
from team_console.store.protocol.remarks import Remark, remark_on
from team_console.store.protocol.verdicts import Seen, digest_of
from team_console.store.service import grants, requests
from team_console.store.service.caller import Caller, Receipt
from team_console.store.views.alike import decided_before
from team_console.store.views.proposals import lines_to_remark
from team_console.store.views.rows import RequestRow
from team_console.widgets.details import earlier_plans, sent_remarks, tick_of
from team_console.widgets.fields import OptionLine
from team_console.widgets.forms import Decision, Prompt, Way
from team_console.widgets.text import clock_time

_ENDS = (
    ("for 2 hours", timedelta(hours=2), None),
    ("for 10 times, at most a day", timedelta(days=1), 10),
    ("for a day", timedelta(days=1), None),
)


def remarks_to_send(workspace: Workspace, row: RequestRow) -> tuple[Remark, ...]:
    """The remarks that go with what is said to a request."""
    lines = lines_to_remark(row.question, workspace.pane.content_of(row.question))
    found = []
    for line, text in workspace.drafts.remarks(row.request_id, digest_of(row.question)).items():
        with suppress(ValueError):
            found.append(remark_on(lines, int(line), text))
    return tuple(sorted(found, key=lambda one: one.line))


def with_remarks(remarks: tuple[Remark, ...]) -> str:
    """How many remarks go along, and on which lines; empty for none."""
    where = ", ".join(str(one.line) for one in remarks)
    return f"with {counted(len(remarks), 'remark')} on line{'s' * (len(remarks) > 1)} {where}" if remarks else ""


def remark(workspace: Workspace, subject: Subject) -> None:
    """Point at a line of what is asked; on the line that is pointed at write a remark, or tick one that was sent."""
    row, detail = subject.selection.request, workspace.pane.detail
    if row is None:
        return
    at = detail.pointed
    if at < 0:
        _tick(workspace, row, -at)
        return
    if at == 0:
        detail.focus()
        if not detail.point():
            workspace.toast("Nothing here has lines that a remark could be on.", severity="warning")
        return
    lines = lines_to_remark(row.question, workspace.pane.content_of(row.question))
    if not lines[at - 1 : at] or not lines[at - 1].strip():
        workspace.toast(f"Nothing stands in line {at}.", severity="warning")
        return
    of = digest_of(row.question)
    typed = workspace.drafts.remarks(row.request_id, of)
    keep, away = Way(OptionLine("keep"), "Keep"), Way(OptionLine("take away"), "Take away")

    def kept(decision: Decision) -> None:
        typed[str(at)] = decision.words if decision.way == 0 else ""
        workspace.drafts.keep_remarks(row.request_id, of, typed)
        workspace.pane.draw_now()

    prompt = Prompt[Decision](
        f"Remark on line {at}",
        f"“{safe_line(lines[at - 1].strip(), 300)}”",
        lambda decision: decision,
        ways=(keep, away) if typed.get(str(at)) else (keep,),
        label="remark",
        required=True,
        is_line=True,
        wanted="goes with your approval, rejection or question back",
        draft={"words": typed.get(str(at), "")},
    )
    workspace.ask(prompt, None, then=kept)


def _tick(workspace: Workspace, row: RequestRow, number: int) -> None:
    """Take a remark that was sent as answered, or as open again."""
    earlier = earlier_plans(row, workspace.view.requests) if workspace.view is not None else ()
    sent = sent_remarks(row, earlier, workspace.pane.content_of(row.question))
    purpose, name = f"ticked:{row.request_id}", tick_of(sent[number - 1].remark)
    ticked = dict(workspace.drafts.get(purpose))
    ticked[name] = "" if ticked.get(name) else "✓"
    workspace.drafts.keep(purpose, ticked)
    workspace.pane.draw_now()


def ask_back(workspace: Workspace, subject: Subject) -> None:
    """Ask the asker something about the request under the cursor, which goes on waiting."""
    row = subject.selection.request
    if row is None:
        return
    shown = SeenRequest(workspace, row, subject.selection.seen or subject.selection.token)
    remarks, asker = remarks_to_send(workspace, row), safe_line(row.asker, 64)
    purpose = f"askback:{row.request_id}"

    def asked(seen: Seen | str, words: str) -> Agreed:
        def do(caller: Caller) -> Receipt:
            return requests.ask_back(caller, request_id=row.request_id, content=words, remarks=remarks, seen=seen)

        said = f"ask {asker} back: {quoted(words or with_remarks(remarks))}"
        told, purposes = partial(_told, asker), (purpose, f"remarks:{row.request_id}")
        return single(row.request_id, "ask back", said, do, told=told, purposes=purposes)

    prompt = Prompt[Agreed](
        f"Ask {asker} back",
        "\n".join(filter(None, (quoted(row.title), "The request goes on waiting for you.", with_remarks(remarks)))),
        lambda made: shown.act(lambda seen: agree(workspace, asked(seen, made.words))),
        ways=(Way(OptionLine("ask"), "Ask"),),
        label="question",
        required=not remarks,
        draft=workspace.drafts.get(purpose),
        on_draft=partial(workspace.drafts.keep, purpose),
    )
    ask(workspace, prompt, about=row)


def _told(asker: str, receipt: Receipt) -> str:
    return "\n".join((written(f"asked {asker} back", receipt), *receipt.notes))


# Grants: a decision that answers the very same again, until an end.


def grant(workspace: Workspace, subject: Subject) -> None:
    """Make a grant of what was approved: of the request under the cursor, and of the same that was approved before."""
    row, view = subject.selection.request, workspace.view
    if row is None or view is None:
        return
    approved = [each for each in (row, *decided_before(row, view.requests)) if each.is_approved]

    def tried() -> grants.Trial:
        ids = [each.request_id for each in approved if each.asker == row.asker]
        return grants.trial_of(workspace.caller, ids or [row.request_id])

    workspace.background.run(tried, None, then=partial(_offer, workspace, row))


def _offer(workspace: Workspace, row: RequestRow, trial: grants.Trial) -> None:
    """Show what the grant would answer before it is on."""

    def started(decision: Decision) -> Agreed:
        label, lasts, uses = _ENDS[decision.way]

        def do(caller: Caller) -> Receipt:
            return grants.start_grant(caller, trial, lasts=lasts, uses=uses)

        words = f"GRANT {safe_line(trial.scope.words, 300)}, {label}"
        return agree(
            workspace,
            single(f"grant:{row.request_id}", "grant", words, do, told=partial(written, "the grant is on")),
        )

    prompt = Prompt[Agreed](
        "Answer the very same by a grant",
        "\n".join(
            (safe_line(trial.scope.words, 2000), trial.words, "Every answer it gives is on record as the grant's.")
        ),
        started,
        ways=tuple(Way(OptionLine(label), "Grant") for label, _, _ in _ENDS),
        label="",
    )
    ask(workspace, prompt)


def list_grants(workspace: Workspace, subject: Subject) -> None:
    """List the grants that are in force, and recall one."""

    def running() -> list[Running]:
        snapshot = workspace.caller.team.snapshot()
        return grants.in_force(snapshot.messages, snapshot.config, snapshot.recorded, snapshot.taken_at)

    workspace.background.run(running, None, then=partial(_choose, workspace))


def _choose(workspace: Workspace, running: list[Running]) -> None:
    if not running:
        workspace.toast("No grant is in force. A makes one of a permission that you approved.")
        return
    now = workspace.caller.team.clock()

    def chosen(decision: Decision) -> None:
        if decision.way:
            at_once(workspace, _recalling(running[decision.way - 1].grant))

    ways = [Way(OptionLine(safe_line(one.grant.summary, 200), _until(one, now)), "Recall") for one in running]
    prompt = Prompt[Decision](
        "Grants in force",
        "Recalling one ends it now; what it answered stands.",
        lambda decision: decision,
        ways=(Way(OptionLine("keep all"), "Keep all"), *ways),
        label="",
    )
    workspace.ask(prompt, None, then=chosen)


def _recalling(granted: Message) -> Agreed:
    def do(caller: Caller) -> Receipt:
        return grants.recall_grant(caller, granted.message_id)

    words = f"recall the grant {safe_line(granted.summary, 200)}"
    return single(granted.message_id, "recall", words, do, told=partial(written, "the grant is recalled"))


def _until(one: Running, now: datetime) -> str:
    end, uses = ends_at(one.grant), one.grant.payload.get("uses")
    until = f"until {clock_time(end, now)}" if end is not None else ""
    times = f"used {one.used} of {uses} times" if uses is not None else f"used {one.used} times"
    return " · ".join(filter(None, (until, times)))


HANDLERS: dict[str, Callable[[Workspace, Subject], None]] = {
    "ask_back": ask_back,
    "remark": remark,
    "grant": grant,
    "list_grants": list_grants,
}
