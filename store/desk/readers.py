"""Who may receive, and what becomes of a message that was read; a slip of the keyboard takes nothing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from team_console.store.contract.transaction import Transaction
from team_console.store.model.clock import to_text
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message, Status
from team_console.store.model.names import ALL, USER, nearest
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


_NO_CLAIM: Mapping[str, None] = dict.fromkeys(("claimed_by", "claimed_at", "lease_until", "token"))


def mark_as_read(tx: Transaction, message: Message, agent: str) -> Message:
    """Read for `agent`: archived in its history, then changed in the queue (archive first, decision D7).

    A message to several is archived as its reader sees it, read, whatever the others have yet to do.
    """
    at = to_text(tx.now)
    own = message.with_changes(status=Status.READ.value, read_at=at, **_NO_CLAIM)
    changed = own
    if message.is_group:
        read_by = {**message.read_by, agent: at}
        others = [name for name in _addressees(tx, message) if name not in read_by]
        changed = message.with_changes(read_by=read_by, status=message.status if others else Status.READ.value)
        own = own.with_changes(read_by=read_by)
    tx.archive(agent, own)
    tx.replace(message, changed)
    return changed


def _addressees(tx: Transaction, message: Message) -> list[str]:
    from team_console.store.protocol.relations.membership import members

    names = members(tx.config, tx.everything()) if ALL in message.recipients else message.recipients
    return [name for name in names if name != message.sender]
