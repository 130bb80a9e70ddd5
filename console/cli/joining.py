"""Verbs that put agents into a team and take them out again: `join`, `leave`."""

from __future__ import annotations

import os
import shlex
import sys

from team_console.console.cli.call import Call, is_terminal
from team_console.console.cli.main import arg, flag, verb
from team_console.console.cli.printing import ASK_HELP, parse_rules
from team_console.console.clients.join import (
    Joined,
    join,
    join_all,
    leave,
    plugin_folder,
    running_sessions,
)
from team_console.console.clients.session_files import EACH
from team_console.store.backends.locations import absolute, redact, unseen
from team_console.store.model.errors import Code, TeamError
from team_console.store.settings.parsing import ROLES
from team_console.store.settings.team_config import Agent

_CLIENTS = ("claude", "codex", "mcp", "shell")


FOLDER = arg("--in", "the project (default: the current folder)", dest="folder", metavar="DIR", source="files")
SHOW = flag("--print", "show what would change; write nothing", dest="show")


@verb(
    arg("name", "the member the agent is to be", nargs="?", metavar="NAME", source="agents"),
    arg("--for", "what the agent runs in", dest="client", choices=_CLIENTS),
    flag("--all", "every session, by a name of its own", dest="every"),
    arg("--session", "with --all: of those that run only this; repeatable", metavar="ID", action="append"),
    (
        arg("--project", "in the project: the default", dest="scope", action="store_const", const="project"),
        arg("--local", "in the project, for this machine alone", dest="scope", action="store_const", const="local"),
        arg("--user", "in all of your projects", dest="scope", action="store_const", const="user"),
    ),
    FOLDER,
    SHOW,
    flag("--plugin", "print the command that starts claude with our plugin"),
    arg("--role", "of a new member", choices=[role for role in ROLES if role != "master"]),
    flag("--plan", "a new member hands in plans and works only after approval"),
    arg("--ask-for", ASK_HELP, metavar="RULE|none|team", action="append"),
    arg(
        "--hold", "hold this until you decide, console or not; claude only; repeatable", metavar="RULE", action="append"
    ),
)
def do_join(call: Call) -> int:
    """Make NAME a member, if it is none, and write what its client needs, beside what others put there: hooks, the
    MCP server and the rule that allows it (claude, codex), the MCP server alone (mcp), or a block in AGENTS.md
    (shell). Every change is shown. Again, it changes nothing; 'team-console leave NAME' takes it out.

    With --all sessions of Claude Code and Codex join, each by a name of its own: those that run and are chosen,
    without a restart, and every one that starts from now on; 'team-console leave --all' takes it out."""
    options, location = call.options, call.options.team or ""
    if redact(location) != location:  # it must not get into files that clients and other programs read
        text = "the location names a password, which would get into the settings of the client"
        raise TeamError(Code.USAGE, text, "Leave it out and keep the password in ~/.pgpass.")
    write = not (options.show or options.read_only)
    if options.every:
        return _join_all(call, write=write)
    if options.name is None or options.client is None:
        text = "join takes a NAME and what it runs in, or --all"
        raise TeamError(Code.USAGE, text, "For example: team-console join helper --for claude")
    if options.plugin:
        return _plugin(call)
    rules = None if options.ask_for is None else parse_rules(options.ask_for)
    agent = Agent(options.name, role=options.role or "member", plan_mode_required=options.plan, ask_for=rules)
    folder = absolute("." if options.folder is None else options.folder)
    if not os.path.isdir(folder):
        why = unseen(folder) or "there is no such folder"
        raise TeamError(Code.USAGE, f"--in {folder}: {why}", "Name the project's folder.")
    scope, hold = options.scope or "project", parse_rules(options.hold or []) or ()
    done = join(call.caller, agent, options.client, scope, project=folder, write=write, hold=hold)
    return _finish(call, done)


def _join_all(call: Call, *, write: bool) -> int:
    """Let those of the running sessions join that are chosen: by --session, by an answer on the terminal, else all.

    Raises:
        TeamError: `USAGE` for a session that does not run; as for `join_all`.
    """
    sessions = running_sessions()
    known = [one.session for one in sessions]
    chosen = call.options.session
    if chosen is None and sessions and write and not call.as_json and is_terminal(sys.stdin):
        call.say(*(f"{number}  {one.told}" for number, one in enumerate(sessions, 1)))
        words = input("which of them join? numbers, or Enter for all: ").replace(",", " ").split()
        chosen = [known[int(word) - 1] if word.isdecimal() and 0 < int(word) <= len(known) else word for word in words]
    chosen = chosen or known
    unknown = sorted({*chosen} - {*known})
    if unknown:
        text = f"no session {unknown[0]} runs here"
        raise TeamError(Code.USAGE, text, "team-console join --all --print lists those that run.")
    return _finish(call, join_all(call.caller, sessions, chosen, write=write))


def _plugin(call: Call) -> int:
    """The command line alone, so that it can be run; it writes nothing, so the member must be one already."""
    if call.options.client != "claude":
        raise TeamError(Code.USAGE, "--plugin is for claude", "Leave it out.")
    identity = f"TEAM_CONSOLE_AS={shlex.quote(call.options.name)} TEAM_CONSOLE_TEAM={shlex.quote(call.team.location)}"
    line = f"{identity} claude --plugin-dir {shlex.quote(str(plugin_folder()))}"
    call.show({"success": True, "action": "join", "command": line}, line)
    return 0


# `leave`: takes out of the settings of clients, and of the team, what `join` put there.


@verb(
    arg("name", "the member that joined", nargs="?", metavar="NAME", source="agents"),
    flag("--all", "what 'join --all' put there", dest="every"),
    FOLDER,
    SHOW,
)
def do_leave(call: Call) -> int:
    """Take out what 'team-console join NAME' put into the settings of clients, in the project and in your own, and
    the member if a join added it. What others put there stays as it is; messages and archives stay, too."""
    options = call.options
    write = not (options.show or options.read_only)
    project = absolute("." if options.folder is None else options.folder)
    if options.every is (options.name is not None):
        raise TeamError(Code.USAGE, "leave takes a NAME or --all", "For example: team-console leave helper")
    return _finish(call, leave(call.caller, options.name or EACH, project=project, write=write))


# What a join or leave did, for people with every difference, or as JSON.


def _finish(call: Call, done: Joined) -> int:
    """Print what was joined or left; an exit status."""
    would, lines = "" if done.written else "would be ", []
    if done.member:
        word = "added to" if done.action == "join" else "taken out of"
        lines.append(f"{done.name}: {would}{word} the team's settings")
    for change in done.files:
        lines.append(f"{change.path}: {would if change.word != 'unchanged' else ''}{change.word}")
        lines += [f"    {line}" for line in change.diff.splitlines()]
    files = [{"path": str(change.path), "change": change.word, "diff": change.diff} for change in done.files]
    facts = {"agent": done.name, "member_changed": done.member, "files": files, "notes": done.notes}
    call.show({"success": True, "action": done.action, **facts, "written": done.written}, *lines, *done.notes)
    return 0
