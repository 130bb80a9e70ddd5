"""Read a SendMessage document in the form of seed 001, send it, and return the reply that its writer expects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from team_console.store.contract.transaction import duplicate_id
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.json_text import value_words
from team_console.store.model.message import Fields, Message, without, without_none
from team_console.store.model.names import ALL, check_name
from team_console.store.model.safe import counted
from team_console.store.protocol.checks import (
    check_text_fields,
    check_verdict,
    forbidden_field,
    invalid_type,
    missing_recipient,
    no_text,
)
from team_console.store.protocol.kinds import KINDS, RequestKind
from team_console.store.protocol.parsing import parse_message
from team_console.store.service import requests
from team_console.store.service import sending as mail
from team_console.store.service.answerable import find_question
from team_console.store.service.caller import Caller, Receipt
from team_console.store.service.writing import check_known

_TYPES = tuple(kind.name for kind in KINDS.values() if "sendmessage" in kind.entry_point)
_TO_NOBODY = ("broadcast", "shutdown_response")
"""Types that name no recipient: all of them are meant, or whoever asked."""


class SendMessageForm(Struct, frozen=True):
    """A document that fits the matrix of seed 001 section 7.1.

    Attributes:
        type: One of the five types.
        recipient: Empty where the type has none.
        request_id: Empty where the type has none.
        in_reply_to: Id of the message that this one answers; None when it answers none. Only a `message` has it.
        message_id: The sender's own id, which makes a repetition safe; None to have one made.
        ignored: Fields of the document that SendMessage does not know.
    """

    type: str
    recipient: str = ""
    content: str | None = None
    summary: str | None = None
    request_id: str = ""
    approve: bool = False
    in_reply_to: str | None = None
    message_id: str | None = None
    ignored: tuple[str, ...] = ()


_FIELDS = SendMessageForm.__struct_fields__[:-1]


def read_form(document: object) -> SendMessageForm:
    """Check a document and give it back as a form; the newer `{to, summary, message}` is understood too.

    Raises:
        TeamError: `INVALID_TYPE`, `MISSING_RECIPIENT`, `INVALID_REQUEST_ID`, `APPROVE_MISSING`, `FORBIDDEN_FIELD`,
            `MISSING_CONTENT`, `MISSING_SUMMARY`, `MISSING_REASON` or `INVALID_FIELD`, with the seed's advice as hint.
    """
    if not isinstance(document, Mapping):
        text = f"a SendMessage document is one JSON object, not {value_words(document)}"
        raise TeamError(Code.INVALID_FIELD, text, 'Send {"type": "message", "recipient": ..., ...}.')
    fields = _flat_form(document)
    kind = fields.get("type")
    if not isinstance(kind, str) or kind not in _TYPES:
        raise _unknown_type(kind)
    _check_matrix(kind, fields)
    if kind in ("message", "broadcast"):
        check_text_fields(kind, fields)
    if kind != "message" and fields.get("in_reply_to") is not None:
        raise forbidden_field(kind, "in_reply_to")
    for name in ("content", "summary", "in_reply_to", "message_id"):
        if fields.get(name) is not None and not isinstance(fields[name], str):
            raise no_text(name, fields[name])
    given = {name: fields[name] for name in _FIELDS if fields.get(name) is not None}
    return SendMessageForm(**given, ignored=tuple(str(name) for name in fields if name not in _FIELDS))


def _check_matrix(kind: str, fields: Fields) -> None:
    """Refuse a document whose recipient, request and verdict are not those of its type (seed 001 section 7.1)."""
    quotes = KINDS[kind].answers is not None
    if kind not in _TO_NOBODY:
        recipient = fields.get("recipient")
        if recipient is None or (isinstance(recipient, str) and not recipient.strip()):
            raise missing_recipient(kind)
        if not isinstance(recipient, str):
            text = f"recipient: {value_words(recipient)} is not the name of an agent"
            raise TeamError(Code.INVALID_FIELD, text, "Name one agent; for everybody use type broadcast.")
        if recipient == ALL:
            text = f"recipient: {ALL} is everybody, {kind} goes to one agent"
            raise TeamError(Code.INVALID_FIELD, text, "Name one agent, or use type broadcast.")
    if quotes:
        check_verdict(kind, fields)
    forbidden = ["recipient"] if kind in _TO_NOBODY else []
    if not quotes:
        forbidden += ["request_id", "approve"]
    for name in forbidden:
        if fields.get(name) is not None:
            raise forbidden_field(kind, name)


def _unknown_type(kind: object) -> TeamError:
    if isinstance(kind, str) and kind in KINDS:
        entry_point = KINDS[kind].entry_point.partition(",")[0]
        way = f" {kind} is sent with: team-console {entry_point}." if entry_point else ""
        hint = f"Check the type field: SendMessage has {', '.join(_TYPES)}.{way}"
        return TeamError(Code.INVALID_TYPE, f"type: {kind} is not a type of SendMessage", hint)
    return invalid_type(kind, _TYPES)


def _flat_form(document: Fields) -> Fields:
    """Return the flat form of a newer `{to, summary, message}`; any other document as it is."""
    if "type" in document or "to" not in document:
        return document
    to, message = document["to"], document.get("message")
    rest = without(document, ("to", "message"))
    if not isinstance(message, Mapping):
        head = {"type": "broadcast"} if to == "*" else {"type": "message", "recipient": to}
        return {**head, "content": message, **rest}
    inner = dict(message)
    words = [inner.pop(key, None) for key in ("reason", "feedback")]
    fields = {"recipient": to, "content": next((word for word in words if word is not None), None), **rest, **inner}
    if fields.get("type") == "shutdown_response":
        del fields["recipient"]
    return fields


# The document, sent, and its reply.

TEAM_TARGET = "@team"
"""What `routing.target` says for a broadcast."""


def send_document(caller: Caller, document: object) -> dict[str, Any]:
    """Send `document` as the caller's actor.

    Returns:
        `success`, `message` (a sentence), `routing` {`sender`, `target`, `summary`, `content`}, `message_id`,
        `message_type`, `status`, `created_at`, `warnings`; `request_id` where one is opened or answered; `recipients`
        and `deliveries` for a broadcast.

    Raises:
        TeamError: The codes of seed 001 section 7.2 and our own (`store.model.errors`), before anything is written.
    """
    form = read_form(document)
    receipt = _send_form(caller, form)
    recipients = [name for message in receipt.messages for name in message.recipients]
    target = TEAM_TARGET if form.type == "broadcast" else recipients[0]
    routing = {"sender": caller.actor, "target": target, "summary": form.summary, "content": form.content}
    reply = {
        **receipt.as_json(),
        "action": "sendmessage",
        "message": _sentence(form, receipt, recipients),
        "routing": without_none(routing),
    }
    if form.type == "broadcast":
        reply["recipients"] = recipients
        reply.pop("recipient", None)
    if receipt.request_id is not None:
        reply["target"] = target
    reply["warnings"] += [f"{name} is not a field of SendMessage and was left out" for name in form.ignored]
    return reply


def is_mail(document: object) -> bool:
    """Return whether a document is a message or a broadcast, which ask and answer nothing."""
    return isinstance(document, Mapping) and _flat_form(document).get("type") in ("message", "broadcast")


def send_together(caller: Caller, documents: Iterable[object]) -> list[dict[str, Any]]:
    """Send documents that are mail (`is_mail`) in one transaction; returns the reply to each.

    Raises:
        TeamError: One of them is refused, or all are, and none was sent; where that is not known, it says so
            (`OUTCOME_UNKNOWN` among its facts).
    """
    replies = []
    with caller.transaction("send") as tx:
        for document in documents:
            replies.append(send_document(replace(caller, within=tx), document))
            tx.notices = []  # told with the first of them
    return replies


def _send_form(caller: Caller, form: SendMessageForm) -> Receipt:
    """Do what a document asks for, by the action of its type."""
    content, message_id = form.content, form.message_id
    if form.type == "message":
        return mail.send(
            caller,
            to=form.recipient,
            content=content,
            summary=form.summary,
            message_id=message_id,
            in_reply_to=form.in_reply_to or None,
        )
    if form.type == "broadcast":
        return mail.broadcast(caller, summary=form.summary or "", content=content or "", message_id=message_id)
    earlier = _earlier_message(caller, form)
    if earlier is not None:
        return Receipt(form.type, (earlier,), request_id=earlier.request_id, repeated=True)
    if form.type == "shutdown_request":
        return requests.request_shutdown(caller, agent=form.recipient, reason=content, message_id=message_id)
    # The quoted id must be a request of the kind this verdict answers, by the agent it names, who must be known.
    wanted = KINDS[form.type].answers
    recipient = check_name(form.recipient, field="recipient") if wanted is RequestKind.PLAN else ""
    with caller.transaction(form.type) as tx:
        check_known(tx, filter(None, [recipient]))
        case, _ = find_question(tx, form.request_id)
    why = ""
    if case.kind is not wanted:
        why = f"it is a request of kind {case.kind}, {form.type} answers {wanted}"
    elif wanted is RequestKind.PLAN and case.asker != recipient:
        why = f"that plan was handed in by {case.asker}, not by {recipient}"
    if why:
        hint = "Check the request_id: quote it exactly as the request gives it (team-console requests --open)."
        text = f"{form.type}: request_id {value_words(form.request_id)}: {why}"
        raise TeamError(Code.INVALID_REQUEST_ID, text, hint, request_id=form.request_id)
    quoted = form.request_id
    if form.approve:
        return requests.approve(caller, request_id=quoted, note=content, message_id=message_id)
    return requests.reject(caller, request_id=quoted, reason=content or "", message_id=message_id)


def _earlier_message(caller: Caller, form: SendMessageForm) -> Message | None:
    """Return the order or verdict already written under the id that the sender gave it.

    Raises:
        TeamError: `DUPLICATE_ID` when that id stands for anything else.
    """
    if not form.message_id:
        return None
    with caller.transaction(form.type) as tx:
        earlier = tx.known(form.message_id)
    if earlier is None:
        return None
    same = (earlier.type, earlier.sender, earlier.content) == (form.type, caller.actor, form.content or "")
    if form.recipient:
        same = same and earlier.recipients == (form.recipient,)
    if form.request_id:
        same = same and (earlier.request_id, parse_message(earlier).approve) == (form.request_id, form.approve)
    if same:
        return earlier
    raise duplicate_id(earlier.message_id, earlier)


def _sentence(form: SendMessageForm, receipt: Receipt, recipients: list[str]) -> str:
    """Return what happened and no more: written to an inbox is not delivered (decision D15)."""
    if form.type == "broadcast":
        return f"Broadcast written to {counted(len(recipients), 'inbox')}: {', '.join(recipients)}"
    if form.type == "shutdown_request":
        return f"Shutdown request written to {recipients[0]}'s inbox. Request ID: {receipt.request_id}"
    if form.type == "message":
        return f"Message written to {recipients[0]}'s inbox"
    word = "approval" if form.approve else "refusal"
    return f"The {word} of {receipt.request_id} is written to {recipients[0]}'s inbox"
