"""The verbs `receive` and `ack`, and how `receive` prints a message: no content can pretend to be another message."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from functools import partial

from team_console.console.cli.arguments import agent_arguments, arg, flag, seconds, verb
from team_console.console.cli.call import Call, UsageError, unknown_kind_warning
from team_console.console.cli.printing import doubts, whole_content
from team_console.console.cli.sending import print_records
from team_console.store.contract.team import MOST_COUNTED, Team
from team_console.store.model.errors import TeamError
from team_console.store.model.message import TRUST, Message
from team_console.store.model.safe import fenced, safe_line, safe_text
from team_console.store.protocol.client_requests import WHY
from team_console.store.protocol.parsing import ParsedMessage, parse_message
from team_console.store.protocol.shown_when_decided import EVIDENCE, REQUEST_DIGEST, SHOWN, SHOWN_BY
from team_console.store.protocol.titles import said_in, trimmed_text_in
from team_console.store.protocol.tool_input import structure
from team_console.store.protocol.trust import TrustMark, trust_words
from team_console.store.protocol.verdicts import SIGNATURE
from team_console.store.service.inbox import Received, acknowledge, receive

# `receive`: the receive task of seed 000, with its display format and its three-key result.

_EXIT_NOTHING_CAME = 6
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
    received = _receive(call)
    if call.as_json:
        call.json(received.as_json())
    else:
        call.write(_received_text(received, call.team))
    call.warn([notice.message for notice in received.notices])
    _note_delivered(call, received)
    if call.options.type is not None and not received.messages and _has_valid_settings(call):
        call.warn(unknown_kind_warning(call.team.config(), call.options.type))
    # guard: settings-warning-on-receive
    if not (received.is_complete and _has_valid_settings(call)):
        call.warn(doubts(call, call.team.snapshot()))
    return _EXIT_NOTHING_CAME if call.options.wait is not None and not received.messages else 0


def _receive(call: Call) -> Received:
    """Take or look at the messages that the options ask for, after a wait where they name one.

    Raises:
        TeamError: `USAGE` for options that do not fit together; `ACTOR_BOUND`; as for `receive`.
    """
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
    take = partial(
        receive,
        agent=agent,
        type=options.type,
        delivered=options.delivered,
        mark_read=not options.peek,
        lease=options.lease,
        limit=options.limit,
    )
    if options.wait is None:
        return take(call.caller)
    from team_console.store.service.waiting import wait_for_messages  # 20 ms: asyncio

    return wait_for_messages(call.caller, take, timeout=options.wait, tell=call.note_outage)


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
    receipt = acknowledge(call.caller, ids=call.options.ids, token=call.options.token)
    word = "already read:" if receipt.repeated else "read:"
    print_records(call, receipt, word)


# What `receive` prints of a message: the display block of seed 000, in which the payload is never raw JSON.

_INDENT = "  "
_FRAME_LIKE = re.compile(r"\W|_|(?:ID|Received|TRUST|Messages for)\b", re.IGNORECASE)
"""Begins a line that could be taken for one around a message."""
_KEYS_WITH_LINES = frozenset({"content", "summary", "request_id", "requestId", "attachment"})
"""Payload keys that have lines of their own."""
_DECISION_AIDS = frozenset({WHY, "before", "before_at", "before_private"})
"""What a request carries for whoever decides on it; `show` prints it."""
_MACHINE_FIELDS = frozenset({REQUEST_DIGEST, SHOWN, EVIDENCE, SHOWN_BY, SIGNATURE})
"""What a verdict keeps for whoever checks it later; it is no part of what the agent is told."""


def _received_text(received: Received, team: Team) -> str:
    """Return the sentence on what was received, and a block for each message with its whole content."""
    blocks = [_message_block(message, whole_content(team, message)) for message in received.messages]
    return "\n".join([safe_line(received.status_message), *blocks])


def _message_block(message: Message, content: str | None) -> str:
    """Return a message between two lines of dashes.

    Args:
        content: What was stored beside the queue, where the message itself holds only its beginning.
    """
    lines = [
        f"[{message.priority}] {message.type} from {message.sender}",
        f"ID: {message.message_id}",
        f"Received: {message.created}",
        _summary_line(message),
    ]
    if (mark := message.record.get(TRUST)) is not None:  # below the four lines of the source and before its content
        lines.append(f"TRUST: {trust_words(TrustMark(mark))}")
    return "\n".join(["---", *map(safe_line, lines), *_payload_lines(message, content), "---"])


def _summary_line(message: Message) -> str:
    """Return the title of a message as a safe line that nobody can take for one of the frame around a message."""
    line = safe_line(said_in(message))
    return _INDENT + line if _FRAME_LIKE.match(line) else line


def _payload_lines(message: Message, content: str | None) -> list[str]:
    """Return the rest of the payload: content, the id an answer must quote, and every other field.

    Indented, so that no content can pretend to be a further message.
    """
    rest = _rest_of_payload(message, parse_message(message), content)
    return [line for text in rest for line in fenced(text, _INDENT)]


def _rest_of_payload(message: Message, read: ParsedMessage, content: str | None) -> Iterator[str]:
    """Yield lines of the payload that `_summary_line` does not have, as safe text."""
    is_sprint_json = bool(read.carried)  # a sprint message whose content is JSON that could be read
    if not is_sprint_json:
        yield from _content_lines(message, message.content if content is None else content)
    if message.request_id is not None:
        yield f"request_id: {safe_line(message.request_id)}"
    left_out = _KEYS_WITH_LINES
    if not message.payload.keys().isdisjoint((REQUEST_DIGEST, SHOWN_BY)):  # it is a verdict
        left_out |= _MACHINE_FIELDS
    elif read.opens is not None:
        left_out |= _DECISION_AIDS
    fields = {key: value for key, value in message.payload.items() if key not in left_out}
    if is_sprint_json:
        fields = {key: value for key, value in fields.items() if key not in read.body or read.body[key] != value}
        # guard: carried-fields-shown
        yield from _sprint_lines(read)
        if fields.keys() & read.body.keys():
            fields = {"further fields": fields}  # what decides is in the JSON, and must not be taken for its namesake
    if fields:
        yield from structure(fields).split("\n")
    yield from _attachment_lines(message, content)


def _sprint_lines(read: ParsedMessage) -> Iterator[str]:
    yield f"kind: {safe_line(read.name)}"
    body = {key: value for key, value in read.body.items() if key != "msg_type"}
    yield from structure(body).split("\n") if body else ()


def _content_lines(message: Message, content: str) -> list[str]:
    """Return the content, without what stands in the line above it already: all of it, or as its title its whole
    first line.

    A title may be cut, or made of another field; then nothing of the content stands there.
    """
    text = safe_text(content).strip("\n").rstrip()
    above = safe_text(said_in(message))
    if text.strip() == above:
        return []
    first, _, rest = text.lstrip().partition("\n")
    # guard: first-line-shown
    if not trimmed_text_in(message.payload, "summary") and first.rstrip() == above:
        text = rest
    return text.split("\n") if text else []


def _attachment_lines(message: Message, content: str | None) -> Iterator[str]:
    """Yield where the whole content is stored, and what is shown of it; nothing for a message without an attachment."""
    place = message.payload.get("attachment")
    if not isinstance(place, Mapping):
        return
    path, size = safe_line(place.get("path", "")), safe_line(place.get("bytes", "?"), 20)
    if content is None:
        yield f"only the beginning is shown: the whole ({size} bytes) should be in {path} and cannot be read"
    else:
        yield f"attachment: {path} ({size} bytes)"
