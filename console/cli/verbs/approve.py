"""`approve`: answers an open request with yes."""

from __future__ import annotations

from argparse import ArgumentParser

from console.cli.arguments import complete_with
from console.cli.call import Call
from console.cli.verdict import describe
from store.desk.seat import Receipt


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of `DESIGN.md` section 5."""
    request = parser.add_argument("request", metavar="REQUEST", help="the request id")
    complete_with(request, "requests")
    parser.add_argument("--note", help="a word to the asker")


def run(call: Call) -> int:
    """Approve, and say what was decided on whose request."""
    from store.desk.requests import approve

    receipt: Receipt = approve(call.seat, request_id=call.options.request, note=call.options.note)
    return call.finish(receipt, describe("approved", receipt))
