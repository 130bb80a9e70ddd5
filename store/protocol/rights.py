"""Tell who may send what to whom and who may answer a request, by the settings of the team (decisions D10, D17)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message
from team_console.store.model.names import ALL, USER
from team_console.store.model.recorded import RecordedFacts
from team_console.store.protocol.directions import wrong_direction
from team_console.store.protocol.kinds import DECIDED_BY_LEAD, SHUTDOWN_REQUEST, Family, RequestKind, kind_of
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
    # In capitals are the kinds of the sprint, those that only this team knows among them.
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
