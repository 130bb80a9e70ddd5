"""What a form gives back, and what may come instead; without the form, which a start of the console does without."""

from __future__ import annotations

from msgspec import Struct
from team_console.store.model.errors import Code, TeamError

UNSURE = "It may or may not have been saved. Check before you try again."
"""What is said of a write that failed in a way nobody foresaw."""
CHANGED = "changed:"
"""Stands before the token of a request under which the painted lines of its difference are counted."""


class AskAgain(TeamError):
    """A request, what stood beside it, or who is meant, is not what was shown. Nothing was written.

    Attributes:
        diff: Lines of a unified diff from what was shown to what there is.
        token: That of the request as it is now, under which the painted lines of the difference are counted.
        about: What the form says it is about from now on, safe text; empty for what it said before.
        verb: What its button says from now on, likewise.
    """

    def __init__(
        self,
        diff: tuple[str, ...],
        *,
        token: str = "",
        about: str = "",
        verb: str = "",
        changed: str = "it changed while you were deciding",
        why: str = "",
    ) -> None:
        """Say what changed, and that handing in again decides on what is new; with `why` it says why that cannot be."""
        text = why or f"{changed}; nothing was written"
        hint = "esc keeps your words; open it again." if why else "Read what is new; hand in again to decide on it."
        super().__init__(Code.INVALID_REQUEST_ID, text, hint)
        self.diff, self.token, self.about, self.verb = diff, token, about, verb


class DeferredResult(Struct, frozen=True):
    """The base of a result that is done later: what was typed is kept until then."""

    @property
    def is_pending(self) -> bool:
        """Whether nothing of it is written yet."""
        return True


class Stopped(TeamError):
    """A human stopped it before it was done."""

    def __init__(self, text: str) -> None:
        super().__init__(Code.USAGE, text)
