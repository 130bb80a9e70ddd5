"""Understand before deciding: remarks on lines, a question back, and a grant made of what was decided."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from functools import partial

from team_console.console.commands.seen_request import SeenRequest
from team_console.console.decisions import Act, Agreed
from team_console.console.main import MainScreen
from team_console.console.selection import Subject
from team_console.console.words import quoted
from team_console.store.model.safe import counted, safe_line
from team_console.store.protocol.grants import RunningGrant, ends_at
from team_console.store.protocol.remarks import Remark, remark_on
from team_console.store.protocol.verdicts import Seen, digest_of
from team_console.store.service import grants, requests
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


def remarks_to_send(screen: MainScreen, row: RequestRow) -> tuple[Remark, ...]:
    """The remarks that go with what is said to a request."""
    lines = lines_to_remark(row.question, screen.pane.content_of(row.question))
    found = []
    for line, text in screen.drafts.remarks(row.request_id, digest_of(row.question)).items():
        with suppress(ValueError):
            found.append(remark_on(lines, int(line), text))
    return tuple(sorted(found, key=lambda one: one.line))


def with_remarks(remarks: tuple[Remark, ...]) -> str:
    """How many remarks go along, and on which lines; empty for none."""
    where = ", ".join(str(one.line) for one in remarks)
    return f"with {counted(len(remarks), 'remark')} on line{'s' * (len(remarks) > 1)} {where}" if remarks else ""


def remark(screen: MainScreen, subject: Subject) -> None:
    """Point at a line of what is asked; on the line that is pointed at write a remark, or tick one that was sent."""
    row, detail = subject.selection.request, screen.pane.detail
    if row is None:
        return
    at = detail.pointed
    if at < 0:
        _tick(screen, row, -at)
        return
    if at == 0:
        detail.focus()
        if not detail.point():
            screen.toast("Nothing here has lines that a remark could be on.", severity="warning")
        return
    lines = lines_to_remark(row.question, screen.pane.content_of(row.question))
    if not lines[at - 1 : at] or not lines[at - 1].strip():
        screen.toast(f"Nothing stands in line {at}.", severity="warning")
        return
    of = digest_of(row.question)
    typed = screen.drafts.remarks(row.request_id, of)
    keep, away = Way(OptionLine("keep"), "Keep"), Way(OptionLine("take away"), "Take away")

    def kept(decision: Decision) -> None:
        typed[str(at)] = decision.words if decision.way == 0 else ""
        screen.drafts.keep_remarks(row.request_id, of, typed)
        screen.pane.draw_now()

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
    screen.ask(prompt, kept)


def _tick(screen: MainScreen, row: RequestRow, number: int) -> None:
    """Take a remark that was sent as answered, or as open again."""
    earlier = earlier_plans(row, screen.view.requests) if screen.view is not None else ()
    sent = sent_remarks(row, earlier, screen.pane.content_of(row.question))
    purpose, name = f"ticked:{row.request_id}", tick_of(sent[number - 1].remark)
    ticked = dict(screen.drafts.get(purpose))
    ticked[name] = "" if ticked.get(name) else "✓"
    screen.drafts.keep(purpose, ticked)
    screen.pane.draw_now()


def ask_back(screen: MainScreen, subject: Subject) -> None:
    """Ask the asker something about the request under the cursor, which goes on waiting."""
    row = subject.selection.request
    if row is None:
        return
    shown = SeenRequest(screen, row, subject.selection.seen or subject.selection.token)
    remarks, asker = remarks_to_send(screen, row), safe_line(row.asker, 64)
    purpose = f"askback:{row.request_id}"

    def asked(words: str, seen: Seen | str) -> Agreed:
        do = partial(requests.ask_back, request_id=row.request_id, content=words, remarks=remarks, seen=seen)
        act = Act(row.request_id, f"ask {asker} back: {quoted(words or with_remarks(remarks))}", do)
        return Agreed("ask back", (act,), f"asked {asker} back", purposes=(purpose, f"remarks:{row.request_id}"))

    prompt = Prompt[Agreed](
        f"Ask {asker} back",
        "\n".join(filter(None, (quoted(row.title), "The request goes on waiting for you.", with_remarks(remarks)))),
        lambda made: shown.decide(partial(asked, made.words)),
        ways=(Way(OptionLine("ask"), "Ask"),),
        label="question",
        required=not remarks,
        **screen.drafts.of_form(purpose),
    )
    screen.ask_to_decide(prompt, about=row)


# Grants: a decision that answers the very same again, until an end.


def grant(screen: MainScreen, subject: Subject) -> None:
    """Make a grant of what was approved: of the request under the cursor, and of the same that was approved before."""
    row, view = subject.selection.request, screen.view
    if row is None or view is None:
        return
    approved = [each for each in (row, *decided_before(row, view.requests)) if each.is_approved]
    ids = [each.request_id for each in approved if each.asker == row.asker] or [row.request_id]

    def offer(trial: grants.Trial) -> None:  # what the grant would answer is shown before it is on
        def started(decision: Decision) -> Agreed:
            label, lasts, uses = _ENDS[decision.way]
            do = partial(grants.start_grant, trial=trial, lasts=lasts, uses=uses)
            act = Act(f"grant:{row.request_id}", f"GRANT {safe_line(trial.scope.words, 300)}, {label}", do)
            return screen.unwritten.prepare(Agreed("grant", (act,), "the grant is on"))

        prompt = Prompt[Agreed](
            "Answer the very same by a grant",
            "\n".join(
                (safe_line(trial.scope.words, 2000), trial.words, "Every answer it gives is on record as the grant's.")
            ),
            started,
            ways=tuple(Way(OptionLine(label), "Grant") for label, _, _ in _ENDS),
            label="",
        )
        screen.ask_to_decide(prompt)

    screen.background.run(lambda: grants.trial_of(screen.caller, ids), offer)


def list_grants(screen: MainScreen, subject: Subject) -> None:
    """List the grants that are in force, and recall one."""

    def running() -> list[RunningGrant]:
        snapshot = screen.caller.team.snapshot()
        return grants.in_force(snapshot.messages, snapshot.config, snapshot.recorded, snapshot.taken_at)

    screen.background.run(running, partial(_choose, screen))


def _choose(screen: MainScreen, running: list[RunningGrant]) -> None:
    if not running:
        screen.toast("No grant is in force. A makes one of a permission that you approved.")
        return

    def chosen(decision: Decision) -> None:
        if decision.way:
            granted = running[decision.way - 1].grant
            do = partial(grants.recall_grant, grant_id=granted.message_id)
            act = Act(granted.message_id, f"recall the grant {safe_line(granted.summary, 200)}", do)
            screen.decide(Agreed("recall", (act,), "the grant is recalled"))

    ways = [Way(OptionLine(safe_line(one.grant.summary, 200), _until(screen, one)), "Recall") for one in running]
    prompt = Prompt[Decision](
        "Grants in force",
        "Recalling one ends it now; what it answered stands.",
        lambda decision: decision,
        ways=(Way(OptionLine("keep all"), "Keep all"), *ways),
        label="",
    )
    screen.ask(prompt, chosen)


def _until(screen: MainScreen, one: RunningGrant) -> str:
    end, uses = ends_at(one.grant), one.grant.payload.get("uses")
    until = f"until {clock_time(end, screen.caller.team.clock())}" if end is not None else ""
    times = f"used {one.used} of {uses} times" if uses is not None else f"used {one.used} times"
    return " · ".join(filter(None, (until, times)))
