"""What passes between a form and the screen it stands on: where it stands, and results that are not final."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from team_console.store.model.errors import TeamError
from textual.geometry import Region


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


class Behind(Struct, frozen=True):
    """What a form asks of the screen it stands on.

    Attributes:
        room: Where the thing it is about is shown; the form grows out of its bottom.
        cover: Keeps so many lines at that bottom free, 0 to have them back.
        scroll: Scrolls the thing by so many pages.
        drop_keys: Forgets keys that were typed and have not acted yet; returns how many.
    """

    room: Callable[[], Region]
    cover: Callable[[int], None] = lambda lines: None
    scroll: Callable[[float], None] = lambda pages: None
    drop_keys: Callable[[], int] = lambda: 0
