"""Wishes: what evidence is wanted for, and what it is looked for with."""

from __future__ import annotations

from msgspec import Struct
from team_console.store.model.message import Message
from team_console.store.views.rows import Batch, RequestRow


class Wish(Struct, frozen=True):
    """What evidence is wanted for.

    Attributes:
        key: Names it among others.
        message: The question or the report.
        row: The request, None for a report.
        text: The whole text of the plan or report.
        rejected: The version before that was rejected.
        rejected_text: The whole of that.
    """

    key: str
    message: Message
    row: RequestRow | None
    text: str
    rejected: RequestRow | None = None
    rejected_text: str = ""
    batches: tuple[Batch, ...] = ()

    def is_for_the_same(self, other: Wish) -> bool:
        """Whether the same evidence would be looked for; a clock that goes on is no other wish."""
        return (
            self.message is other.message
            and self.text == other.text
            and self.rejected_text == other.rejected_text
            and _rejection(self) is _rejection(other)
        )


def _rejection(wish: Wish) -> Message | None:
    return wish.rejected.verdict if wish.rejected is not None else None
