"""Settings in force, judged from what is there now and what was in force before: the same for files and databases."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace
from team_console.store.model.errors import TeamError
from team_console.store.model.problem import Problem
from team_console.store.settings.loss import digest, loss, loss_problem, lost_to, misread_problems
from team_console.store.settings.problems import SETTINGS_UNREADABLE, config_problems
from team_console.store.settings.team_config import TeamConfig
from team_console.store.settings.weakening import weakening


class InForce(Struct, frozen=True):
    """One look at the settings.

    Attributes:
        config: Those in force; while they are lost or cannot be read, those in force before.
        problems: What is wrong with what is there.
        text: What is there now, None when nothing is.
        in_force: The text that `config` was made from, None where that is not known.
        error: Why there is nothing to go by, None when there is.
    """

    config: TeamConfig
    problems: tuple[Problem, ...] = ()
    text: bytes | None = None
    in_force: bytes | None = None
    error: TeamError | None = None

    @property
    def to_record(self) -> bytes | None:
        """The text to put on record with a change; None while there is none or those in force are lost."""
        return None if self.error is not None or self.config.lost or self.config.is_misread else self.text

    def seen(self, before: bytes | None) -> bytes | None:
        """The text in force that a later look goes by, after `before`."""
        return self.in_force if self.to_record is not None and self.in_force == self.text else before


class Names(Struct, frozen=True):
    """How findings name the settings: where a line is wrong, where they are lost, where they cannot be read."""

    line: str
    lost: str
    unread: str


def judge(
    text: bytes | None,
    said: TeamConfig | TeamError,
    *,
    before: bytes | None,
    last: TeamConfig,
    understand: Callable[[bytes], TeamConfig],
    names: Names,
) -> InForce:
    """Which settings count, and what is wrong.

    Args:
        said: What `text` says (defaults for none), or why it says nothing.
        before: The text in force before, None when nothing is known of it.
        last: The settings to go on with where neither text can be understood.
        understand: Makes settings of the text in force before; raises `TeamError`.
    """
    is_other = before is not None and before != text
    if isinstance(said, TeamError):
        what = loss(text, before, is_read=False) if before is not None and text is not None else ""
        problem = Problem(SETTINGS_UNREADABLE, "error", names.unread, said.message, said.hint)
        gone = loss_problem(names.lost, what) if what else lost_to(problem)
        lost = _before(before, (gone,), text, understand) if is_other else None
        return lost or InForce(last, (problem,), text, error=said)
    what = loss(text, before, is_read=not said.is_misread) if before is not None else ""
    if not what and is_other and not said.is_misread:
        what = _weakened(before, said, understand)
    problems = misread_problems(said, names.line) if said.is_misread else config_problems(said, names.line)
    if not what and not (is_other and said.is_misread):
        return InForce(said, problems, text, text)
    told = (loss_problem(names.lost, what),) if what else (lost_to(problems[0]), *problems[1:])
    return _before(before, told, text, understand) or InForce(said, told, text)


def _weakened(before: bytes | None, said: TeamConfig, understand: Callable[[bytes], TeamConfig]) -> str:
    try:
        return weakening(understand(before or b""), said)
    except TeamError:
        return ""


def _before(
    before: bytes | None, told: tuple[Problem, ...], text: bytes | None, understand: Callable[[bytes], TeamConfig]
) -> InForce | None:
    """What was in force, marked as lost; None when that cannot be understood any more either."""
    try:
        config = understand(before or b"")
    except TeamError:
        return None
    config = replace(config, lost=told[0].sentence, unconfirmed=digest(text or b""))
    return InForce(config, told, text, before)
