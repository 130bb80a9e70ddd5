"""Who writes a sprint message to whom: the direction of each kind judged by the roles of its ends (seed 002)."""

from __future__ import annotations

from collections.abc import Mapping

from store.errors import Code, TeamError
from store.message import Message
from store.names import ALL
from store.protocol.kinds import Family, Kind
from store.protocol.reading import reading
from store.protocol.registry import KINDS
from store.team import Problem

MASTER, SLAVE, TEMP = "Master", "Slave", "Temp"
SM, KR, DEBUGGER, E2E_LIVE = "SM", "KR", "Debugger", "E2E Live"
RESIDENTS = frozenset({SM, KR, DEBUGGER, E2E_LIVE})
_ANYONE = frozenset({"Any", "Requester"})

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


def departure(kind: Kind, *, sender: str, recipient: str, roles: Mapping[str, str], lead: str) -> str | None:
    """What is wrong with the ends of a message of `kind`, as a sentence; None when nothing is, or nothing is known."""
    if kind.family is not Family.SPRINT:
        return None
    writer, _, reader = kind.direction.partition(" -> ")
    if not _fits(writer, sender, roles=roles, lead=lead):
        return f"{kind.name} goes {kind.direction}; {sender} is not {_called(writer)}"
    if not _fits(reader, recipient, roles=roles, lead=lead):
        return f"{kind.name} goes {kind.direction}; {recipient} is not {_called(reader)}"
    return None


def direction_problems(message: Message, *, roles: Mapping[str, str], lead: str) -> tuple[Problem, ...]:
    """Departures of a stored message from the direction of its kind, one per recipient concerned.

    Codes: `WRONG_DIRECTION`; `ROSTER_TO_NON_RESIDENT` for a roster that reaches anyone but a resident (180).
    """
    kind = reading(message).kind
    if kind is None or kind.family is not Family.SPRINT:
        return ()
    found = []
    for recipient in message.recipients:
        text = departure(kind, sender=message.sender, recipient=recipient, roles=roles, lead=lead)
        if text is not None:
            to_other = kind.direction.endswith("Residents") and text.endswith("a resident")
            code = "ROSTER_TO_NON_RESIDENT" if to_other else "WRONG_DIRECTION"
            found.append(Problem(code, "warning", f"{message.message_id} to", text, f"Ask {message.sender} why."))
    return tuple(found)


def check_direction(name: str, *, sender: str, recipient: str, roles: Mapping[str, str], lead: str) -> None:
    """Refuse a sprint message of ours whose ends are known to be the wrong ones.

    Raises:
        TeamError: `INVALID_FIELD`.
    """
    kind = KINDS.get(name)
    text = kind and departure(kind, sender=sender, recipient=recipient, roles=roles, lead=lead)
    if kind is not None and text:
        raise TeamError(
            Code.INVALID_FIELD, f"to: {text}", "Send it to the right one, or correct the roles in settings."
        )


def _fits(wanted: str, name: str, *, roles: Mapping[str, str], lead: str) -> bool:
    if wanted in _ANYONE:
        return True
    if name == ALL:
        return False
    possible = classes_of(name, roles=roles, lead=lead)
    return bool(possible & RESIDENTS) if wanted == "Residents" else wanted in possible


def _called(wanted: str) -> str:
    return {"Residents": "a resident", "Slave": "a slave", "Temp": "a temporary agent"}.get(wanted, f"the {wanted}")
