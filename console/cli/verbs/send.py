"""`send`: one message per recipient."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from console.cli.arguments import complete_with
from console.cli.call import Call, split_names
from console.cli.stdin import content
from store.errors import Code, TeamError
from store.safe import safe_line

_PRIORITIES = ("critical", "high", "medium", "low")


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options of `DESIGN.md` section 5."""
    to = parser.add_argument("--to", action="append", metavar="A[,B]|all", help="recipients, or all for every member")
    complete_with(to, "agents")
    kind = parser.add_argument("--type", default="message", help="kind of message (default: message)")
    complete_with(kind, "kinds")
    parser.add_argument("--summary", help="5-10 words for the reader's list")
    parser.add_argument("--content", metavar="C|-", help="the text; - reads standard input")
    parser.add_argument("--priority", choices=_PRIORITIES, help="default: the kind's own")
    parser.add_argument("--payload", metavar="JSON", help="further fields of this kind, as one JSON object")
    parser.add_argument("--id", dest="message_id", metavar="ID", help="own id; repeating it writes nothing twice")
    parser.add_argument("--in-reply-to", metavar="ID", help="the message this answers")


def run(call: Call) -> int:
    """Send and print the receipt."""
    from store.desk.mail import send
    from store.protocol.fields import default_recipients

    options = call.options
    recipients = split_names(options.to)
    if not default_recipients(options.type, recipients):
        raise TeamError(Code.MISSING_RECIPIENT, "nobody to send to", "Name a recipient with --to AGENT, or --to all.")
    receipt = send(
        call.seat,
        to=recipients,
        type=options.type,
        content=content(options.content),
        summary=options.summary,
        priority=options.priority,
        payload=payload_of(options.payload),
        message_id=options.message_id,
        in_reply_to=options.in_reply_to,
    )
    word = "already there, nothing written:" if receipt.repeated else "written:"
    return call.finish(receipt, [f"{word} {delivery(one)}" for one in receipt.messages])


def delivery(message: Any) -> str:
    """One written record in a few words."""
    return safe_line(f"{message.message_id} {message.sender} -> {', '.join(message.recipients)} ({message.type})")


def payload_of(text: str | None) -> dict[str, Any] | None:
    """The object in `--payload`.

    Raises:
        TeamError: `INVALID_FIELD` when it is not one JSON object, with the place.
    """
    if text is None:
        return None
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno} column {error.colno}"
        raise TeamError(Code.INVALID_FIELD, f"--payload, {place}: {error.msg}", "Give one JSON object.") from None
    except RecursionError:
        raise TeamError(Code.INVALID_FIELD, "--payload is nested too deeply", "Flatten it.") from None
    if not isinstance(value, dict):
        raise TeamError(Code.INVALID_FIELD, f"--payload is a JSON {type(value).__name__}, not an object", "Use {...}.")
    return value
