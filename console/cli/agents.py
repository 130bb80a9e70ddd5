"""Verbs by which real agents join: `join`, `leave`, `instructions`, `hook`, `mcp`."""

from __future__ import annotations

import os
import shlex
from argparse import ArgumentParser

from team_console.console.agents.instructions import instructions_for
from team_console.console.agents.start import run_hook
from team_console.console.cli.arguments import add_completed
from team_console.console.cli.call import Call
from team_console.console.cli.printing import ASK_HELP, finish_joined, parse_rules, refuse_password
from team_console.store.backends.locations import absolute, unseen
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.names import check_name
from team_console.store.model.safe import safe_text
from team_console.store.service.writing import refuse_unknown_reader
from team_console.store.settings.parsing import ROLES
from team_console.store.settings.team_config import Agent

_CLIENTS = ("claude", "codex", "mcp", "shell")


def add_join_arguments(parser: ArgumentParser) -> None:
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
    parser.add_argument("--ask-for", metavar="RULE|none|team", action="append", help=ASK_HELP)


def do_join(call: Call) -> int:
    """Join, and show what changed."""
    from team_console.console.agents.join import Client, Scope, join

    options = call.options
    refuse_password(call)
    if options.plugin:
        return _plugin(call)
    rules = None if options.ask_for is None else parse_rules(options.ask_for)
    agent = Agent(options.name, role=options.role or "member", plan_mode_required=options.plan, ask_for=rules)
    folder = absolute("." if options.folder is None else options.folder)
    if not os.path.isdir(folder):
        why = unseen(folder) or "there is no such folder"
        raise TeamError(Code.USAGE, f"--in {folder}: {why}", "Name the project's folder.")
    scope, write = Scope(options.scope or "project"), not (options.show or options.read_only)
    return finish_joined(call, join(call.caller, agent, Client(options.client), scope, project=folder, write=write))


def _plugin(call: Call) -> int:
    """The command line alone, so that it can be run; it writes nothing, so the member must be one already."""
    from team_console.console.agents.join import plugin_folder

    if call.options.client != "claude":
        raise TeamError(Code.USAGE, "--plugin is for claude", "Leave it out.")
    identity = f"TEAM_CONSOLE_AS={shlex.quote(call.options.name)} TEAM_CONSOLE_TEAM={shlex.quote(call.team.location)}"
    line = f"{identity} claude --plugin-dir {shlex.quote(str(plugin_folder()))}"
    if call.out.as_json:
        call.out.json({"success": True, "action": "join", "command": line})
    else:
        call.out.say(line)
    return 0


# `leave`: takes out of the settings of clients, and of the team, what `join` put there.


def add_leave_arguments(parser: ArgumentParser) -> None:
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


def do_leave(call: Call) -> int:
    """Leave, and show what changed."""
    from team_console.console.agents.join import leave

    options = call.options
    write = not (options.show or options.read_only)
    project = absolute("." if options.folder is None else options.folder)
    return finish_joined(call, leave(call.caller, options.name, project=project, write=write))


# `instructions`: what the model of an agent must know to be a member of the team.


def add_instructions_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (
        "Print what the model of an agent must know to be NAME: who it is, and the commands it needs, as they stand.\n"
        "A client that has joined is told by itself; give it to any other."
    )
    add_completed(parser, "agents", "name", metavar="NAME", help="the member the agent is")
    parser.add_argument("--hooks", action="store_true", help="for a client whose hooks bring the mail by themselves")


def do_instructions(call: Call) -> int:
    """Print the instructions; a name that nobody has gets none, as none of their commands would work."""
    name = check_name(call.options.name, field="name")
    snapshot = call.team.snapshot()
    if snapshot.is_known:
        refuse_unknown_reader(snapshot.config, name, lambda: snapshot.messages)
    text = safe_text(instructions_for(call.team, name, by_itself=call.options.hooks))
    if call.out.as_json:
        call.out.json({"agent": name, "team": call.team.config().name, "instructions": text})
    else:
        call.out.say(text)
    return 0


# `hook`: one event of a client in, its answer or nothing out.


def add_hook_arguments(parser: ArgumentParser) -> None:
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


def do_hook(call: Call) -> int:
    """Answer the event."""
    options = call.options
    given = {"-t": options.team, "--as": options.actor, "--client": options.client, "--timeout": options.timeout}
    words = [word for option, value in given.items() if value for word in (option, value)]
    return run_hook([*words, *(["--wake"] if options.wake else [])])


# `mcp`: serve the team's tools to an MCP client, for the agent that the environment names.


def add_mcp_arguments(parser: ArgumentParser) -> None:
    """Describe what it needs; it takes no arguments of its own."""
    parser.description = (
        "Serve whoami, inbox, send, hand_in_plan, ask_human, verdict, answer_shutdown, report_done and roster to an\n"
        "MCP client, on standard input and output. Who acts comes from TEAM_CONSOLE_AS, the team from\n"
        "TEAM_CONSOLE_TEAM or the current folder; no tool takes a name. It needs: pip install 'team-console[mcp]'."
    )


def do_mcp(call: Call) -> int:
    """Serve until the client closes standard input.

    Raises:
        TeamError: `USAGE` without a name, a client or the packages; `INVALID_NAME`, `TEAM_NOT_FOUND`.
    """
    name = call.given_actor
    if name is None:
        text = "an agent that takes part by MCP needs a name"
        raise TeamError(Code.USAGE, text, "Set TEAM_CONSOLE_AS in the client's entry for this server.")
    if call.options.read_only:
        raise TeamError(Code.USAGE, "the MCP server has no read-only mode", "Leave out --read-only.")
    try:
        import mcp.server.mcpserver  # noqa: F401
    except ModuleNotFoundError as error:
        hint = "Install it with: pip install 'team-console[mcp]'"
        raise TeamError(Code.USAGE, f"the MCP server needs the package {error.name}", hint) from error
    from team_console.console.mcp.server import serve

    return serve(name, call.options.team)
