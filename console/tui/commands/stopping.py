"""Asking agents to stop: the chosen ones, or the whole team one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from team_console.console.selection import ActionContext
from team_console.console.tui.commands.reading import stops
from team_console.console.tui.commands.writing import warnings_on_reach
from team_console.console.tui.main import MainScreen
from team_console.console.tui.pending_decisions import PendingDecision, PendingWrite
from team_console.console.tui.toast_words import names_listed
from team_console.store.model.safe import counted, safe_line
from team_console.store.service import requests, sending
from team_console.store.views.rows import AgentState
from team_console.store.views.stopping import whom_to_stop
from team_console.widgets.fields import FieldKind, words_of_a_decision
from team_console.widgets.prompt_form import Confirm


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

    _ask_for_stop(screen, "Shut down", lines, names, decide, purpose)


def _ask_for_stop(
    screen: MainScreen,
    title: str,
    lines: Sequence[str],
    names: Sequence[str],
    pending: Callable[[str], PendingDecision],
    purpose: str,
) -> None:
    """Open the form that asks agents to stop, with a reason if the human likes."""

    form = Confirm[PendingDecision](
        title,
        tuple(lines),
        lambda reason: screen.pending_decisions.prepare(pending(reason)),
        verb=f"Ask {counted(len(names), 'agent')} to stop",
        words=words_of_a_decision("reason", FieldKind.LINE, wanted="if you like; the agents read it"),
        **screen.drafts.of_form(purpose),
    )
    screen.ask_to_decide(form)


def shutdown_all(screen: MainScreen, context: ActionContext) -> None:
    """Ask every listening member to stop, each answer awaited before the next is asked; show a shutdown that runs."""
    if screen.bars.busy.startswith("stopping"):
        stops(screen, context)
        return
    screen.background.run(partial(whom_to_stop, screen.caller), partial(_confirm_shutdown_all, screen, context))


def _confirm_shutdown_all(screen: MainScreen, context: ActionContext, seen: sending.Preview) -> None:
    """Say who is asked to stop and who is not, and begin once that is confirmed."""
    names = seen.recipients
    lines = [f"{names_listed(names, 20)} will be asked to stop, one after the other: {counted(len(names), 'request')}."]
    if seen.not_listening:
        lines.append(f"Not asked, since it stopped or was asked before: {names_listed(seen.not_listening)}.")
    lines += warnings_on_reach((), seen.left_out)
    lines.append("The next one is asked when one has answered, or kept silent for too long. x stops asking.")

    def decide(reason: str) -> PendingDecision:
        def begin() -> None:
            screen.background.stop_in_turn(names, reason or None)
            stops(screen, context)

        words = f"ask {counted(len(names), 'agent')} to stop, one after the other"
        write = PendingWrite("shutdown_all", words, lambda caller: None)
        return PendingDecision("shut down", (write,), purposes=("shutdown_all",), begins=begin)

    _ask_for_stop(screen, "Shut down the team", lines, names, decide, "shutdown_all")
