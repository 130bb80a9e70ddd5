"""One SendMessage document as seed 001 writes it, checked against its matrix before anything is looked up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.json_text import named
from team_console.store.model.names import ALL
from team_console.store.protocol.checks import (
    MATRIX,
    check_text_fields,
    check_verdict,
    forbidden,
    invalid_type,
    missing_recipient,
)
from team_console.store.protocol.kinds import KINDS

_FIELDS = ("type", "recipient", "content", "summary", "request_id", "approve", "in_reply_to", "message_id")


class Form(Struct, frozen=True):
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
    ignored: tuple[str, ...] = field(default=())


def read_form(document: object) -> Form:
    """Check a document and give it back as a form; the newer `{to, summary, message}` is understood too.

    Raises:
        TeamError: `INVALID_TYPE`, `MISSING_RECIPIENT`, `INVALID_REQUEST_ID`, `APPROVE_MISSING`, `FORBIDDEN_FIELD`,
            `MISSING_CONTENT`, `MISSING_SUMMARY`, `MISSING_REASON` or `INVALID_FIELD`, with the seed's advice as hint.
    """
    if not isinstance(document, Mapping):
        text = f"a SendMessage document is one JSON object, not {named(document)}"
        raise TeamError(Code.INVALID_FIELD, text, 'Send {"type": "message", "recipient": ..., ...}.')
    fields = _flat(document)
    kind = fields.get("type")
    if not isinstance(kind, str) or kind not in MATRIX:
        raise _unknown_type(kind)
    _check_matrix(kind, fields)
    if kind in ("message", "broadcast"):
        check_text_fields(kind, fields)
    if kind != "message" and fields.get("in_reply_to") is not None:
        raise forbidden(kind, "in_reply_to")
    for name in ("content", "summary", "in_reply_to", "message_id"):
        if fields.get(name) is not None and not isinstance(fields[name], str):
            text = f"{name}: {named(fields[name])} is not a text"
            raise TeamError(Code.INVALID_FIELD, text, f"Send {name} as a text.")
    return Form(
        type=kind,
        recipient=fields.get("recipient") or "",
        content=fields.get("content"),
        summary=fields.get("summary"),
        request_id=fields.get("request_id") or "",
        approve=bool(fields.get("approve")),
        in_reply_to=fields.get("in_reply_to") or None,
        message_id=fields.get("message_id"),
        ignored=tuple(str(name) for name in fields if name not in _FIELDS),
    )


def _check_matrix(kind: str, fields: Mapping[str, Any]) -> None:
    rules = MATRIX[kind]
    if rules["recipient"]:
        recipient = fields.get("recipient")
        if recipient is None or (isinstance(recipient, str) and not recipient.strip()):
            raise missing_recipient(kind)
        if not isinstance(recipient, str):
            text = f"recipient: {named(recipient)} is not the name of an agent"
            raise TeamError(Code.INVALID_FIELD, text, "Name one agent; for everybody use type broadcast.")
        if recipient == ALL:
            text = f"recipient: {ALL} is everybody, {kind} goes to one agent"
            raise TeamError(Code.INVALID_FIELD, text, "Name one agent, or use type broadcast.")
    if rules["approve"]:
        check_verdict(kind, fields)
    for name, required in rules.items():
        if not required and fields.get(name) is not None:
            raise forbidden(kind, name)


def _unknown_type(kind: object) -> TeamError:
    if isinstance(kind, str) and kind in KINDS:
        entry_point = KINDS[kind].entry_point.partition(",")[0]
        way = f" {kind} is sent with: team-console {entry_point}." if entry_point else ""
        hint = f"Check the type field: SendMessage has {', '.join(MATRIX)}.{way}"
        return TeamError(Code.INVALID_TYPE, f"type: {kind} is not a type of SendMessage", hint)
    return invalid_type(kind, tuple(MATRIX))


def _flat(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """The flat form of a newer `{to, summary, message}`; any other document as it is."""
    if "type" in document or "to" not in document:
        return document
    to, message = document["to"], document.get("message")
    rest = {key: value for key, value in document.items() if key not in ("to", "message")}
    if not isinstance(message, Mapping):
        head = {"type": "broadcast"} if to == "*" else {"type": "message", "recipient": to}
        return {**head, "content": message, **rest}
    inner = dict(message)
    words = [inner.pop(key, None) for key in ("reason", "feedback")]
    fields = {"recipient": to, "content": next((word for word in words if word is not None), None), **rest, **inner}
    if fields.get("type") == "shutdown_response":
        del fields["recipient"]
    return fields
