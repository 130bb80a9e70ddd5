"""Requests: plans and stops asked for, every open request answered, one answer each (decisions D8, D10, D14, D17)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from team_console.store.contract.team import Snapshot
from team_console.store.contract.transaction import Transaction
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message
from team_console.store.model.names import canonical
from team_console.store.protocol.client_requests import ONCE
from team_console.store.protocol.judgement import judge, with_bearing
from team_console.store.protocol.kinds import RequestKind
from team_console.store.protocol.parsing import carries, parse_message
from team_console.store.protocol.relations import REQUEST
from team_console.store.protocol.seen import Seen
from team_console.store.service.agents import endings_told as ending_told
from team_console.store.service.agents import told as creation_told
from team_console.store.service.answering import answer_request, check_name_fits, refuse_forbidden
from team_console.store.service.asking import expiry, origin, put_request, refuse_lead
from team_console.store.service.caller import Caller, Receipt
from team_console.store.service.questions import Terms, Verdict, live_question, opened_kind, refuse_decided

__all__ = [
    "Verdict",
    "answer",
    "approve",
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

    Raises:
        TeamError: `INVALID_REQUEST_ID`, `ALREADY_ANSWERED` (with who and when), `NOT_PERMITTED`, `STORE_UNREADABLE`
            when the record of the request is damaged; for a creation `INVALID_NAME`, `STORE_LOCKED` while another
            console starts the agent, `SPAWN_FAILED`; `INVALID_FIELD` for what does not fit the request.
    """
    terms = Terms(scope, suggestion, mode, updated)
    return answer_request(caller, request_id, Verdict(True, note, terms=terms, message_id=message_id), seen, agent_name)


def reject(
    caller: Caller,
    *,
    request_id: str,
    reason: str,
    suggest: str | None = None,
    seen: Seen | str | None = None,
    message_id: str | None = None,
) -> Receipt:
    """Say no to an open request, with the reason (requirements 92-94).

    Raises:
        TeamError: `MISSING_REASON`, or as for `approve`.
    """
    if not reason.strip():
        raise TeamError(Code.MISSING_REASON, "a refusal needs a reason", "Give it with --reason TEXT.")
    return answer_request(caller, request_id, Verdict(False, reason, suggest, message_id=message_id), seen, None)


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
    return answer_request(caller, request_id, verdict, seen, None)


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
