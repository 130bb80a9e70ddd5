"""One document over the whole screen, made anew whenever the team changed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import ClassVar

from team_console.console.tui.workers import start_worker
from team_console.store.views.rows import View
from team_console.widgets.detail import Detail
from team_console.widgets.document import Document
from team_console.widgets.overlay import Overlay
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.content import Content
from textual.screen import ModalScreen


class ReadingScreen(Overlay, ModalScreen[None]):
    """One document over the whole screen, made in a thread, again whenever the team changed."""

    DEFAULT_CSS = """
    ReadingScreen { background: $background 60%; align: center top; }
    ReadingScreen > .reading--box { width: 100%; height: 100%; background: $surface; border-top: heavy $accent;
        border-title-color: $text-accent; border-title-style: bold; border-bottom: solid $border-blurred;
        border-subtitle-color: $text-muted; }
    ReadingScreen Detail { height: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss", "Close", show=False),
        Binding("x", "stop", "Ask nobody else", show=False),
    ]

    def __init__(
        self,
        title: str,
        view: View | None,
        document: Callable[[View], Document],
        *,
        every: float = 0.0,
        stop: Callable[[], None] | None = None,
    ) -> None:
        """Make the screen.

        Args:
            document: Makes what is read; runs in a thread.
            every: Seconds after which it is made again, whether anything changed or not; 0 for never.
            stop: What `x` stops.
        """
        super().__init__()
        self._title, self._view, self._document, self._every, self._stop = title, view, document, every, stop
        self._making = self._again = False

    def compose(self) -> ComposeResult:
        """Yield a box with one scrolled document."""
        with Container(classes="reading--box") as box:
            box.border_title = Content(self._title)
            box.border_subtitle = Content("j k scroll · esc back")
            yield Detail()

    def on_mount(self) -> None:
        """Begin to read."""
        detail = self.query_one(Detail)
        detail.show(Document(key="reading", title=self._title, headline="◔ reading …"))
        detail.focus()
        self.follow(self._view)
        if self._every:
            self.set_interval(self._every, lambda: self.follow(self._view))

    def follow(self, view: View | None) -> None:
        """Make the document anew, because the team changed."""
        self._view, self._again = view, True
        if view is not None and not self._making:
            self._making = True
            start_worker(self, self._read, group="reading")

    async def _read(self) -> None:
        """Show what is read, made in a thread; once more where the team changed meanwhile."""
        while self._again and self._view is not None:
            self._again = False
            try:
                document = await asyncio.to_thread(self._document, self._view)
                if self._is_open():  # else its widgets may be gone
                    self.query_one(Detail).show(document)
            except Exception as error:
                self.app.report(error)  # type: ignore[attr-defined]
        self._making = False

    def action_stop(self) -> None:
        """Stop the running shutdown, if there is one."""
        if self._stop is not None:
            self._stop()
