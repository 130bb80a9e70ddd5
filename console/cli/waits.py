"""Waits of the command line for one verdict: what they print, and their exit status."""

from __future__ import annotations

import math

from team_console.console.cli.call import Call
from team_console.console.cli.printing import outcome_lines
from team_console.store.model.errors import TeamError
from team_console.store.model.message import Message
from team_console.store.model.safe import fenced
from team_console.store.service.caller import Receipt
from team_console.store.views.rows import RequestRow
from team_console.store.views.verdicts import (
    await_verdict,
    mark_of_answer,
    mark_verdict_read,
    mark_words,
    outcome_json,
    verdict_of,
)

_STATUSES = {"approved": 0, "answered": 0, "rejected": 10, "open": 11}
_WITHDRAWN = 12


def finish_wait(call: Call, receipt: Receipt) -> int:
    """Wait for the verdict on what was asked, and print it; the exit status."""
    request_id = receipt.request_id or ""
    if not call.as_json:
        call.warn(receipt.warnings)
        call.note(f"waits for the verdict on {request_id}")
    return _print_outcome(call, _await_outcome(call, request_id, asked=receipt.messages[0]), receipt)


def look_or_wait(call: Call, request_id: str) -> int:
    """Print how the request stands, after a wait where one was asked for; the exit status."""
    if call.options.wait is None:
        outcome = verdict_of(call.team, request_id, me=call.given_actor or "")
    else:
        outcome = _await_outcome(call, request_id)
    return _print_outcome(call, outcome)


def _print_outcome(call: Call, outcome: RequestRow, asked: Receipt | None = None) -> int:
    """Print how a request stands, and mark its answer as read for the agent it is to; the exit status.

    Args:
        asked: The receipt of the request, where it was made just now.
    """
    mark = mark_of_answer(call.team, outcome)
    if call.as_json:
        verdict = outcome_json(outcome, mark)
        call.json(verdict if asked is None else {**asked.as_json(), "verdict": verdict})
    else:
        call.say(*outcome_lines(outcome))
        if mark is not None:
            call.warn([mark_words(outcome, mark)])
        if (question := outcome.asked_back) is not None:
            call.say(f"{question.sender} asks back, the request stays open:", *fenced(question.content))
            call.say(f"answer it with: team-console answer {outcome.request_id} --content TEXT")
    call.flush()
    if call.given_actor is not None:  # what was printed for its reader is read; whoever only looks reads nothing
        try:
            mark_verdict_read(call.caller, outcome.verdict)
        except TeamError as error:
            call.warn([f"the answer could not be marked as read: {error.message}"])
    return _STATUSES.get(outcome.outcome, _WITHDRAWN)


def _await_outcome(call: Call, request_id: str, *, asked: Message | None = None) -> RequestRow:
    me, timeout = call.given_actor or "", None if call.options.wait == math.inf else call.options.wait
    try:
        return await_verdict(
            call.team, request_id, timeout=timeout, me=me, asked=asked, tell=call.note_outage, heeds=True
        )
    except TeamError as error:
        error.facts.setdefault("request_id", request_id)  # what was asked stands, and is waited for again by its id
        raise
