"""The process of one simulated agent: `python -m team_console.console.demo.agent_process NAME LOCATION SEED SPEED`."""

from __future__ import annotations

import signal
import sys

from team_console.console.demo.agents import (
    Debugger,
    Developer,
    FileManager,
    Inspector,
    KnowledgeManager,
    Runner,
    ScheduleManager,
    ScrumMaster,
    SimulatedAgent,
    Slave,
    TaskManager,
)

ROLES: dict[str, type[SimulatedAgent]] = {
    "task-manager": TaskManager,
    "schedule-manager": ScheduleManager,
    "file-manager": FileManager,
    "knowledge-manager": KnowledgeManager,
    "scrum-master": ScrumMaster,
    "debugger": Debugger,
    "slave-batch-1": Runner,
    "inspector-1": Inspector,
    "slave-batch-2": Slave,
}
"""Name -> what it does; a name that is not here is a temporary developer."""


def main(arguments: list[str]) -> int:
    """Play one agent until it is stopped or standard input ends (its parent is gone)."""
    from team_console.store.backends.open import open_team

    name, location, seed, speed = arguments
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    team = open_team(location)
    actor = ROLES.get(name, Developer)(team, name, parent=sys.stdin.fileno(), seed=int(seed), speed=float(speed))
    actor.live()
    team.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
