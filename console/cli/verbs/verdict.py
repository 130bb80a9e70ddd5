"""`verdict`: how one request stands, at once or as soon as it is decided."""

from __future__ import annotations

from argparse import ArgumentParser

from team_console.console.cli.arguments import add_completed
from team_console.console.cli.call import Call
from team_console.console.cli.waits import EXIT_STATUSES, add_wait, finish_outcome, look_or_wait


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (
        "Say how one request stands, at once or with --wait as soon as it is decided. What is printed for --as NAME,\n"
        "whom the answer is to, is marked as read.\n" + EXIT_STATUSES
    )
    add_completed(parser, "requests", "request", metavar="REQUEST", help="the request id")
    add_wait(parser)


def run(call: Call) -> int:
    """Look or wait, and print."""
    outcome = look_or_wait(call, call.options.request)
    if call.out.as_json:
        from team_console.store.views.verdicts import outcome_json

        call.out.json(outcome_json(outcome))
    return finish_outcome(call, outcome)
