"""`reject`: answers an open request with no, with the reason."""

from __future__ import annotations

from argparse import ArgumentParser

from team_console.console.cli.arguments import add_completed
from team_console.console.cli.call import Call
from team_console.console.cli.printing.verdict import describe
from team_console.console.cli.seen import add_seen, seen_by


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    add_completed(parser, "requests", "request", metavar="REQUEST", help="the request id")
    parser.add_argument("--reason", default="", help="why not; the asker reads it")
    parser.add_argument("--suggest", metavar="S", help="what would be accepted instead")
    add_seen(parser)


def run(call: Call) -> int:
    """Reject, and say what was decided on whose request."""
    from team_console.store.service.requests import reject

    options = call.options
    receipt = reject(
        call.decider,
        request_id=options.request,
        reason=options.reason,
        suggest=options.suggest,
        seen=seen_by(call),
    )
    return call.finish(receipt, describe("rejected", receipt))
