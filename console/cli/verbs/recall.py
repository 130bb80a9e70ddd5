"""`recall`: messages that nobody has got yet are taken back."""

from __future__ import annotations

from argparse import ArgumentParser

from team_console.console.cli.call import Call
from team_console.console.cli.printing.receipts import add_ids, finish


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = "Take back messages that nobody has got yet; what was delivered or read stays so."
    add_ids(parser)


def run(call: Call) -> int:
    """Recall and print what was taken back."""
    from team_console.store.desk.delivery.failures import recall

    return finish(call, "recalled:", recall(call.caller, ids=call.options.ids))
