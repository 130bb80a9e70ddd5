"""Presence of a human: whether a console that may write is open on a team."""

from __future__ import annotations

from team_console.store.contract.team import Team


def human_present(team: Team) -> bool:
    """Whether a console that may write is open on this team now."""
    return False
