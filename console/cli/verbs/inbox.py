"""`inbox`: an agent's messages, without touching them."""

from __future__ import annotations

from argparse import ArgumentParser

from team_console.console.cli.arguments import add_agent
from team_console.console.cli.call import Call
from team_console.console.cli.printing.table import age_since, print_table
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message
from team_console.store.model.names import ALL, USER, check_name, nearest
from team_console.store.service.handing_on import marked
from team_console.store.views.rows import View
from team_console.store.views.titles import said_in


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    add_agent(parser, help="whose inbox")
    parser.add_argument("--unread", action="store_true", help="only what it has not read")
    parser.add_argument("--unanswered", action="store_true", help="only what it has read and not answered")


def run(call: Call) -> int:
    """List the live messages: unread ones first, the most urgent on top."""
    if call.agent is None:
        raise TeamError(Code.USAGE, "whose inbox? no agent is named", "team-console inbox NAME")
    agent = check_name(call.agent, field="NAME")
    view = call.view()
    _refuse_stranger(call, view, agent)
    messages = [inbox for inbox in view.inboxes.get(agent, ()) if not call.options.unread or inbox.is_unread_by(agent)]
    if call.options.unanswered:
        messages = list(view.unanswered.get(agent, ()))
    _show(call, agent, messages, view)
    call.tell_doubt(view.snapshot)
    return 0


def _show(call: Call, agent: str, messages: list[Message], view: View) -> None:
    if call.out.as_json:
        records = [dict(message.record) for message in marked(call.team, messages)]
        call.print_list({"agent": agent, "messages": records, "count": len(records)}, view.snapshot)
    elif not messages:
        call.out.say(_nothing(call, agent))
    else:
        heads = ("STATUS", "PRIORITY", "AGE", "FROM", "TYPE", "ID", "SUMMARY")
        print_table(call.out, heads, [_cells(message, agent, view) for message in messages])


def _nothing(call: Call, agent: str) -> str:
    if call.options.unanswered:
        return f"{agent} has answered everything it has read"
    return f"nothing unread for {agent}" if call.options.unread else f"no messages for {agent} in the queue"


def _cells(message: Message, agent: str, view: View) -> tuple[str, ...]:
    status = "read" if agent in message.read_by else message.status
    waited = age_since(message.created_at, view.now)
    about = (message.sender, message.type, message.message_id, said_in(message))
    return status, message.priority, waited, *about


def _refuse_stranger(call: Call, view: View, agent: str) -> None:
    known = [row.name for row in view.roster]
    if agent in (*known, USER) or agent in view.inboxes or not call.team.config().declared:
        return
    meant = nearest(agent, [name for name in known if name != ALL])
    hint = f"Did you mean {meant}?" if meant else f"Agents: {', '.join(known)}."
    raise TeamError(Code.AGENT_NOT_FOUND, f"no agent {agent} in team {call.team.config().name}", hint)
