"""What the verbs of the failure desk share: ids as arguments, one receipt, one line per message."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import TYPE_CHECKING

from team_console.console.cli.arguments import complete_with
from team_console.console.cli.call import Call
from team_console.store.model.safe import safe_line

if TYPE_CHECKING:
    from team_console.store.desk.caller import Receipt


def add_ids(parser: ArgumentParser) -> None:
    """Declare the messages to treat."""
    text = "message ids; those that the action does not fit are named and left alone"
    complete_with(parser.add_argument("ids", nargs="+", metavar="ID", help=text), "messages")


def finish(call: Call, word: str, receipt: Receipt) -> int:
    """Print what was done to which message."""
    lines = [
        f"{word} {message.message_id} {message.sender} -> {', '.join(message.recipients)}"
        for message in receipt.messages
    ]
    return call.finish(receipt, [safe_line(line) for line in lines])
