"""Verbs that ask and wait for the answer: `plan`, `ask`, `verdict`, `withdraw` and `shutdown`."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from team_console.console.cli.arguments import DAY, REQUEST, arg, flag, seconds, verb
from team_console.console.cli.call import Call, UsageError
from team_console.console.cli.streams import text_or_input
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.json_text import parse_json, value_words
from team_console.store.model.message import Message
from team_console.store.model.names import canonical
from team_console.store.model.safe import fenced
from team_console.store.protocol.client_requests import answers_of, join_answers, notes_of
from team_console.store.protocol.remarks import remarks_in
from team_console.store.protocol.tool_input import suggestion_words
from team_console.store.service.asking import ask_question, withdraw
from team_console.store.service.requests import submit_plan
from team_console.store.service.sending import left_out_words
from team_console.store.views.rows import RequestState
from team_console.store.views.stopping import PASSED_BY, StopRequest, agreed_by_now, ask_to_stop, whom_to_stop

if TYPE_CHECKING:
    from team_console.store.service.caller import Receipt
    from team_console.store.views.rows import RequestRow

# What `plan`, `ask` and `verdict` have in common: the options of a wait, and exit statuses that tell the answer.

_WITHDRAWN = 12
_STATUSES = {"approved": 0, "answered": 0, "rejected": 10, "open": 11}
"""State of a request -> exit status; `_WITHDRAWN` for every other state."""
_EXIT_WORDS = """

Exit status: 0 approved or answered, 10 rejected, 11 no answer yet, 12 withdrawn, timed out or replaced."""


_WAIT = (
    seconds(
        "--wait",
        "wait for the answer, at most this long (without a number: until there is one), and print it",
        zero=True,
        nargs="?",
        const=math.inf,
    ),
    seconds("--timeout", "the same as --wait SECONDS", zero=True, dest="wait"),
)


# `plan`: an agent hands in a plan.


@verb(
    arg("--content", "the plan; - reads standard input", required=True, metavar="TEXT|-"),
    arg("--summary", "5-10 words; default: the plan's first line", metavar="TEXT"),
    arg("--replaces", "the request that this plan is a new version of, whatever its title", metavar="REQUEST"),
    *_WAIT,
    more=_EXIT_WORDS,
)
def do_plan(call: Call) -> int:
    """Submit a plan of --as NAME to the team's lead. Prints the request id; the answer comes to NAME's inbox as
    plan_approval_response. A later plan of the same author replaces an open one. With --wait it waits, and prints
    the answer.

    Examples:
      team-console --as helper plan --content - < plan.md
      team-console --as helper plan --content "1. Split loader.py" --wait 600"""
    plan, options = text_or_input(call.options.content) or "", call.options
    handed_in = submit_plan(call.caller, content=plan, summary=options.summary, replaces=options.replaces)
    return _print_asked(call, handed_in)


# `ask`: an agent puts a question to the human; the request id comes back, or with a wait the answer.


@verb(
    arg("question", "the question", nargs="?", metavar="QUESTION"),
    arg("--option", "an option to choose from; repeatable", action="append", metavar="LABEL"),
    arg("--header", "a word or two that name the question", default="", metavar="TEXT"),
    flag("--several", "more than one option may be chosen"),
    arg(
        "--questions",
        "questions as a list of {question, header, options: [{label, description}], multiSelect}; - reads "
        "standard input",
        metavar="JSON|-",
    ),
    arg("--summary", "one line for the human's list; default: from the question", metavar="TEXT"),
    seconds("--expires", "withdraw it as timed out after this long"),
    *_WAIT,
    more=_EXIT_WORDS,
)
def do_ask(call: Call) -> int:
    """Ask the team's lead a question as --as NAME. Any number may be open. Prints the request id; with --wait it
    waits, and prints the answer alone: the label that was chosen, or the human's own words.

    Examples:
      team-console --as helper ask "Which database?" --option PostgreSQL --option SQLite --wait"""
    options = call.options
    questions = _questions_asked(call)
    expires = call.team.clock() + timedelta(seconds=options.expires) if options.expires is not None else None
    asked = ask_question(call.caller, questions=questions, expires=expires, summary=options.summary)
    return _print_asked(call, asked)


def _questions_asked(call: Call) -> list[dict[str, Any]]:
    """Return the questions as a client's own tool has them: `question`, `header`, `options`, `multiSelect`.

    Raises:
        TeamError: `USAGE` unless they are given in one form, `INVALID_FIELD` for none.
    """
    options = call.options
    if (options.question is None) is (options.questions is None):
        raise UsageError("give one QUESTION, or --questions JSON", 'team-console ask "Which one?" --option A')
    if options.questions is not None:
        of_one = {"--option": options.option, "--header": options.header, "--several": options.several}
        call.refuse_useless(of_one, "is for one QUESTION, not for --questions")
        return _questions_in_json(text_or_input(options.questions) or "")
    if not options.question.strip():
        raise TeamError(Code.INVALID_FIELD, "the question is empty", "Say what is asked.")
    return [
        {
            "question": options.question,
            "header": options.header,
            "options": [{"label": label} for label in options.option or ()],
            "multiSelect": options.several,
        }
    ]


def _questions_in_json(text: str) -> list[dict[str, Any]]:
    """Return the list that `--questions` holds; what is in it is checked where it is asked.

    Raises:
        TeamError: `INVALID_FIELD` for what is no list, or an empty one.
    """
    hint = 'Give a list such as [{"question": "Which?", "options": [{"label": "A"}]}].'
    value = parse_json(text, what="--questions", hint=hint)
    if not isinstance(value, list) or not value:
        what = "an empty list" if isinstance(value, list) else f"{value_words(value)}, not a list"
        raise TeamError(Code.INVALID_FIELD, f"--questions is {what}", hint)
    return value


# `withdraw`: an asker takes back an open request of its own.


@verb(
    REQUEST,
    arg("--reason", "why it needs no answer any more", default="", metavar="TEXT"),
)
def do_withdraw(call: Call) -> None:
    """Take back an open request of --as NAME: it needs no answer any more, and none decides it from now on. If
    nobody has received it yet, it is recalled, too.

    Examples:
      team-console --as helper withdraw REQUEST --reason "Found it myself"
    """
    receipt = withdraw(call.caller, request_id=call.options.request, reason=call.options.reason)
    word = "was withdrawn before, nothing written:" if receipt.repeated else "withdrawn:"
    call.print_receipt(receipt, [f"{word} {receipt.request_id}"])


# `verdict`: how one request stands, at once or as soon as it is decided.


@verb(REQUEST, *_WAIT, more=_EXIT_WORDS)
def do_verdict(call: Call) -> int:
    """Show the state of one request, at once or with --wait as soon as it is decided. An answer to --as NAME is
    marked as read when it is printed.

    Examples:
      team-console --as helper verdict REQUEST --wait 600"""
    if call.options.wait is not None:
        return _print_outcome(call, _await_outcome(call, call.options.request))
    from team_console.store.views.verdicts import verdict_of  # as in `_await_outcome`

    return _print_outcome(call, verdict_of(call.team, call.options.request, me=call.given_actor or ""))


# How a request that was asked ends, awaited and printed.


def _print_asked(call: Call, receipt: Receipt) -> int:
    """Print what was asked, or with a wait what was answered; returns the exit status.

    Without a wait the request id stands alone on standard output, with one the answer does, so that a script can
    keep either; the id is then said on standard error.
    """
    request_id = receipt.request_id or ""
    if call.options.wait is None:
        call.print_receipt(receipt, [request_id])
        return 0
    if not call.as_json:
        call.warn(receipt.warnings)
        call.note(f"waits for the verdict on {request_id}")
    return _print_outcome(call, _await_outcome(call, request_id, asked=receipt.messages[0]), receipt)


def _await_outcome(call: Call, request_id: str, *, asked: Message | None = None) -> RequestRow:
    """Wait until the request is decided, at most as long as `--wait` says; returns how it stands then.

    Args:
        asked: The question as it was written just now; an answer to anything else is refused.
    """
    from team_console.store.views.verdicts import await_verdict  # 10 ms: views, which only asking has no use for

    timeout = None if call.options.wait == math.inf else call.options.wait
    me = call.given_actor or ""
    try:
        return await_verdict(
            call.team, request_id, timeout=timeout, me=me, asked=asked, tell=call.note_outage, heeds=True
        )
    except TeamError as error:
        error.facts.setdefault("request_id", request_id)  # what was asked stands, and is waited for again by its id
        raise


def _print_outcome(call: Call, outcome: RequestRow, asked: Receipt | None = None) -> int:
    """Print how a request stands, and mark its answer as read for the agent it is to; returns the exit status.

    Args:
        asked: The receipt of the request, where it was made just now.
    """
    from team_console.store.views.verdicts import mark_of_answer, mark_verdict_read, mark_words, outcome_json

    mark = mark_of_answer(call.team, outcome)
    if call.as_json:
        verdict = outcome_json(outcome, mark)
        call.json(verdict if asked is None else {**asked.as_json(), "verdict": verdict})
    else:
        call.say(*_outcome_lines(outcome))
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


def _outcome_lines(outcome: RequestRow) -> Iterator[str]:
    """Yield how a request stands, for people and scripts: what was decided, in whose words, and what was edited.

    An answered question gives its answer alone, one line for each choice; words beside it follow.
    """
    payload = outcome.verdict.payload if outcome.verdict is not None else {}
    answers = answers_of(payload)
    if outcome.state == "answered" and answers:
        notes = notes_of(payload)
        if len(answers) == 1:
            yield from next(iter(answers.values()))
            yield from (f"note: {words}" for words in notes.values())
        else:
            yield from (f"{text} {join_answers(words)}" for text, words in answers.items())
            yield from (f"note on {text} {words}" for text, words in notes.items())
        return
    head = str(outcome.state)
    if outcome.state == "approved" and payload.get("mode"):
        head += f", in mode {payload['mode']}"
    if outcome.reason:
        head += f": {outcome.reason}"
    if remarks_in(payload):  # each on a line of its own, for a model to follow
        yield from fenced(head, "")
    else:
        yield head
    if outcome.state == "approved" and outcome.verdict is not None:
        yield from approval_lines(outcome.verdict)


def approval_lines(answer: Message) -> Iterator[str]:
    """Yield what an approval says beyond yes: the rule that is allowed always, and the edits made before."""
    payload = answer.payload
    if payload.get("scope") == "always":
        yield f"always: {suggestion_words(payload.get('suggestion'))}"
    plan, given = payload.get("updated_plan"), payload.get("updated_input")
    if isinstance(plan, str):
        yield "edited before it was approved; the plan that counts:"
        yield from plan.rstrip("\n").split("\n")
    elif isinstance(given, Mapping):
        yield "edited before it was approved; what is allowed:"
        yield from json.dumps(dict(given), indent=2, ensure_ascii=False).split("\n")


# `shutdown`: asks agents to stop; with `--all` one after the other, each answer awaited.


@verb(
    arg("agents", "whom to ask", nargs="*", metavar="AGENT", source="agents"),
    flag("--all", "everybody, one after the other", dest="everyone"),
    arg("--reason", "why, and what to do before stopping", metavar="TEXT"),
    seconds("--timeout", "wait this long for each answer (with --all: 15)", DAY),
)
def do_shutdown(call: Call) -> int:
    """Ask agents to stop. An agent agrees, or declines with a reason; none is ended by force. --all asks every
    listening member in turn (temps and slaves first), waits for each answer and exits with 1 unless all agreed.

    Examples:
      team-console shutdown helper --reason "Commit first" --timeout 60
      team-console shutdown --all"""
    options = call.options
    if bool(options.agents) == options.everyone:
        raise UsageError("name the agents to ask, or give --all", "team-console shutdown AGENT...")
    agents, warnings = tuple(dict.fromkeys(map(canonical, options.agents))), list[str]()
    if options.everyone:
        shown = whom_to_stop(call.caller)
        agents, warnings = shown.recipients, left_out_words(shown.left_out)
    if not call.as_json:
        call.warn(warnings)
    timeout = options.timeout
    if options.everyone and timeout is None:
        timeout = call.team.config().overdue_seconds["shutdown"]
    stops: list[StopRequest] = []
    try:
        for agent in agents:
            try:
                stops.append(_ask_to_stop(call, agent, timeout))
            except TeamError as error:
                if not options.everyone or error.code not in PASSED_BY or (agent == agents[-1] and not stops):
                    raise
                warnings.append(error.message)
                call.note(error.message)
        agreed = agreed_by_now(call.team, stops, me=call.actor) if timeout is not None else 0
    except TeamError as error:
        # guard: those-asked-to-stop-are-told
        if stops:
            error.facts["deliveries"] = [_stop_json(stop) for stop in stops]
        raise
    rows = [_stop_json(stop) for stop in stops]
    status = int(timeout is not None and agreed < len(rows))
    if call.as_json:
        warnings += [warning for row in rows for warning in row.pop("warnings")]
        result = {**rows[0], "success": not status, "warnings": warnings}
        if len(rows) > 1:
            result["deliveries"] = [{key: row[key] for key in row if key not in ("success", "action")} for row in rows]
        call.json(result)
    if timeout is not None:
        call.note(f"{agreed} of {len(rows)} agreed to stop")
    return status


def _ask_to_stop(call: Call, agent: str, timeout: float | None) -> StopRequest:
    """Ask one agent, wait for its answer where there is a time for it, and say how it goes; returns how it went."""

    def say(text: str) -> None:
        if not call.as_json:
            call.say(f"{agent}: {text}")
            call.flush()

    def asked(receipt: Receipt) -> None:
        for text in (f"asked, request {receipt.request_id}", *receipt.notes):
            say(text)
        if not call.as_json:
            call.warn(receipt.warnings)

    stop = ask_to_stop(
        call.decider, agent, reason=call.options.reason, timeout=timeout, asked=asked, again=not call.options.everyone
    )
    outcome = stop.outcome
    if outcome is None:
        return stop
    if outcome.verdict is not None:
        is_yes = outcome.state is RequestState.APPROVED
        say("agreed to stop" if is_yes else f"refused: {outcome.reason or 'no reason given'}")
    elif outcome.is_open:
        say(f"no answer after {timeout:g} s")
    else:
        say(f"nothing was answered, the request is {outcome.state}")
    return stop


def _stop_json(stop: StopRequest) -> dict[str, Any]:
    """Return the receipt as JSON, with the answer where one was waited for."""
    row, outcome = stop.receipt.as_json(), stop.outcome
    if outcome is None:
        return row
    if outcome.verdict is None:
        return row | {"approve": None, "reason": None}
    return row | {"approve": outcome.state is RequestState.APPROVED, "reason": outcome.reason or ""}
