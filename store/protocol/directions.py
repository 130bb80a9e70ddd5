"""Tell between which sorts of agents a kind of message goes, and which messages went another way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from team_console.store.model.errors import Problem
from team_console.store.model.message import Message
from team_console.store.model.names import ALL
from team_console.store.protocol.kinds import Family, MessageKind
from team_console.store.protocol.parsing import parse_message

MASTER, SLAVE, TEMP = "Master", "Slave", "Temp"
SM, KR, DEBUGGER, E2E_LIVE = "SM", "KR", "Debugger", "E2E Live"
RESIDENTS = frozenset({SM, KR, DEBUGGER, E2E_LIVE})
DIRECTED = frozenset({Family.SPRINT, Family.ROUTER})
"""Families whose kinds go from one sort of agent to another."""
_ANYONE = frozenset({"Any", "Requester"})
_IN_WORDS = {"Residents": "a resident", "Slave": "a slave", "Temp": "a temporary agent"}

_ROUTER_TYPES = frozenset({"orchestrator", "architect", "code_developer"})
"""Agent types of seed 003; an agent called `code-developer-2` is of the type `code_developer`."""
_KNOWN_NAMES = {
    "scrum-master": SM,
    "sm": SM,
    "knowledge-researcher": KR,
    "kr": KR,
    "debugger": DEBUGGER,
    "e2e-live": E2E_LIVE,
}


def classes_of(name: str, roles: Mapping[str, str], lead: str) -> frozenset[str]:
    """Return the classes that agent `name` may have in the sprint: one when role or name decides, else several.

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


class WrongDirection(NamedTuple):
    """What is wrong with whom a message goes from or to.

    Attributes:
        wanted: The class or agent type that sender or recipient should be of, and is not.
        text: That as a sentence.
    """

    wanted: str
    text: str


def wrong_direction(
    kind: MessageKind, sender: str, recipient: str, roles: Mapping[str, str], lead: str
) -> WrongDirection | None:
    """Return what keeps a message of `kind` from going from `sender` to `recipient`; None when nothing is known to."""
    if kind.family not in DIRECTED:
        return None
    for wanted, name in zip(kind.direction.split(" -> "), (sender, recipient), strict=True):
        if not _may_be(name, wanted, roles, lead):
            who = _IN_WORDS.get(wanted, f"the {wanted}")
            return WrongDirection(wanted, f"{kind.name} goes {kind.direction}; {name} is not {who}")
    return None


def direction_problems(message: Message, roles: Mapping[str, str], lead: str) -> tuple[Problem, ...]:
    """Return where a stored message violates the direction of its kind, one problem per recipient concerned.

    Codes: `WRONG_DIRECTION`; `ROSTER_TO_NON_RESIDENT` for a roster that reaches anyone but a resident (180).
    """
    read, problems = parse_message(message), []
    kind = read.kind
    if kind.name == "AGENT_DESTROY_REQUEST" and read.body.get("agent_name") == message.sender:
        return ()  # in a later revision of the protocol an agent that is done asks for its own end
    for recipient in message.recipients:
        wrong = wrong_direction(kind, message.sender, recipient, roles, lead)
        if wrong is not None:
            code = "ROSTER_TO_NON_RESIDENT" if wrong.wanted == "Residents" else "WRONG_DIRECTION"
            place, hint = f"{message.message_id} to", f"Ask {message.sender} why."
            problems.append(Problem(code, "warning", place, wrong.text, hint))
    return tuple(problems)


def _may_be(name: str, wanted: str, roles: Mapping[str, str], lead: str) -> bool:
    """Return whether `name` may be of the class or agent type that a direction names."""
    if wanted in _ANYONE:
        return True
    if name == ALL:
        return False
    if wanted in _ROUTER_TYPES:  # its own type when its name or role tells, else any
        plain = name.casefold().rstrip("0123456789").rstrip("-_.").replace("-", "_")
        if plain not in _ROUTER_TYPES and (name == lead or roles.get(name) == "master"):
            plain = "orchestrator"
        return plain == wanted or plain not in _ROUTER_TYPES
    possible = classes_of(name, roles, lead)
    return bool(possible & RESIDENTS) if wanted == "Residents" else wanted in possible
