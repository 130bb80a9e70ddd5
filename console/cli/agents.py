"""Verbs that connect agents: `join`, `leave`, `instructions`, `hook`, `mcp`, `sendmessage`, `route`."""

from __future__ import annotations

import os
import shlex
import sys
from functools import partial
from typing import Any

from team_console.console.agents.instructions import instructions_for
from team_console.console.agents.named import EACH
from team_console.console.agents.start import run_hook
from team_console.console.cli.call import Call, json_documents, read
from team_console.console.cli.output import is_terminal
from team_console.console.cli.printing import ASK_HELP, finish_joined, parse_rules, refuse_password
from team_console.console.cli.registry import arg, flag, verb
from team_console.console.cli.results import JoiningJson
from team_console.store.backends.locations import absolute, unseen
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.names import check_name
from team_console.store.model.safe import safe_text
from team_console.store.service.sendmessage import read_form, submit
from team_console.store.service.writing import check_known
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
    from team_console.console.agents.join import Client, Scope, join  # 30 ms: difflib, and what clients write

    options = call.options
    refuse_password(call)
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
    scope, hold = Scope(options.scope or "project"), parse_rules(options.hold or []) or ()
    done = join(call.caller, agent, Client(options.client), scope, project=folder, write=write, hold=hold)
    return finish_joined(call, done)


def _join_all(call: Call, *, write: bool) -> int:
    """Let those of the running sessions join that are chosen: by --session, by an answer on the terminal, else all.

    Raises:
        TeamError: `USAGE` for a session that does not run; as for `join_all`.
    """
    from team_console.console.agents.join import join_all, running_sessions  # 30 ms: difflib, and what clients write

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
    return finish_joined(call, join_all(call.caller, sessions, chosen, write=write))


def _plugin(call: Call) -> int:
    """The command line alone, so that it can be run; it writes nothing, so the member must be one already."""
    from team_console.console.agents.join import plugin_folder  # 30 ms: difflib, and what clients write

    if call.options.client != "claude":
        raise TeamError(Code.USAGE, "--plugin is for claude", "Leave it out.")
    identity = f"TEAM_CONSOLE_AS={shlex.quote(call.options.name)} TEAM_CONSOLE_TEAM={shlex.quote(call.team.location)}"
    line = f"{identity} claude --plugin-dir {shlex.quote(str(plugin_folder()))}"
    call.show(JoiningJson(success=True, action="join", command=line), line)
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
    from team_console.console.agents.join import leave  # 30 ms: difflib, and what clients write

    options = call.options
    write = not (options.show or options.read_only)
    project = absolute("." if options.folder is None else options.folder)
    if options.every is (options.name is not None):
        raise TeamError(Code.USAGE, "leave takes a NAME or --all", "For example: team-console leave helper")
    return finish_joined(call, leave(call.caller, options.name or EACH, project=project, write=write))


# `instructions`: what the model of an agent must know to be a member of the team.


@verb(
    arg("name", "the member the agent is", metavar="NAME", source="agents"),
    flag("--hooks", "for a client whose hooks bring the mail by themselves"),
)
def do_instructions(call: Call) -> int:
    """Print what the model of an agent must know to be NAME: who it is, and the commands it needs, as they stand.
    A client that has joined is told by itself; give it to any other."""
    name = check_name(call.options.name, field="name")
    snapshot = call.team.snapshot()
    if snapshot.is_known:
        check_known(snapshot, [name], has_written=True)
    text = safe_text(instructions_for(call.team, name, by_itself=call.options.hooks))
    if call.as_json:
        call.json({"agent": name, "team": call.team.config().name, "instructions": text})
    else:
        call.write(text)
    return 0


# `hook`: one event of a client in, its answer or nothing out.


@verb(
    arg("--client", "without it the event tells", choices=("claude-code", "codex")),
    arg("--timeout", "seconds for which the client waits for its hook", metavar="S"),
    flag("--wake", "wait for mail beside an idle session, and wake it"),
)
def do_hook(call: Call) -> int:
    """Take one event of Claude Code or Codex as JSON on standard input; print the client's answer, or nothing.
    What it wants permission for, its plans and questions wait for the human at the console; without a verdict
    nothing is printed and the client's own dialog decides. The exit status is 0 whatever happens, but 2 with
    --wake when mail came. 'team-console join' puts it into a client's settings; --as NAME or TEAM_CONSOLE_AS
    says whose session it is, and without it nothing is done."""
    options = call.options
    given = {"-t": options.team, "--as": options.actor, "--client": options.client, "--timeout": options.timeout}
    words = [word for option, value in given.items() if value for word in (option, value)]
    return run_hook([*words, *(["--wake"] if options.wake else [])])


# `mcp`: serve the team's tools to an MCP client, for the agent that the environment names.


@verb()
def do_mcp(call: Call) -> int:
    """Serve whoami, inbox, send, hand_in_plan, ask_human, verdict, answer_shutdown, report_done and roster to an
    MCP client, on standard input and output. Who acts comes from TEAM_CONSOLE_AS, the team from
    TEAM_CONSOLE_TEAM or the current folder; no tool takes a name. It needs: pip install 'team-console[mcp]'."""
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
    from team_console.console.mcp.server import serve  # 500 ms: the SDK

    return serve(name, call.options.team)


# `sendmessage`: SendMessage JSON (seed 001) on standard input, its reply on standard output.

_WANTED = 'Give {"type": "message", "recipient": "AGENT", "content": "...", "summary": "..."}, or several such objects.'


_DECIDING = ("plan_approval_response", "shutdown_response", "shutdown_request")
"""Types of documents that decide something, so that whoever does must be known."""


@verb()
def do_sendmessage(call: Call) -> int:
    """Reads JSON objects with the fields of SendMessage (type, recipient, content, summary, request_id, approve,
    and in_reply_to for a message), one or several over any number of lines, with // comments, and acts as --as
    NAME. With a message_id of your own a repetition writes nothing twice. The reply to each is JSON, one line
    each where there are several: success, message, routing, and the ids it made. A refused object does not stop
    the others; the exit status is that of the first refusal."""
    call.out.as_json = True
    documents = json_documents(read("the document"), hint=_WANTED)
    if len(documents) == 1:
        call.json(_submit(call, documents[0]))
        return 0
    statuses = [_submit_line(call, document) for document in documents]
    return next((status for status in statuses if status), 0)


def _submit_line(call: Call, document: Any) -> int:
    try:
        call.json(_submit(call, document), one_line=True)
    except TeamError as error:
        call.json(error.as_json(), one_line=True)
        return error.exit_code
    return 0


def _submit(call: Call, document: Any) -> dict[str, Any]:

    if isinstance(document, TeamError):
        raise document
    decides = read_form(document).type in _DECIDING
    return submit(call.decider if decides else call.caller, document)


# `route`: one orchestrator JSON document (seed 003) on standard input, its answer on standard output.


@verb()
def do_route(call: Call) -> int:
    """Reads {"ACTION": ...} or invoke_command("route-inter-agent-messages", {"ACTION": ...}). ACTION is
    poll, deliver, deliver_all, send, clear or clear_old. The answer is always JSON."""
    from team_console.store.service.orchestrator import read_document, route  # 20 ms: asyncio, of its router

    call.out.as_json = True
    try:
        document = read_document(read("the document"))
        answer, status = route(call.caller, document, check_sender=partial(call.refuse_to_rise, field="SENDER")), 0
    except TeamError as error:
        if error.code is not Code.DELIVERY_TIMEOUT:
            raise
        answer, status = {key: item for key, item in error.as_json().items() if key != "hint"}, error.exit_code
    call.json(answer)
    return status
