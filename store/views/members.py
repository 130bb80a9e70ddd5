"""Who is in the team now: settings, the latest roster message, creations and destructions (requirements 178-183)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from store.config import TeamConfig
from store.message import Message
from store.names import ALL, USER, is_name
from store.protocol.reading import Reading, reading

ROSTER_LISTS: Mapping[str, str] = {"residents": "resident", "slaves": "slave", "temps": "temp"}
"""Lists of a roster message and the role of who stands in them."""


def members(config: TeamConfig, messages: Iterable[Message]) -> dict[str, str]:
    """Name -> role of every member: the configured ones first, then those the lead announced, in order.

    Only the lead's word counts, and the latest complete roster replaces whatever was announced before it
    (requirement 179). A team that declares no agents has everybody met in its traffic.
    """
    seen = list(messages)
    announced: dict[str, str] = {}
    for one in seen:
        if one.sender == config.lead and one.type not in _PLAIN_ANSWERS:
            announced = after(announced, reading(one))
    configured = {agent.name: agent.role for agent in config.agents.values()}
    met = {} if config.declared else {name: "member" for one in seen for name in named(one)}
    return {**{config.lead: "master"}, **configured, **met, **announced, **configured}


_PLAIN_ANSWERS = frozenset({"plan_approval_response", "shutdown_request"})


def after(announced: dict[str, str], read: Reading) -> dict[str, str]:
    """The announced members once the lead has said `read`; the same object when it changes nothing."""
    if read.name == "AGENT_ROSTER_BROADCAST":
        return roster_of(read.body)
    name = read.body.get("agent_name")
    if not is_name(name):
        return announced
    if read.name == "AGENT_CREATED":
        return {**announced, str(name): "temp"}
    if read.name == "AGENT_DESTROYED" and name in announced:
        return {one: role for one, role in announced.items() if one != name}
    return announced


def roster_of(body: Mapping[str, Any]) -> dict[str, str]:
    """Name -> role in a roster message; what is not a name is left out."""
    roster = body.get("roster")
    if not isinstance(roster, Mapping):
        return {}
    lists = {role: roster.get(key) for key, role in ROSTER_LISTS.items()}
    return {str(name): role for role, one in lists.items() if isinstance(one, list) for name in one if is_name(name)}


def named(message: Message) -> list[str]:
    """Sender and recipients that could be agents."""
    return [name for name in (message.sender, *message.recipients) if name not in (ALL, USER) and is_name(name)]


def silent(config: TeamConfig, messages: Iterable[Message]) -> frozenset[str]:
    """Members that agreed to stop, or were asked to and have not answered, and wrote nothing since (D17)."""
    quiet: set[str] = set()
    for one in messages:
        read = reading(one)
        if read.name == "shutdown_request" and one.sender == config.lead:
            quiet.update(name for name in one.recipients if name != ALL)
        elif read.name == "shutdown_response" and read.approve is True:
            quiet.add(one.sender)
        else:
            quiet.discard(one.sender)
    return frozenset(quiet)
