"""Direction of the sprint and router kinds: who writes them to whom, judged by the roles of both ends (002, 003)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message
from team_console.store.model.names import ALL
from team_console.store.model.problem import Problem
from team_console.store.protocol.kinds.kind import Family, Kind
from team_console.store.protocol.kinds.registry import KINDS
from team_console.store.protocol.reading import reading

MASTER, SLAVE, TEMP = "Master", "Slave", "Temp"
SM, KR, DEBUGGER, E2E_LIVE = "SM", "KR", "Debugger", "E2E Live"
RESIDENTS = frozenset({SM, KR, DEBUGGER, E2E_LIVE})
DIRECTED = frozenset({Family.SPRINT, Family.ROUTER})
"""Families whose kinds go from one sort of agent to another."""
_ANYONE = frozenset({"Any", "Requester"})

_ROUTER_TYPES = frozenset({"orchestrator", "architect", "code_developer"})
"""Agent types of seed 003; an agent called `code-developer-2` is of the type `code_developer`."""
_NUMBER = re.compile(r"(?:[-_.]|(?<!\d))\d++\Z")
"""A number at the end, whole: tried at each of its digits, a name of many thousands would be read as often."""

_KNOWN_NAMES = {
    "scrum-master": SM,
    "sm": SM,
    "knowledge-researcher": KR,
    "kr": KR,
    "debugger": DEBUGGER,
    "e2e-live": E2E_LIVE,
}


def classes_of(name: str, *, roles: Mapping[str, str], lead: str) -> frozenset[str]:
    """What the agent `name` may be in the sprint: one class when its role or name says so, else several.

    Args:
        roles: Name -> `master`, `resident`, `slave`, `temp` or `member`, as far as known.
    """
    role = roles.get(name)
    if name == lead or role == "master":
        return frozenset({MASTER})
    if role in ("slave", "temp"):
        return frozenset({role.capitalize()})
    named = _KNOWN_NAMES.get(name.casefold().replace("_", "-"))
    if named is not None:
        return frozenset({named})
    return RESIDENTS if role == "resident" else RESIDENTS | {SLAVE, TEMP}


def router_types_of(name: str, *, roles: Mapping[str, str], lead: str) -> frozenset[str]:
    """What the agent `name` may be in seed 003's routes: its own type when its name or role tells, else any."""
    plain = _NUMBER.sub("", name.casefold()).replace("-", "_")
    if plain in _ROUTER_TYPES:
        return frozenset({plain})
    return frozenset({"orchestrator"}) if name == lead or roles.get(name) == "master" else _ROUTER_TYPES


def departure(kind: Kind, *, sender: str, recipient: str, roles: Mapping[str, str], lead: str) -> str | None:
    """What is wrong with the ends of a message of `kind`, as a sentence; None when nothing is, or nothing is known."""
    if kind.family not in DIRECTED:
        return None
    writer, _, reader = kind.direction.partition(" -> ")
    if not _fits(writer, sender, roles=roles, lead=lead):
        return f"{kind.name} goes {kind.direction}; {sender} is not {_called(writer)}"
    if not _fits(reader, recipient, roles=roles, lead=lead):
        return f"{kind.name} goes {kind.direction}; {recipient} is not {_called(reader)}"
    return None


def direction_problems(message: Message, *, roles: Mapping[str, str], lead: str) -> tuple[Problem, ...]:
    """Violations by a stored message of the direction of its kind, one per recipient concerned.

    Codes: `WRONG_DIRECTION`; `ROSTER_TO_NON_RESIDENT` for a roster that reaches anyone but a resident (180).
    """
    kind = reading(message).kind
    if kind is None or kind.family not in DIRECTED:
        return ()
    problems = []
    if kind.name == "AGENT_DESTROY_REQUEST" and reading(message).body.get("agent_name") == message.sender:
        return ()  # in a later revision of the protocol an agent that is done asks for its own end
    for recipient in message.recipients:
        text = departure(kind, sender=message.sender, recipient=recipient, roles=roles, lead=lead)
        if text is not None:
            to_other = kind.direction.endswith("Residents") and text.endswith("a resident")
            code = "ROSTER_TO_NON_RESIDENT" if to_other else "WRONG_DIRECTION"
            problems.append(Problem(code, "warning", f"{message.message_id} to", text, f"Ask {message.sender} why."))
    return tuple(problems)


def check_direction(name: str, *, sender: str, recipient: str, roles: Mapping[str, str], lead: str) -> None:
    """Refuse a sprint message of ours whose ends are known to be the wrong ones.

    Raises:
        TeamError: `INVALID_FIELD`.
    """
    kind = KINDS.get(name)
    sprint = kind if kind is not None and kind.family is Family.SPRINT else None
    text = sprint and departure(sprint, sender=sender, recipient=recipient, roles=roles, lead=lead)
    if text:
        raise TeamError(
            Code.INVALID_FIELD, f"to: {text}", "Send it to the right one, or correct the roles in settings."
        )


def _fits(wanted: str, name: str, *, roles: Mapping[str, str], lead: str) -> bool:
    if wanted in _ANYONE:
        return True
    if name == ALL:
        return False
    if wanted in _ROUTER_TYPES:
        return wanted in router_types_of(name, roles=roles, lead=lead)
    possible = classes_of(name, roles=roles, lead=lead)
    return bool(possible & RESIDENTS) if wanted == "Residents" else wanted in possible


def _called(wanted: str) -> str:
    return {"Residents": "a resident", "Slave": "a slave", "Temp": "a temporary agent"}.get(wanted, f"the {wanted}")
