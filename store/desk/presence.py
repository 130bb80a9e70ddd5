"""Presence of the human, and of whoever waits for an answer: facts, not guesses (decision D22)."""

from __future__ import annotations

from contextlib import AbstractContextManager

from team_console.store.contract.presence import Presence, new_name
from team_console.store.contract.team import Team


def announce_presence(team: Team) -> AbstractContextManager[bool]:
    """A human is at a console that may write, as long as the block runs; ends with the process, however it ends."""
    return team.announce(Presence.CONSOLE, new_name())


def human_present(team: Team) -> bool:
    """Whether such a console is open on this team now; never waits and never writes.

    What cannot be found out counts as nobody: whoever asks then goes on as if there were no console.
    """
    return bool(team.attendance(Presence.CONSOLE).names)


def is_human_awaited(team: Team) -> bool:
    """Whether what a client asks now waits for the human at a console, as the team's `wait_for_human` says."""
    waits = team.config().wait_for_human
    return waits == "always" or (waits == "present" and human_present(team))
