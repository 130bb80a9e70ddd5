"""Words for names that nobody has and kinds that are none: a slip of the keyboard must not look like an empty list."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from team_console.store.model.names import USER, did_you_mean
from team_console.store.protocol.kinds import KINDS
from team_console.store.protocol.membership import known

if TYPE_CHECKING:
    from team_console.store.contract.team import Snapshot
    from team_console.store.model.message import Message
    from team_console.store.settings.team_config import TeamConfig


def unheard_actor(snapshot: Snapshot, name: str) -> list[str]:
    """A warning when whoever acts or looks is no member of the team, where its settings name the members."""
    if not snapshot.config.declared or _is_known(snapshot, name):
        return []
    return [f"no member of team {snapshot.config.name} is called {name}{did_you_mean(name, _names(snapshot))}"]


def unheard_agent(snapshot: Snapshot, name: str | None, ever: Callable[[], Sequence[Message]]) -> list[str]:
    """A warning when nobody is or was called `name`, for whom nothing was found; `ever` reads all there is of it."""
    if name is None or _is_known(snapshot, name) or ever():
        return []
    text = f"nobody called {name} is known in team {snapshot.config.name}, and nobody in its archives"
    return [f"{text}{did_you_mean(name, _names(snapshot))}"]


def unheard_kind(config: TeamConfig, kind: str | None) -> list[str]:
    """A warning when there is no kind of message `kind`, of which nothing was found."""
    if kind is None or kind in KINDS or kind in config.kinds:
        return []
    return [f"no kind of message is called {kind}{did_you_mean(kind, [*KINDS, *config.kinds])}"]


def is_in_settings(config: TeamConfig, name: str) -> bool:
    """Whether the settings alone tell that somebody is called `name`."""
    return name in config.agents or name in config.humans or name in (USER, config.lead)


def _is_known(snapshot: Snapshot, name: str) -> bool:
    if is_in_settings(snapshot.config, name):
        return True
    if any(name == message.sender or name in message.recipients for message in snapshot.messages):
        return True
    return name in _names(snapshot)


def _names(snapshot: Snapshot) -> Iterable[str]:
    return known(snapshot.config, snapshot.messages)
