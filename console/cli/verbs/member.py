"""`member`: adds, changes, removes and lists the members in the team's settings."""

from __future__ import annotations

import shlex
from argparse import ArgumentParser, BooleanOptionalAction
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace
from team_console.console.cli.arguments import add_completed
from team_console.console.cli.call import Call, split_names
from team_console.console.cli.printing.member_rows import member_json, parse_agent
from team_console.console.cli.printing.table import print_table
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.safe import safe_line
from team_console.store.service import members as desk
from team_console.store.settings.parsing import ROLES
from team_console.store.settings.team_config import Agent

_ACTIONS = ("add", "set", "remove", "list")
_EVERYBODY = "all"


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the action, the members and their fields."""
    parser.description = (
        "Add, change, remove or list the members in the team's settings. Comments and style of the file stay.\n\n"
        "  team-console member add scrum-master:resident developer:plan\n"
        "  team-console member set developer --role resident --no-plan --deliver './wake developer'\n"
        "  team-console member remove developer"
    )
    parser.add_argument("what", choices=_ACTIONS, help="what to do")
    add_completed(
        parser,
        "agents",
        "members",
        nargs="*",
        metavar="NAME[:ROLE][:plan]",
        help=f"members; ROLE is one of {', '.join(ROLES)}",
    )
    parser.add_argument("--role", choices=ROLES, help="its role")
    parser.add_argument("--plan", action=BooleanOptionalAction, help="it works only after its plan was approved")
    parser.add_argument("--deliver", metavar="COMMAND", help="command for pushed messages; '' for the inbox file")
    parser.add_argument("--deliver-timeout", type=float, metavar="SECONDS", help="how long that command may take")
    add_completed(parser, "agents", "--may-message", metavar="A[,B]|all", help="whom it may write to")
    parser.add_argument("--may-send", metavar="KIND[,KIND]|all", help="which kinds it may send")


def run(call: Call) -> int:
    """Do it and say what is different."""
    what, words = call.options.what, call.options.members
    if what == "list":
        _refuse_fields(_fields(call), what)
        return _list(call, words)
    if not words:
        raise TeamError(Code.USAGE, f"member {what}: nobody is named", f"Name members: team-console member {what} NAME")
    fields = _fields(call)
    if what == "remove":
        _refuse_fields(fields, what)
        return _finish(call, desk.remove_members(call.caller, words), "removed")
    agents = [parse_agent(word, field="member") for word in words]
    if what == "add":
        return _finish(call, desk.add_members(call.caller, [replace(agent, **fields) for agent in agents]), "added")
    if len(words) > 1:
        raise TeamError(Code.USAGE, "member set changes one member at a time", "Name one.")
    return _finish(
        call, desk.set_member(call.caller, agents[0].name, {**_spoken(words[0], agents[0]), **fields}), "set"
    )


def _fields(call: Call) -> dict[str, Any]:
    options = call.options
    given: dict[str, Any] = {"role": options.role, "plan_mode_required": options.plan}
    if options.deliver is not None:
        given["deliver"] = _command(options.deliver)
    if options.deliver_timeout is not None:
        if not 0 < options.deliver_timeout < 1e9:
            text = f"--deliver-timeout: {options.deliver_timeout:g} is not a number of seconds above 0"
            raise TeamError(Code.USAGE, text, "Give 30, for example.")
        given["deliver_timeout"] = options.deliver_timeout
    fields = {key: value for key, value in given.items() if value is not None}
    for key in ("may_message", "may_send"):
        if (text := getattr(options, key)) is not None:
            names = split_names([text])
            fields[key] = None if _EVERYBODY in names else frozenset(names)
    return fields


def _command(text: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise TeamError(Code.USAGE, f"--deliver: {str(error).lower()}", "Quote it as for a shell.") from error


def _spoken(word: str, agent: Agent) -> dict[str, Any]:
    """The fields that `NAME[:ROLE][:plan]` itself names."""
    named: dict[str, Any] = {"role": agent.role} if set(word.split(":")[1:]) - {"plan"} else {}
    return {**named, "plan_mode_required": True} if agent.plan_mode_required else named


def _refuse_fields(fields: dict[str, Any], what: str) -> None:
    if fields:
        option = "--" + next(iter(fields)).replace("_mode_required", "").replace("_", "-")
        raise TeamError(Code.USAGE, f"member {what} takes no {option}", "Leave it out.")


def _finish(call: Call, done: Any, word: str) -> int:
    """Print a change."""
    if call.out.as_json:
        call.out.json(
            {
                "success": True,
                "action": done.action,
                "team": done.team,
                "members": [member_json(agent) for agent in done.members],
                "warnings": [*done.warnings, *(notice.message for notice in done.notices)],
            }
        )
        return 0
    for agent in done.members:
        call.out.say(safe_line(f"{word}: {agent.name} ({_described(agent)})"))
    call.out.warn([*done.warnings, *(notice.message for notice in done.notices)])
    return 0


def _described(agent: Agent) -> str:
    return ", ".join((agent.role, *(["plans first"] if agent.plan_mode_required else [])))


def _list(call: Call, names: Sequence[str]) -> int:
    """The members as the settings name them, or those of them that are named; what became of them shows in `roster`."""
    config = call.team.config()
    agents = [desk.member_in_settings(config, name) for name in names] or list(config.agents.values())
    if call.out.as_json:
        members = [member_json(agent) for agent in agents]
        call.out.json({"team": config.name, "lead": config.lead, "declared": config.declared, "members": members})
        return 0
    if not config.agents:
        call.out.say("the settings name no members: whoever writes and is written to is one")
        return 0
    heads = ("MEMBER", "ROLE", "PLAN", "DELIVERED BY", "MAY WRITE TO", "MAY SEND")
    print_table(call.out, heads, [_cells(agent) for agent in agents])
    return 0


def _cells(agent: Agent) -> tuple[str, ...]:
    plan = "first" if agent.plan_mode_required else "-"
    rights = [
        "all" if allowed is None else ", ".join(sorted(allowed)) or "-"
        for allowed in (agent.may_message, agent.may_send)
    ]
    return agent.name, agent.role, plan, shlex.join(agent.deliver) or "inbox file", *rights
