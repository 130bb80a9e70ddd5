"""`ack`: delivered or claimed messages become read."""

from __future__ import annotations

from argparse import ArgumentParser

from team_console.console.cli.arguments import add_completed
from team_console.console.cli.call import Call
from team_console.console.cli.verbs.send import delivery


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    add_completed(parser, "held", "ids", nargs="+", metavar="ID", help="message ids; all are acknowledged or none")
    parser.add_argument("--token", help="the lease's token; refuses when the message was handed out again since")


def run(call: Call) -> int:
    """Acknowledge and print the receipt."""
    from team_console.store.service.inbox import acknowledge

    receipt = acknowledge(call.caller, ids=call.options.ids, token=call.options.token)
    word = "already read:" if receipt.repeated else "read:"
    return call.finish(receipt, [f"{word} {delivery(message)}" for message in receipt.messages])
