"""Who may receive: members, the human, and whoever the queue itself speaks of; a slip of the keyboard takes nothing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message
from team_console.store.model.names import USER, nearest
from team_console.store.settings.team_config import TeamConfig


def refuse_unknown_reader(config: TeamConfig, name: str, messages: Callable[[], Sequence[Message]]) -> None:
    """Refuse a name that nobody has in a team that declares its members.

    `messages` gives the live ones; it is only asked where the settings do not tell.

    Raises:
        TeamError: `AGENT_NOT_FOUND`, with the nearest name.
    """
    if not config.declared or name in config.agents or name in (USER, config.lead):
        return
    live = messages()
    if any(name == message.sender or name in message.recipients for message in live):
        return
    from team_console.store.protocol.relations.membership import known

    refuse_not_among(known(config, live), config, live, name)


def refuse_not_among(met: Collection[str], config: TeamConfig, live: Sequence[Message], name: str) -> None:
    """Refuse a name that is not among those the team has `met`.

    Raises:
        TeamError: `AGENT_NOT_FOUND`, with the nearest name.
    """
    from team_console.store.protocol.relations.membership import members

    if name in met:
        return
    meant = nearest(name, met)
    hint = f"Did you mean {meant}? " if meant else ""
    raise TeamError(
        Code.AGENT_NOT_FOUND,
        f"no agent {name!r} in team {config.name}",
        f"{hint}Members: {', '.join(members(config, live))}.",
    )
