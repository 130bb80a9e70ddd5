"""What a form says when the thing it asks about changed: what is new as a diff, and then it asks again."""

from __future__ import annotations

from team_console.store.model.errors import Code, TeamError
from team_console.store.views.proposals import counts_of
from team_console.widgets.details.client_request import diff_text
from team_console.widgets.details.document import Block, Heading


class AskAgain(TeamError):
    """A request, or what stood beside it, is not what was shown. Nothing was written.

    Attributes:
        diff: Lines of a unified diff from what was shown to what there is.
        may_go_on: Whether handing in again decides on what the diff shows.
    """

    def __init__(self, diff: tuple[str, ...], *, may_go_on: bool = True, why: str = "") -> None:
        text = why or "it changed while you were deciding; nothing was written"
        go_on, leave = "Read what is new; hand in again to decide on it.", "esc keeps your words; open it again."
        super().__init__(Code.INVALID_REQUEST_ID, text, go_on if may_go_on else leave)
        self.diff = diff
        self.may_go_on = may_go_on

    @property
    def blocks(self) -> tuple[Block, ...]:
        """What is new, to be shown in the form."""
        if not self.diff:
            return ()
        return Heading(f"changed since it was shown · {counts_of(self.diff)}"), diff_text(self.diff)
