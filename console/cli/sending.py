"""The verbs `send` and `broadcast`: a message to some members or to all."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from msgspec.structs import asdict
from team_console.console.cli.arguments import arg, flag, verb
from team_console.console.cli.call import Call, UsageError, split_names
from team_console.console.cli.streams import is_terminal, text_or_input
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.json_text import parse_json, value_words
from team_console.store.model.safe import counted
from team_console.store.protocol.checks import default_recipients
from team_console.store.protocol.phrases import fill_template
from team_console.store.service.sending import broadcast, preview, send

if TYPE_CHECKING:
    from team_console.store.service.caller import Receipt

_PRIORITIES = ("critical", "high", "medium", "low", "urgent")


@verb(
    arg("--to", "recipients, or all for every member", action="append", metavar="NAME[,NAME]|all", source="recipients"),
    arg("--type", "kind of message (default: message)", default="message", metavar="KIND", source="kinds"),
    arg("--summary", "5-10 words for the reader's list; in Chinese at most 14 characters", metavar="TEXT"),
    arg("--content", "the text; - reads standard input", metavar="TEXT|-"),
    arg("--priority", "default: the kind's own; urgent is critical", choices=_PRIORITIES),
    arg("--payload", "other fields of this kind, as one JSON object", metavar="JSON"),
    arg("--id", "an id of your own; repeating it writes nothing twice", dest="message_id", metavar="ID"),
    arg("--in-reply-to", "the message that this answers; default of --to: its sender", metavar="ID"),
    arg("--template", "fill in summary and content: begun, or begun later", choices=("acknowledge", "delayed")),
    arg("--reason", "with --template delayed: why it cannot begin at once", metavar="TEXT"),
    arg("--expected", "with --template delayed: when it begins", metavar="WHEN"),
)
def do_send(call: Call) -> None:
    """Send a message, one delivery per recipient.

    Examples:
      team-console send --to helper --summary "Rename the module" --content "Call it loader.py, please."
      team-console --as helper send --to ceo --summary "Done with the loader" --content - < report.md"""
    options = call.options
    if options.to is None:  # to whoever wrote the message that is answered, as far as it is still in the queue
        messages = call.snapshot().messages if options.in_reply_to else ()
        recipients = [one.sender for one in messages if one.message_id == options.in_reply_to][:1]
    else:
        recipients = split_names(options.to)
    summary, text = _template_texts(call)
    # An empty --to of a script whose variable is not set must not go to whomever the kind would go to.
    if not (recipients if options.to is not None else default_recipients(options.type, recipients)):
        raise TeamError(Code.MISSING_RECIPIENT, "nobody to send to", "Name a recipient with --to AGENT, or --to all.")
    receipt = send(
        call.caller,
        to=recipients,
        type=options.type,
        content=text_or_input(options.content) if text is None else text,
        summary=options.summary or summary,
        priority=options.priority,
        payload=payload_of(options.payload),
        message_id=options.message_id,
        in_reply_to=options.in_reply_to,
    )
    word = "already there, nothing written:" if receipt.repeated else "written:"
    print_records(call, receipt, word)


def _template_texts(call: Call) -> tuple[str | None, str | None]:
    """Return summary and content of the template that was asked for; None and None without one.

    Raises:
        TeamError: `USAGE` for a template beside a content of one's own, or what belongs to a template without it.
    """

    options = call.options
    if options.template != "delayed" and (options.reason, options.expected) != (None, None):
        raise UsageError("--reason and --expected belong to --template delayed", "Add --template delayed.")
    if options.template is None:
        return None, None
    if options.content is not None:
        raise UsageError("--template fills in the content itself", "Leave out --content, or the template.")
    return fill_template(
        options.template, language=call.team.config().language, reason=options.reason, expected=options.expected
    )


def print_records(call: Call, receipt: Receipt, word: str) -> None:
    """Print each record that a verb wrote or changed, behind the word for what it did."""
    lines = [
        f"{word} {message.message_id} {message.sender} -> {', '.join(message.recipients)} ({message.type})"
        for message in receipt.messages
    ]
    call.print_receipt(receipt, lines)


def payload_of(text: str | None) -> dict[str, Any] | None:
    """Return the object in `--payload`.

    Raises:
        TeamError: `INVALID_FIELD` when it is not one JSON object, with the place.
    """
    if text is None:
        return None

    value = parse_json(text, what="--payload", hint='Give one JSON object, such as {"task_id": "T-1"}.')
    if not isinstance(value, dict):
        raise TeamError(Code.INVALID_FIELD, f"--payload is {value_words(value)}, not an object", "Use {...}.")
    return value


# `broadcast`: the same message to every member, after saying how many deliveries that makes.


@verb(
    arg("--summary", "5-10 words for the reader's list", required=True, metavar="TEXT"),
    arg("--content", "the text; - reads standard input", required=True, metavar="TEXT|-"),
    flag("--yes", "do not ask"),
    flag("--dry-run", "show who would get it, write nothing"),
)
def do_broadcast(call: Call) -> None:
    """Send one message to every member but the sender. It shows first who will get it; at a terminal it asks before
    anything is written, in a script it writes at once. Use it for what everybody must see: start and end of a
    project, blocking problems, changes to the team, alarms. For one agent use send.

    Examples:
      team-console broadcast --summary "Release is frozen" --content "No pushes until noon." --dry-run"""
    options = call.options
    text = text_or_input(options.content) or ""
    shown = preview(call.caller, to="all")
    sentence = f"{counted(len(shown.recipients), 'delivery')}: {', '.join(shown.recipients)}"
    if shown.not_listening:
        sentence += f"; not listening: {', '.join(shown.not_listening)}"
    if options.dry_run:
        foreseen = {"success": True, "action": "broadcast", "dry_run": True, **asdict(shown)}
        call.print_result(foreseen, sentence, warnings=shown.warnings)
        return
    call.note(sentence)
    to: tuple[str, ...] = ("all",)
    if is_terminal(sys.stdin) and is_terminal(sys.stderr) and options.content != "-" and not options.yes:
        call.warn(shown.warnings)
        if not ask_yes_or_no("Send it?"):
            text = "broadcast not confirmed; nothing was written"
            raise TeamError(Code.NOT_PERMITTED, text, "Add --yes to skip this.")
        to = shown.recipients
    receipt = broadcast(call.caller, summary=options.summary, content=text, to=to)
    print_records(call, receipt, "written:")


def ask_yes_or_no(question: str) -> bool:
    """Ask on standard error; anything but y or yes is no."""
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
