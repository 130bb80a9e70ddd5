"""`hook`: one event of a client in, its answer or nothing out.

The program's own start takes the call before any other verb's (`clients/quick/start.py`); this says what it takes.
"""

from __future__ import annotations

from argparse import ArgumentParser

from team_console.console.cli.call import Call
from team_console.console.clients.quick.start import run_hook


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    parser.description = (
        "Take one event of Claude Code or Codex as JSON on standard input; print the client's answer, or nothing.\n"
        "What it wants permission for, its plans and questions wait for the human at the console; without a verdict\n"
        "nothing is printed and the client's own dialog decides. The exit status is 0 whatever happens, but 2 with\n"
        "--wake when mail came. 'team-console join' puts it into a client's settings; --as NAME or TEAM_CONSOLE_AS\n"
        "says whose session it is, and without it nothing is done."
    )
    parser.add_argument("--client", choices=("claude-code", "codex"), help="without it the event tells")
    parser.add_argument("--timeout", metavar="S", help="seconds for which the client waits for its hook")
    parser.add_argument("--wake", action="store_true", help="wait for mail beside an idle session, and wake it")


def run(call: Call) -> int:
    """Answer the event."""
    options = call.options
    given = {"-t": options.team, "--as": options.actor, "--client": options.client, "--timeout": options.timeout}
    words = [word for option, value in given.items() if value for word in (option, value)]
    return run_hook([*words, *(["--wake"] if options.wake else [])])
