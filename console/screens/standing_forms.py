"""Opens forms below the thing they are about, and gives the room back when they close."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from team_console.console.app.editor import edit_text
from team_console.console.panes.list_pane import ListPane
from team_console.console.panes.pane import Pane
from team_console.store.views.rows import RequestRow
from team_console.widgets.standing import Behind
from textual.geometry import Region
from textual.screen import Screen

if TYPE_CHECKING:
    from team_console.widgets.forms.form import Form

ResultT = TypeVar("ResultT")


class StandingForms:
    """The forms of one screen, one at a time."""

    def __init__(self, screen: Screen[Any], pane: Callable[[], Pane]) -> None:
        self._screen, self._pane = screen, pane
        self.warning = ""
        self._answering: Form[Any] | None = None
        self._is_about_request = False

    @property
    def is_closing(self) -> bool:
        """Whether a form has gone whose answer is still on its way: what it decided is not known here yet."""
        return self._answering is not None and self._answering not in self._screen.app.screen_stack

    def open(
        self, form: Form[ResultT], answered: Callable[[ResultT], None], *, about: RequestRow | None = None
    ) -> None:
        """Show `form`, which may ask `about` one request; `answered` gets its result unless it was left.

        What it was opened on stays shown, whatever becomes of it.
        """
        pane = self._pane()
        self._is_about_request = about is not None
        form.behind = Behind(
            lambda: self._room(pane),
            lambda lines: _cover(pane, lines),
            self._scroll,
            self._edit,
            self._screen.screen_layout_refresh_signal,
        )
        form.warning, self.warning = self.warning, ""

        def closed(result: ResultT | None) -> None:
            self._answering = None
            _cover(pane, 0)
            if result is not None:
                answered(result)

        self._screen.app.clear_notifications()  # they would lie over the fields
        self._screen.app.push_screen(form, closed)
        self._answering = form

    def follow(self) -> None:
        """The team changed: the form says what became of the request it asks about."""
        pane = self._pane()
        if self._answering is not None and self._is_about_request and isinstance(pane, ListPane):
            self._answering.show_fate(pane.fate)

    def wait_for(self, words: str, give_up: Callable[[], None]) -> bool:
        """Have the form that is at work say what is waited for; False when none is."""
        if self._answering is None or not self._answering.is_at_work:
            return False
        self._answering.wait_for(words, give_up)
        return True

    def _room(self, pane: Pane) -> Region:
        """Where the pane shows the thing itself, down to the bottom of the pane; all of it when it shows none."""
        whole = pane.region
        if not isinstance(pane, ListPane) or not pane.is_complete:
            return whole
        detail = pane.detail.region
        if not pane.detail.display or detail.width < 1:
            return whole
        return Region(detail.x, detail.y, detail.width, max(1, whole.bottom - detail.y))

    def _edit(self, text: str) -> str:
        return edit_text(self._screen.app, text, suffix=".md")

    def _scroll(self, pages: float) -> None:
        pane = self._pane()
        if isinstance(pane, ListPane) and pane.is_complete:
            pane.detail.scroll_relative(y=round(pages * pane.detail.size.height), animate=False)


def _cover(pane: Pane, lines: int) -> None:
    """Keep `lines` free below the thing, or below the rows where only they are shown; a narrow list gives way."""
    if isinstance(pane, ListPane) and pane.is_complete:
        shows_thing = bool(pane.detail.display)
        pane.set_class(lines > 0 and shows_thing, "-asking")
        pane.detail.styles.margin = (0, 0, lines, 0)
        pane.query_one(".pane--rows").styles.margin = (0, 0, 0 if shows_thing else lines, 0)
