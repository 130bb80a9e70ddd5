"""`withdraw`: an asker takes back an open request of its own."""

from __future__ import annotations

from argparse import ArgumentParser

from team_console.console.cli.arguments import add_completed
from team_console.console.cli.call import Call
from team_console.store.model.safe import safe_line


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (
        "Take back an open request of --as NAME: it needs no answer any more, and none decides it from now on. Where\n"
        "nobody has got it yet it is recalled, too."
    )
    add_completed(parser, "requests", "request", metavar="REQUEST", help="the request id")
    parser.add_argument("--reason", default="", metavar="R", help="why it needs no answer any more")


def run(call: Call) -> int:
    """Withdraw it, and say so."""
    from team_console.store.service.asking import withdraw

    receipt = withdraw(call.caller, request_id=call.options.request, reason=call.options.reason)
    word = "was withdrawn before, nothing written:" if receipt.repeated else "withdrawn:"
    return call.finish(receipt, [safe_line(f"{word} {receipt.request_id}")])
