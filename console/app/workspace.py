"""The workspace a handler acts in: what the screen lets handlers read and do, so that they need not know the screen."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from team_console.console.app.background import Background
from team_console.console.app.drafts import Drafts
from team_console.console.app.unwritten import Unwritten
from team_console.console.input.subject import Mode
from team_console.console.panes.pane import Pane
from team_console.store.service.caller import Caller
from team_console.store.views.rows import RequestRow, View
from textual.app import App
from textual.widget import Widget

if TYPE_CHECKING:  # the first picture does not wait for forms that may never open
    from team_console.widgets.forms.form import Form

ResultT = TypeVar("ResultT")


class Workspace(Protocol):
    """What handlers may use.

    Attributes:
        caller: Who acts on which team.
        drafts: What was typed and not handed in.
        background: Runs work in threads and says what became of it.
        unwritten: Decisions that are not written yet.
        busy: What is going on, as safe text; empty for nothing.
        read_only: The human asked for a console that cannot write.
        redraw: Reads the team again and draws every cell anew.
    """

    caller: Caller
    drafts: Drafts
    background: Background
    unwritten: Unwritten
    busy: str
    read_only: bool
    redraw: Callable[[], None]

    @property
    def app(self) -> App[Any]:
        """The running application."""

    @property
    def pane(self) -> Pane:
        """The pane of the present mode."""

    @property
    def view(self) -> View | None:
        """What is shown, None before the first reading."""

    @property
    def cannot_write(self) -> bool:
        """Whether nothing can be written, by choice or for want of permissions."""

    @property
    def focused(self) -> Widget | None:
        """The widget that has the focus."""

    def focus_next(self) -> object:
        """Give the focus to the next panel."""

    def focus_previous(self) -> object:
        """Give the focus to the panel before."""

    def go(self, mode: Mode) -> None:
        """Go to a mode."""

    def back(self) -> None:
        """Back out of the innermost thing."""

    def ask(
        self,
        form: Form[ResultT],
        told: Callable[[ResultT], str] | None,
        *,
        then: Callable[[ResultT], None] | None = None,
        about: RequestRow | None = None,
    ) -> None:
        """Ask the human with `form`; `told` makes the toast of its result, `then` goes on with it.

        A form that asks `about` one request says what becomes of that while it is open.
        """

    def step_on(self, decided: Collection[str]) -> None:
        """Go from the requests and messages that were just decided about to the next thing."""

    def toast(self, text: str, *, severity: str = "information") -> None:
        """Say something for a few seconds; it is shown as text whatever it holds."""
