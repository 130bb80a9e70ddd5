"""`plan`: an agent hands in its plan; the request id comes back."""

from __future__ import annotations

from argparse import ArgumentParser

from team_console.console.cli.call import Call
from team_console.console.cli.stdin import content
from team_console.console.cli.waits import EXIT_STATUSES, add_wait, finish_asking, seconds_of


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    parser.description = (
        "Hand in the plan of --as NAME to the team's lead. The request id is printed; the verdict comes to NAME's\n"
        "inbox as plan_approval_response. A later plan of the same author supersedes an open one.\n"
        "With --wait it waits, and prints the verdict.\n" + EXIT_STATUSES
    )
    parser.add_argument("--content", required=True, metavar="C|-", help="the plan; - reads standard input")
    parser.add_argument("--summary", help="5-10 words; the plan's first line when left out")
    add_wait(parser)


def run(call: Call) -> int:
    """Submit, and print the request id alone so that a script can keep it, or with a wait the verdict."""
    from team_console.store.service.requests import submit_plan

    seconds_of(call)
    receipt = submit_plan(call.caller, content=content(call.options.content) or "", summary=call.options.summary)
    return finish_asking(call, receipt)
