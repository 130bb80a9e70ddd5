"""Verdicts recognised: messages that say what a human of the team decided."""

from __future__ import annotations

from team_console.store.model.message import Message
from team_console.store.model.names import USER
from team_console.store.protocol.permissions import DECIDED_BY_LEAD
from team_console.store.protocol.reading import reading
from team_console.store.settings.team_config import TeamConfig

ORDER, CONFIRMATION = "shutdown_request", "AGENT_DESTROYED"
"""Kinds by which a human has an agent stopped, and by which its end is confirmed."""


def is_human(config: TeamConfig, name: str) -> bool:
    """Whether `name` is a seat of a human: the lead, the human at the console, and those the settings name."""
    return name in (config.lead, USER) or name in config.humans


def is_verdict(config: TeamConfig, message: Message) -> bool:
    """Whether a message claims to be what a human decided, whoever wrote it.

    An answer to what only the lead decides, a human's yes or no to anything else, and a human's order to stop.
    """
    read = reading(message)
    if read.answers in DECIDED_BY_LEAD:
        return True
    is_clear = read.name == ORDER or read.answers is not None or read.approve is not None
    return is_clear and may_be_verdict(config, message)


def may_be_verdict(config: TeamConfig, message: Message) -> bool:
    """The same, or a human's words about something: they decide when that is an escalation or a clarification."""
    read = reading(message)
    if read.answers in DECIDED_BY_LEAD:
        return True
    if read.kind is None or read.kind.withdraws or not is_human(config, message.sender):
        return False
    return read.name == ORDER or (read.opens is None and read.request_id is not None)
