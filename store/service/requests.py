"""Requests: plans and stops asked for, every open request answered, one answer each (decisions D8, D10, D14, D17)."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from team_console.store.contract.team import Snapshot
from team_console.store.contract.transaction import Transaction
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.json_text import named
from team_console.store.model.message import Message, Priority
from team_console.store.model.names import canonical, is_name
from team_console.store.model.recorded import RecordedFacts
from team_console.store.protocol.checks import secret_warnings
from team_console.store.protocol.client_requests import ONCE, denial_of, origin_of
from team_console.store.protocol.judgement import ASKBACK, ASKED_BACK, judge, with_bearing
from team_console.store.protocol.kinds import RequestKind, phrase
from team_console.store.protocol.membership import known
from team_console.store.protocol.parsing import carries, parse_message, text_of
from team_console.store.protocol.permissions import breach, direction_problems
from team_console.store.protocol.relations import REQUEST
from team_console.store.protocol.remarks import REMARKS, Remark
from team_console.store.protocol.verdicts import REQUEST_DIGEST, Seen, digest_of
from team_console.store.protocol.why import WHY
from team_console.store.service.agents import agent_to_end, announce, approve_ending, finish_due, refuse_held, start
from team_console.store.service.agents import endings_told as ending_told
from team_console.store.service.agents import told as creation_told
from team_console.store.service.asking import expiry, origin, put_request, refuse_lead
from team_console.store.service.caller import Caller, Receipt
from team_console.store.service.compaction import tidy
from team_console.store.service.questions import (
    Terms,
    Verdict,
    answer_body,
    answer_preview,
    answer_type,
    close_question,
    find_question,
    live_question,
    open_question,
    opened_kind,
    refuse_damaged,
    refuse_decided,
    words_as_answer,
)
from team_console.store.service.sessions import refuse_orphaned
from team_console.store.service.writing import Draft, Made, advise, mark_as_read, put_signed, signed_record, write
from team_console.store.settings.team_config import TeamConfig


class _Answered(Struct, frozen=True):
    """What an answer wrote, and what its writer should know."""

    messages: Sequence[Message]
    warnings: Sequence[str] = ()
    notes: Sequence[str] = ()
    facts: Mapping[str, Any] = {}


class _Wish(Struct, frozen=True):
    """What the actor wants to say, and the record of it once it is signed."""

    request_id: str
    verdict: Verdict
    seen: Seen | str | None = None
    agent_name: str | None = None
    signed: Message | None = None

    @property
    def shown(self) -> Mapping[str, Any]:
        """What the verdict keeps of what was shown."""
        return self.seen.as_recorded if isinstance(self.seen, Seen) else {}


def answer_request(
    caller: Caller, request_id: str, verdict: Verdict, seen: Seen | str | None, agent_name: str | None
) -> Receipt:
    """Write the answer `verdict` to an open request.

    Args:
        seen, agent_name: As for `requests.approve`.

    Raises:
        TeamError: As for `requests.approve`.
    """
    wish = _Wish(request_id, verdict, seen, agent_name)
    snapshot = caller.team.snapshot()
    refuse_damaged(snapshot, request_id)
    refuse_orphaned(caller, snapshot, request_id)
    finish_due(caller, snapshot)
    signed = signed_record(caller, partial(_made, caller, wish), action=verdict.action, shown=wish.shown)
    wish = replace(wish, signed=signed, agent_name=_name_in(signed) or agent_name)
    answered, notices = _answer(caller, wish)
    return Receipt(
        verdict.action,
        tuple(answered.messages),
        tuple(answered.warnings),
        request_id,
        notices=notices,
        notes=tuple(answered.notes),
    )


def _answer(caller: Caller, wish: _Wish) -> tuple[_Answered, tuple[Any, ...]]:
    """The answer written, and what was repaired on the way."""
    verdict = wish.verdict
    with caller.transaction(verdict.action) as tx:
        question, kind = _asked(tx, caller, wish)
        by_command = kind is RequestKind.CREATE and verdict.approve and bool(tx.config.spawn)
        answered = None if by_command else _write_answer(tx, caller, question, kind, wish)
    return (answered, tuple(tx.notices)) if answered is not None else _create_by_command(caller, wish)


def _asked(tx: Transaction, caller: Caller, wish: _Wish) -> tuple[Message, RequestKind]:
    case = open_question(tx, wish.request_id, actor=caller.actor, seen=wish.seen)
    question = case.question.message
    if not is_name(question.sender):
        text = f"{question.message_id} comes from {named(question.sender)}, which is no name, so nobody can be answered"
        hint = f"Take it out of what waits: team-console recall {shlex.quote(question.message_id)}"
        raise TeamError(Code.INVALID_NAME, text, hint)
    if wish.verdict.approve:
        refuse_forbidden(tx.config, tx.everything, question, case.kind, recorded=tx.recorded)
        if case.kind is RequestKind.SHUTDOWN and question.message_id in caller.team.reworded():
            raise _forbidden(question, "it was changed after it was recorded")
    check_name_fits(case.kind, wish.agent_name, wish.request_id)
    return question, case.kind


def refuse_forbidden(
    config: TeamConfig,
    live: Callable[[], Sequence[Message]],
    question: Message,
    kind: RequestKind,
    *,
    recorded: RecordedFacts | None,
) -> None:
    """Refuse a yes to what its sender may not ask for: it would stop or end somebody on the word of nobody.

    Raises:
        TeamError: `NOT_PERMITTED`.
    """
    broken = breach(config, question, recorded)
    if broken is not None:
        raise _forbidden(question, broken[0])
    if kind in (RequestKind.CREATE, RequestKind.DESTROY):
        for problem in direction_problems(question, roles=known(config, live()), lead=config.lead):
            raise _forbidden(question, problem.message)


def _forbidden(question: Message, why: str) -> TeamError:
    request_id = parse_message(question).request_id
    text = f"{request_id} asks for what {question.sender} may not ask: {why}"
    return TeamError(Code.NOT_PERMITTED, text, "It needs no answer; reject it with a reason.", request_id=request_id)


def check_name_fits(kind: RequestKind | None, agent_name: str | None, request_id: str) -> None:
    """Refuse a name for anything but a new agent. Raises `TeamError` `INVALID_FIELD`."""
    if agent_name is not None and kind is not RequestKind.CREATE:
        text = f"{request_id} is a request of kind {kind}; only a new agent gets a name"
        raise TeamError(Code.INVALID_FIELD, text, "Leave out the agent's name.", request_id=request_id)


def _made(caller: Caller, wish: _Wish, tx: Transaction) -> Made:
    """The answer as it would be written, for its signature."""
    question, kind = _asked(tx, caller, wish)
    return Made(_written(tx, caller, question, kind, wish, None).messages[0], question)


def _name_in(signed: Message | None) -> str | None:
    """The name of the agent whose creation was signed: the one that is free now, not the one that will be."""
    read = parse_message(signed) if signed is not None else None
    return text_of(read.body.get("agent_name")) if read is not None and read.answers is RequestKind.CREATE else None


def _create_by_command(caller: Caller, wish: _Wish) -> tuple[_Answered, tuple[Any, ...]]:
    """The spawn command runs outside the lock, while the question is held; then the creation is announced."""
    started = start(caller, request_id=wish.request_id, agent_name=wish.agent_name, seen=wish.seen)
    try:
        with caller.transaction(wish.verdict.action) as tx:
            question, kind = _asked(tx, caller, wish)
            answered = _write_answer(tx, caller, question, kind, wish, started=started)
    except TeamError as error:
        error.hint = f"{error.hint} The spawn command has already started {started}.".strip()
        error.facts["agent_started"] = started
        raise
    return answered, tuple(tx.notices)


def _write_answer(
    tx: Transaction,
    caller: Caller,
    question: Message,
    kind: RequestKind,
    wish: _Wish,
    *,
    started: str | None = None,
) -> _Answered:
    answered = _written(tx, caller, question, kind, wish, started)
    if _is_said(kind, wish.verdict):
        answered = replace(answered, warnings=[*answered.warnings, *advise(tx, answered.messages)])
    if wish.signed is not None:
        first, *others = answered.messages
        answered = replace(answered, messages=[put_signed(tx, Made(first, question), wish.signed), *others])
    tx.record(
        wish.verdict.action,
        request_id=parse_message(question).request_id,
        kind=str(kind),
        asker=question.sender,
        question=question.message_id,
        ids=[message.message_id for message in answered.messages],
        **{REQUEST_DIGEST: digest_of(question)},
        **wish.shown,
        **answered.facts,
    )
    tidy(tx)
    return answered


def _written(
    tx: Transaction, caller: Caller, question: Message, kind: RequestKind, wish: _Wish, started: str | None
) -> _Answered:
    """What the answer adds; its first message is the one that decides."""
    verdict = wish.verdict
    if not verdict.asks_back and kind in (RequestKind.CREATE, RequestKind.DESTROY):
        answer_body(question, kind, verdict, tx.config.language)
    if verdict.asks_back:
        return _ask_back(tx, caller, question, verdict, wish.shown)
    if _is_said(kind, verdict):
        return _say(tx, caller, question, kind, verdict, wish.shown)
    if kind is RequestKind.CREATE:
        return _create(tx, caller, question, verdict, wish.agent_name, started)
    return _end(tx, caller, question, verdict)


def _is_said(kind: RequestKind, verdict: Verdict) -> bool:
    """Whether the answer is one message to the asker; else agents are created or ended."""
    return not (verdict.approve and kind in (RequestKind.CREATE, RequestKind.DESTROY))


def _create(
    tx: Transaction,
    caller: Caller,
    question: Message,
    verdict: Verdict,
    agent_name: str | None,
    started: str | None,
) -> _Answered:
    note = _words(tx, verdict)
    name, messages = announce(tx, caller.actor, question, agent_name=agent_name, started=started, note=note)
    warnings = secret_warnings(verdict.text) if verdict.text else []
    if len(messages) == 1:
        warnings.append("the team has no residents, so nobody was sent the roster")
    told = _named([question.sender, *(message.recipients[0] for message in messages[1:])])
    return _Answered(messages, warnings, (f"{name} is created; told: {told}",), {"agent": name})


def _end(tx: Transaction, caller: Caller, question: Message, verdict: Verdict) -> _Answered:
    agent = agent_to_end(tx.config, question)
    foreseen = ending_told(tx.config, tx.everything(), question, tx.recorded)
    messages = approve_ending(tx, caller.actor, question, _words(tx, verdict))
    warnings = [*foreseen[:-1], *(secret_warnings(verdict.text) if verdict.text else [])]
    if messages[0].type == REQUEST:
        return _Answered(messages, warnings, foreseen[-1:], {"agent": agent})
    if len(messages) == 1:
        warnings.append("the team has no residents, so nobody was sent the roster")
    told = _named([message.recipients[0] for message in messages])
    return _Answered(messages, warnings, (f"{agent} has ended; told: {told}",), {"agent": agent})


def _say(
    tx: Transaction, caller: Caller, question: Message, kind: RequestKind, verdict: Verdict, shown: Mapping[str, Any]
) -> _Answered:
    """The answer is a message to the asker that quotes the request, and says what was shown to whoever decided."""
    refuse_held(question, tx)
    verdict = words_as_answer(question, kind, verdict)
    head = answer_type(kind), caller.actor, (question.sender,)
    body = {**answer_body(question, kind, verdict, tx.config.language), **shown, REQUEST_DIGEST: digest_of(question)}
    warnings = Draft(*head, payload=body, message_id=verdict.message_id).check(tx.config)
    summary = answer_preview(question, kind, verdict, tx.config.language)
    draft = Draft(*head, payload={**body, "summary": summary}, message_id=verdict.message_id)
    messages, _ = write(tx, draft, draft.to)
    close_question(tx, question, actor=caller.actor)
    return _Answered(messages, warnings)


def _words(tx: Transaction, verdict: Verdict) -> str | None:
    return verdict.content(tx.config.language) or None


_IN_ITS_HOOK = frozenset({"claude-code", "codex"})
"""Clients whose model stands still while its hook waits."""


def _ask_back(
    tx: Transaction, caller: Caller, question: Message, verdict: Verdict, shown: Mapping[str, Any]
) -> _Answered:
    """A question about the request goes to its asker; the request stays as open as it was."""
    request_id, language = parse_message(question).request_id, tx.config.language
    remarks = {REMARKS: [remark.as_recorded for remark in verdict.remarks]} if verdict.remarks else {}
    words = verdict.content(language)
    title = phrase(language, "{}: {}", phrase(language, "Asked back about {}", request_id), words.partition("\n")[0])
    payload = {"request_id": request_id, "content": words, **remarks, **shown, REQUEST_DIGEST: digest_of(question)}
    head = ASKBACK, caller.actor, (question.sender,)
    warnings = Draft(*head, payload, message_id=verdict.message_id).check(tx.config)
    draft = Draft(*head, {**payload, "summary": title[:120]}, priority=Priority.HIGH, message_id=verdict.message_id)
    messages, _ = write(tx, draft, draft.to)
    return _Answered(messages, warnings, (_way_to(question),))


def _way_to(question: Message) -> str:
    """How a question back reaches the asker, as a sentence for whoever asks."""
    who, client = question.sender, origin_of(question.payload).client
    if client in _IN_ITS_HOOK and not denial_of(question.payload):
        return f"{who} waits in its hook and cannot answer before your verdict: it reads this with its next mail"
    if client == "mcp":
        return f"{who} reads this when it looks at the verdict or takes its mail"
    return f"{who} reads this with its mail, and where it waits for the verdict"


def _named(names: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(names))


# Requests: plans and stops asked for, every open request answered, one answer each (decisions D8, D10, D14, D17).

__all__ = [
    "Verdict",
    "answer",
    "approve",
    "ask_back",
    "foresee",
    "live_question",
    "reject",
    "request_shutdown",
    "submit_plan",
]


def submit_plan(
    caller: Caller,
    *,
    content: str,
    summary: str | None = None,
    session: str | None = None,
    client: str | None = None,
    directory: str | None = None,
    modes: Sequence[str] = (),
    expires: datetime | str | None = None,
    asker: str | None = None,
    why: Mapping[str, Any] | None = None,
) -> Receipt:
    """Hand in the actor's plan to the lead (requirement 80); a later plan supersedes an open one.

    Args:
        session, client, directory, expires, asker, why: As for `asking.ask_permission`.
        modes: In which the client can go on after a yes, in its own words; the approval may name one.

    Raises:
        TeamError: `MISSING_CONTENT`, `NOT_PERMITTED` for the lead itself, or as for a send.
    """
    config = caller.team.config()
    if not content.strip():
        raise TeamError(Code.MISSING_CONTENT, "the plan is empty", "Give it with --content TEXT, or - for stdin.")
    refuse_lead(caller, config, "plans")
    title = summary or (content.strip().partition("\n")[0].lstrip("# ") or content.strip())[:120]
    more = {**origin(client, session, directory, asker), "modes": list(modes), **expiry(expires), WHY: why}
    return put_request(
        caller,
        action="plan",
        type="plan_approval_request",
        to=config.lead,
        payload={"summary": title, "content": content, **{key: value for key, value in more.items() if value}},
        id_parts=("plan_approval", caller.actor, config.name),
        unchecked=(WHY,),
    )


def request_shutdown(
    caller: Caller, *, agent: str, reason: str | None = None, message_id: str | None = None
) -> Receipt:
    """Ask `agent` to stop; its answer quotes the request id (requirements 64-68). Asking again supersedes the open one.

    Raises:
        TeamError: `NOT_PERMITTED` for anyone but the lead and for the lead or the human as `agent`,
            `AGENT_NOT_FOUND`, or as for a send.
    """
    agent = canonical(agent)
    return put_request(
        caller,
        action="shutdown",
        type=REQUEST,
        to=agent,
        payload={"content": reason} if reason else {},
        id_parts=("shutdown", agent),
        linked=lambda tx: _open_stop(tx, caller.actor, agent),
        message_id=message_id,
    )


def approve(
    caller: Caller,
    *,
    request_id: str,
    note: str | None = None,
    agent_name: str | None = None,
    seen: Seen | str | None = None,
    scope: str = ONCE,
    suggestion: int | None = None,
    mode: str | None = None,
    updated: Mapping[str, Any] | str | None = None,
    message_id: str | None = None,
    remarks: Sequence[Remark] = (),
) -> Receipt:
    """Say yes to an open request.

    Args:
        agent_name: The name of the agent to be created; without it the agent type and a number.
        seen: What was shown of it, or the `digest_of` of the question alone; when it changed since, it is refused.
        scope: For a permission: `once`, or `always` with a suggestion of the client.
        suggestion: Which of the client's suggestions is allowed always, from 1; implied where it has one.
        mode: For a plan: one of the modes it offers to go on in.
        updated: What is approved in place of what was asked for: the edited plan, or the edited part of a
            permission (`edits_before_approval.editable_part`) as text, or its whole input.
        message_id: Id of the answer, for a request that one message answers; None to make one.
        remarks: What is said to single lines of it; the asker reads them with the note.

    Raises:
        TeamError: `INVALID_REQUEST_ID`, `ALREADY_ANSWERED` (with who and when), `NOT_PERMITTED`, `STORE_UNREADABLE`
            when the record of the request is damaged; for a creation `INVALID_NAME`, `STORE_LOCKED` while another
            console starts the agent, `SPAWN_FAILED`; `INVALID_FIELD` for what does not fit the request.
    """
    terms = Terms(scope, suggestion, mode, updated)
    verdict = Verdict(True, note, terms=terms, message_id=message_id, remarks=tuple(remarks))
    return answer_request(caller, request_id, verdict, seen, agent_name)


def reject(
    caller: Caller,
    *,
    request_id: str,
    reason: str,
    suggest: str | None = None,
    seen: Seen | str | None = None,
    message_id: str | None = None,
    remarks: Sequence[Remark] = (),
) -> Receipt:
    """Say no to an open request, with the reason (requirements 92-94).

    Raises:
        TeamError: `MISSING_REASON`, or as for `approve`.
    """
    if not reason.strip() and not remarks:
        raise TeamError(Code.MISSING_REASON, "a refusal needs a reason", "Give it with --reason TEXT.")
    verdict = Verdict(False, reason or None, suggest, message_id=message_id, remarks=tuple(remarks))
    return answer_request(caller, request_id, verdict, seen, None)


def answer(
    caller: Caller,
    *,
    request_id: str,
    answers: Mapping[str, str | Sequence[str]] | None = None,
    content: str | None = None,
    seen: Seen | str | None = None,
) -> Receipt:
    """Answer a question, or say in words what a clarification or an escalation asks for (decision D20).

    Args:
        answers: Question text -> the label of an option or own words; several where the question allows it.
        content: Words for a clarification or an escalation; for a question they go along with the answers.

    Raises:
        TeamError: `MISSING_CONTENT` without either, `INVALID_FIELD` for answers that do not fit, or as for `approve`.
    """
    if not answers and not (content and content.strip()):
        hint = "Choose with --option LABEL, or say it with --content TEXT."
        raise TeamError(Code.MISSING_CONTENT, "the answer is empty", hint, request_id=request_id)
    if content and (receipt := answer_back(caller, request_id=request_id, content=content)) is not None:
        return receipt
    verdict = Verdict(True if answers else None, content, answers=answers or None)
    return answer_request(caller, request_id, verdict, seen, None)


def ask_back(
    caller: Caller,
    *,
    request_id: str,
    content: str = "",
    remarks: Sequence[Remark] = (),
    seen: Seen | str | None = None,
    message_id: str | None = None,
) -> Receipt:
    """Ask the asker something about an open request, which stays open with its id and age.

    Raises:
        TeamError: `MISSING_CONTENT` without a word, or as for `approve`.
    """
    if not content.strip() and not remarks:
        text, hint = "the question back is empty", 'For example: team-console askback REQUEST "How do we roll back?"'
        raise TeamError(Code.MISSING_CONTENT, text, hint, request_id=request_id)
    verdict = Verdict(None, content or None, message_id=message_id, remarks=tuple(remarks), asks_back=True)
    return answer_request(caller, request_id, verdict, seen, None)


def answer_back(caller: Caller, *, request_id: str, content: str) -> Receipt | None:
    """Answer what was asked back about the actor's own request; None where nothing was.

    Raises:
        TeamError: `INVALID_REQUEST_ID`, or as for a send.
    """
    with caller.team.transaction(actor=caller.actor, action="answer_back", wait=caller.wait) as tx:
        case, _ = find_question(tx, request_id, asker=caller.actor)
        asked = next((entry.message for entry in reversed(case.talk) if entry.read.name == ASKBACK), None)
        if case.asker != caller.actor or asked is None:
            return None
        summary = phrase(tx.config.language, "Answer to what you asked back")
        payload = {"request_id": request_id, "in_reply_to": asked.message_id, "content": content, "summary": summary}
        draft = Draft(ASKED_BACK, caller.actor, (asked.sender,), payload)
        warnings = draft.check(tx.config)
        messages, _ = write(tx, draft, draft.to)
        if (live := tx.get(asked.message_id)) is not None and live.is_unread_by(caller.actor):
            mark_as_read(tx, live, caller.actor)
        tx.record("answer_back", request_id=request_id, ids=[message.message_id for message in messages])
        tidy(tx)
    return Receipt("answer", tuple(messages), tuple(warnings), request_id, notices=tuple(tx.notices))


def foresee(snapshot: Snapshot, *, request_id: str, agent_name: str | None = None) -> tuple[str, ...]:
    """What approving a live request will do, as sentences: who is created or ended, and who will be told.

    Raises:
        TeamError: `INVALID_REQUEST_ID` for a request that is not live, `ALREADY_ANSWERED`, `INVALID_NAME`,
            `INVALID_FIELD`, `NOT_PERMITTED` for what its sender may not ask.
    """
    question = live_question(snapshot, request_id)
    if question is None:
        raise TeamError(
            Code.INVALID_REQUEST_ID,
            f"no request {request_id} waits in the queue",
            "List the open ones with: team-console requests --open",
            request_id=request_id,
        )
    thread = [message for message in snapshot.messages if carries(message, request_id)]
    messages = with_bearing(thread, lambda: snapshot.messages)
    case = judge(messages, snapshot.config, snapshot.recorded, snapshot.taken_at).get(question)
    if case is not None:
        refuse_decided(case)
    kind = opened_kind(question)
    check_name_fits(kind, agent_name, request_id)
    if kind is not None:
        refuse_forbidden(snapshot.config, lambda: snapshot.messages, question, kind, recorded=snapshot.recorded)
    if kind is RequestKind.CREATE:
        return creation_told(snapshot.config, snapshot.messages, question, agent_name)
    if kind is RequestKind.DESTROY:
        return ending_told(snapshot.config, snapshot.messages, question, snapshot.recorded)
    return (f"the answer goes to {question.sender}",)


def _open_stop(tx: Transaction, actor: str, agent: str) -> Message | None:
    """The latest request to stop that this agent has not answered."""
    asked = [order for order in tx.select(types=(REQUEST,)) if order.sender == actor and order.recipients == (agent,)]
    if not asked:
        return None
    replies = tx.thread(asked[-1].request_id or asked[-1].message_id)
    is_answered = any(reply.sender == agent and parse_message(reply).approve is not None for reply in replies)
    return None if is_answered else asked[-1]
