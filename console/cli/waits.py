"""Waits of the command line for one verdict: their flags, what they print, and their exit status."""

from __future__ import annotations

import math
from argparse import ArgumentParser
from typing import TYPE_CHECKING

from team_console.console.cli.printing import outcome_lines
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.safe import fenced, safe_line

if TYPE_CHECKING:
    from team_console.console.cli.call import Call
    from team_console.store.model.message import Message
    from team_console.store.service.caller import Receipt
    from team_console.store.views.verdicts import Outcome

YES, NO, NOTHING_YET, WITHDRAWN = 0, 10, 11, 12
_STATUSES = {"approved": YES, "answered": YES, "rejected": NO, "open": NOTHING_YET}
EXIT_STATUSES = (
    f"It leaves with {YES} for yes or an answer, {NO} for no, {NOTHING_YET} while nothing was said, and {WITHDRAWN}\n"
    "when the request was withdrawn, timed out, or a later one took its place."
)
_FOR_EVER = math.inf


def add_wait(parser: ArgumentParser) -> None:
    """Declare the flags of a wait."""
    parser.add_argument(
        *("--wait",),
        nargs="?",
        type=float,
        const=_FOR_EVER,
        metavar="SECONDS",
        help="wait for the verdict, at most this long (without a number: until there is one), and print it",
    )
    parser.add_argument("--timeout", type=float, metavar="SECONDS", help="the same as --wait SECONDS")


def is_waiting(call: Call) -> bool:
    """Whether a wait was asked for."""
    return call.options.wait is not None or call.options.timeout is not None


def seconds_of(call: Call) -> float | None:
    """How long to wait at most, None for as long as it takes.

    Raises:
        TeamError: `USAGE` for what is no number of seconds.
    """
    options = call.options
    seconds = options.timeout if options.timeout is not None else options.wait
    if seconds is None or seconds == _FOR_EVER:
        return None
    from team_console.store.service.waiting import LONGEST_WAIT

    if not 0 <= seconds <= LONGEST_WAIT:
        raise TeamError(Code.USAGE, f"--wait {seconds:g} is not a number of seconds", "For example --wait 30.")
    return float(seconds)


def finish_asking(call: Call, receipt: Receipt) -> int:
    """Print what was asked, and with a wait what was answered; the exit status.

    Without a wait the request id stands alone on standard output, with one the answer does, so that a script can
    keep either; the id is then said on standard error.
    """
    request_id = receipt.request_id or ""
    if not is_waiting(call):
        return call.finish(receipt, [safe_line(request_id)])
    if not call.out.as_json:
        call.out.warn(receipt.warnings)
        call.out.note(safe_line(f"waits for the verdict on {request_id}"))
    outcome = _awaited(call, request_id, asked=receipt.messages[0])
    if call.out.as_json:
        from team_console.store.views.verdicts import outcome_json

        call.out.json({**receipt.as_json(), "verdict": outcome_json(outcome)})
    return finish_outcome(call, outcome)


def finish_outcome(call: Call, outcome: Outcome) -> int:
    """Print how a request stands, and mark its answer as read for the agent it is to; the exit status."""
    if not call.out.as_json:
        for line in outcome_lines(outcome):
            call.out.say(line)
    if (asked := outcome.asked_back) is not None and not call.out.as_json:
        call.out.say(safe_line(f"{asked.sender} asks back, the request stays open:"))
        for line in fenced(asked.content):
            call.out.say(line)
        call.out.say(safe_line(f"answer it with: team-console answer {outcome.request_id} --content TEXT"))
    call.out.flush()
    _take(call, outcome)
    return _STATUSES.get(outcome.state, WITHDRAWN)


def look_or_wait(call: Call, request_id: str) -> Outcome:
    """How the request stands, after a wait where one was asked for."""
    if is_waiting(call):
        return _awaited(call, request_id)
    from team_console.store.views.verdicts import verdict_of

    return verdict_of(call.team, request_id, me=call.given_actor or "")


def _awaited(call: Call, request_id: str, *, asked: Message | None = None) -> Outcome:
    from team_console.store.views.verdicts import await_verdict

    timeout, me = seconds_of(call), call.given_actor or ""
    try:
        return await_verdict(
            call.team, request_id, timeout=timeout, me=me, asked=asked, tell=call.tell_outage, heeds=True
        )
    except TeamError as error:
        error.facts.setdefault("request_id", request_id)  # what was asked stands, and is waited for again by its id
        raise


def _take(call: Call, outcome: Outcome) -> None:
    """What was printed for its reader is read; whoever only looks reads nothing."""
    from team_console.store.views.verdicts import mark_verdict_read

    if call.given_actor is None:
        return
    try:
        mark_verdict_read(call.caller, outcome.message)
    except TeamError as error:
        call.out.warn([f"the answer could not be marked as read: {error.message}"])
