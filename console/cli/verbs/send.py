"""`send`: one message per recipient."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from team_console.console.cli.arguments import add_completed
from team_console.console.cli.call import Call, split_names
from team_console.console.cli.stdin import content
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.safe import safe_line

_PRIORITIES = ("critical", "high", "medium", "low")


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    add_completed(
        parser, "agents", "--to", action="append", metavar="A[,B]|all", help="recipients, or all for every member"
    )
    add_completed(parser, "kinds", "--type", default="message", help="kind of message (default: message)")
    parser.add_argument("--summary", help="5-10 words for the reader's list; in Chinese at most 14 characters")
    parser.add_argument("--content", metavar="C|-", help="the text; - reads standard input")
    parser.add_argument("--priority", choices=_PRIORITIES, help="default: the kind's own")
    parser.add_argument("--payload", metavar="JSON", help="further fields of this kind, as one JSON object")
    parser.add_argument("--id", dest="message_id", metavar="ID", help="own id; repeating it writes nothing twice")
    parser.add_argument(
        "--in-reply-to", metavar="ID", help="the message this answers; its sender is the default of --to"
    )
    parser.add_argument(
        "--template", choices=("acknowledge", "delayed"), help="fill in summary and content: begun, or begun later"
    )
    parser.add_argument("--reason", metavar="R", help="with --template delayed: why it cannot begin at once")
    parser.add_argument("--expected", metavar="WHEN", help="with --template delayed: when it will")


def run(call: Call) -> int:
    """Send and print the receipt."""
    from team_console.store.protocol.checks import default_recipients
    from team_console.store.service.sending import send

    options = call.options
    recipients = _asker(call, options.in_reply_to) if options.to is None else split_names(options.to)
    summary, text = _filled(call)
    # An empty --to of a script whose variable is not set must not go to whomever the kind would go to.
    if not (recipients if options.to is not None else default_recipients(options.type, recipients)):
        raise TeamError(Code.MISSING_RECIPIENT, "nobody to send to", "Name a recipient with --to AGENT, or --to all.")
    receipt = send(
        call.caller,
        to=recipients,
        type=options.type,
        content=content(options.content) if text is None else text,
        summary=options.summary or summary,
        priority=options.priority,
        payload=payload_of(options.payload),
        message_id=options.message_id,
        in_reply_to=options.in_reply_to,
    )
    word = "already there, nothing written:" if receipt.repeated else "written:"
    return call.finish(receipt, [f"{word} {delivery(message)}" for message in receipt.messages])


def _asker(call: Call, message_id: str | None) -> list[str]:
    """Whoever wrote the message that is answered, as far as it is still in the queue."""
    answered = (
        next((message for message in call.snapshot().messages if message.message_id == message_id), None)
        if message_id
        else None
    )
    return [answered.sender] if answered is not None else []


def _filled(call: Call) -> tuple[str | None, str | None]:
    """Summary and content of the template that was asked for.

    Raises:
        TeamError: `USAGE` for a template beside a content of one's own, or what belongs to a template without one.
    """
    from team_console.store.protocol.kinds import filled

    options = call.options
    if options.template is None:
        if options.reason is not None or options.expected is not None:
            raise TeamError(
                Code.USAGE, "--reason and --expected belong to --template delayed", "Add --template delayed."
            )
        return None, None
    if options.content is not None:
        raise TeamError(Code.USAGE, "--template fills in the content itself", "Leave out --content, or the template.")
    return filled(
        options.template, language=call.team.config().language, reason=options.reason, expected=options.expected
    )


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
    from team_console.store.model.json_text import named, parse_json

    value = parse_json(text, what="--payload", hint='Give one JSON object, such as {"task_id": "T-1"}.')
    if not isinstance(value, dict):
        raise TeamError(Code.INVALID_FIELD, f"--payload is {named(value)}, not an object", "Use {...}.")
    return value
