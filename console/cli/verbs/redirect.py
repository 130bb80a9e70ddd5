"""`redirect`: undelivered messages go to another agent."""

from __future__ import annotations

from argparse import ArgumentParser

from team_console.console.cli.arguments import complete_with
from team_console.console.cli.call import Call
from team_console.console.cli.printing.receipts import add_ids, finish


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = "Give messages that nobody has got yet to another agent. Id, sender and content stay."
    add_ids(parser)
    complete_with(parser.add_argument("--to", required=True, metavar="A", help="the agent to take them"), "agents")


def run(call: Call) -> int:
    """Redirect and print the new addressees."""
    from team_console.store.desk.delivery.failures import redirect

    return finish(call, "redirected:", redirect(call.caller, ids=call.options.ids, to=call.options.to))
