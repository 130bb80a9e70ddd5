"""`join`: a real agent joins the team: the member, and the settings of the client it runs in."""

from __future__ import annotations

import os
import shlex
from argparse import ArgumentParser

from team_console.console.cli.arguments import add_completed
from team_console.console.cli.call import Call
from team_console.console.cli.printing.joined import finish_joined, refuse_password
from team_console.store.backends.locations import absolute, unseen
from team_console.store.model.errors import Code, TeamError
from team_console.store.settings.parsing import ROLES
from team_console.store.settings.team_config import Agent

_CLIENTS = ("claude", "codex", "mcp", "shell")


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (
        "Make NAME a member, if it is none, and write what its client needs, beside what others put there: hooks, the\n"
        "MCP server and the rule that allows it (claude, codex), the MCP server alone (mcp), or a block in AGENTS.md\n"
        "(shell). Every change is shown. Again, it changes nothing; 'team-console leave NAME' takes it out."
    )
    add_completed(parser, "agents", "name", metavar="NAME", help="the member the agent is to be")
    parser.add_argument("--for", dest="client", choices=_CLIENTS, required=True, help="what the agent runs in")
    scope = parser.add_mutually_exclusive_group()
    scope.add_argument(
        "--project", dest="scope", action="store_const", const="project", help="in the project: the default"
    )
    scope.add_argument(
        "--local", dest="scope", action="store_const", const="local", help="in the project, for this machine alone"
    )
    scope.add_argument("--user", dest="scope", action="store_const", const="user", help="in all of your projects")
    add_completed(
        parser, "files", "--in", dest="folder", metavar="DIR", help="the project (default: the current folder)"
    )
    parser.add_argument("--print", dest="show", action="store_true", help="show what would change; write nothing")
    parser.add_argument("--plugin", action="store_true", help="print the command that starts claude with our plugin")
    parser.add_argument("--role", choices=[role for role in ROLES if role != "master"], help="of a new member")
    parser.add_argument("--plan", action="store_true", help="a new member hands in plans and works only after approval")


def run(call: Call) -> int:
    """Join, and show what changed."""
    from team_console.console.clients.joining.act import join
    from team_console.console.clients.joining.places import Client, Scope

    options = call.options
    refuse_password(call)
    if options.plugin:
        return _plugin(call)
    agent = Agent(options.name, role=options.role or "member", plan_mode_required=options.plan)
    folder = absolute("." if options.folder is None else options.folder)
    if not os.path.isdir(folder):
        why = unseen(folder) or "there is no such folder"
        raise TeamError(Code.USAGE, f"--in {folder}: {why}", "Name the project's folder.")
    scope, write = Scope(options.scope or "project"), not (options.show or options.read_only)
    return finish_joined(call, join(call.caller, agent, Client(options.client), scope, project=folder, write=write))


def _plugin(call: Call) -> int:
    """The command line alone, so that it can be run; it writes nothing, so the member must be one already."""
    from team_console.console.clients.joining.act import plugin_folder

    if call.options.client != "claude":
        raise TeamError(Code.USAGE, "--plugin is for claude", "Leave it out.")
    identity = f"TEAM_CONSOLE_AS={shlex.quote(call.options.name)} TEAM_CONSOLE_TEAM={shlex.quote(call.team.location)}"
    line = f"{identity} claude --plugin-dir {shlex.quote(str(plugin_folder()))}"
    if call.out.as_json:
        call.out.json({"success": True, "action": "join", "command": line})
    else:
        call.out.say(line)
    return 0
