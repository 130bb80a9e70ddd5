"""Tell who may send what to whom and who may answer a request, by the settings of the team (decisions D10, D17).

Below: between which sorts of agents a kind of message goes, and which messages went another way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from team_console.store.model.errors import Code, Problem, TeamError
from team_console.store.model.message import Message
from team_console.store.model.names import ALL, USER
from team_console.store.model.recorded_facts import RecordedFacts
from team_console.store.protocol.kinds import (
    DECIDED_BY_LEAD,
    SHUTDOWN_REQUEST,
    Family,
    MessageKind,
    RequestKind,
    kind_of,
)
from team_console.store.protocol.parsing import parse_message
from team_console.store.settings.team_config import LOST_SETTINGS_HINT, TeamConfig


class BrokenRule(NamedTuple):
    """The rule that keeps a message from being sent, as a sentence, and the next step."""

    text: str
    hint: str


def check_permission(
    config: TeamConfig, *, sender: str, recipient: str, type: str, is_answer: Callable[[], bool] = lambda: False
) -> None:
    """Refuse a message that its sender may not send to this recipient.

    Args:
        type: The name of its kind, of a sprint message the carried one.
        is_answer: Whether the recipient asked for it; whoever is asked may answer.

    Raises:
        TeamError: `NOT_PERMITTED`, naming the rule and where it stands; `INVALID_FIELD` for a sprint message whose
            direction does not fit the configured roles.
    """
    kind = kind_of(type)
    # An act of authority is what only the lead may send, a broadcast, and what the lead sends of the sprint: its kinds
    # are in capitals, those that only this team knows among them.
    needs_authority = kind.is_by_lead or type == "broadcast" or (sender == config.lead and type.isupper())
    if needs_authority:
        check_settings(config, f"send {type}")
    if broken := _lead_rule(config, sender, recipient, type):
        raise TeamError(Code.NOT_PERMITTED, *broken)
    if (narrowed := _own_rule(config, sender, recipient, type)) and not is_answer():
        raise TeamError(Code.NOT_PERMITTED, *narrowed)
    if kind.family is Family.SPRINT:
        roles = {name: agent.role for name, agent in config.agents.items()}
        wrong = wrong_direction(kind, sender, recipient, roles, config.lead)
        if wrong is not None:
            hint = "Send it to the right one, or correct the roles in settings."
            raise TeamError(Code.INVALID_FIELD, f"to: {wrong.text}", hint)


def check_settings(config: TeamConfig, act: str) -> None:
    """Refuse an act that needs authority while the settings, which say who has it, are lost.

    Raises:
        TeamError: `NOT_PERMITTED`, with what happened to them and the way back.
    """
    # guard: lost-settings-give-no-authority
    if config.lost:
        # The reason first: a form may have room for no more.
        text = f"the settings are not in force: {config.lost}; until then nobody may {act}"
        raise TeamError(Code.NOT_PERMITTED, text, LOST_SETTINGS_HINT)


def breach(config: TeamConfig, message: Message, recorded: RecordedFacts | None = None) -> BrokenRule | None:
    """Return the right of its sender that a stored message breaks, and the next step; None when it breaks none.

    What team-console wrote was checked then: it may be an answer, and rights may have been narrowed since.
    """
    if not config.declared or (recorded is not None and recorded.is_by_desk(message.message_id)):
        return None
    sender, kind = message.sender, parse_message(message).name
    for recipient in message.recipients:
        broken = _lead_rule(config, sender, recipient, kind) or _own_rule(config, sender, recipient, kind)
        if broken is not None:
            return broken
    return None


def _own_rule(config: TeamConfig, sender: str, recipient: str, type: str) -> BrokenRule | None:
    """Return the sender's right in the settings that a message breaks; whoever may ask may take back."""
    agent = config.agent(sender)
    if agent.may_send is not None and type not in agent.may_send and not kind_of(type).withdraws:
        allowed = ", ".join(sorted(agent.may_send)) or "nothing"
        return BrokenRule(f"{sender} may not send {type}", f"Its may_send in the team settings allows: {allowed}.")
    if agent.may_message is not None and recipient not in agent.may_message:
        allowed = ", ".join(sorted(agent.may_message)) or "nobody"
        return BrokenRule(
            f"{sender} may not write to {recipient}", f"Its may_message in the team settings allows: {allowed}."
        )
    return None


def _lead_rule(config: TeamConfig, sender: str, recipient: str, type: str) -> BrokenRule | None:
    """Return the lead's right that a message breaks, and the next step; None when it breaks none (decision D10)."""
    kind = kind_of(type)
    if kind.is_by_lead and sender != config.lead:
        return BrokenRule(f"{sender} may not send {type}: only the lead {config.lead} may", f"Ask {config.lead}.")
    if kind.is_to_lead and recipient != config.lead:
        return BrokenRule(f"{type} goes to the lead {config.lead}, not to {recipient}", f"Send it to {config.lead}.")
    # guard: one-master-decides
    if kind.opens in DECIDED_BY_LEAD and recipient != config.lead and config.agent(recipient).role == "master":
        return BrokenRule(
            f"{type} goes to the lead {config.lead}, not to {recipient}, who could not answer it",
            f"Send it to {config.lead}.",
        )
    if type == SHUTDOWN_REQUEST and recipient in (config.lead, USER):
        who = "the human" if recipient == USER else "the lead of the team"
        return BrokenRule(
            f"{recipient} is {who} and cannot be asked to stop", "Leave the console with q; agents stay as they are."
        )
    return None


def may_answer(lead: str, *, actor: str, kind: RequestKind, addressee: str) -> bool:
    """Return whether a verdict by `actor` decides a request of `kind` that was put to `addressee`, in a team of `lead`.

    Plans, creations, destructions, permissions and questions are the lead's; everything else is the addressee's. What
    was put to the human (`user`) may be answered by the lead, whose seat the human has.
    """
    if kind in DECIDED_BY_LEAD:
        return actor == lead
    return actor == addressee or addressee == ALL or (addressee == USER and actor == lead)


# Between which sorts of agents a kind of message goes, and which messages went another way.

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
