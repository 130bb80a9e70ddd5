"""Problems and findings: what is wrong, where, how badly, and the next step."""

from __future__ import annotations

from msgspec import Struct


class Problem(Struct, frozen=True):
    """Something wrong that a human should know: a departure, a damaged place, a stale lock.

    Attributes:
        code: Stable upper-case word, such as `DAMAGED_ENTRY`.
        severity: `error`, `warning` or `notice`.
        place: File and line, message id, agent or request id.
        message: What is wrong, in one sentence.
        hint: The next step; may be empty.
    """

    code: str
    severity: str
    place: str
    message: str
    hint: str = ""

    @property
    def sentence(self) -> str:
        """What is wrong and where, the place named once."""
        return self.message if self.message.startswith(self.place) else f"{self.place}: {self.message}"
