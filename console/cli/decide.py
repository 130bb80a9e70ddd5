"""Verbs that decide on requests: `approve`, `reject`, `askback`, `answer`, `grant` and `grants`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta

from team_console.console.cli.arguments import REQUEST, arg, flag, verb
from team_console.console.cli.asking import approval_lines
from team_console.console.cli.call import Call, UsageError
from team_console.console.cli.printing import print_list, whole_content
from team_console.console.cli.streams import file_text, text_or_input
from team_console.store.contract.transaction import ChangedError
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message
from team_console.store.model.names import hint_with_nearest
from team_console.store.model.safe import counted
from team_console.store.protocol.client_requests import Question, questions_of
from team_console.store.protocol.grants import scope_in
from team_console.store.protocol.remarks import Remark, remark_on
from team_console.store.protocol.shown_when_decided import Face, Seen, digest_of, seen_of
from team_console.store.service.answerable import live_question, no_request
from team_console.store.service.caller import Receipt
from team_console.store.service.decision import Decision
from team_console.store.service.grants import recall_grant, refuse_contradiction, start_grant, trial_of
from team_console.store.service.requests import answer, approval_forecast, approve, decide, reject
from team_console.store.service.running_grants import all_grants
from team_console.store.views.proposals import lines_to_remark

# What the verbs have in common: the requests they name, what was seen of them, and remarks on their lines.

_REMARK = arg(
    "--remark",
    "a remark on one line, as 'show --lines' numbers them; repeatable",
    action="append",
    default=[],
    metavar="LINE:TEXT",
)
_SEEN = arg(
    "--seen",
    "refuse if the request changed since 'show' printed this code",
    metavar="CODE",
)
_SEVERAL = (
    arg("requests", "ids of open requests; each gets its own record", nargs="+", metavar="REQUEST", source="requests"),
    arg(
        "--seen",
        "refuse if the request changed since 'show' printed this code; several requests: one code each, in order",
        action="append",
        metavar="CODE",
    ),
)
"""One request, or several that get the same verdict."""
_CODE = re.compile(r"[0-9a-f]{64}")
"""A whole code of `--seen`: the SHA-256 of a request."""


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
    for number, request_id in enumerate(named):
        options.request, options.seen = request_id, codes[number] if codes else None
        try:
            decide_one(call)
        except TeamError as error:
            if len(named) == 1:
                raise
            status = 1
            if call.as_json:
                call.json(error.as_json())
            else:
                call.warn([". ".join(filter(None, (f"{request_id}: {error.message}", error.hint)))])
    return status


def _seen_on_command_line(call: Call, question: Message | None = None) -> Seen:
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


_THINGS = {
    "plan_approval_response": "the plan of",
    "shutdown_response": "the shutdown asked by",
    "permission_response": "what was asked by",
    "question_response": "the question of",
}
"""Type of an answer -> what was decided; the name of the asker follows."""


def _decision_lines(word: str, receipt: Receipt) -> list[str]:
    """Return what was decided, as `approved the plan of task-manager (plan_approval-...)`, then the records written."""
    if not receipt.messages:
        return [f"{word} {receipt.request_id}"]
    answer = receipt.messages[0]
    # A message of this type from an approval goes to the agent that is to end, not to whoever asked for its end.
    thing = "the end of" if answer.type == "shutdown_request" else _THINGS.get(answer.type, "the request of")
    head = f"{word} {thing} {', '.join(answer.recipients)} ({receipt.request_id})"
    return [
        head,
        *receipt.notes,
        *approval_lines(answer),
        *(f"written: {message.message_id} -> {message.recipients[0]}" for message in receipt.messages),
    ]


# `approve`: answers an open request with yes.

_ONLY_SUGGESTION = object()
"""`--always` without a number, which any number could be taken for."""


@verb(
    *_SEVERAL,
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
    _REMARK,
    flag("--dry-run", "show the effect, write nothing"),
)
def do_approve(call: Call) -> int:
    """Approve a plan, permission, shutdown or new agent: once, always, or edited. Find ids with
    'team-console requests --open'; for questions use 'answer'. Scripts must say who decides: --as NAME.

    Examples:
      team-console approve REQUEST --note "Keep it small"
      team-console approve REQUEST REQUEST
      team-console approve REQUEST --always"""
    edited = call.options.edited
    # Once for all of them: standard input can be read once.
    call.options.updated = file_text(edited, what="--edited") if edited is not None else None
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
        seen=_seen_on_command_line(call),
        remarks=_remarks(call),
        scope="once" if options.always is None else "always",
        suggestion=None if options.always is _ONLY_SUGGESTION else options.always,
        mode=options.mode,
        updated=options.updated,
    )
    call.print_receipt(receipt, _decision_lines("approved", receipt))


# `reject`: answers an open request with no, with the reason.


@verb(
    *_SEVERAL,
    arg("--reason", "why; the agent reads it", default="", metavar="TEXT"),
    arg("--suggest", "what you would accept instead", metavar="TEXT"),
    _REMARK,
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
        seen=_seen_on_command_line(call),
        remarks=_remarks(call),
    )
    call.print_receipt(receipt, _decision_lines("rejected", receipt))


# `askback`: asks the asker something; the request stays open.


@verb(
    REQUEST,
    arg("question", "the question to the asker", nargs="?", default="", metavar="QUESTION"),
    _REMARK,
    _SEEN,
)
def do_askback(call: Call) -> None:
    """Ask the asker something about an open request without rejecting it: it stays open with its id and age, and
    whatever waits for the answer keeps waiting. The asker replies with: team-console answer REQUEST --content TEXT

    Examples:
      team-console askback REQUEST "Which files does it touch?"
    """
    options = call.options
    said, remarks = options.question or None, _remarks(call)
    question = Decision(options.request, None, said, remarks=remarks, asks_back=True, seen=_seen_on_command_line(call))
    receipt = decide(call.decider, question)
    call.print_receipt(receipt, _decision_lines("asked back about", receipt))


# `answer`: chooses options of a question, or answers a clarification or an escalation in words.


@verb(
    REQUEST,
    arg("--option", "the option to choose; repeatable", action="append", default=[], metavar="[HEADER=]LABEL"),
    arg("--text", "your own words instead of an option", action="append", default=[], metavar="[HEADER=]TEXT"),
    arg("--note", "a comment on the choice", action="append", default=[], metavar="[HEADER=]TEXT"),
    arg("--content", "an answer in words; - reads standard input", metavar="TEXT|-"),
    _SEEN,
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
    if question is not None and not questions:
        call.refuse_useless({"--note": options.note}, "is a comment on a choice, and there is none in this request")
    if questions and (options.option or options.text):
        call.refuse_useless({"--content": options.content}, "is an answer without --option and --text")
        answers = answers_from(questions, options.option, options.text)
    words = text_or_input(options.content) or ("" if answers else "\n".join((*options.option, *options.text)))
    receipt = answer(
        call.decider,
        request_id=options.request,
        answers=answers,
        notes={text: "\n".join(said) for text, said in _words_for(questions, options.note).items()},
        content=words or None,
        seen=_seen_on_command_line(call, question),
    )
    call.print_receipt(receipt, _decision_lines("answered", receipt))


# What was chosen: `LABEL`, a number, or `HEADER=LABEL` where several questions were asked.

Answers = dict[str, str | list[str]]
"""Text of a question -> what was chosen or said; a list where several options may be chosen, or were."""


def answers_from(questions: Sequence[Question], options: Iterable[str], texts: Iterable[str]) -> Answers:
    """Return question text -> what was chosen or said.

    Args:
        options: Labels or numbers of options; of the n-th question, or the one with that header, as `n=LABEL` or
            `HEADER=LABEL`.
        texts: Own words, named in the same way where there are several questions.

    Raises:
        TeamError: `INVALID_FIELD` for an option nobody offered, with the nearest; `USAGE` where it does not say
            which question it answers.
    """
    chosen: dict[str, list[str]] = {}  # text of a question -> labels and words
    for word in options:
        offering = [question for question in questions if _matching_label(question, word) is not None]
        if len(offering) == 1:  # a label that holds a `=` itself comes first
            question, rest = offering[0], word
        else:
            question, rest = _split_header(questions, word, is_offered=bool(offering))
        chosen.setdefault(question.text, []).append(_matching_label(question, rest) or _label_of_number(question, rest))
    for text, words in _words_for(questions, texts).items():
        chosen.setdefault(text, []).extend(words)
    several = {question.text for question in questions if question.several}
    return {text: words if text in several or len(words) > 1 else words[0] for text, words in chosen.items()}


def _words_for(questions: Sequence[Question], texts: Iterable[str]) -> dict[str, list[str]]:
    """Return question text -> words, each named as in `answers_from` where there are several questions.

    Raises:
        TeamError: `USAGE` where it does not say which question it is for.
    """
    found: dict[str, list[str]] = {}
    for word in texts if questions else ():
        question, rest = questions[0], word
        if len(questions) > 1:
            question, rest = _split_header(questions, word, is_offered=True)
        found.setdefault(question.text, []).append(rest)
    return found


def _split_header(questions: Sequence[Question], word: str, *, is_offered: bool) -> tuple[Question, str]:
    """Return the question and answer in `HEADER=REST` or `2=REST`; the only question where no header is given."""
    key, sign, rest = word.partition("=")
    key = key.strip().casefold()
    for number, question in enumerate(questions, start=1):
        if sign and key and key in (str(number), question.header.strip().casefold()):
            return question, rest.strip()
    if is_offered:
        names = ", ".join(f"{question.header or number}=..." for number, question in enumerate(questions, start=1))
        raise UsageError(f"which question does {word:.80} answer?", f"Name it: {names}")
    if len(questions) > 1:
        raise _no_such_option(questions, word)
    return questions[0], word


def _matching_label(question: Question, word: str) -> str | None:
    """Return the label as the asker wrote it, however the word's letters are cased; None for none, or several."""
    labels = [option.label for option in question.options]
    alike = [word] if word in labels else [label for label in labels if label.casefold() == word.strip().casefold()]
    return alike[0] if len(alike) == 1 else None


def _label_of_number(question: Question, word: str) -> str:
    """Return the label of the option with this number, as people count.

    Raises:
        TeamError: `INVALID_FIELD` where the word is no such number.
    """
    number = int(word) if word.isascii() and word.isdigit() and len(word) < 4 else 0
    if not 0 < number <= len(question.options):
        raise _no_such_option((question,), word)
    return question.options[number - 1].label


def _no_such_option(questions: Sequence[Question], word: str) -> TeamError:
    """Return the error for an option that nobody offered, with those that are offered."""
    labels = [option.label for question in questions for option in question.options]
    offered = f"Offered: {', '.join(labels):.300}." if labels else "It offers no options."
    hint = hint_with_nearest(word, labels, f"{offered} Own words: --content TEXT.")
    return TeamError(Code.INVALID_FIELD, f"there is no option {word:.80}", hint)


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
