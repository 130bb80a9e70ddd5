"""Asking agents to stop: the chosen ones, or the whole team one after the other, and watching who is left."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial

from team_console.console.selection import ActionContext
from team_console.console.tui.commands.reading import RENEWED_EVERY, ReadingScreen
from team_console.console.tui.commands.writing import confirm_reach, warnings_on_reach
from team_console.console.tui.main import MainScreen
from team_console.console.tui.outcomes import names_listed
from team_console.console.tui.pending_decisions import PendingDecision, PendingWrite
from team_console.store.model.safe import counted, first_of, safe_line
from team_console.store.service import requests, sending
from team_console.store.views.rows import AgentState, Flag, RequestRow, StopRow, StopStage, View
from team_console.store.views.stopping import stops_of, whom_to_stop
from team_console.widgets.document import Block, Document, Heading, Lines, one_line
from team_console.widgets.fields import FieldKind, words_of_a_decision
from team_console.widgets.prompt_form import Confirm
from team_console.widgets.signs import Sign
from team_console.widgets.text import Line, Part, clock_time, pad, safe_name, span


def shutdown(screen: MainScreen, context: ActionContext) -> None:
    """Ask the chosen agents to stop."""
    names = context.stoppable
    rows = context.view.roster if context.view else ()
    quiet = [row.name for row in rows if row.state in (AgentState.STOPPED, AgentState.STOPPING)]
    lines = [f"{names_listed(names, 12)} will be asked to stop: {counted(len(names), 'request')}."]
    lines += warnings_on_reach([name for name in names if name in quiet])
    lines.append("Each answers for itself; a refusal comes back to you with its reason.")
    purpose = f"shutdown:{','.join(names)}"

    def decide(reason: str) -> PendingDecision:
        writes = tuple(
            PendingWrite(
                f"stop:{name}",
                f"ask {safe_line(name, 64)} to stop",
                partial(requests.request_shutdown, agent=name, reason=reason or None),
                recorded=("shutdown", name),
            )
            for name in names
        )
        return PendingDecision("ask to stop", writes, "asked to stop", purposes=(purpose,))

    form = Confirm[PendingDecision](
        "Shut down",
        tuple(lines),
        lambda reason: screen.pending_decisions.prepare(decide(reason)),
        verb=f"Ask {counted(len(names), 'agent')} to stop",
        words=_REASON,
        **screen.drafts.of_form(purpose),
    )
    screen.ask_to_decide(form)


_REASON = words_of_a_decision("reason", FieldKind.LINE, wanted="if you like; the agents read it")


def shutdown_all(screen: MainScreen, context: ActionContext) -> None:
    """Ask every listening member to stop, each answer awaited before the next is asked; show a shutdown that runs."""
    if screen.bars.busy.startswith("stopping"):
        stops(screen, context)
        return

    def tell(seen: sending.Preview) -> tuple[list[str], str]:
        listed, number = names_listed(seen.recipients, 20), len(seen.recipients)
        lines = [f"{listed} will be asked to stop, one after the other: {counted(number, 'request')}."]
        if seen.not_listening:
            lines.append(f"Not asked, since it stopped or was asked before: {names_listed(seen.not_listening)}.")
        lines += warnings_on_reach((), seen.left_out)
        lines.append("The next one is asked when one has answered, or kept silent for too long. x stops asking.")
        return lines, f"Ask {counted(number, 'agent')} to stop"

    def decide(names: tuple[str, ...], reason: str) -> PendingDecision:
        def begin() -> None:
            screen.background.stop_in_turn(names, reason or None)
            stops(screen, context)

        said = f"ask {counted(len(names), 'agent')} to stop, one after the other"
        write = PendingWrite("shutdown_all", said, lambda caller: None)
        return PendingDecision("shut down", (write,), purposes=("shutdown_all",), begins=begin)

    look, more = partial(whom_to_stop, screen.caller), screen.drafts.of_form("shutdown_all")
    confirm_reach(screen, "Shut down the team", look, tell, decide, words=_REASON, **more)


def stops(screen: MainScreen, context: ActionContext) -> None:
    """Watch the shutdown of the team: who was asked, has it, agreed or refused, ended, and who is left."""

    def document(view: View) -> Document:
        busy = screen.bars.busy if screen.bars.busy.startswith("stopping") else ""
        return shutdown_document(stops_of(view), now=screen.caller.team.clock(), busy=busy)

    stop = screen.background.cancel_stopping
    screen.app.push_screen(ReadingScreen("Shutdown of the team", screen.view, document, every=RENEWED_EVERY, stop=stop))


STAGES: Mapping[StopStage, Sign] = {
    StopStage.NOT_ASKED: Sign("·", "not asked", "muted"),
    StopStage.WRITTEN: Sign("○", "written", "warn"),
    StopStage.DELIVERED: Sign("◑", "delivered", "warn"),
    StopStage.SEEN: Sign("◕", "seen", "warn"),
    StopStage.REFUSED: Sign("⊘", "refused", "bad"),
    StopStage.AGREED: Sign("✓", "agreed", "good"),
    StopStage.ENDED: Sign("■", "ended", "muted"),
    StopStage.WITHDRAWN: Sign("↶", "taken back", "muted"),
}
"""How each stage is written."""
_WAITING = (StopStage.WRITTEN, StopStage.DELIVERED, StopStage.SEEN)
"""Stages of an agent that was asked and has not answered."""
_NOT_ASKED = (StopStage.NOT_ASKED, StopStage.WITHDRAWN)
_GROUPS = {
    "refused": (StopStage.REFUSED,),
    "asked, no answer yet": _WAITING,
    "agreed, still there": (StopStage.AGREED,),
    "not asked": _NOT_ASKED,
    "ended": (StopStage.ENDED,),
}
"""Heading -> stages of the agents below it; first what the human may have to do something about."""
_NAME_WIDTH, _STAGE_WIDTH = 20, 11
"""Cells of a name, and of the word for a stage."""
_TO_THE_SECOND = 120.0
"""Seconds up to which a step is told to the second."""
_INDENT = 4
"""Cells before what does not fit into the line of an agent."""


def shutdown_document(rows: Sequence[StopRow], *, now: datetime, busy: str) -> Document:
    """Return the document of a shutdown.

    Args:
        busy: Which agent is asked now, safe text; empty while none is.
    """
    blocks: list[Block] = []
    if busy:
        blocks.append(Lines((((f"◌ {busy}", "warn"), (" · x stops asking", "muted")),)))
    for title, stages in _GROUPS.items():
        group = [row for row in rows if row.stage in stages]
        if group:
            blocks.append(Heading(f"{title} · {len(group)}"))
        if told := [row for row in group if row.stage is not StopStage.NOT_ASKED]:
            blocks.append(Lines(tuple(line for row in told for line in _stop_lines(row, now)), indent=_INDENT))
        # Those that were never asked have nothing to tell but their names.
        if names := [safe_name(row.agent) for row in group if row.stage is StopStage.NOT_ASKED]:
            blocks.append(one_line(" · ".join(names), "muted"))
    left = [safe_line(row.agent, 40) for row in rows if row.is_left]
    return Document(
        key="stopping",
        title="Shutdown of the team",
        headline=f"{counted(len(left), 'agent')} left: {first_of(left, 6)}" if left else "Nobody is left",
        facts=tuple(_stop_counts(rows)),
        blocks=tuple(blocks),
    )


def _stop_counts(rows: Sequence[StopRow]) -> Iterator[Part]:
    """Yield how many agents were asked, and how many agreed, refused, are late or ended."""
    asked = [row.stage for row in rows if row.stage not in _NOT_ASKED and row.request]
    yield f"{len(asked)} of {len(rows)} asked", ""
    for number, words, tone in (
        (sum(stage in (StopStage.AGREED, StopStage.ENDED) for stage in asked), "agreed", "good"),
        (asked.count(StopStage.REFUSED), "refused", "bad"),
        (sum(stage in _WAITING for stage in asked), "not answered yet", "warn"),
        (sum(row.request is not None and Flag.OVERDUE in row.request.flags for row in rows), "overdue", "alert"),
        (sum(row.stage is StopStage.ENDED for row in rows), "ended", "muted"),
    ):
        if number:
            yield f"{number} {words}", tone


def _stop_lines(row: StopRow, now: datetime) -> Iterator[Line]:
    """Yield the line of an agent that was asked, or ended without being asked; below it the reason of a refusal."""
    sign, request = STAGES[row.stage], row.request
    is_urgent = row.stage in (*_WAITING, StopStage.REFUSED)
    name = (pad(safe_name(row.agent), _NAME_WIDTH) + " ", "strong" if is_urgent else "")
    stage = (f"{sign.word:<{_STAGE_WIDTH}}", sign.tone)
    if request is None:
        yield sign.mark, name, stage
        return
    yield sign.mark, name, stage, (_steps_in_words(row, request, now), "muted"), *_wait_parts(row, request, now)
    if row.stage is StopStage.REFUSED:
        reason = f"“{safe_line(request.reason, 300)}”" if request.reason else "gave no reason"
        yield (" " * _INDENT, ""), (reason, "bad")


def _steps_in_words(row: StopRow, request: RequestRow, now: datetime) -> str:
    """Return each step that is known with its time: the first with that of the clock, later ones with what passed."""
    answer = "refused" if row.stage is StopStage.REFUSED else "agreed"
    steps = (
        ("asked", request.asked_at),
        ("delivered", row.delivered_at),
        ("seen", request.seen_at),
        (answer, request.answered_at),
        ("last seen", row.ended_at),
    )
    return " · ".join(f"{word} {_step_time(at, request.asked_at, now)}" for word, at in steps if at is not None)


def _step_time(at: datetime, asked_at: datetime | None, now: datetime) -> str:
    """Return the time of a step, as what passed since it was asked; by the clock where nothing did."""
    passed = (at - asked_at).total_seconds() if asked_at is not None else 0.0
    if passed <= 0:
        return clock_time(at, now)
    return f"+{passed:.0f} s" if passed < _TO_THE_SECOND else f"+{span(passed)}"


def _wait_parts(row: StopRow, request: RequestRow, now: datetime) -> Iterator[Part]:
    """Yield how long an agent keeps silent and until when it may, and that one which agreed still writes."""
    if row.stage in _WAITING and request.asked_at is not None:
        yield f" · waits {span((now - request.asked_at).total_seconds())}", "warn"
        if request.due_at is not None:
            left = (request.due_at - now).total_seconds()
            yield (f" · due in {span(left)}", "muted") if left > 0 else (f" · ◷ overdue for {span(-left)}", "alert")
    if Flag.STILL_ALIVE in request.flags:
        yield " · ‼ still writes", "alert"
