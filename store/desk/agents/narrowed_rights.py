"""Rights of a member that name nobody, or no kind of message: a slip there silences it, and nothing else says so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from team_console.store.model.names import USER, did_you_mean
from team_console.store.protocol.kinds.registry import KINDS
from team_console.store.settings.team_config import Agent, TeamConfig


def rights_of_nobody(config: TeamConfig, agents: Sequence[Agent], now: Iterable[str]) -> list[str]:
    """Warnings, one for each name and kind that the rights of these members name and the team does not know.

    Args:
        now: Who is a member now, temporary agents included.
    """
    members = [*now, *config.agents, config.lead, USER, *(agent.name for agent in agents)]
    kinds = [*KINDS, *config.kinds]
    return [
        warning
        for agent in agents
        for warning in (
            *_unknown(f"{agent.name} may write to", agent.may_message, members, "no member"),
            *_unknown(f"{agent.name} may send", agent.may_send, kinds, "no kind of message"),
        )
    ]


def _unknown(right: str, allowed: Iterable[str] | None, known: Sequence[str], what: str) -> Iterator[str]:
    for word in sorted(set(allowed or ()) - set(known)):
        yield f"{right} {word}, which is {what}{did_you_mean(word, known)}"
