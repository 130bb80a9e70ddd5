"""Members as words of the command line: `NAME[:ROLE][:plan]` in, rows for people and programs out."""

from __future__ import annotations

from typing import Any

from msgspec.structs import asdict
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.names import ALL, USER, check_name, nearest, refuse_case_twin
from team_console.store.settings.parsing import ROLES
from team_console.store.settings.team_config import Agent


def parse_agent(text: str, *, field: str = "--agent") -> Agent:
    """The member described by `NAME[:ROLE][:plan]`.

    Raises:
        TeamError: `INVALID_NAME`, or `USAGE` for a word that is no role.
    """
    name, *words = text.split(":")
    name = check_name(name, field=field)
    role, plan = "member", False
    for word in words:
        if word == "plan":
            plan = True
        elif word in ROLES:
            role = word
        else:
            meant = nearest(word, (*ROLES, "plan"))
            guess = f"Did you mean {meant!r}? " if meant else ""
            hint = f"{guess}Roles: {', '.join(ROLES)}; or plan."
            raise TeamError(Code.USAGE, f"{field} {text}: {word!r} is no role", hint)
    return Agent(name=name, role=role, plan_mode_required=plan)


def with_lead(agents: list[Agent], lead: str) -> list[Agent]:
    """The members of a new team, the lead first.

    Raises:
        TeamError: `USAGE` for a name given twice, `INVALID_NAME` for two that differ in case only.
    """
    names = [agent.name for agent in agents]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise TeamError(Code.USAGE, f"{twice} is given twice", "Name every agent once.")
    for name in (lead, *names):
        refuse_case_twin(name, (ALL, USER, lead, *names), field="name")
    mine = next((agent for agent in agents if agent.name == lead), Agent(name=lead, role="master"))
    return [mine, *(agent for agent in agents if agent.name != lead)]


def member_json(agent: Agent) -> dict[str, Any]:
    """A member as a JSON object; lists that allow everything are null."""
    return {
        **asdict(agent),
        "deliver": list(agent.deliver),
        "may_message": None if agent.may_message is None else sorted(agent.may_message),
        "may_send": None if agent.may_send is None else sorted(agent.may_send),
    }
