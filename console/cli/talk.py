"""Verbs that carry messages: `send`, `broadcast`, `receive`, `ack`."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec.structs import asdict
from team_console.console.cli.call import Call, UsageError, split_names, unknown_kind_warning
from team_console.console.cli.input import text_or_input
from team_console.console.cli.main import agent_arguments, arg, flag, seconds, verb
from team_console.console.cli.output import is_terminal
from team_console.store.contract.team import MOST_COUNTED
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.json_text import parse_json, value_words
from team_console.store.model.safe import counted
from team_console.store.protocol.checks import default_recipients
from team_console.store.protocol.phrases import fill_template
from team_console.store.service.sending import broadcast, preview, send

if TYPE_CHECKING:
    from team_console.store.service.caller import Receipt
    from team_console.store.service.inbox import Received


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
        TeamError: `USAGE` for a template beside a content of one's own, or what belongs to a template without one.
    """

    options = call.options
    if options.template is None and (options.reason, options.expected) != (None, None):
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
    if is_terminal(sys.stdin) and is_terminal(sys.stderr) and options.content != "-" and not options.yes:
        call.warn(shown.warnings)
        if not ask_yes_or_no("Send it?"):
            text = "broadcast not confirmed; nothing was written"
            raise TeamError(Code.NOT_PERMITTED, text, "Add --yes to skip this.")
    receipt = broadcast(call.caller, summary=options.summary, content=text)
    print_records(call, receipt, "written:")


def ask_yes_or_no(question: str) -> bool:
    """Ask on standard error; anything but y or yes is no."""
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


# `receive`: the receive task of seed 000, with its display format and its three-key result.

NOTHING_CAME = 6
"""Exit status of a wait that ended without a message."""
_MOST_NAMED = 5
"""How many delivered messages are named one by one."""


@verb(
    *agent_arguments("whose messages (default: --as)"),
    arg("--type", "only this kind of message", metavar="KIND", source="kinds"),
    flag("--peek", "only look: mark, archive and lock nothing"),
    flag("--delivered", "also take messages that the router delivered and nobody acknowledged"),
    seconds("--wait", "wait at most this long; exits with 6 if none came", zero=True),
    arg("--lease", "hold the messages until 'ack', this long", type=float, metavar="SECONDS"),
    arg("--limit", "the most messages to take, for several workers on one inbox", type=int, metavar="N"),
)
def do_receive(call: Call) -> int:
    """Take an agent's pending messages, most urgent first. They are archived and marked read, so each is handed out
    once. An agent that may be killed at work takes them with --lease and confirms with 'ack'; what it does not
    confirm in time is handed out again. Messages that the router delivered count as unread until they are
    acknowledged; --delivered takes them, too.

    Examples:
      team-console receive helper --wait 60
      team-console --as helper receive --lease 300 --limit 1"""
    from team_console.console.cli.printing import doubts, received_text  # 3 ms, which a send has no use for

    received = _receive(call)
    if call.as_json:
        call.json(received.as_json())
    else:
        call.write(received_text(received, call.team))
    call.warn([notice.message for notice in received.notices])
    _note_delivered(call, received)
    if call.options.type is not None and not received.messages and _has_valid_settings(call):
        call.warn(unknown_kind_warning(call.team.config(), call.options.type))
    # guard: settings-warning-on-receive
    if not (received.is_complete and _has_valid_settings(call)):
        call.warn(doubts(call, call.team.snapshot()))
    return NOTHING_CAME if call.options.wait is not None and not received.messages else 0


def _receive(call: Call) -> Received:
    from team_console.store.service.inbox import receive  # 3 ms, which a send does not need

    options = call.options
    agent = call.agent if call.agent is not None else call.given_actor
    if agent is None:
        raise UsageError("whose messages? no agent is named", "team-console receive NAME")
    if options.peek and options.lease is not None:
        raise UsageError("--peek takes nothing, so there is nothing to lease", "Leave one of them out.")
    if not options.peek:  # what is taken is read in the name of whom it is for, and leaves that one's list
        call.refuse_acting_as_human(agent, field=f"--agent {agent}, or look with --peek")
        if sys.stdout is None:  # so it is where a process is started with it closed
            text = "standard output is closed, so nobody would read what is taken"
            raise UsageError(text, "Leave it open, or look with --peek.")
    look = {"agent": agent, "type": options.type, "delivered": options.delivered}
    taking = {**look, "mark_read": not options.peek, "lease": options.lease, "limit": options.limit}
    if options.wait is None:
        return receive(call.caller, **taking)
    from team_console.store.service.waiting import wait_for_messages  # 20 ms: asyncio

    return wait_for_messages(call.caller, partial(receive, **taking), timeout=options.wait, tell=call.note_outage)


def _has_valid_settings(call: Call) -> bool:
    """Return whether the settings are understood and those in force, which a look at an agent's messages does not
    tell.
    """
    try:
        config = call.team.config()
    except TeamError:
        return False
    return not (config.lost or config.is_misread or config.is_misplaced)


def _note_delivered(call: Call, received: Received) -> None:
    """Print what the router pushed and nobody read (D19), so that the inbox does not look empty."""
    left = received.delivered
    if not left or call.options.delivered:
        return
    names = [f"{message.message_id} from {message.sender}" for message in left]
    number = received.unacknowledged
    named = ", ".join(names[:_MOST_NAMED]) + (f" and {number - _MOST_NAMED:,} more" if number > _MOST_NAMED else "")
    more = " or more" if number >= MOST_COUNTED else ""
    call.note(f"delivered and not acknowledged: {number:,}{more} ({named})")
    take = f"team-console receive --agent {received.agent} --delivered"
    call.note(f"  They count as unread. Read them with: {take}")


# `ack`: delivered or claimed messages become read.


@verb(
    arg("ids", "message ids; all are acknowledged or none", nargs="+", metavar="ID", source="held"),
    arg("--token", "the lease's token; refuse if the message was handed out again since", metavar="TOKEN"),
)
def do_ack(call: Call) -> None:
    """Acknowledge delivered or claimed messages as read.

    Examples:
      team-console --as helper ack ID --token TOKEN"""
    from team_console.store.service.inbox import acknowledge  # 3 ms, which a send does not need

    receipt = acknowledge(call.caller, ids=call.options.ids, token=call.options.token)
    word = "already read:" if receipt.repeated else "read:"
    print_records(call, receipt, word)
