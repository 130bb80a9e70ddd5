"""`receive`: the receive task of seed 000, with its display format and its three-key result."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import TYPE_CHECKING

from console.cli.arguments import complete_with
from console.cli.call import Call
from console.cli.output import to_json
from store.errors import Code, TeamError
from store.safe import safe_line

if TYPE_CHECKING:
    from store.desk.inbox import Received
    from store.message import Message


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options of `DESIGN.md` section 5."""
    parser.description = (
        "Take an agent's pending messages, most urgent first. Taken messages are archived and marked read, so each\n"
        "is handed out once. An agent that may die over its work takes them with --lease and confirms with 'ack':\n"
        "what is not confirmed in time is handed out again."
    )
    agent = parser.add_argument("--agent", metavar="A", help="whose messages (default: --as)")
    complete_with(agent, "agents")
    kind = parser.add_argument("--type", metavar="T", help="only this kind of message")
    complete_with(kind, "kinds")
    parser.add_argument("--peek", action="store_true", help="only look: nothing is marked, archived or locked")
    parser.add_argument("--wait", type=float, metavar="SECONDS", help="wait for a message at most this long")
    parser.add_argument("--lease", type=float, metavar="SECONDS", help="hold the messages until 'ack', this long")
    parser.add_argument("--limit", type=int, metavar="N", help="at most so many, for several workers on one inbox")


def run(call: Call) -> int:
    """Receive, wait when asked to, and print."""
    received = _receive(call)
    if call.out.as_json:
        call.out.json(received.as_json())
    else:
        call.out.say(display(received))
        call.out.warn([notice.message for notice in received.notices])
    call.tell_doubt(call.team.snapshot())
    return 0


def _receive(call: Call) -> Received:
    from store.desk.inbox import receive

    options = call.options
    agent = options.agent or call.given_actor
    if not agent:
        raise TeamError(Code.USAGE, "whose messages? --agent is missing", "team-console receive --agent NAME")
    if options.peek and options.lease is not None:
        raise TeamError(Code.USAGE, "--peek takes nothing, so there is nothing to lease", "Leave one of them out.")
    look = {"agent": agent, "type": options.type}
    taking = {**look, "mark_read": not options.peek, "lease": options.lease, "limit": options.limit}
    if options.wait is None:
        return receive(call.seat, **taking)
    if not 0 <= options.wait <= 31_536_000:
        raise TeamError(Code.USAGE, f"--wait {options.wait} is not a number of seconds", "For example --wait 30.")
    from console.cli.waiting import until

    def arrived() -> Received | None:
        found = receive(call.seat, **look, mark_read=False)
        return receive(call.seat, **taking) if found.messages else None

    result = until(call.team, lambda: _not_empty(arrived()), timeout=options.wait)
    return result or receive(call.seat, **taking)


def _not_empty(received: Received | None) -> Received | None:
    return received if received is not None and received.messages else None


def display(received: Received) -> str:
    """The display block of seed 000; its sentence alone when there is nothing."""
    if not received.messages:
        return safe_line(received.status_message)
    blocks = [_block(message) for message in received.messages]
    return "\n".join([safe_line(received.status_message), *blocks])


def _block(message: Message) -> str:
    lines = [
        f"[{message.priority}] {message.type} from {message.sender}",
        f"ID: {message.message_id}",
        f"Received: {message.created}",
        payload_summary(message),
    ]
    return "\n".join(["---", *(safe_line(line) for line in lines), "---"])


def payload_summary(message: Message) -> str:
    """One line for the payload: its summary, else the first line of its content, else the payload as JSON."""
    return message.summary or (to_json(dict(message.payload)) if message.payload else "")
