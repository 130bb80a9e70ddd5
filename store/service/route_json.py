"""Do what `route` is asked in JSON: the command route-inter-agent-messages of seed 003, which orchestrators call.

Its JSON in, exactly its fields out; every action leaves a trace (requirements 193-256).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, ValidationError, convert
from msgspec.structs import replace
from team_console.store.model.clock import to_text
from team_console.store.model.delivery_schedule import ON_ITS_WAY, attempts_of, retries_of
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.json_text import parse_json, value_words
from team_console.store.model.message import FieldDict, Message, Status, priority_named
from team_console.store.model.names import check_name
from team_console.store.model.safe import counted
from team_console.store.service.caller import Caller
from team_console.store.service.deliveries import PassResult
from team_console.store.service.maintenance import DEFAULT_DAYS, clear
from team_console.store.service.router import deliver
from team_console.store.service.sending import send
from team_console.store.service.writing import check_known, is_settled

COMMAND = "route-inter-agent-messages"
"""The command of seed 003, also accepted as `orchestrator.route-inter-agent-messages`."""
# `invoke_command("route-inter-agent-messages", {...})`, to which a name may be given: `result = invoke_command(...)`.
_CALL = re.compile(r"\s*invoke_command\s*\((.*)\)\s*(?:;\s*)?", re.DOTALL)
_NAME_BEFORE = re.compile(r"\s*[A-Za-z_]\w*\s*=(?!=)")
_LONGEST_LITERAL = 100_000
"""Characters of a literal of Python that is looked at."""
_HINT = 'Give {"ACTION": "poll", "RECIPIENT": "AGENT"}, or deliver, deliver_all, send, clear or clear_old.'


def read_document(text: str) -> Any:
    """Return the JSON in `text`, or the arguments of `invoke_command("route-inter-agent-messages", {...})`.

    It may be written as seed 003 writes it, in Python: given a name, with comments, single quotes, True and None.

    Raises:
        TeamError: `INVALID_FIELD` with line and column.
    """
    given = text[match.end() :] if (match := _NAME_BEFORE.match(text)) is not None else text
    call = _CALL.fullmatch(given)
    arguments = f"[{call[1]}]" if call else given
    try:
        return parse_json(arguments, what="the document", hint=_HINT)
    except TeamError:
        literal = _python_literal(arguments)
        if literal is None:
            raise
        return parse_json(literal, what="the document", hint=_HINT)


def _python_literal(text: str) -> str | None:
    """Return the literal of Python in `text` as JSON; None where it is none, holds what JSON has not, or is long."""
    import ast  # 5 ms, which only a document needs that is not JSON

    try:
        tree = ast.parse(text.strip(), mode="eval") if len(text) <= _LONGEST_LITERAL else None
        return _literal_json(tree.body) if tree is not None else None
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return None


def _literal_json(node: Any) -> str:
    """Return one literal as JSON. Keys that stand twice stay, so that whoever parses it refuses them.

    Raises:
        TypeError: It is no literal, or one that JSON has not.
    """
    import ast  # as above

    if isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        return "{" + ", ".join(f"{_literal_json(key)}: {_literal_json(value)}" for key, value in pairs) + "}"
    if isinstance(node, ast.List | ast.Tuple):
        return "[" + ", ".join(map(_literal_json, node.elts)) + "]"
    return json.dumps(ast.literal_eval(node), allow_nan=False)


def route(caller: Caller, document: Any, *, check_sender: Callable[[str], None] = lambda sender: None) -> FieldDict:
    """Do what an orchestrator document asks and answer with seed 003's fields.

    A message that could not be handed over on request of its id is answered with the error object `delivery_timeout`.

    Args:
        document: `{"ACTION": ...}`, `{"command": ..., "parameters": {...}}` or `["route-...", {...}]`.
        check_sender: Refuses, by raising, a SENDER in whose name the caller may not send.

    Raises:
        TeamError: For a document that is not understood, an unknown agent, or the store's own.
    """
    asked = _parse_request(document)
    if asked.sender is not None:
        check_sender(asked.sender)
    if asked.recipient is not None and not is_settled(caller.team.config(), asked.recipient):
        check_known(caller.team.snapshot().require_known(), [asked.recipient])
    return _ACTIONS[asked.action](caller, asked)


_Text = Annotated[str, Meta(pattern=r"\S")] | None
_Whole = Annotated[int, Meta(ge=1, lt=10_000_000)] | None


class _RouteRequest(Struct, frozen=True, forbid_unknown_fields=True, rename="upper"):
    """One request with its parameters, as seed 003 names them."""

    action: Literal["poll", "deliver", "deliver_all", "send", "clear", "clear_old"]
    recipient: _Text = None
    sender: _Text = None
    message_type: _Text = None
    payload: FieldDict = {}
    message_id: _Text = None
    batch_size: _Whole = None
    delivery_timeout_seconds: Annotated[float, Meta(ge=0.001, lt=1e7)] | None = None
    older_than_days: Annotated[float, Meta(ge=0, lt=1e7)] = DEFAULT_DAYS
    orchestrator_instance_id: _Text = None

    @property
    def name(self) -> str:
        """The recipient, which this action needs."""
        if self.recipient is None:
            raise TeamError(Code.MISSING_RECIPIENT, "RECIPIENT is missing", "Name the agent.")
        return self.recipient

    @property
    def trace(self) -> FieldDict:
        """Facts for the audit trail (requirement 210)."""
        instance = self.orchestrator_instance_id
        return {} if instance is None else {"orchestrator_instance_id": instance}


def _parse_request(document: Any) -> _RouteRequest:
    """Read what an orchestrator asks for, in each of the forms in use."""
    command, parameters = COMMAND, document
    if isinstance(document, list) and len(document) == 2:
        command, parameters = document
    elif isinstance(document, dict) and "parameters" in document:
        command, parameters = document.get("command", COMMAND), document["parameters"]
    if str(command).removeprefix("orchestrator.") != COMMAND:
        raise TeamError(Code.INVALID_FIELD, f"{value_words(command)} is not {COMMAND}", _HINT)
    if not isinstance(parameters, dict):
        raise TeamError(Code.INVALID_FIELD, "the document is not a JSON object with parameters", _HINT)
    given = {str(key).upper(): value for key, value in parameters.items()}
    if isinstance(given.get("ACTION"), str):
        given["ACTION"] = given["ACTION"].lower()
    try:
        asked = convert(given, _RouteRequest)
    except ValidationError as error:
        hint = f"{_HINT} The parameters are {', '.join(_RouteRequest.__struct_encode_fields__)}."
        raise TeamError(Code.INVALID_FIELD, f"the document: {error}", hint) from error
    if asked.recipient is None:
        return asked
    return replace(asked, recipient=check_name(asked.recipient, field="RECIPIENT"))


def _poll(caller: Caller, asked: _RouteRequest) -> FieldDict:
    """Return what waits for one agent, oldest first, without changing it (operation 1)."""
    waiting = _waiting_messages(caller, asked.name, asked)
    return {
        "success": True,
        "action": asked.action,
        "recipient": asked.recipient,
        "messages_pending": len(waiting),
        "messages": [
            {
                "message_id": message.message_id,
                "sender": message.sender,
                "message_type": message.record.get("message_type", message.type),
                "payload": message.handed_on,
                "created_at": _created_at(message),
            }
            for message in waiting[: asked.batch_size or 10]
        ],
        "timestamp": to_text(caller.team.clock(), milliseconds=False),
    }


def _waiting_messages(caller: Caller, recipient: str, asked: _RouteRequest) -> list[Message]:
    """Return what waits for a recipient; the poll is put on record where that needs no more than a line."""
    if not caller.team.read_only and caller.team.has_trail:
        try:
            with caller.transaction("poll") as tx:
                waiting = _on_their_way(tx.select(recipient=recipient, statuses=ON_ITS_WAY), recipient)
                tx.record("poll", recipient=recipient, pending=len(waiting), **asked.trace)
            return waiting
        except TeamError as error:
            if error.code not in (Code.READ_ONLY, Code.NOT_PERMITTED):
                raise
    look = caller.team.addressed(recipient)
    messages = look.messages if look is not None else caller.team.snapshot().require_known().messages
    return _on_their_way(messages, recipient)


def _on_their_way(messages: Any, recipient: str) -> list[Message]:
    found = [message for message in messages if message.status in ON_ITS_WAY and message.is_yet_to_reach(recipient)]
    return sorted(found, key=lambda message: message.order_by()[1])


def _deliver(caller: Caller, asked: _RouteRequest) -> FieldDict:
    """Push what is due for everybody or for RECIPIENT (operation 2), or only MESSAGE_ID."""
    message_id = asked.message_id
    done = deliver(
        caller,
        only=None if asked.recipient is None else [asked.recipient],
        ids=None if message_id is None else [message_id],
        limit=asked.delivery_timeout_seconds,
        most=asked.batch_size,
    )
    _record_asked(caller, asked, delivered=len(done.delivered), failed=len(done.failed))
    if message_id is not None:
        return _answer_for_one(caller, asked, message_id, done)
    return {
        "success": True,
        "action": asked.action,
        "messages_delivered": len(done.delivered),
        "messages_failed": len(done.failed),
        "delivery_summary": done.summary_json(),
        **({"messages_expired": len(done.expired)} if done.expired else {}),
        **done.refused_json(),
        # Nothing where nothing was left, which leaves exactly the source's fields.
        **(done.skipped_json() if done.skipped else {}),
        "timestamp": to_text(caller.team.clock(), milliseconds=False),
    }


def _answer_for_one(caller: Caller, asked: _RouteRequest, message_id: str, done: PassResult) -> FieldDict:
    """Return the answer to a delivery of one message: delivered, failed, or why it was not tried."""
    for attempt in done.failed:
        tried, attempts = attempt.message, attempts_of(attempt.message)
        again = f"team-console retry {message_id} tries again." if tried.status == Status.FAILED else ""
        raise TeamError(
            Code.DELIVERY_TIMEOUT,
            f"Failed to deliver message after {counted(attempts, 'attempt')}: {attempt.error}",
            again or "It will be tried again.",
            message_id=message_id,
            recipient=attempt.recipient,
            retry_count=retries_of(tried),  # those made or ordered so far (003-b)
        )
    with caller.transaction("look") as tx:
        message = tx.get(message_id)
    if message is None:
        raise TeamError(
            Code.INVALID_FIELD,
            f"no message {message_id} in the queue",
            "It may be archived: team-console history --grep ID",
        )
    if message.status != Status.DELIVERED:
        hint = "The router does not push what is read, put off, held by somebody, or meant for the human or the lead."
        raise TeamError(Code.NOT_PERMITTED, f"{message_id} is {message.status} and not due", hint)
    return {
        "success": True,
        "action": asked.action,
        "message_id": message_id,
        "recipient": ", ".join(message.recipients),
        "status": message.status,
        "delivered_at": message.envelope("delivered_at"),
    }


def _send(caller: Caller, asked: _RouteRequest) -> FieldDict:
    """Write one new message (operation 3); a priority in the payload is also the message's."""
    payload, kind = asked.payload, asked.message_type
    if kind is None and not payload.get("content"):
        hint = "Name the kind, such as task_assignment; only a plain message with content may leave it out."
        raise TeamError(Code.INVALID_TYPE, "MESSAGE_TYPE is missing", hint)
    urgency = payload.get("priority")
    receipt = send(
        Caller(caller.team, asked.sender or caller.actor, caller.wait),
        to=asked.name,
        type=kind or "message",
        payload=payload,
        priority=urgency if isinstance(urgency, str) and priority_named(urgency) else None,
        message_id=asked.message_id,
    )
    message = receipt.messages[0]
    if asked.trace:
        _record_asked(caller, asked, ids=[message.message_id])
    return {
        "success": True,
        "action": asked.action,
        "message_id": message.message_id,
        "sender": message.sender,
        "recipient": ", ".join(message.recipients),
        "message_type": message.type,
        "status": message.status,
        "created_at": _created_at(message),
        **({"warnings": list(receipt.warnings)} if receipt.warnings else {}),
    }


def _clear(caller: Caller, asked: _RouteRequest) -> FieldDict:
    """Archive and remove what ended long ago (operation 4)."""
    cleared = clear(caller, older_than_days=asked.older_than_days, recipient=asked.recipient)
    _record_asked(caller, asked, removed=cleared.deleted)
    return {
        "success": True,
        "action": asked.action,
        "messages_deleted": cleared.deleted,
        "disk_space_freed_mb": cleared.freed_mb,
        "deleted_statuses": dict(cleared.statuses),
        **cleared.refused_json,
    }


def _record_asked(caller: Caller, asked: _RouteRequest, **facts: Any) -> None:
    """Put on record that an orchestrator asked, and which, even if there was nothing to do (requirement 254)."""
    with caller.transaction("route") as tx:
        tx.record("route", asked=asked.action, **facts, **asked.trace)


def _created_at(message: Message) -> str | None:
    moment = message.created_at
    return None if moment is None else to_text(moment, milliseconds=moment.microsecond != 0)


_ACTIONS = {
    "poll": _poll,
    "deliver": _deliver,
    "deliver_all": _deliver,
    "send": _send,
    "clear": _clear,
    "clear_old": _clear,
}
