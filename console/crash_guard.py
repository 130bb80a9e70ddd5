"""The application whose defects do not end it: each becomes a line in a log and a word on the screen."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from rich.console import RenderableType
from team_console.console.canvas import Canvas, CanvasDriver
from team_console.console.faults import Fault, Faults
from team_console.console.textual_fixes import mend_textual
from team_console.widgets.guarded import defect_in
from textual.app import App
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message
from textual.screen import Screen
from textual.worker import Worker, WorkerFailed, WorkerState

ReturnT = TypeVar("ReturnT")


class ContainedApp(App[ReturnT]):
    """An app that goes on after an exception, wherever in it that was raised.

    Textual's own way is to end, and to print a traceback with the values of variables: with messages and tokens.
    """

    def __init__(self, *, ansi_color: bool | None = None) -> None:
        mend_textual()
        super().__init__(ansi_color=ansi_color)
        self.faults, self.canvas = Faults(), Canvas()
        self._is_telling = False

    def get_driver_class(self) -> type[Driver]:
        """A driver that writes only cells that changed, where there is a terminal."""
        found = super().get_driver_class()
        return CanvasDriver if found is LinuxDriver else found

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        # A screen is told the new size of the terminal a little later. Lines of the old one would go over the edge,
        # and what the canvas knew of them would be wrong for ever; with the new size all lines are painted.
        if screen.outer_size == self.size:
            super()._display(screen, renderable)

    async def _dispatch_message(self, message: Message) -> None:
        with self._contained():
            await super()._dispatch_message(message)

    @contextmanager
    def _contained(self) -> Iterator[None]:
        """What fails in it is told and does not end the app."""
        try:
            yield
        except Exception as error:
            self._handle_exception(error)

    def _handle_exception(self, error: Exception) -> None:
        """Log the exception and tell the human; before the screen stands there is nobody to tell, and the app ends."""
        cause = error.error if isinstance(error, WorkerFailed) else error
        fault = self.faults.record(cause, where=self.where())
        if not self._running:
            self._return_code = 1
        elif not self._is_telling:
            # What tells of a defect may have one itself; it must not tell of that one too.
            self._is_telling = True
            try:
                with suppress(Exception):
                    self.tell(fault)
            finally:
                self._is_telling = False

    def _on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR and (defect := defect_in(event.worker.error)) is not None:
            self._handle_exception(defect)

    def where(self) -> str:
        """What the app is at, for the log."""
        return ""

    def tell(self, fault: Fault) -> None:
        """Say on the screen that something failed; by default only the words after the end tell of it."""


def tell_of_faults(faults: Faults) -> None:
    """Say on standard error, once the terminal is as it was, that there were defects and where they are logged."""
    known = faults.all
    if not known:
        return
    logged = next((fault.log for fault in known if fault.log is not None), None)
    place = f"; places in the code, and no message, are in {logged}" if logged is not None else ""
    many = "one defect of its own" if len(known) == 1 else f"{len(known)} defects of its own"
    with suppress(OSError, ValueError):
        print(f"team-console went on after {many} ({known[0].kind}){place}. Please report it.", file=sys.stderr)
