"""A member that is out of reach now and then: its delivery command, and the real router that tries it."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from team_console.store.contract.team import Team
from team_console.store.model.errors import TeamError
from team_console.store.service.caller import Caller

ABSENT = "architect"
"""The member without a process of its own; its messages go through a command that fails four times, then works."""
TRIES = "tries.json"
"""Beside the team's folder: how often each message was handed to the command."""
_LOOK_EVERY = 1.0


def command(folder: Path) -> list[str]:
    """The command that takes the absent member's messages, for its settings."""
    return [sys.executable, "-P", str(Path(__file__).with_name("failing_command.py")), str(folder / TRIES)]


def seed_tries(folder: Path, message_ids: list[str], tries: int) -> None:
    """Let messages of the past count as tried so often."""
    (folder / TRIES).write_text(json.dumps(dict.fromkeys(message_ids, tries)), encoding="utf-8")


class Router:
    """One router, for one member."""

    def __init__(self, team: Team) -> None:
        self._caller = Caller(team, "router", 2.0)
        self._next = 0.0

    def round(self) -> None:
        """Deliver what is due, about once a second; what fails is tried again on the router's own schedule."""
        from team_console.store.service.router import deliver

        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + _LOOK_EVERY
        try:
            deliver(self._caller, only=[ABSENT])
        except TeamError as error:
            print(f"router: {error.code} {error.message}", file=sys.stderr, flush=True)
