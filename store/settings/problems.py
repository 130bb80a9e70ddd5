"""Problems of settings: their codes, and what is wrong in a file as findings with the line."""

from __future__ import annotations

from team_console.store.model.problem import Problem
from team_console.store.settings.team_config import TeamConfig

SETTINGS_LOST = "SETTINGS_LOST"
"""Code of the problem that settings which were in force are gone, emptied or cut."""
SETTINGS_UNREADABLE = "SETTINGS_UNREADABLE"
"""Code of the problem that the settings cannot be read, or do not say who leads and who is a member though they may."""


def config_problems(config: TeamConfig, source: str) -> tuple[Problem, ...]:
    """What is wrong in the settings that stand in `source`, as findings with the line."""
    return tuple(
        Problem(
            problem.code,
            problem.severity,
            f"{source}:{problem.line}" if problem.line else source,
            problem.message,
            problem.hint,
        )
        for problem in config.problems
    )
