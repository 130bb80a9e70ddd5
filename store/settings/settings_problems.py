"""What is wrong with settings, as findings: the codes, the next step, and the place with its line."""

from __future__ import annotations

from team_console.store.model.errors import Problem
from team_console.store.settings.team_config import TeamConfig

SETTINGS_LOST = "SETTINGS_LOST"
"""Code of the problem that settings which were in force are gone, emptied or cut."""
SETTINGS_UNREADABLE = "SETTINGS_UNREADABLE"
"""Code of the problem that the settings cannot be read, or do not say who leads and who is a member though they may."""
LOST_SETTINGS_HINT = (
    "Until then those in force before are used, and nothing that needs authority is written. Put them back with "
    "'team-console check --heal', or confirm them as they are with 'team-console check --accept-settings'."
)


def config_problems(config: TeamConfig, source: str) -> tuple[Problem, ...]:
    """Return the faults of the settings in `source`, as findings with the line."""
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


def misread_problems(config: TeamConfig, place: str) -> tuple[Problem, ...]:
    """Return the findings for settings at `place` that do not say who leads and who is a member, the reason first."""
    problems = config_problems(config, place)
    reason = next(problem for problem in problems if problem.severity == "error")
    others = (problem for problem in problems if problem is not reason)
    return Problem(SETTINGS_UNREADABLE, "error", reason.place, reason.message, reason.hint), *others
