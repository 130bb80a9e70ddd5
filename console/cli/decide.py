"""Verbs that ask and decide, such as `plan`, `ask`, `approve`, `reject`, `askback` and `shutdown`."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from team_console.console.cli.call import Call, UsageError
from team_console.console.cli.input import file_text, text_or_input
from team_console.console.cli.main import DAY, REQUEST, arg, flag, seconds, verb
from team_console.console.cli.option_answers import Answers, answers_from, words_for
from team_console.console.cli.printing import decision_lines, print_list, whole_content
from team_console.store.contract.transaction import ChangedError
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.json_text import parse_json, value_words
from team_console.store.model.message import Message
from team_console.store.model.names import canonical
from team_console.store.model.safe import counted
from team_console.store.protocol.client_requests import questions_of
from team_console.store.protocol.grants import scope_in
from team_console.store.protocol.remarks import Remark, remark_on
from team_console.store.protocol.shown_when_decided import Face, Seen, digest_of, seen_of
from team_console.store.service.answerable import live_question, no_request
from team_console.store.service.asking import ask_question, withdraw
from team_console.store.service.caller import Receipt
from team_console.store.service.decision import Decision
from team_console.store.service.grants import recall_grant, refuse_contradiction, start_grant, trial_of
from team_console.store.service.requests import (
    answer,
    approval_forecast,
    approve,
    decide,
    reject,
    submit_plan,
)
from team_console.store.service.running_grants import all_grants
from team_console.store.service.sending import left_out_words
from team_console.store.views.proposals import lines_to_remark
from team_console.store.views.rows import RequestState
from team_console.store.views.stopping import StopRequest, agreed_by_now, ask_to_stop, whom_to_stop

EXIT_STATUSES = """

Exit status: 0 approved or answered, 10 rejected, 11 no answer yet, 12 withdrawn, timed out or replaced."""


WAIT = (
    seconds(
        "--wait",
        "wait for the answer, at most this long (without a number: until there is one), and print it",
        zero=True,
        nargs="?",
        const=math.inf,
    ),
    seconds("--timeout", "the same as --wait SECONDS", zero=True, dest="wait"),
)


REMARK = arg(
    "--remark",
    "a remark on one line, as 'show --lines' numbers them; repeatable",
    action="append",
    default=[],
    metavar="LINE:TEXT",
)
SEVERAL = (
    arg("requests", "ids of open requests; each gets its own record", nargs="+", metavar="REQUEST", source="requests"),
    arg(
        "--seen",
        "refuse if the request changed since 'show' printed this code; several requests: one code each, in order",
        action="append",
        metavar="CODE",
    ),
)
"""One request, or several that get the same verdict."""


def _print_asked(call: Call, receipt: Receipt) -> int:
    """Print what was asked, or with a wait what was answered; the exit status.

    Without a wait the request id stands alone on standard output, with one the answer does, so that a script can
    keep either; the id is then said on standard error.
    """
    if call.options.wait is None:
        call.print_receipt(receipt, [receipt.request_id or ""])
        return 0
    from team_console.console.cli.waits import finish_wait  # asyncio: 20 ms, which a wait alone needs

    return finish_wait(call, receipt)


# What the command line showed of a request before it is answered: `show` names it, `--seen` quotes it.

_CODE = re.compile(r"[0-9a-f]{64}")
"""A whole code: the SHA-256 of a request."""


SEEN = arg(
    "--seen",
    "refuse if the request changed since 'show' printed this code",
    metavar="CODE",
)


def seen_on_command_line(call: Call, question: Message | None = None) -> Seen:
    """Return what was shown to the answerer, as the code of `--seen` proves it, for the record of the verdict.

    Args:
        question: The request as it was read already, which the answer is to be on in any case.

    Raises:
        ChangedError: The request is not what `show` printed with this code.
        TeamError: `INVALID_FIELD` for a code that `show` never prints.
    """
    code = call.options.seen
    if code is None:
        return Seen(digest_of(question) if question is not None else "", face=Face.NAMED)
    if not _CODE.fullmatch(code):
        hint = f"team-console show {call.options.request} prints it."
        raise TeamError(Code.INVALID_FIELD, "--seen takes the whole code that show prints, 64 hexadecimal digits", hint)
    question = question or live_question(call.snapshot(), call.options.request, code)
    if question is None:
        return Seen(code, face=Face.PRINTED)
    # guard: answered-what-show-printed
    if digest_of(question) != code:
        raise ChangedError(call.options.request, question)
    return seen_of(question, face=Face.PRINTED)


# `plan`: an agent hands in a plan.


@verb(
    arg("--content", "the plan; - reads standard input", required=True, metavar="TEXT|-"),
    arg("--summary", "5-10 words; default: the plan's first line", metavar="TEXT"),
    arg("--replaces", "the request that this plan is a new version of, whatever its title", metavar="REQUEST"),
    *WAIT,
    more=EXIT_STATUSES,
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
    *WAIT,
    more=EXIT_STATUSES,
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
    hint = 'Give a list such as [{"question": "Which?", "options": [{"label": "A"}]}].'
    value = parse_json(text, what="--questions", hint=hint)
    if not isinstance(value, list) or not value:
        what = "an empty list" if isinstance(value, list) else f"{value_words(value)}, not a list"
        raise TeamError(Code.INVALID_FIELD, f"--questions is {what}", hint)
    return value


# `verdict`: how one request stands, at once or as soon as it is decided.


@verb(REQUEST, *WAIT, more=EXIT_STATUSES)
def do_verdict(call: Call) -> int:
    """Show the state of one request, at once or with --wait as soon as it is decided. An answer to --as NAME is
    marked as read when it is printed.

    Examples:
      team-console --as helper verdict REQUEST --wait 600"""
    from team_console.console.cli.waits import look_or_wait  # asyncio: 20 ms, which handing in a plan has no use for

    return look_or_wait(call, call.options.request)


# `approve`: answers an open request with yes.

_ONLY_SUGGESTION = object()
"""`--always` without a number, which any number could be taken for."""


@verb(
    *SEVERAL,
    arg("--note", "a comment for the agent", metavar="TEXT"),
    arg("--agent-name", "the name of the agent to be created (default: from its type)", metavar="NAME"),
    arg(
        "--always",
        "permission: allow the client's suggestion N from now on (without a number: its only one)",
        nargs="?",
        type=int,
        const=_ONLY_SUGGESTION,
        metavar="N",
    ),
    arg("--mode", "plan: the mode to continue in, one of those it offers", metavar="MODE"),
    arg("--edited", "approve this text instead of the plan, the command or the file's content", metavar="FILE|-"),
    REMARK,
    flag("--dry-run", "show the effect, write nothing"),
)
def do_approve(call: Call) -> int:
    """Approve a plan, permission, shutdown or new agent: once, always, or edited. Find ids with
    'team-console requests --open'; for questions use 'answer'. Scripts must say who decides: --as NAME.

    Examples:
      team-console approve REQUEST --note "Keep it small"
      team-console approve REQUEST REQUEST
      team-console approve REQUEST --always"""
    return _decide_each(call, _approve)


def _approve(call: Call) -> None:
    """Approve the one request of `options.request`, or show what that would do."""
    options = call.options
    if options.dry_run:
        foreseen = approval_forecast(call.snapshot(), request_id=options.request, agent_name=options.agent_name)
        result = {"success": True, "action": "approve", "dry_run": True, "request_id": options.request}
        call.print_result({**result, "notes": list(foreseen), "warnings": []}, *foreseen)
        return
    receipt: Receipt = approve(
        call.decider,
        request_id=options.request,
        note=options.note,
        agent_name=options.agent_name,
        seen=seen_on_command_line(call),
        remarks=_remarks(call),
        scope="once" if options.always is None else "always",
        suggestion=None if options.always is _ONLY_SUGGESTION else options.always,
        mode=options.mode,
        updated=file_text(options.edited, what="--edited") if options.edited is not None else None,
    )
    call.print_receipt(receipt, decision_lines("approved", receipt))


# `reject`: answers an open request with no, with the reason.


@verb(
    *SEVERAL,
    arg("--reason", "why; the agent reads it", default="", metavar="TEXT"),
    arg("--suggest", "what you would accept instead", metavar="TEXT"),
    REMARK,
)
def do_reject(call: Call) -> int:
    """Reject an open request, with a reason. The model of the agent reads it.

    Examples:
      team-console reject REQUEST --reason "No word on error handling" --suggest "Add a section on retries"
    """
    return _decide_each(call, _reject)


def _reject(call: Call) -> None:
    """Reject the one request of `options.request`."""
    options = call.options
    receipt = reject(
        call.decider,
        request_id=options.request,
        reason=options.reason,
        suggest=options.suggest,
        seen=seen_on_command_line(call),
        remarks=_remarks(call),
    )
    call.print_receipt(receipt, decision_lines("rejected", receipt))


def _decide_each(call: Call, decide_one: Callable[[Call], None]) -> int:
    """Decide each request that is named, on its own; one that is refused keeps none of the others.

    Args:
        decide_one: Decides the request that `options.request` names, with the code of `options.seen`.

    Returns:
        The exit status: 1 where any of several was refused.

    Raises:
        TeamError: `USAGE` for codes of --seen that are more or fewer than the requests.
    """
    options = call.options
    named, codes = list(dict.fromkeys(options.requests)), options.seen or []
    if codes and len(codes) != len(named):
        text = f"--seen is given {counted(len(codes), 'time')} for {counted(len(named), 'request')}"
        raise UsageError(text, "Give the code of each request, in their order.")
    status = 0
    for number, options.request in enumerate(named):
        options.seen = codes[number] if codes else None
        try:
            decide_one(call)
        except TeamError as error:
            if len(named) == 1:
                raise
            status = 1
            if call.as_json:
                call.json(error.as_json())
            else:
                call.warn([". ".join(filter(None, (f"{options.request}: {error.message}", error.hint)))])
    return status


# `askback`: asks the asker something; the request stays open.


@verb(
    REQUEST,
    arg("question", "the question to the asker", nargs="?", default="", metavar="QUESTION"),
    REMARK,
    SEEN,
)
def do_askback(call: Call) -> None:
    """Ask the asker something about an open request without rejecting it: it stays open with its id and age, and
    whatever waits for the answer keeps waiting. The asker replies with: team-console answer REQUEST --content TEXT

    Examples:
      team-console askback REQUEST "Which files does it touch?"
    """
    options = call.options
    said, remarks = options.question or None, _remarks(call)
    question = Decision(options.request, None, said, remarks=remarks, asks_back=True, seen=seen_on_command_line(call))
    receipt = decide(call.decider, question)
    call.print_receipt(receipt, decision_lines("asked back about", receipt))


def _remarks(call: Call) -> tuple[Remark, ...]:
    """Return the remarks, each with what stands in its line.

    Raises:
        TeamError: `USAGE` for what names no line, `INVALID_FIELD` for a line that is not there.
    """
    if not call.options.remark:
        return ()
    request = call.options.request
    question = live_question(call.snapshot(), request, call.options.seen or "")
    if question is None:
        raise no_request(request)
    lines, made = lines_to_remark(question, whole_content(call.team, question)), []
    for given in call.options.remark:
        number, colon, text = given.partition(":")
        if not (colon and number.strip().isascii() and number.strip().isdigit()):
            raise UsageError(f"--remark {given:.60} names no line", "For example --remark 20:'why here?'")
        try:
            made.append(remark_on(lines, int(number), text))
        except ValueError as error:
            hint = f"Lines are numbered by: team-console show {request} --lines"
            raise TeamError(Code.INVALID_FIELD, f"--remark: {error}", hint) from None
    return tuple(made)


# `grant`, `grants`: a decision that holds for the same again, until an end.


@verb(
    arg("requests", "permissions that you approved", nargs="+", metavar="REQUEST", source="requests"),
    arg("--for", "how long it applies: 30m, 12h, 7d", dest="lasts", metavar="AGE"),
    arg("--uses", "the most answers it gives", type=int, metavar="N"),
    flag("--yes", "start it; without --yes nothing is written"),
)
def do_grant(call: Call) -> None:
    """Answer a permission that is asked again as you decided it: exactly the inputs of these approved
    permissions, for their agent, tool and folder, until the grant ends. Without --yes the grant is only shown,
    with what it would have answered of your own decisions. It never starts if it contradicts a rejection of
    yours. List and recall: team-console grants

    Examples:
      team-console grant REQUEST --for 2h
      team-console grant REQUEST --uses 10 --yes"""
    options = call.options
    trial = trial_of(call.decider, options.requests)
    facts = {
        "scope": trial.scope.as_recorded,
        "would_have_answered": trial.would_answer,
        "differed": list(trial.rejected),
    }
    if options.yes:
        receipt = start_grant(call.decider, trial, lasts=_duration(options.lasts), uses=options.uses)
        given = receipt.request_id
        end = f"in force: {given}; end it with: team-console grants recall {given}"
        call.print_result({**receipt.as_json(), "grant_id": given, **facts}, trial.scope.words, trial.words, end)
        return
    dry = {"success": True, "action": "grant", "dry_run": True, "warnings": []}
    call.print_result({**dry, **facts}, trial.scope.words, trial.words)
    if not call.as_json:
        refuse_contradiction(trial)
        call.say("nothing is in force: add --yes, with --for AGE or --uses N")


def _duration(given: str | None) -> timedelta | None:
    """Return the time that `30m`, `12h` or `7d` means.

    Raises:
        TeamError: `USAGE`.
    """
    if given is None:
        return None
    unit = {"m": "minutes", "h": "hours", "d": "days"}.get(given[-1:])
    if unit is None or not given[:-1].isascii() or not given[:-1].isdigit() or len(given) > 5:
        raise UsageError(f"--for {given:.40} is no time", "For example --for 30m, 12h or 7d.")
    return timedelta(**{unit: int(given[:-1])})


@verb(
    arg("what", "end one now; its answers stay valid", nargs="?", choices=["recall"]),
    arg("id", "the id of the grant", nargs="?", metavar="ID"),
)
def do_grants(call: Call) -> None:
    """List the grants, or recall one.

    Examples:
      team-console grants
      team-console grants recall ID"""
    options = call.options
    if (options.what is None) is not (options.id is None):
        raise UsageError("recall needs the id of a grant", "team-console grants recall ID")
    if options.id is not None:
        call.print_receipt(recall_grant(call.decider, options.id), [f"recalled: {options.id}"])
        return
    snapshot = call.snapshot()
    listed, lines = [], []
    for one in all_grants(snapshot):
        grant, scope = one.grant, scope_in(one.grant)
        ends, uses = grant.payload.get("ends"), grant.payload.get("uses")
        listed.append(
            {
                "id": grant.message_id,
                "by": grant.sender,
                "scope": scope.as_recorded,
                "ends": ends,
                "uses": uses,
                "used": one.used,
                "over": one.over or None,
            }
        )
        state = one.over or f"until {ends or f'{uses} uses'}"
        lines.append(f"{grant.message_id}  {state}, used {one.used}: {scope.words}")
    if call.as_json:
        print_list(call, {"grants": listed}, snapshot)
    else:
        call.say(*lines or ("no grants",))


# `answer`: chooses options of a question, or answers a clarification or an escalation in words.


@verb(
    REQUEST,
    arg("--option", "the option to choose; repeatable", action="append", default=[], metavar="[HEADER=]LABEL"),
    arg("--text", "your own words instead of an option", action="append", default=[], metavar="[HEADER=]TEXT"),
    arg("--note", "a comment on the choice", action="append", default=[], metavar="[HEADER=]TEXT"),
    arg("--content", "an answer in words; - reads standard input", metavar="TEXT|-"),
    SEEN,
)
def do_answer(call: Call) -> None:
    """Answer an open question: choose its options by label or number, or use your own words. With several questions
    name each by its header or its number. A clarification, an escalation or a question back about your own
    request is answered in words, with --content.

    Examples:
      team-console answer REQUEST --option SQLite
      team-console answer REQUEST --option DB=PostgreSQL --option 2=A --text 3="neither of them"
    """
    options = call.options
    question = live_question(call.snapshot(), options.request, options.seen or "")
    questions = questions_of(question.payload) if question is not None else ()
    answers: Answers | None = None
    if questions and (options.option or options.text):
        answers = answers_from(questions, options.option, options.text)
    words = text_or_input(options.content) or ("" if answers else "\n".join((*options.option, *options.text)))
    receipt = answer(
        call.decider,
        request_id=options.request,
        answers=answers,
        notes={text: "\n".join(said) for text, said in words_for(questions, options.note).items()},
        content=words or None,
        seen=seen_on_command_line(call, question),
    )
    call.print_receipt(receipt, decision_lines("answered", receipt))


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
    stops = [_ask_to_stop(call, agent, timeout) for agent in agents]
    agreed = agreed_by_now(call.team, stops, me=call.actor) if timeout is not None else 0
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

    stop = ask_to_stop(call.decider, agent, reason=call.options.reason, timeout=timeout, asked=asked)
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
