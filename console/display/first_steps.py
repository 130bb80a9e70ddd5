"""First steps: for each mode with nothing in it the one command that would put something there."""

from __future__ import annotations

import shlex

from team_console.console.input.subject import Mode

_COMMANDS = {
    Mode.NEEDS: "ask --as scribe 'Shall I begin?'",
    Mode.INBOXES: "send --to all --summary 'Work begins today' --content 'Say what you need.'",
    Mode.REQUESTS: "plan --as scribe --content '1. Read it  2. Write it'",
    Mode.DELIVERIES: "send --to scribe --summary 'Begin with the summary' --content 'One page.'",
    Mode.SPRINT: "help protocols",
    Mode.HISTORY: "broadcast --summary 'Work begins today' --content 'Say what you need.'",
    Mode.HEALTH: "check",
}


def command_for(mode: Mode, root: str) -> str:
    """The whole command, ready for a shell; empty where there is none.

    Args:
        root: The team's folder; empty when the team is named by the environment.
    """
    command = _COMMANDS.get(mode, "")
    place = f"-t {shlex.quote(root)} " if root else ""
    return f"team-console {place}{command}" if command else ""
