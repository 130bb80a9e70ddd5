"""The SendMessage door: takes a document as seed 001 writes it, gives the success reply of the field."""

from __future__ import annotations

from typing import Any

from store.desk import mail, requests
from store.desk.seat import Receipt, Seat
from store.errors import Code, TeamError
from store.message import Message
from store.protocol.form import Form, read_form
from store.protocol.kinds import RequestKind
from store.protocol.reading import reading
from store.protocol.registry import KINDS
from store.protocol.values import named
from store.words import counted

TEAM_TARGET = "@team"
"""What `routing.target` says for a broadcast."""


def submit(seat: Seat, document: object) -> dict[str, Any]:
    """Send `document` as the seat's actor.

    Returns:
        `success`, `message` (a sentence), `routing` {`sender`, `target`, `summary`, `content`}, `message_id`,
        `message_type`, `status`, `created_at`, `warnings`; `request_id` where one is opened or answered; `recipients`
        and `deliveries` for a broadcast.

    Raises:
        TeamError: The codes of seed 001 section 7.2 and of `DESIGN.md` section 5, before anything is written.
    """
    form = read_form(document)
    receipt = _sent(seat, form)
    return _reply(seat, form, receipt)


def _sent(seat: Seat, form: Form) -> Receipt:
    if form.type == "message":
        return mail.send(
            seat, to=form.recipient, content=form.content, summary=form.summary, in_reply_to=form.in_reply_to
        )
    if form.type == "broadcast":
        return mail.broadcast(seat, summary=form.summary or "", content=form.content or "")
    if form.type == "shutdown_request":
        return requests.request_shutdown(seat, agent=form.recipient, reason=form.content)
    _check_quoted(seat, form)
    if form.approve:
        return requests.approve(seat, request_id=form.request_id, note=form.content)
    return requests.reject(seat, request_id=form.request_id, reason=form.content or "")


def _check_quoted(seat: Seat, form: Form) -> None:
    """The quoted id must be a request of the kind this verdict answers, by the agent it names."""
    wanted = KINDS[form.type].answers
    with seat.team.transaction(actor=seat.actor, action=form.type, wait=seat.wait) as tx:
        question = next((message for message in tx.thread(form.request_id) if _asks(message, form.request_id)), None)
    if question is None:
        raise _invalid_id(form, "there is no such request")
    kind = reading(question).opens
    if kind is not wanted:
        raise _invalid_id(form, f"it is a request of kind {kind}, {form.type} answers {wanted}")
    if wanted is RequestKind.PLAN and question.sender != form.recipient:
        raise _invalid_id(form, f"that plan was handed in by {question.sender}, not by {form.recipient}")


def _asks(message: Message, request_id: str) -> bool:
    seen = reading(message)
    return seen.opens is not None and seen.request_id == request_id


def _invalid_id(form: Form, why: str) -> TeamError:
    hint = "Check the request_id: quote it exactly as the request gives it (team-console requests --open)."
    text = f"{form.type}: request_id {named(form.request_id)}: {why}"
    return TeamError(Code.INVALID_REQUEST_ID, text, hint, request_id=form.request_id)


def _reply(seat: Seat, form: Form, receipt: Receipt) -> dict[str, Any]:
    reached = [name for message in receipt.messages for name in message.recipients]
    target = TEAM_TARGET if form.type == "broadcast" else reached[0]
    ignored = [f"{name} is not a field of SendMessage and was left out" for name in form.ignored]
    reply = {
        **receipt.as_json(),
        "action": "sendmessage",
        "message": _sentence(form, receipt, reached),
        "routing": {"sender": seat.actor, "target": target, "summary": form.summary, "content": form.content},
    }
    if form.type == "broadcast":
        reply["recipients"] = reached
        reply.pop("recipient", None)
    if receipt.request_id is not None:
        reply["target"] = target
    reply["routing"] = {key: value for key, value in reply["routing"].items() if value is not None}
    reply["warnings"] = [*reply["warnings"], *ignored]
    return reply


def _sentence(form: Form, receipt: Receipt, reached: list[str]) -> str:
    """What happened, and no more: written to an inbox is not delivered (decision D15)."""
    if form.type == "broadcast":
        return f"Broadcast written to {counted(len(reached), 'inbox')}: {', '.join(reached)}"
    if form.type == "shutdown_request":
        return f"Shutdown request written to {reached[0]}'s inbox. Request ID: {receipt.request_id}"
    if form.type == "message":
        return f"Message written to {reached[0]}'s inbox"
    word = "approval" if form.approve else "refusal"
    return f"The {word} of {receipt.request_id} is written to {reached[0]}'s inbox"
