"""Protocols of the main screen and of the console, as parts of the screen use them, so that imports form no circle."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, Protocol

from team_console.console.preferences import Preferences
from team_console.console.selection import ActionContext
from team_console.console.tui.cache import ScreenCache
from team_console.console.tui.drafts import Drafts
from team_console.console.tui.lists import Lists
from team_console.console.tui.situation import Situation
from team_console.store.service.caller import Caller
from team_console.store.views.rows import View
from textual.app import App


class ConsoleProtocol(Protocol):
    """The console application, as the screen and its parts use it."""

    @property
    def is_behind(self) -> bool:
        """Whether a reading that was asked for is not on the screen yet."""

    def look(self) -> None:
        """Look at the store again now."""

    def redraw(self) -> None:
        """Draw every cell anew, and look again."""

    def take_preferences(self, preferences: Preferences) -> None:
        """Make what the human chose hold from now on."""

    def report(self, error: BaseException) -> None:
        """Take an exception nobody expected."""

    def perform(self, name: str, context: ActionContext) -> None:
        """Do an action of the registry, or the human's own command `own:NUMBER`, on what it is about."""


class MainScreenProtocol(Protocol):
    """The main screen, as its parts use it.

    Attributes:
        caller: Who acts, and on which team.
        drafts: Texts that were typed and not submitted.
        cache: What the lists share beside the view.
        lists: The lists, one of them in front.
        situation: What is known of the store.
        now: The moment for which ages are shown.
        read_only: Whether the console was opened so that it writes nothing.
        look: Reads the store again.
        report: Shows an unexpected exception and logs it.
    """

    caller: Caller
    drafts: Drafts
    cache: ScreenCache
    lists: Lists
    situation: Situation
    now: datetime
    read_only: bool
    look: Callable[[], None]
    report: Callable[[BaseException], None]

    @property
    def app(self) -> App[Any]:
        """The running application."""

    @property
    def is_mounted(self) -> bool:
        """Whether it has its widgets."""

    @property
    def view(self) -> View | None:
        """The view on the screen."""

    @property
    def cannot_write(self) -> bool:
        """Whether nothing can be written, by choice or for want of permissions."""

    @property
    def is_in_front(self) -> bool:
        """Whether keys are about the lists: nothing lies over them, and no form is open."""

    def context(self) -> ActionContext:
        """Return the context that keys act on now."""

    def toast(self, text: str, *, severity: str = "information") -> None:
        """Show `text` in a toast, never as markup."""

    def set_busy(self, words: str) -> None:
        """Show the work under way in the status line; empty for none."""

    def show_again(self, *, is_listed_anew: bool = True) -> None:
        """Draw the current view again with what was read beside it since, unless it is listed anew in the same rows."""

    def show_pending(self) -> None:
        """Show the pending decisions and the seconds left to undo them."""
