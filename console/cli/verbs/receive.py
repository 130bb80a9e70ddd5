"""`receive`: the receive task of seed 000, with its display format and its three-key result."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from team_console.console.cli.arguments import add_agent, add_completed
from team_console.console.cli.call import Call
from team_console.console.cli.printing.message_text import MACHINE_FIELDS, payload_lines, summary_line, whole_content
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import TRUST
from team_console.store.model.safe import first_of, safe_line
from team_console.store.protocol.verdicts import MEANINGS, Mark

if TYPE_CHECKING:
    from team_console.store.model.message import Message
    from team_console.store.service.caller import Received

NOTHING_CAME = 6
"""Exit status of a wait that ended without a message."""
_NAMED = 5
"""How many delivered messages are named one by one."""


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    parser.description = (
        "Take an agent's pending messages, most urgent first. Taken messages are archived and marked read, so each\n"
        "is handed out once. An agent that may die over its work takes them with --lease and confirms with 'ack':\n"
        "what is not confirmed in time is handed out again. What the router delivered counts as unread until it is\n"
        "acknowledged; --delivered takes it, too."
    )
    add_agent(parser, help="whose messages (default: --as)")
    add_completed(parser, "kinds", "--type", metavar="T", help="only this kind of message")
    parser.add_argument("--peek", action="store_true", help="only look: nothing is marked, archived or locked")
    parser.add_argument(
        "--delivered", action="store_true", help="take, too, what the router delivered and nobody acknowledged"
    )
    parser.add_argument(
        "--wait", type=float, metavar="SECONDS", help="wait at most this long; leaves with 6 when none came"
    )
    parser.add_argument("--lease", type=float, metavar="SECONDS", help="hold the messages until 'ack', this long")
    parser.add_argument("--limit", type=int, metavar="N", help="at most so many, for several workers on one inbox")


def run(call: Call) -> int:
    """Receive, wait when asked to, and print; what was left behind is named on standard error."""
    try:
        received = _receive(call)
    except TeamError as error:  # a script that reads the three keys of the source reads them in any case
        error.facts |= {"messages": [], "count": 0, "status_message": error.message}
        raise
    if call.out.as_json:
        call.out.json(received.as_json())
    else:
        call.out.say(display(received, partial(whole_content, call.team)))
    call.out.warn([notice.message for notice in received.notices])
    _name_delivered(call, received)
    if call.options.type is not None and not received.messages and _settings_hold(call):
        from team_console.console.cli.unheard_names import unheard_kind

        call.out.warn(unheard_kind(call.team.config(), call.options.type))
    if not (received.is_complete and _settings_hold(call)):
        call.tell_doubt(call.team.snapshot())
    return NOTHING_CAME if call.options.wait is not None and not received.messages else 0


def _receive(call: Call) -> Received:
    from team_console.store.service.inbox import receive

    options = call.options
    agent = call.agent if call.agent is not None else call.given_actor
    if agent is None:
        raise TeamError(Code.USAGE, "whose messages? no agent is named", "team-console receive NAME")
    if options.peek and options.lease is not None:
        raise TeamError(Code.USAGE, "--peek takes nothing, so there is nothing to lease", "Leave one of them out.")
    if not options.peek:  # what is taken is read in the name of whom it is for, and leaves that one's list
        call.refuse_to_rise(agent, field=f"--agent {agent}, or look with --peek")
        if sys.stdout is None:  # so it is where a process is started with it closed
            text = "standard output is closed, so nobody would read what is taken"
            raise TeamError(Code.USAGE, text, "Leave it open, or look with --peek.")
    look = {"agent": agent, "type": options.type, "delivered": options.delivered}
    taking = {**look, "mark_read": not options.peek, "lease": options.lease, "limit": options.limit}
    if options.wait is None:
        return receive(call.caller, **taking)
    from team_console.store.service.waiting import LONGEST_WAIT, wait_for_messages

    if not 0 <= options.wait <= LONGEST_WAIT:
        raise TeamError(Code.USAGE, f"--wait {options.wait} is not a number of seconds", "For example --wait 30.")
    return wait_for_messages(call.caller, partial(receive, **taking), timeout=options.wait, tell=call.tell_outage)


def _settings_hold(call: Call) -> bool:
    """Whether the settings are understood and those in force, which a look at an agent's messages does not tell."""
    try:
        config = call.team.config()
    except TeamError:
        return False
    return not (config.lost or config.is_misread or config.is_misplaced)


def _name_delivered(call: Call, received: Received) -> None:
    """What the router pushed is not pending and not read (D19): say so, or it would look as if nothing was there."""
    left = received.delivered
    if not left or call.options.delivered:
        return
    names = [f"{message.message_id} from {message.sender}" for message in left]
    call.out.note(safe_line(f"delivered and not acknowledged: {len(left):,} ({first_of(names, _NAMED)})"))
    take = f"team-console receive --agent {received.agent} --delivered"
    call.out.note(safe_line(f"  They count as unread. Read them with: {take}"))


def display(received: Received, whole: Callable[[Message], str | None] = lambda message: None) -> str:
    """The display block of seed 000, each message with the rest of its payload; its sentence alone when there is none.

    `whole` gives the content of a message that holds only its beginning.
    """
    if not received.messages:
        return safe_line(received.status_message)
    blocks = [_block(message, whole(message)) for message in received.messages]
    return "\n".join([safe_line(received.status_message), *blocks])


def _warning(message: Message) -> list[str]:
    """What is wrong with it, below the four lines of the source and before its content."""
    mark = message.record.get(TRUST)
    return [f"TRUST: {mark}: {MEANINGS[Mark(mark)]}"] if mark is not None else []


def _block(message: Message, content: str | None) -> str:
    lines = [
        f"[{message.priority}] {message.type} from {message.sender}",
        f"ID: {message.message_id}",
        f"Received: {message.created}",
    ]
    payload = [summary_line(message), *_warning(message), *payload_lines(message, content, apart=MACHINE_FIELDS)]
    return "\n".join(["---", *(safe_line(line) for line in lines), *payload, "---"])
