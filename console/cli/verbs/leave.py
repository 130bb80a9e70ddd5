"""`leave`: takes out of the settings of clients, and of the team, what `join` put there."""

from __future__ import annotations

from argparse import ArgumentParser

from team_console.console.cli.arguments import add_completed
from team_console.console.cli.call import Call
from team_console.console.cli.printing.joined import finish_joined
from team_console.store.backends.locations import absolute


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (
        "Take out what 'team-console join NAME' put into the settings of clients, in the project and in your own, and\n"
        "the member if a join added it. What others put there stays as it is; messages and archives stay, too."
    )
    add_completed(parser, "agents", "name", metavar="NAME", help="the member that joined")
    add_completed(
        parser, "files", "--in", dest="folder", metavar="DIR", help="the project (default: the current folder)"
    )
    parser.add_argument("--print", dest="show", action="store_true", help="show what would change; write nothing")


def run(call: Call) -> int:
    """Leave, and show what changed."""
    from team_console.console.clients.joining.act import leave

    options = call.options
    write = not (options.show or options.read_only)
    project = absolute("." if options.folder is None else options.folder)
    return finish_joined(call, leave(call.caller, options.name, project=project, write=write))
