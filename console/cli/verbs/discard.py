"""`discard`: dead letters leave the queue, with the reason on record."""

from __future__ import annotations

from argparse import ArgumentParser

from team_console.console.cli.call import Call
from team_console.console.cli.printing.receipts import add_ids, finish


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = "Take dead letters out of the queue. They stay readable in the history of their agent."
    add_ids(parser)
    parser.add_argument("--reason", required=True, metavar="R", help="why; goes on the audit trail")


def run(call: Call) -> int:
    """Discard and print what left."""
    from team_console.store.desk.delivery.failures import discard

    return finish(call, "discarded:", discard(call.caller, ids=call.options.ids, reason=call.options.reason))
