"""Verbs by which agents take part: `instructions`, `hook`, `mcp`, `sendmessage`, `route`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from typing import Any

from team_console.console.cli.arguments import arg, flag, verb
from team_console.console.cli.call import Call, UsageError
from team_console.console.cli.streams import json_documents, standard_input
from team_console.console.clients.hook_start import run_hook
from team_console.console.clients.instructions import instructions_for
from team_console.console.mcp.start import keep_start_error
from team_console.store.contract.snapshot import OUTCOME_UNKNOWN
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.names import check_name
from team_console.store.model.safe import safe_line, safe_text
from team_console.store.service.sendmessage import is_mail, read_form, send_document, send_together
from team_console.store.service.writing import check_known

# `instructions`: what the model of an agent must know to be a member of the team.


@verb(
    arg("name", "the member that the agent is", metavar="NAME", source="agents"),
    flag("--hooks", "for a client whose hooks deliver its mail"),
)
def do_instructions(call: Call) -> None:
    """Print what the model of an agent must know to be NAME: who it is, and the commands it needs now. A client
    that has joined gets this text by itself; give it to any other.

    Examples:
      team-console instructions helper"""
    name = check_name(call.options.name, field="name")
    snapshot = call.team.snapshot()
    if snapshot.is_known:
        check_known(snapshot, [name], has_written=True)
    text = safe_text(instructions_for(call.team, name, by_itself=call.options.hooks))
    if call.as_json:
        call.json({"agent": name, "team": call.team.config().name, "instructions": text})
    else:
        call.write(text)


# `hook`: one event of a client in, its answer or nothing out.


@verb(
    arg("--client", "the client; default: the one that the event shows", choices=("claude-code", "codex", "qwen-code")),
    arg("--timeout", "seconds for which the client waits for its hook", metavar="SECONDS"),
    flag("--wake", "wait for mail of an idle session, and wake it"),
)
def do_hook(call: Call) -> int:
    """Read one event of Claude Code, Codex or Qwen Code as JSON on standard input; print the client's answer, or
    nothing. Permissions, plans and questions wait for the human at the console; without an answer nothing is
    printed, and the client's own dialog decides. The exit status is 0, or 2 with --wake when mail has come.
    'team-console join' enters it in a client's settings. --as NAME or TEAM_CONSOLE_AS names the agent; without
    either nothing is done.

    Examples:
      team-console --as helper hook < event.json"""
    options = call.options
    given = {"-t": options.team, "--as": options.actor, "--client": options.client, "--timeout": options.timeout}
    words = [word for option, value in given.items() if value for word in (option, value)]
    return run_hook([*words, *(["--wake"] if options.wake else [])])


# `mcp`: serve the team's tools to an MCP client, for the agent that the environment names.


@verb()
def do_mcp(call: Call) -> int:
    """Serve whoami, inbox, send, hand_in_plan, ask_human, verdict, answer_shutdown, report_done and roster to an
    MCP client, on standard input and output. TEAM_CONSOLE_AS names who acts, TEAM_CONSOLE_TEAM or the current
    folder the team; no tool takes a name. It needs the extra `mcp`; without it the error names the command that
    installs it. Clients start it; 'team-console join NAME --for mcp' enters it in their settings.

    Examples:
      TEAM_CONSOLE_AS=helper team-console mcp"""
    try:
        return _serve(call)
    except TeamError as error:
        keep_start_error(f"{error.code}: {error.message}. {error.hint}")
        raise


def _serve(call: Call) -> int:
    """Serve the tools until the client closes standard input; returns the exit status.

    Raises:
        TeamError: `USAGE` without a name, and where the server cannot be started from here.
    """
    name = call.given_actor
    if name is None:
        text = "an agent that takes part by MCP needs a name"
        raise UsageError(text, "Set TEAM_CONSOLE_AS in the client's entry for this server.")
    if call.options.read_only:
        raise UsageError("the MCP server has no read-only mode", "Leave out --read-only.")
    if sys.stdin is None or sys.stdout is None:
        text = "the MCP server speaks over standard input and output, and one of them is closed"
        raise UsageError(text, "Let an MCP client start it: team-console join NAME --for mcp")
    try:
        from team_console.console.mcp.server import serve  # 500 ms: the SDK
    except Exception as error:  # it is not there, of another version, or half of it
        from team_console.store.model.optional_packages import install_line  # 20 ms

        what = f"mcp, which fails: {type(error).__name__}: {safe_line(str(error), 300)}"
        if isinstance(error, ModuleNotFoundError):
            what = str(error.name)
        hint = f"Install it with: {install_line('mcp')}"
        raise UsageError(f"the MCP server needs the package {what}", hint) from error
    return serve(name, call.options.team)


# `sendmessage`: SendMessage JSON (seed 001) on standard input, its reply on standard output.

_FORM_HINT = (
    'Give {"type": "message", "recipient": "AGENT", "content": "...", "summary": "..."}, or several such objects.'
)


_TOGETHER = 500
"""Documents that are sent in one transaction at most: others wait for it."""
_DECIDING_TYPES = ("plan_approval_response", "shutdown_response", "shutdown_request")
"""Types of documents that decide something, so that whoever does must be known."""


@verb()
def do_sendmessage(call: Call) -> int:
    """Read SendMessage objects as JSON on standard input and act as --as NAME. Their fields are type, recipient,
    content, summary, request_id, approve, and in_reply_to for a message; there may be several, over any number of
    lines, with // comments. If you give a message_id of your own, sending it again writes nothing twice. The
    reply to each is JSON: success, message, routing and the new ids, on one line if there are several. A refused
    object does not stop the others; the exit status is that of the first refusal.

    Examples:
      team-console --as helper sendmessage < message.json"""
    call.as_json = True
    documents = json_documents(standard_input("the document"), hint=_FORM_HINT)
    status = 0
    for start in range(0, len(documents), _TOGETHER):
        for reply in _replies(call, documents[start : start + _TOGETHER]):
            if not isinstance(reply, TeamError):
                call.json(reply, one_line=len(documents) > 1)
                continue
            if len(documents) == 1:
                raise reply
            call.json(reply.as_json(), one_line=True)
            status = status or reply.exit_code
    return status


def _replies(call: Call, documents: list[Any]) -> Iterator[dict[str, Any] | TeamError]:
    """Submit documents; yields the reply to each, or why it was refused.

    Raises:
        TeamError: It is not known whether they were written; they must not be written twice.
    """
    try:
        # Where each write costs the whole store, what only is to be delivered is one.
        # guard: documents-sent-together
        if len(documents) > 1 and all(map(is_mail, documents)) and not call.team.writes_only_changes:
            yield from send_together(call.caller, documents)
            return
    except TeamError as error:
        if OUTCOME_UNKNOWN in error.facts:
            raise
        # One that is refused took the others along; now each is by itself.
    for document in documents:
        try:
            if isinstance(document, TeamError):  # one that could not be read
                raise document
            decides = read_form(document).type in _DECIDING_TYPES
            yield send_document(call.decider if decides else call.caller, document)
        except TeamError as error:
            yield error


# `route`: one orchestrator JSON document (seed 003) on standard input, its answer on standard output.


@verb()
def do_route(call: Call) -> int:
    """Read {"ACTION": ...} or invoke_command("route-inter-agent-messages", {"ACTION": ...}) on standard input.
    ACTION is poll, deliver, deliver_all, send, clear or clear_old. The answer is always JSON.

    Examples:
      echo '{"ACTION": "poll", "RECIPIENT": "helper"}' | team-console --as helper route"""
    from team_console.store.service.route_json import read_document, route  # 20 ms: asyncio, of its router

    call.as_json = True
    status = 0
    try:
        document = read_document(standard_input("the document"))
        answer = route(call.caller, document, check_sender=partial(call.refuse_acting_as_human, field="SENDER"))
    except TeamError as error:
        if error.code is not Code.DELIVERY_TIMEOUT:
            raise
        answer, status = {key: item for key, item in error.as_json().items() if key != "hint"}, error.exit_code
    call.json(answer)
    return status
