"""`retry`: dead letters are tried again from the beginning."""

from __future__ import annotations

from argparse import ArgumentParser

from team_console.console.cli.call import Call
from team_console.console.cli.printing.receipts import add_ids, finish


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = "Failed, expired or put off messages become pending, with all their tries again."
    add_ids(parser)


def run(call: Call) -> int:
    """Retry and print what is pending again."""
    from team_console.store.desk.delivery.failures import retry

    return finish(call, "pending again:", retry(call.caller, ids=call.options.ids))
