"""A screen that shows one document over the whole body and follows what changes; the base of what is watched."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

from team_console.console.app.workspace import Workspace
from team_console.store.views.rows import View
from team_console.widgets.details.detail import Detail
from team_console.widgets.details.document import Document
from team_console.widgets.overlay import Overlay
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.content import Content
from textual.screen import ModalScreen
from textual.worker import Worker, WorkerState


class ReadingScreen(Overlay, ModalScreen[None]):
    """One document, made in a thread, again whenever the team changed."""

    DEFAULT_CSS = """
    ReadingScreen { background: $background 60%; align: center top; }
    ReadingScreen > .reading--box { width: 100%; height: 100%; background: $surface; border-top: heavy $accent;
        border-title-color: $text-accent; border-title-style: bold; border-bottom: solid $border-blurred;
        border-subtitle-color: $text-muted; }
    ReadingScreen Detail { height: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "dismiss", "Close", show=False)]
    TITLE_WORDS: ClassVar[str] = ""
    KEYS: ClassVar[str] = "j k scroll · esc close"

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self.workspace = workspace
        self._making = self._again = False

    def compose(self) -> ComposeResult:
        """A box with one scrolled document."""
        with Container(classes="reading--box") as box:
            box.border_title = Content(self.TITLE_WORDS)
            box.border_subtitle = Content(self.KEYS)
            yield Detail()

    def on_mount(self) -> None:
        """Begin to read."""
        detail = self.query_one(Detail)
        detail.show(Document(key="reading", title=self.TITLE_WORDS, headline="◔ reading …"))
        detail.focus()
        self.follow()

    def follow(self) -> None:
        """The team changed: make the document anew."""
        view = self.workspace.view
        if view is None:
            return
        self._again = self._making
        if not self._making:
            self._making = True
            self.run_worker(lambda: self.document(view), thread=True, group="reading", exit_on_error=False)

    @abstractmethod
    def document(self, view: View) -> Document:
        """What to show; runs in a thread."""

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Show what was read."""
        if event.worker.group != "reading" or event.state not in (WorkerState.SUCCESS, WorkerState.ERROR):
            return
        self._making = False
        result: Any = event.worker.result
        if event.state is WorkerState.SUCCESS:
            self.query_one(Detail).show(result)
        elif event.worker.error is not None:
            self.app._handle_exception(event.worker.error)  # type: ignore[arg-type]
        if self._again:
            self.follow()
