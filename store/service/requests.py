"""Hand in plans, ask agents to stop, and answer open requests, each once (decisions D8, D10, D14, D17)."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import asdict, replace
from team_console.store.contract.snapshot import Snapshot, TeamState
from team_console.store.contract.transaction import Transaction
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.json_text import value_words
from team_console.store.model.message import Fields, Message, Priority, ids_of, nonempty
from team_console.store.model.names import canonical, is_name
from team_console.store.model.safe import is_blank
from team_console.store.protocol.client_requests import FURTHER, ONCE, WHY, denial_of, origin_of
from team_console.store.protocol.foreign_fields import key_in
from team_console.store.protocol.kinds import ASKBACK, ASKED_BACK, REPLACES, RESPONSES, SHUTDOWN_REQUEST, RequestKind
from team_console.store.protocol.membership import known_members
from team_console.store.protocol.parsing import parse_message
from team_console.store.protocol.phrases import phrase
from team_console.store.protocol.remarks import REMARKS, Remark
from team_console.store.protocol.request_row import RequestRow
from team_console.store.protocol.rights import breach, direction_problems
from team_console.store.protocol.secrets_in_text import secret_warnings
from team_console.store.protocol.shown_when_decided import REQUEST_DIGEST, Seen, digest_of
from team_console.store.service.agents import (
    agent_to_end,
    announce_new_agent,
    approve_ending,
    creation_forecast,
    ending_forecast,
    finish_due,
    refuse_held,
    start_agent,
)
from team_console.store.service.answerable import (
    answerable_request,
    close_question,
    find_question,
    refuse_damaged,
    refuse_decided,
    refuse_ended,
)
from team_console.store.service.asking import ask_lead, origin_fields
from team_console.store.service.caller import Caller, Receipt, receipt
from team_console.store.service.compaction import tidy
from team_console.store.service.decision import (
    UNSEEN,
    Answers,
    Decision,
    answer_body,
    answer_preview,
    refuse_empty,
    refuse_unbound,
    words_as_answer,
)
from team_console.store.service.sending import confirm_ends
from team_console.store.service.sessions import refuse_orphaned
from team_console.store.service.signing import MadeVerdict, put_signed, signed_record
from team_console.store.service.writing import (
    Draft,
    advise,
    check_known,
    new_request_id,
    not_listening,
    not_reached,
    write_drafts,
)


class _WrittenAnswer(Struct, frozen=True):
    """What an answer wrote, the message that decides first, and what its writer should know."""

    messages: Sequence[Message]
    warnings: Sequence[str] = ()
    notes: Sequence[str] = ()
    facts: Fields = {}


def decide(caller: Caller, verdict: Decision) -> Receipt:
    """Write a decision on an open request: every face makes this one value and hands it in here.

    Raises:
        ChangedError: The request is not what was shown.
        TeamError: As for `approve`; `NOT_PERMITTED` for one that was decided together with others without being shown
            whole, or by somebody else, or when verdicts were still signed.
    """
    refuse_unbound(verdict, actor=caller.actor, must_be_signed=caller.team.config().must_be_signed(caller.actor))
    snapshot, action = caller.team.snapshot(), verdict.action
    refuse_damaged(snapshot, verdict.request_id)
    refuse_orphaned(caller, snapshot, verdict.request_id)
    finish_due(caller, snapshot)

    def make(tx: Transaction) -> MadeVerdict:
        row = _request_to_answer(tx, caller, verdict)
        return MadeVerdict(_add_answer(tx, caller, row, verdict).messages[0], row.question)

    signed = signed_record(caller, make, action=action, shown=verdict.shown)
    read = parse_message(signed) if signed is not None else None
    if read is not None and read.answers is RequestKind.CREATE:
        # The name that was free when it was signed, not the one that will be.
        verdict = replace(verdict, agent_name=key_in(read.body, "agent_name") or verdict.agent_name)
    answered = None
    with caller.transaction(action) as tx:
        row = _request_to_answer(tx, caller, verdict)
        if not (row.kind is RequestKind.CREATE and verdict.approve and tx.config.spawn):
            answered = _write_answer(tx, caller, row, verdict, signed)
    if answered is None:
        # The spawn command runs outside the lock, while the question is held; then the creation is announced.
        name, seen = verdict.agent_name, verdict.seen
        started = start_agent(caller, request_id=verdict.request_id, agent_name=name, seen=seen)
        try:
            with caller.transaction(action) as tx:
                answered = _write_answer(tx, caller, _request_to_answer(tx, caller, verdict), verdict, signed, started)
        except TeamError as error:
            error.hint = f"{error.hint} The spawn command has already started {started}.".strip()
            error.facts["agent_started"] = started
            raise
    return receipt(tx, action, answered.messages, answered.warnings, verdict.request_id, notes=answered.notes)


def _request_to_answer(tx: Transaction, caller: Caller, verdict: Decision) -> RequestRow:
    """Return the request, when the actor may answer it so.

    Raises:
        TeamError: As for `approve`.
    """
    row = answerable_request(tx, verdict.request_id, actor=caller.actor, seen=verdict.seen)
    refuse_empty(verdict)
    question = row.question
    if not is_name(question.sender):
        sender = value_words(question.sender)
        text = f"{question.message_id} comes from {sender}, which is no name, so nobody can be answered"
        hint = f"Take it out of what waits: team-console recall {shlex.quote(question.message_id)}"
        raise TeamError(Code.INVALID_NAME, text, hint)
    if verdict.approve:
        _refuse_not_entitled(tx, question)
        if row.kind is RequestKind.SHUTDOWN and question.message_id in caller.team.reworded():
            raise _forbidden_request(question, "it was changed after it was recorded")
    _check_name_fits(row.kind, verdict.agent_name, verdict.request_id)
    return row


def _refuse_not_entitled(state: TeamState, question: Message) -> None:
    """Refuse a yes to what its sender may not ask for: it would stop or end somebody on the word of nobody.

    Raises:
        TeamError: `NOT_PERMITTED`.
    """
    config = state.config
    broken = breach(config, question, state.recorded)
    if broken is not None:
        raise _forbidden_request(question, broken[0])
    if parse_message(question).opens in (RequestKind.CREATE, RequestKind.DESTROY):
        for problem in direction_problems(question, known_members(config, state.everything()), config.lead):
            raise _forbidden_request(question, problem.message)


def _forbidden_request(question: Message, why: str) -> TeamError:
    request_id = parse_message(question).request_id
    text = f"{request_id} asks for what {question.sender} may not ask: {why}"
    return TeamError(Code.NOT_PERMITTED, text, "It needs no answer; reject it with a reason.", request_id=request_id)


def _check_name_fits(kind: RequestKind | None, agent_name: str | None, request_id: str) -> None:
    """Refuse a name for anything but a new agent. Raises `TeamError` `INVALID_FIELD`."""
    if agent_name is not None and kind is not RequestKind.CREATE:
        text = f"{request_id} is a request of kind {kind}; only a new agent gets a name"
        raise TeamError(Code.INVALID_FIELD, text, "Leave out the agent's name.", request_id=request_id)


def _write_answer(
    tx: Transaction,
    caller: Caller,
    row: RequestRow,
    verdict: Decision,
    signed: Message | None,
    started: str | None = None,
) -> _WrittenAnswer:
    """Write the answer, signed where it has to be, and put it on record."""
    question = row.question
    answered = _add_answer(tx, caller, row, verdict, started)
    if not _creates_or_ends(row.kind, verdict):
        names = [name for message in answered.messages for name in message.recipients]
        told = (*advise(tx, answered.messages), *not_reached(tx, names), *_former_member_words(tx, question))
        answered = replace(answered, warnings=[*answered.warnings, *told])
    first, *others = answered.messages
    answered = replace(answered, messages=[put_signed(tx, MadeVerdict(first, question), signed), *others])
    tx.record(
        verdict.action,
        request_id=row.request_id,
        kind=str(row.kind),
        asker=question.sender,
        question=question.message_id,
        ids=ids_of(answered.messages),
        **{REQUEST_DIGEST: digest_of(question)},
        **verdict.shown,
        **verdict.as_recorded,
        **answered.facts,
    )
    tidy(tx)
    return answered


def _creates_or_ends(kind: RequestKind, verdict: Decision) -> bool:
    """Return whether agents are created or ended by the answer; else it is one message to the asker."""
    return verdict.approve is True and kind in (RequestKind.CREATE, RequestKind.DESTROY)


def _add_answer(
    tx: Transaction, caller: Caller, row: RequestRow, verdict: Decision, started: str | None = None
) -> _WrittenAnswer:
    """Add the messages of the answer, of which the first one decides."""
    question, kind, language = row.question, row.kind, tx.config.language
    if verdict.asks_back:
        return _ask_back(tx, caller, question, verdict)
    verdict = words_as_answer(question, kind, verdict)
    body = answer_body(question, kind, verdict, language)
    if _creates_or_ends(kind, verdict):
        return _create_or_end(tx, caller, row, verdict, started)
    refuse_held(question, tx)
    body |= {**verdict.shown, REQUEST_DIGEST: digest_of(question)}
    answering = RESPONSES.get(kind, "message")
    draft = Draft(answering, caller.actor, (question.sender,), body, message_id=verdict.message_id)
    answered = _write_with_summary(tx, draft, answer_preview(question, kind, verdict, language))
    close_question(tx, question, actor=caller.actor)
    return answered


def _write_with_summary(tx: Transaction, draft: Draft, summary: str) -> _WrittenAnswer:
    """Write a message with a summary of ours, which no advice to its writer is about."""
    warnings = draft.check(tx.config)
    messages = write_drafts(tx, replace(draft, payload={**draft.payload, "summary": summary}))
    return _WrittenAnswer(messages, warnings)


def _create_or_end(
    tx: Transaction, caller: Caller, row: RequestRow, verdict: Decision, started: str | None
) -> _WrittenAnswer:
    """Create the agent that was asked for, or have it stopped and confirm its end."""
    question, note = row.question, verdict.content(tx.config.language) or None
    warnings = secret_warnings(verdict.text) if verdict.text else []
    if row.kind is RequestKind.CREATE:
        agent, messages = announce_new_agent(
            tx, caller.actor, question, agent_name=verdict.agent_name, started=started, note=note
        )
        told, done = [question.sender, *(message.recipients[0] for message in messages[1:])], "is created"
    else:
        agent = agent_to_end(tx.config, question)
        *odd, last = ending_forecast(tx, question)
        messages, warnings = approve_ending(tx, caller.actor, question, note), [*odd, *warnings]
        if messages[0].type == SHUTDOWN_REQUEST:
            return _WrittenAnswer(messages, warnings, (last,), {"agent": agent})
        told, done = [message.recipients[0] for message in messages], "has ended"
    if len(messages) == 1:
        warnings.append("the team has no residents, so nobody was sent the roster")
    notes = (f"{agent} {done}; told: {', '.join(dict.fromkeys(told))}",)
    return _WrittenAnswer(messages, warnings, notes, {"agent": agent})


_IN_ITS_HOOK = frozenset({"claude-code", "codex"})
"""Clients whose model stands still while its hook waits."""


def _ask_back(tx: Transaction, caller: Caller, question: Message, verdict: Decision) -> _WrittenAnswer:
    """Put a question about the request to its asker; the request stays as open as it was."""
    request_id, language = parse_message(question).request_id, tx.config.language
    remarks = {REMARKS: [asdict(remark) for remark in verdict.remarks]} if verdict.remarks else {}
    words = verdict.content(language)
    title = phrase(language, "{}: {}", phrase(language, "Asked back about {}", request_id), words.partition("\n")[0])
    shown = {**verdict.shown, REQUEST_DIGEST: digest_of(question)}
    payload = {"request_id": request_id, "content": words, **remarks, **shown}
    draft = Draft(ASKBACK, caller.actor, (question.sender,), payload, Priority.HIGH, verdict.message_id)
    answered = _write_with_summary(tx, draft, title[:120])
    who, client = question.sender, origin_of(question.payload).client
    way = f"{who} reads this with its mail, and where it waits for the verdict"
    if client in _IN_ITS_HOOK and not denial_of(question.payload):
        way = f"{who} waits in its hook and cannot answer before your verdict: it reads this with its next mail"
    elif client == "mcp":
        way = f"{who} reads this when it looks at the verdict or takes its mail"
    return replace(answered, notes=(way,))


# What people and agents do: hand in, ask to stop, answer.


def submit_plan(
    caller: Caller,
    *,
    content: str,
    summary: str | None = None,
    session: str | None = None,
    client: str | None = None,
    directory: str | None = None,
    modes: Sequence[str] = (),
    further: Fields | None = None,
    expires: datetime | str | None = None,
    asker: str | None = None,
    why: Fields | None = None,
    replaces: str | None = None,
) -> Receipt:
    """Hand in the actor's plan to the lead (requirement 80); a later plan supersedes an open one.

    Args:
        replaces: Id of the request that this is a new version of, where the title does not tell.
        session, client, directory, expires, asker, why: As for `asking.ask_permission`.
        modes: In which the client can go on after a yes, in its own words; the approval may name one.
        further: What else the client's tool was called with: shown with the plan, and handed back with a yes.

    Raises:
        TeamError: `MISSING_CONTENT`, `NOT_PERMITTED` for the lead itself, or as for a send.
    """
    if is_blank(content):
        raise TeamError(Code.MISSING_CONTENT, "the plan is empty", "Give it with --content TEXT, or - for stdin.")
    title = summary or (content.strip().partition("\n")[0].lstrip("# ") or content.strip())[:120]
    more = {**origin_fields(client, session, directory, asker, expires), "modes": list(modes), WHY: why}
    more |= {FURTHER: dict(further or {}), REPLACES: replaces}
    return ask_lead(
        caller,
        action="plan",
        type="plan_approval_request",
        prefix="plan_approval",
        what="plans",
        payload={"summary": title, "content": content, **nonempty(more)},
        unchecked=(WHY,),
    )


def request_shutdown(
    caller: Caller, *, agent: str, reason: str | None = None, message_id: str | None = None, again: bool = True
) -> Receipt:
    """Ask `agent` to stop; its answer quotes the request id (requirements 64-68). Asking again supersedes the open one.

    Args:
        again: Whether to ask an agent that has stopped, or was asked and has not answered.

    Raises:
        TeamError: `NOT_PERMITTED` for anyone but the lead and for the lead or the human as `agent`,
            `AGENT_NOT_FOUND`, without `again` `MISSING_RECIPIENT`, or as for a send.
    """
    agent, actor = canonical(agent), caller.actor
    said = {"content": reason} if reason else {}
    draft = Draft(SHUTDOWN_REQUEST, actor, (agent,), {**said, "request_id": "new"}, message_id=message_id)

    def put(tx: Transaction) -> tuple[Message, Message | None]:
        """Return the order written, and the open one that it supersedes: what that one quotes, this one quotes, too."""
        check_known(tx, [agent, actor])
        # guard: asked-to-stop-once-in-turn
        if not again and not_listening(tx, [agent]):
            raise TeamError(Code.MISSING_RECIPIENT, f"{agent} has stopped or was asked to stop meanwhile")
        older = _unanswered_stop(tx, actor, agent)
        quoted = older.payload.get("in_reply_to") if older is not None else None
        body = {"request_id": new_request_id(tx, "shutdown", agent), **said}
        body |= {} if quoted is None else {"in_reply_to": quoted}
        (message,) = write_drafts(tx, replace(draft, payload=body))
        return message, older

    signed = signed_record(caller, lambda tx: MadeVerdict(put(tx)[0]), action="shutdown")
    warnings, notes = draft.check(caller.team.config()), list[str]()
    with caller.transaction("shutdown") as tx:
        quiet = not_listening(tx, [agent])
        made, older = put(tx)
        message = put_signed(tx, MadeVerdict(made), signed)
        warnings += advise(tx, [message])
        if older is None:
            warnings += quiet
        else:
            notes.append(f"it supersedes {older.request_id}, which {agent} has not answered")
        tx.record("shutdown", ids=[message.message_id], to=[agent], request_id=message.request_id)
        confirm_ends(tx)
    return receipt(tx, "shutdown", [message], warnings, message.request_id, notes=notes)


def approve(
    caller: Caller,
    *,
    request_id: str,
    note: str | None = None,
    agent_name: str | None = None,
    seen: Seen = UNSEEN,
    scope: str = ONCE,
    suggestion: int | None = None,
    mode: str | None = None,
    updated: Fields | str | None = None,
    message_id: str | None = None,
    remarks: Sequence[Remark] = (),
) -> Receipt:
    """Say yes to an open request.

    Args:
        agent_name: The name of the agent to be created; without it the agent type and a number.
        seen: What was shown of it; when it changed since, it is refused.
        scope: For a permission: `once`, or `always` with a suggestion of the client.
        suggestion: Which of the client's suggestions is allowed always, from 1; implied where it has one.
        mode: For a plan: one of the modes it offers to go on in.
        updated: What is approved in place of what was asked for: the edited plan, or the edited part of a
            permission (`client_requests.editable_part`) as text, or its whole input.
        message_id: Id of the answer, for a request that one message answers; None to make one.
        remarks: What is said to single lines of it; the asker reads them with the note.

    Raises:
        TeamError: `INVALID_REQUEST_ID`, `ALREADY_ANSWERED` (with who and when), `NOT_PERMITTED`, `STORE_UNREADABLE`
            when the record of the request is damaged; for a creation `INVALID_NAME`, `STORE_LOCKED` while another
            console starts the agent, `SPAWN_FAILED`; `INVALID_FIELD` for what does not fit the request.
    """
    verdict = Decision(
        request_id,
        True,
        note,
        scope=scope,
        number=suggestion,
        mode=mode,
        updated=updated,
        message_id=message_id,
        remarks=tuple(remarks),
        seen=seen,
        agent_name=agent_name,
    )
    return decide(caller, verdict)


def reject(
    caller: Caller,
    *,
    request_id: str,
    reason: str,
    suggest: str | None = None,
    seen: Seen = UNSEEN,
    message_id: str | None = None,
    remarks: Sequence[Remark] = (),
) -> Receipt:
    """Say no to an open request, with the reason (requirements 92-94).

    Raises:
        TeamError: `MISSING_REASON`, or as for `approve`.
    """
    verdict = Decision(
        request_id, False, reason or None, suggest, message_id=message_id, remarks=tuple(remarks), seen=seen
    )
    return decide(caller, verdict)


def answer(
    caller: Caller,
    *,
    request_id: str,
    answers: Answers | None = None,
    notes: Mapping[str, str] | None = None,
    content: str | None = None,
    seen: Seen = UNSEEN,
) -> Receipt:
    """Answer a question, or say in words what a clarification or an escalation asks for (decision D20).

    Args:
        answers: Question text -> the label of an option or own words; several where the question allows it.
        notes: Question text -> words beside what was chosen; its client hands them on with the answer.
        content: Words for a clarification or an escalation; for a question they go along with the answers.

    Raises:
        TeamError: `MISSING_CONTENT` without either, `INVALID_FIELD` for answers that do not fit, or as for `approve`.
    """
    said: Answers | None = answers or None
    decision = Decision(request_id, True if said else None, content, answers=said, notes=notes or {}, seen=seen)
    if content and content.strip():
        answered = _write_answer_back(caller, request_id=request_id, content=content)
        if answered is not None:
            return answered
    return decide(caller, decision)


def answer_back(caller: Caller, *, request_id: str, content: str) -> Receipt:
    """Answer what was asked back about a request of the actor's own, and nothing else.

    Raises:
        TeamError: `INVALID_REQUEST_ID` where nothing was asked back, `ALREADY_ANSWERED` once it is decided,
            `MISSING_CONTENT`, or as for a send.
    """
    if is_blank(content):
        raise TeamError(Code.MISSING_CONTENT, "the answer is empty", "Say what was asked.")
    answered = _write_answer_back(caller, request_id=request_id, content=content)
    # guard: answer-back-decides-nothing
    if answered is None:
        text = f"{caller.actor} was asked nothing back about {request_id}"
        hint = "Only who asks is asked back. What decides a request has a door of its own."
        raise TeamError(Code.INVALID_REQUEST_ID, text, hint, request_id=request_id)
    return answered


def _write_answer_back(caller: Caller, *, request_id: str, content: str) -> Receipt | None:
    """Answer what was asked back about the actor's own request; None where nothing was.

    Raises:
        TeamError: `INVALID_REQUEST_ID`, `ALREADY_ANSWERED` once it is decided, or as for a send.
    """
    with caller.transaction("answer_back") as tx:
        case, _ = find_question(tx, request_id, asker=caller.actor)
        asked = next((item for item in reversed(case.talk) if parse_message(item).name == ASKBACK), None)
        if case.asker != caller.actor or asked is None:
            return None
        # guard: nothing-answered-back-after-a-decision
        refuse_decided(case)
        refuse_ended(tx, case)
        summary = phrase(tx.config.language, "Answer to what you asked back")
        payload = {"request_id": request_id, "in_reply_to": asked.message_id, "content": content, "summary": summary}
        draft = Draft(ASKED_BACK, caller.actor, (asked.sender,), payload)
        warnings = draft.check(tx.config)
        messages = write_drafts(tx, draft)
        close_question(tx, asked, actor=caller.actor)
        tx.record("answer_back", request_id=request_id, ids=ids_of(messages))
        tidy(tx)
    return receipt(tx, "answer", messages, warnings, request_id)


def approval_forecast(snapshot: Snapshot, *, request_id: str, agent_name: str | None = None) -> tuple[str, ...]:
    """Return the effects of approving a live request, as sentences: who is created or ended, and who will be told.

    Raises:
        TeamError: `INVALID_REQUEST_ID` for a request that is not live, `ALREADY_ANSWERED`, `INVALID_NAME`,
            `INVALID_FIELD`, `NOT_PERMITTED` for what its sender may not ask.
    """
    case, _ = find_question(snapshot, request_id)
    refuse_decided(case)
    refuse_ended(snapshot, case)
    question, kind = case.question, case.kind
    _check_name_fits(kind, agent_name, request_id)
    _refuse_not_entitled(snapshot, question)
    if kind is RequestKind.CREATE:
        return creation_forecast(snapshot, question, agent_name)
    if kind is RequestKind.DESTROY:
        return ending_forecast(snapshot, question)
    return (f"the answer goes to {question.sender}", *_former_member_words(snapshot, question))


def _former_member_words(state: TeamState, question: Message) -> tuple[str, ...]:
    """Return that whoever has the asker's name now may be another one, as a sentence; empty where nothing says so."""
    if state.recorded is None or not state.recorded.is_by_former_member(question):
        return ()
    return (f"{question.sender} was removed from the team and added again since it asked",)


def _unanswered_stop(tx: Transaction, actor: str, agent: str) -> Message | None:
    """Return the latest request to stop that this agent has not answered."""
    asked = [
        order
        for order in tx.select(types=(SHUTDOWN_REQUEST,))
        if order.sender == actor and order.recipients == (agent,)
    ]
    replies = tx.thread(asked[-1].request_id or asked[-1].message_id) if asked else []
    is_answered = any(reply.sender == agent and parse_message(reply).approve is not None for reply in replies)
    return None if is_answered or not asked else asked[-1]
