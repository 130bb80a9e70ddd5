"""Asking and answering: plans, shutdowns and every other request, one answer each (decisions D8, D10, D14, D17)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from store.desk.draft import Draft, check_known, new_request_id, write
from store.desk.inbox import mark_as_read
from store.desk.seat import Receipt, Seat
from store.desk.upkeep import settle
from store.errors import Code, TeamError
from store.message import Message
from store.permissions import may_answer
from store.protocol.answering import VERDICT_ONLY, answers
from store.protocol.kinds import RequestKind
from store.protocol.reading import reading
from store.team import Transaction


class Verdict(Struct, frozen=True):
    """An answer to a request.

    Attributes:
        text: Note of an approval, reason of a refusal.
        suggestion: What would be accepted instead (requirement 94).
    """

    approve: bool
    text: str | None = None
    suggestion: str | None = None

    @property
    def action(self) -> str:
        """The verb of the audit trail."""
        return "approve" if self.approve else "reject"

    @property
    def content(self) -> str:
        """The words the asker reads."""
        parts = [self.text or "", f"Suggestion: {self.suggestion}" if self.suggestion else ""]
        return "\n\n".join(part for part in parts if part)


def fingerprint(message: Message) -> str:
    """Names what a human saw of a request, so that an answer to something else can be refused."""
    seen = [message.message_id, message.type, message.sender, list(message.recipients), dict(message.payload)]
    return hashlib.sha256(json.dumps(seen, sort_keys=True, default=str).encode()).hexdigest()[:16]


def submit_plan(seat: Seat, *, content: str, summary: str | None = None) -> Receipt:
    """Hand in the actor's plan to the lead (requirement 80); a later plan supersedes an open one.

    Raises:
        TeamError: `MISSING_CONTENT`, `NOT_PERMITTED` for the lead itself, or as for a send.
    """
    config = seat.team.config()
    if not content.strip():
        raise TeamError(Code.MISSING_CONTENT, "the plan is empty", "Give it with --content TEXT, or - for stdin.")
    title = summary or content.strip().partition("\n")[0][:120]
    if seat.actor == config.lead:
        raise TeamError(Code.NOT_PERMITTED, f"{seat.actor} leads the team and answers plans", "Use --as AGENT.")
    return _ask(
        seat,
        action="plan",
        type="plan_approval_request",
        to=config.lead,
        payload={"summary": title, "content": content},
        id_parts=("plan_approval", seat.actor, config.name),
    )


def request_shutdown(seat: Seat, *, agent: str, reason: str | None = None) -> Receipt:
    """Ask `agent` to stop; its answer quotes the request id (requirements 64-68).

    Raises:
        TeamError: `NOT_PERMITTED` for anyone but the lead, `AGENT_NOT_FOUND`, or as for a send.
    """
    payload = {"content": reason} if reason else {}
    return _ask(
        seat, action="shutdown", type="shutdown_request", to=agent, payload=payload, id_parts=("shutdown", agent)
    )


def approve(seat: Seat, *, request_id: str, note: str | None = None, seen: str | None = None) -> Receipt:
    """Say yes to an open request.

    Args:
        seen: `fingerprint` of the question that was looked at; a changed question is refused.

    Raises:
        TeamError: `INVALID_REQUEST_ID`, `ALREADY_ANSWERED` (with who and when), `NOT_PERMITTED`, `STORE_UNREADABLE`
            when the record of the request is damaged.
    """
    return _answer(seat, request_id, Verdict(True, note), seen)


def reject(seat: Seat, *, request_id: str, reason: str, suggest: str | None = None, seen: str | None = None) -> Receipt:
    """Say no to an open request, with the reason (requirements 92-94).

    Raises:
        TeamError: `MISSING_REASON`, or as for `approve`.
    """
    if not reason.strip():
        raise TeamError(Code.MISSING_REASON, "a refusal needs a reason", "Give it with --reason TEXT.")
    return _answer(seat, request_id, Verdict(False, reason, suggest), seen)


def _ask(
    seat: Seat, *, action: str, type: str, to: str, payload: Mapping[str, Any], id_parts: Sequence[str]
) -> Receipt:
    config = seat.team.config()
    warnings = Draft(type, seat.actor, (to,), {**payload, "request_id": "new"}).check(config)
    with seat.team.transaction(actor=seat.actor, action=action, wait=seat.wait) as tx:
        check_known(tx, [to, seat.actor])
        request_id = new_request_id(tx, *id_parts)
        draft = Draft(type, seat.actor, (to,), {"request_id": request_id, **payload})
        messages, _ = write(tx, draft, [to])
        tx.record(action, ids=[messages[0].message_id], to=[to], request_id=request_id)
    return Receipt(action, tuple(messages), tuple(warnings), request_id, notices=tuple(tx.notices))


def _answer(seat: Seat, request_id: str, verdict: Verdict, seen: str | None) -> Receipt:
    question = _peek(seat, request_id)
    opens = _opens(question) if question is not None else None
    if opens in (RequestKind.CREATE, RequestKind.DESTROY):
        from store.desk.agents import answer_agent_request

        return answer_agent_request(seat, request_id=request_id, verdict=verdict, seen=seen)
    with seat.team.transaction(actor=seat.actor, action=verdict.action, wait=seat.wait) as tx:
        question, kind = open_question(tx, request_id, actor=seat.actor, seen=seen)
        head, body = _answer_head(seat.actor, question, kind), _answer_body(request_id, question, kind, verdict)
        warnings = Draft(*head, payload=body).check(tx.config)
        draft = Draft(*head, payload={**body, "summary": _preview(question, kind, verdict)})
        messages, _ = write(tx, draft, draft.to)
        close_question(tx, question, actor=seat.actor)
        settle(tx)
        tx.record(
            verdict.action,
            request_id=request_id,
            kind=str(kind),
            asker=question.sender,
            question=question.message_id,
            ids=[one.message_id for one in messages],
        )
    return Receipt(verdict.action, tuple(messages), tuple(warnings), request_id, notices=tuple(tx.notices))


def open_question(
    tx: Transaction, request_id: str, *, actor: str, seen: str | None = None
) -> tuple[Message, RequestKind]:
    """The question behind `request_id`, when `actor` may answer it now; judged under the lock.

    Raises:
        TeamError: `INVALID_REQUEST_ID`, `NOT_PERMITTED`, `ALREADY_ANSWERED`.
    """
    thread = _thread(tx, request_id)
    question = next((one for one in thread if _opens(one) and reading(one).request_id == request_id), None)
    kind = _opens(question) if question is not None else None
    if question is None or kind is None:
        raise TeamError(
            Code.INVALID_REQUEST_ID,
            f"no request {request_id}",
            "List the open ones with: team-console requests --open",
            request_id=request_id,
        )
    if seen is not None and seen != fingerprint(question):
        raise TeamError(
            Code.INVALID_REQUEST_ID,
            f"request {request_id} is not what was shown any more",
            "Read it again before you answer.",
            request_id=request_id,
        )
    if not may_answer(tx.config, actor=actor, kind=kind, addressee=question.recipients[0]):
        raise TeamError(
            Code.NOT_PERMITTED,
            f"{actor} may not answer {request_id}; it is for {', '.join(question.recipients)}",
            "Only the addressee of a request answers it (for plans and sprint requests: the lead).",
            request_id=request_id,
        )
    _refuse_answered(tx, request_id, question, kind, thread)
    _refuse_superseded(tx, request_id, question, kind)
    return question, kind


def close_question(tx: Transaction, question: Message, *, actor: str) -> None:
    """Answering implies having read: the question is read and archived for whoever answered it."""
    live = tx.get(question.message_id)
    if live is not None and live.is_unread_by(actor):
        mark_as_read(tx, live, actor)


def _thread(tx: Transaction, request_id: str) -> list[Message]:
    if not request_id:
        raise TeamError(Code.INVALID_REQUEST_ID, "the request id is empty", "Quote the id of the request.")
    return tx.thread(request_id)


def _refuse_answered(
    tx: Transaction, request_id: str, question: Message, kind: RequestKind, thread: Sequence[Message]
) -> None:
    for one in thread:
        if answers(one, kind, request_id) and may_answer(
            tx.config, actor=one.sender, kind=kind, addressee=question.recipients[0]
        ):
            word = {True: "approved", False: "rejected", None: "answered"}[reading(one).approve]
            raise TeamError(
                Code.ALREADY_ANSWERED,
                f"{request_id} was already {word} by {one.sender} at {one.created}",
                "The first answer stands; send a message if you want to say more.",
                request_id=request_id,
                answered_by=one.sender,
                answered_at=one.created,
            )


def _refuse_superseded(tx: Transaction, request_id: str, question: Message, kind: RequestKind) -> None:
    if kind is not RequestKind.PLAN:
        return
    plans = [one for one in tx.select(types=(question.type,)) if one.sender == question.sender]
    ids = [one.message_id for one in plans]
    if question.message_id in ids and ids[-1] != question.message_id and plans[-1].created >= question.created:
        newer = plans[-1].request_id
        raise TeamError(
            Code.INVALID_REQUEST_ID,
            f"{request_id} was superseded by {newer}",
            f"Read and answer the newer plan: {newer}",
            request_id=request_id,
            superseded_by=newer,
        )


def _opens(message: Message) -> RequestKind | None:
    kind = reading(message).kind
    return kind.opens if kind is not None else None


def _peek(seat: Seat, request_id: str) -> Message | None:
    """The question by a look without the lock, only to choose who handles it; the handler judges it again.

    Raises:
        TeamError: `STORE_UNREADABLE` when its record is damaged.
    """
    snapshot = seat.team.snapshot()
    for one in snapshot.messages:
        if _opens(one) is not None and reading(one).request_id == request_id:
            return one
    if request_id in snapshot.damaged:
        text = f"the record of request {request_id} in the queue is damaged, so it cannot be answered"
        hint = "'team-console check' names file and line; repair it, or ask the sender to ask again."
        raise TeamError(Code.STORE_UNREADABLE, text, hint, request_id=request_id)
    return None


def _answer_head(actor: str, question: Message, kind: RequestKind) -> tuple[str, str, tuple[str, ...]]:
    types = {RequestKind.PLAN: "plan_approval_response", RequestKind.SHUTDOWN: "shutdown_response"}
    return types.get(kind, "message"), actor, (question.sender,)


_WORDS = {RequestKind.SHUTDOWN: ("agreed to", "refused")}


def _answer_body(request_id: str, question: Message, kind: RequestKind, verdict: Verdict) -> dict[str, Any]:
    body: dict[str, Any] = {"request_id": request_id, "approve": verdict.approve}
    if verdict.content:
        body["content"] = verdict.content
    if verdict.suggestion:
        body["suggestion"] = verdict.suggestion
    if kind not in VERDICT_ONLY:
        body["in_reply_to"] = question.message_id
        body.setdefault("content", "Approved." if verdict.approve else "Rejected.")
    return body


def _preview(question: Message, kind: RequestKind, verdict: Verdict) -> str:
    """The line an inbox shows: the decision, then the reason, else what was decided."""
    yes, no = _WORDS.get(kind, ("approved", "rejected"))
    what = verdict.content.partition("\n")[0] or question.summary
    return f"{kind.capitalize()} {yes if verdict.approve else no}: {what}".rstrip(": ")[:120]
