"""Requests: plans and stops asked for, and every open request answered, one answer each (decisions D8, D10, D14, D17).

An answer is dispatched by what the question asks: creations and endings of agents are the Master's steps of seed 002,
all others get a message. Each answer is one transaction; only a creation with a spawn command takes two more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from team_console.store.contract.team import Snapshot
from team_console.store.contract.transaction import Transaction
from team_console.store.desk.advice import advise
from team_console.store.desk.agents.creation import announce, refuse_answered_in_order, start
from team_console.store.desk.agents.creation import told as creation_told
from team_console.store.desk.agents.endings import approve_ending, doomed, finish_endings
from team_console.store.desk.agents.endings import told as ending_told
from team_console.store.desk.agents.spawn import refuse_held
from team_console.store.desk.answers import answer_body, answer_preview, answer_type, words_as_answer
from team_console.store.desk.asking import expiry, origin, put_request, refuse_lead
from team_console.store.desk.caller import Caller, Receipt
from team_console.store.desk.draft import Draft, write
from team_console.store.desk.maintenance.compaction import compact
from team_console.store.desk.questions import Terms, Verdict, close_question, open_question, opened_kind
from team_console.store.desk.sessions.gone import refuse_left_behind
from team_console.store.desk.signing import Made, put_signed, signed_verdict
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message
from team_console.store.protocol.checks.secrets import secret_warnings
from team_console.store.protocol.client_requests import ONCE
from team_console.store.protocol.kinds.kind import RequestKind
from team_console.store.protocol.reading import reading, text_of
from team_console.store.protocol.relations.stops import REQUEST
from team_console.store.protocol.seen import REQUEST as REQUEST_DIGEST
from team_console.store.protocol.seen import Seen, digest_of, fingerprint

__all__ = [
    "Verdict",
    "answer",
    "approve",
    "fingerprint",
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
) -> Receipt:
    """Hand in the actor's plan to the lead (requirement 80); a later plan supersedes an open one.

    Args:
        session, client, directory, expires, asker: As for `asking.ask_permission`.
        modes: In which the client can go on after a yes, in its own words; the approval may name one.

    Raises:
        TeamError: `MISSING_CONTENT`, `NOT_PERMITTED` for the lead itself, or as for a send.
    """
    config = caller.team.config()
    if not content.strip():
        raise TeamError(Code.MISSING_CONTENT, "the plan is empty", "Give it with --content TEXT, or - for stdin.")
    refuse_lead(caller, config, "plans")
    title = summary or (content.strip().partition("\n")[0].lstrip("# ") or content.strip())[:120]
    more = {**origin(client, session, directory, asker), "modes": list(modes), **expiry(expires)}
    return put_request(
        caller,
        action="plan",
        type="plan_approval_request",
        to=config.lead,
        payload={"summary": title, "content": content, **{key: value for key, value in more.items() if value}},
        id_parts=("plan_approval", caller.actor, config.name),
    )


def request_shutdown(caller: Caller, *, agent: str, reason: str | None = None) -> Receipt:
    """Ask `agent` to stop; its answer quotes the request id (requirements 64-68). Asking again supersedes the open one.

    Raises:
        TeamError: `NOT_PERMITTED` for anyone but the lead and for the lead or the human as `agent`,
            `AGENT_NOT_FOUND`, or as for a send.
    """
    return put_request(
        caller,
        action="shutdown",
        type=REQUEST,
        to=agent,
        payload={"content": reason} if reason else {},
        id_parts=("shutdown", agent),
        linked=lambda tx: _open_stop(tx, caller.actor, agent),
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
) -> Receipt:
    """Say yes to an open request.

    Args:
        agent_name: The name of the agent to be created; without it the agent type and a number.
        seen: What was shown of it, or the `fingerprint` of the question alone; when it changed since, it is refused.
        scope: For a permission: `once`, or `always` with a suggestion of the client.
        suggestion: Which of the client's suggestions is allowed always, from 1; implied where it has one.
        mode: For a plan: one of the modes it offers to go on in.
        updated: What is approved in place of what was asked for: the edited plan, or the edited part of a
            permission (`edits_before_approval.editable_part`) as text, or its whole input.

    Raises:
        TeamError: `INVALID_REQUEST_ID`, `ALREADY_ANSWERED` (with who and when), `NOT_PERMITTED`, `STORE_UNREADABLE`
            when the record of the request is damaged; for a creation `INVALID_NAME`, `STORE_LOCKED` while another
            console starts the agent, `SPAWN_FAILED`; `INVALID_FIELD` for what does not fit the request.
    """
    terms = Terms(scope, suggestion, mode, updated)
    return _answer(caller, request_id, Verdict(True, note, terms=terms), seen, agent_name)


def reject(
    caller: Caller, *, request_id: str, reason: str, suggest: str | None = None, seen: Seen | str | None = None
) -> Receipt:
    """Say no to an open request, with the reason (requirements 92-94).

    Raises:
        TeamError: `MISSING_REASON`, or as for `approve`.
    """
    if not reason.strip():
        raise TeamError(Code.MISSING_REASON, "a refusal needs a reason", "Give it with --reason TEXT.")
    return _answer(caller, request_id, Verdict(False, reason, suggest), seen, None)


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
    verdict = Verdict(True if answers else None, content, answers=answers or None)
    return _answer(caller, request_id, verdict, seen, None)


def foresee(snapshot: Snapshot, *, request_id: str, agent_name: str | None = None) -> tuple[str, ...]:
    """What approving a live request will do, as sentences: who is created or ended, and who will be told.

    Raises:
        TeamError: `INVALID_REQUEST_ID` for a request that is not live, `INVALID_NAME`, `INVALID_FIELD`.
    """
    question = live_question(snapshot, request_id)
    if question is None:
        raise TeamError(
            Code.INVALID_REQUEST_ID,
            f"no request {request_id} waits in the queue",
            "List the open ones with: team-console requests --open",
            request_id=request_id,
        )
    kind = opened_kind(question)
    _check_name_fits(kind, agent_name, request_id)
    if kind is RequestKind.CREATE:
        return creation_told(snapshot.config, snapshot.messages, question, agent_name)
    if kind is RequestKind.DESTROY:
        return ending_told(snapshot.config, snapshot.messages, question)
    return (f"the answer goes to {question.sender}",)


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


def _open_stop(tx: Transaction, actor: str, agent: str) -> Message | None:
    """The latest request to stop that this agent has not answered."""
    asked = [order for order in tx.select(types=(REQUEST,)) if order.sender == actor and order.recipients == (agent,)]
    if not asked:
        return None
    replies = tx.thread(asked[-1].request_id or asked[-1].message_id)
    is_answered = any(reply.sender == agent and reading(reply).approve is not None for reply in replies)
    return None if is_answered else asked[-1]


def _answer(
    caller: Caller, request_id: str, verdict: Verdict, seen: Seen | str | None, agent_name: str | None
) -> Receipt:
    snapshot = caller.team.snapshot()
    _refuse_damaged(snapshot, request_id)
    refuse_left_behind(caller, snapshot, request_id)
    wish = _Wish(request_id, verdict, seen, agent_name)
    signed = signed_verdict(caller, partial(_made, caller, wish), action=verdict.action, shown=wish.shown)
    wish = replace(wish, signed=signed, agent_name=_name_in(signed) or agent_name)
    with caller.team.transaction(actor=caller.actor, action=verdict.action, wait=caller.wait) as tx:
        question, kind = _asked(tx, caller, wish)
        by_command = kind is RequestKind.CREATE and verdict.approve and bool(tx.config.spawn)
        if not by_command:
            answered = _write_answer(tx, caller, question, kind, wish)
    if by_command:
        answered, notices = _create_by_command(caller, wish)
    else:
        notices = tuple(tx.notices)
    return Receipt(
        verdict.action,
        tuple(answered.messages),
        tuple(answered.warnings),
        request_id,
        notices=notices,
        notes=tuple(answered.notes),
    )


def _asked(tx: Transaction, caller: Caller, wish: _Wish) -> tuple[Message, RequestKind]:
    question, kind = open_question(tx, wish.request_id, actor=caller.actor, seen=wish.seen)
    _check_name_fits(kind, wish.agent_name, wish.request_id)
    return question, kind


def _made(caller: Caller, wish: _Wish, tx: Transaction) -> Made:
    """The answer as it would be written, for its signature."""
    question, kind = _asked(tx, caller, wish)
    return Made(_written(tx, caller, question, kind, wish, None).messages[0], question)


def _name_in(signed: Message | None) -> str | None:
    """The name of the agent whose creation was signed: the one that is free now, not the one that will be."""
    read = reading(signed) if signed is not None else None
    return text_of(read.body.get("agent_name")) if read is not None and read.answers is RequestKind.CREATE else None


def _create_by_command(caller: Caller, wish: _Wish) -> tuple[_Answered, tuple[Any, ...]]:
    """The spawn command runs outside the lock, while the question is held; then the creation is announced."""
    started = start(caller, request_id=wish.request_id, agent_name=wish.agent_name, seen=wish.seen)
    try:
        with caller.team.transaction(actor=caller.actor, action=wish.verdict.action, wait=caller.wait) as tx:
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
    if wish.signed is not None:
        first, *others = answered.messages
        answered = replace(answered, messages=[put_signed(tx, Made(first, question), wish.signed), *others])
    tx.record(
        wish.verdict.action,
        request_id=reading(question).request_id,
        kind=str(kind),
        asker=question.sender,
        question=question.message_id,
        ids=[message.message_id for message in answered.messages],
        **{REQUEST_DIGEST: digest_of(question)},
        **wish.shown,
        **answered.facts,
    )
    finish_endings(tx)
    compact(tx)
    return answered


def _written(
    tx: Transaction, caller: Caller, question: Message, kind: RequestKind, wish: _Wish, started: str | None
) -> _Answered:
    """What the answer adds; its first message is the one that decides."""
    verdict = wish.verdict
    if kind in (RequestKind.CREATE, RequestKind.DESTROY):
        answer_body(question, kind, verdict)
        refuse_answered_in_order(tx, question, kind)
    if verdict.approve and kind is RequestKind.CREATE:
        return _create(tx, caller, question, verdict, wish.agent_name, started)
    if verdict.approve and kind is RequestKind.DESTROY:
        return _end(tx, caller, question, verdict)
    return _say(tx, caller, question, kind, verdict, wish.shown)


def _create(
    tx: Transaction,
    caller: Caller,
    question: Message,
    verdict: Verdict,
    agent_name: str | None,
    started: str | None,
) -> _Answered:
    name, messages = announce(tx, caller.actor, question, agent_name=agent_name, started=started, note=verdict.text)
    warnings = secret_warnings(verdict.text) if verdict.text else []
    if len(messages) == 1:
        warnings.append("the team has no residents, so nobody was sent the roster")
    told = _named([question.sender, *(message.recipients[0] for message in messages[1:])])
    return _Answered(messages, warnings, (f"{name} is created; told: {told}",), {"agent": name})


def _end(tx: Transaction, caller: Caller, question: Message, verdict: Verdict) -> _Answered:
    agent = doomed(tx.config, question)
    foreseen = ending_told(tx.config, tx.everything(), question)
    messages = approve_ending(tx, caller.actor, question, verdict.text)
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
    body = {**answer_body(question, kind, verdict), **shown, REQUEST_DIGEST: digest_of(question)}
    warnings = Draft(*head, payload=body).check(tx.config)
    draft = Draft(*head, payload={**body, "summary": answer_preview(question, kind, verdict)})
    messages, _ = write(tx, draft, draft.to)
    warnings += advise(tx, messages)
    close_question(tx, question, actor=caller.actor)
    return _Answered(messages, warnings)


def _check_name_fits(kind: RequestKind | None, agent_name: str | None, request_id: str) -> None:
    if agent_name is not None and kind is not RequestKind.CREATE:
        text = f"{request_id} is a request of kind {kind}; only a new agent gets a name"
        raise TeamError(Code.INVALID_FIELD, text, "Leave out the agent's name.", request_id=request_id)


def live_question(snapshot: Snapshot, request_id: str) -> Message | None:
    """The question of this id in the queue, None when it is not there."""
    for message in snapshot.messages:
        if opened_kind(message) is not None and reading(message).request_id == request_id:
            return message
    return None


def _refuse_damaged(snapshot: Snapshot, request_id: str) -> None:
    """Refuse, by a look without the lock, a request whose record in the queue is damaged."""
    if request_id in snapshot.damaged and live_question(snapshot, request_id) is None:
        text = f"the record of request {request_id} in the queue is damaged, so it cannot be answered"
        hint = "'team-console check' names file and line; repair it, or ask the sender to ask again."
        raise TeamError(Code.STORE_UNREADABLE, text, hint, request_id=request_id)


def _named(names: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(names))
