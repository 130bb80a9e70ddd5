"""`discard`: dead letters leave the queue, with the reason on record."""

from __future__ import annotations

from argparse import ArgumentParser

from console.cli.call import Call
from console.cli.treat import add_ids, finish


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of `DESIGN.md` section 5."""
    parser.description = "Take dead letters out of the queue. They stay readable in the history of their agent."
    add_ids(parser)
    parser.add_argument("--reason", required=True, metavar="R", help="why; goes on the audit trail")


def run(call: Call) -> int:
    """Discard and print what left."""
    from store.desk.failures import discard

    return finish(call, "discarded:", discard(call.seat, ids=call.options.ids, reason=call.options.reason))
