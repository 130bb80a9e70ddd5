"""What the parts of a pane use of it, so that imports form no circle."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from team_console.console.tui.modes.listing import Listing
from team_console.widgets.detail import Detail
from team_console.widgets.document import Document
from team_console.widgets.row_list import RowList
from textual.message import Message as TextualMessage
from textual.timer import Timer


class ShownList(Protocol):
    """A list on the screen with its thing under the cursor beside it, as its parts use it."""

    @property
    def listing(self) -> Listing[Any]:
        """What the list is of."""

    @property
    def rows(self) -> RowList[Any]:
        """The list."""

    @property
    def chosen_from(self) -> RowList[Any]:
        """The list under whose cursor the thing is that is shown."""

    @property
    def detail(self) -> Detail:
        """The thing under the cursor."""

    @property
    def is_reading(self) -> bool:
        """Whether the thing has the whole screen."""

    def set_reading(self, is_reading: bool) -> None:
        """Give the thing the whole screen, or the list its place again."""

    def shown_document(self) -> Document | None:
        """Return the document of what is chosen."""

    def set_filter(self, text: str) -> None:
        """Show only rows that fit a query."""

    def step(self, direction: int) -> bool:
        """Go to the next thing, or the one before; False at the end."""

    def set_timer(self, delay: float, callback: Callable[[], object]) -> Timer:
        """Call back in so many seconds."""

    def post_message(self, message: TextualMessage) -> bool:
        """Tell the screen."""
