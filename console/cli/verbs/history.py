"""`history`: archived and live messages, as log lines (seed 001), JSON or CSV."""

from __future__ import annotations

from argparse import ArgumentParser

from console.cli.arguments import complete_with
from console.cli.call import Call


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options of `DESIGN.md` section 5."""
    agent = parser.add_argument("--agent", metavar="A", help="only what this agent sent or got")
    complete_with(agent, "agents")
    parser.add_argument("--since", metavar="T", help="2026-02-24, 2026-02-24T10:30:00Z, or an age: 30m, 12h, 7d")
    kind = parser.add_argument("--type", metavar="T", help="only this kind of message")
    complete_with(kind, "kinds")
    parser.add_argument("--grep", metavar="RE", help="only messages with this regular expression in their text")
    parser.add_argument("--format", choices=("log", "json", "csv"), help="default: log")


def run(call: Call) -> int:
    """Print, oldest first."""
    raise NotImplementedError
