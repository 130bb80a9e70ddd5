"""Answering: one answer to one open request, written in one transaction (decisions D8, D10, D14, D17).

What the question asks decides how: creations and endings of agents are the Master's steps of seed 002, all others get
a message. Only a creation with a spawn command takes two transactions more.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from team_console.store.contract.transaction import Transaction
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.json_text import named
from team_console.store.model.message import Message
from team_console.store.model.names import is_name
from team_console.store.model.recorded import RecordedFacts
from team_console.store.protocol.checks import secret_warnings
from team_console.store.protocol.kinds import RequestKind
from team_console.store.protocol.membership import known
from team_console.store.protocol.parsing import parse_message, text_of
from team_console.store.protocol.permissions import breach, direction_problems
from team_console.store.protocol.relations import REQUEST
from team_console.store.protocol.seen import REQUEST as REQUEST_DIGEST
from team_console.store.protocol.seen import Seen, digest_of
from team_console.store.service.agents import agent_to_end, announce, approve_ending, finish_due, refuse_held, start
from team_console.store.service.agents import endings_told as ending_told
from team_console.store.service.caller import Caller, Receipt
from team_console.store.service.compaction import tidy
from team_console.store.service.drafting import Draft, advise, write
from team_console.store.service.questions import (
    Verdict,
    answer_body,
    answer_preview,
    answer_type,
    close_question,
    open_question,
    refuse_damaged,
    words_as_answer,
)
from team_console.store.service.sessions import refuse_orphaned
from team_console.store.service.signing import Made, put_signed, signed_record
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
    with caller.team.transaction(actor=caller.actor, action=verdict.action, wait=caller.wait) as tx:
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
    if kind in (RequestKind.CREATE, RequestKind.DESTROY):
        answer_body(question, kind, verdict, tx.config.language)
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
    name, messages = announce(tx, caller.actor, question, agent_name=agent_name, started=started, note=verdict.text)
    warnings = secret_warnings(verdict.text) if verdict.text else []
    if len(messages) == 1:
        warnings.append("the team has no residents, so nobody was sent the roster")
    told = _named([question.sender, *(message.recipients[0] for message in messages[1:])])
    return _Answered(messages, warnings, (f"{name} is created; told: {told}",), {"agent": name})


def _end(tx: Transaction, caller: Caller, question: Message, verdict: Verdict) -> _Answered:
    agent = agent_to_end(tx.config, question)
    foreseen = ending_told(tx.config, tx.everything(), question, tx.recorded)
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
    body = {**answer_body(question, kind, verdict, tx.config.language), **shown, REQUEST_DIGEST: digest_of(question)}
    warnings = Draft(*head, payload=body, message_id=verdict.message_id).check(tx.config)
    summary = answer_preview(question, kind, verdict, tx.config.language)
    draft = Draft(*head, payload={**body, "summary": summary}, message_id=verdict.message_id)
    messages, _ = write(tx, draft, draft.to)
    close_question(tx, question, actor=caller.actor)
    return _Answered(messages, warnings)


def _named(names: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(names))
