"""`instructions`: what the model of an agent must know to be a member of the team."""

from __future__ import annotations

from argparse import ArgumentParser

from team_console.console.cli.arguments import add_completed
from team_console.console.cli.call import Call
from team_console.store.model.names import check_name
from team_console.store.model.safe import safe_text


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (
        "Print what the model of an agent must know to be NAME: who it is, and the commands it needs, as they stand.\n"
        "A client that has joined is told by itself; give it to any other."
    )
    add_completed(parser, "agents", "name", metavar="NAME", help="the member the agent is")
    parser.add_argument("--hooks", action="store_true", help="for a client whose hooks bring the mail by themselves")


def run(call: Call) -> int:
    """Print the instructions; a name that nobody has gets none, as none of their commands would work."""
    from team_console.console.clients.instructions import instructions_for
    from team_console.store.service.drafting import refuse_unknown_reader

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
