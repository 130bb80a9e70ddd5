"""`retry`: dead letters are tried again from the beginning."""

from __future__ import annotations

from argparse import ArgumentParser

from console.cli.call import Call
from console.cli.treat import add_ids, finish


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of `DESIGN.md` section 5."""
    parser.description = "Failed, expired or put off messages become pending, with all their tries again."
    add_ids(parser)


def run(call: Call) -> int:
    """Retry and print what is pending again."""
    from store.desk.failures import retry

    return finish(call, "pending again:", retry(call.seat, ids=call.options.ids))
