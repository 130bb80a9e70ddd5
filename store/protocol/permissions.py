"""Who may send what to whom, and who may answer a request (decisions D10 and D17, requirement 112)."""

from __future__ import annotations

from typing import NoReturn

from team_console.store.model.errors import Code, TeamError
from team_console.store.model.names import ALL, USER
from team_console.store.protocol.kinds.directions import check_direction
from team_console.store.protocol.kinds.kind import RequestKind
from team_console.store.protocol.kinds.registry import KINDS
from team_console.store.settings.loss import HINT
from team_console.store.settings.team_config import TeamConfig

LEAD_ONLY = frozenset(
    {
        "shutdown_request",
        "plan_approval_response",
        "permission_response",
        "question_response",
        "AGENT_CREATED",
        "AGENT_DESTROYED",
        "AGENT_ROSTER_BROADCAST",
        "CC_TRIGGER",
    }
)
"""Kinds that only the lead (the sprint's Master) may send."""
TO_LEAD_ONLY = frozenset({"plan_approval_request", "permission_request", "question_request"})
"""Kinds that go to the lead and to nobody else."""
DECIDED_BY_LEAD = frozenset(
    {RequestKind.PLAN, RequestKind.CREATE, RequestKind.DESTROY, RequestKind.PERMISSION, RequestKind.QUESTION}
)
"""Requests that only the lead answers, whomever they name."""


def check_permission(config: TeamConfig, *, sender: str, recipient: str, type: str) -> None:
    """Let the message pass, or refuse it; `type` is the kind's name, the carried one for sprint messages.

    Raises:
        TeamError: `NOT_PERMITTED`, naming the rule and where it stands; `INVALID_FIELD` for a sprint message whose
            direction does not fit the configured roles.
    """
    agent = config.agent(sender)
    if config.lost and (type in LEAD_ONLY or type == "broadcast" or (sender == config.lead and type.isupper())):
        check_settings(config, f"send {type}")
    broken = lead_rule(config, sender=sender, recipient=recipient, type=type)
    if broken is not None:
        _refuse(*broken)
    if agent.may_send is not None and type not in agent.may_send and not _takes_back(type):
        allowed = ", ".join(sorted(agent.may_send)) or "nothing"
        _refuse(f"{sender} may not send {type}", f"Its may_send in the team settings allows: {allowed}.")
    if agent.may_message is not None and recipient not in agent.may_message:
        allowed = ", ".join(sorted(agent.may_message)) or "nobody"
        _refuse(f"{sender} may not write to {recipient}", f"Its may_message in the team settings allows: {allowed}.")
    if type.isupper():
        roles = {name: agent.role for name, agent in config.agents.items()}
        check_direction(type, sender=sender, recipient=recipient, roles=roles, lead=config.lead)


def check_settings(config: TeamConfig, act: str) -> None:
    """Refuse an act that needs authority while the settings, which say who has it, are lost.

    Raises:
        TeamError: `NOT_PERMITTED`, with what happened to them and the way back.
    """
    if config.lost:
        _refuse(f"nobody may {act} now: {config.lost}", HINT)


def lead_rule(config: TeamConfig, *, sender: str, recipient: str, type: str) -> tuple[str, str] | None:
    """What a message breaks of the lead's rights, and the next step; None when it breaks nothing (decision D10)."""
    if type in LEAD_ONLY and sender != config.lead:
        return f"{sender} may not send {type}: only the lead {config.lead} may", f"Ask {config.lead}."
    if type in TO_LEAD_ONLY and recipient != config.lead:
        return f"{type} goes to the lead {config.lead}, not to {recipient}", f"Send it to {config.lead}."
    if type == "shutdown_request" and recipient in (config.lead, USER):
        who = "the human" if recipient == USER else "the lead of the team"
        return f"{recipient} is {who} and cannot be asked to stop", "Leave the console with q; agents stay as they are."
    return None


def may_answer(config: TeamConfig, *, actor: str, kind: RequestKind, addressee: str) -> bool:
    """Whether a verdict by `actor` decides a request of `kind` that was put to `addressee`.

    Plans, creations, destructions, permissions and questions are the lead's; everything else is the addressee's. What
    was put to the human (`user`) may be answered by the lead, whose seat the human has.
    """
    if kind in DECIDED_BY_LEAD:
        return actor == config.lead
    return actor == addressee or addressee == ALL or (addressee == USER and actor == config.lead)


def _takes_back(type: str) -> bool:
    """Whether this kind withdraws what its sender asked itself, which whoever may ask may do."""
    kind = KINDS.get(type)
    return kind is not None and kind.withdraws


def _refuse(message: str, hint: str) -> NoReturn:
    raise TeamError(Code.NOT_PERMITTED, message, hint)
