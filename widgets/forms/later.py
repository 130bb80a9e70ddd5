"""What a form gets back from its act instead of a plain result: agreed and done later, or refused for a change."""

from __future__ import annotations

from msgspec import Struct
from team_console.store.model.errors import TeamError


class Later(Struct, frozen=True):
    """The base of a result that is done later: what was typed is kept until then."""


class SubjectChangedError(TeamError):
    """What a form is about is not what was shown any more.

    Attributes:
        before, now: Its text when the form opened, and as it is.
    """

    def __init__(self, error: TeamError, *, before: str, now: str) -> None:
        super().__init__(error.code, error.message, error.hint, **error.facts)
        self.before, self.now = before, now
