"""The application that ends in order after a defect of its own, which the log names without any word of a message."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Any, TypeVar

from rich.console import RenderableType
from team_console.console.canvas import Canvas, CanvasDriver
from team_console.console.faults import Faults
from team_console.console.textual_fixes import mend_textual
from team_console.widgets.document import NotShown
from textual import on
from textual.app import App
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver
from textual.screen import Screen
from textual.worker import WorkerFailed

ReturnT = TypeVar("ReturnT")


class ContainedApp(App[ReturnT]):
    """An app that ends with a log of the places in the code after an exception that nobody expected.

    Textual prints a traceback with the values of variables: with messages and tokens.
    """

    def __init__(self, *, ansi_color: bool | None = None) -> None:
        mend_textual()
        super().__init__(ansi_color=ansi_color)
        self.faults, self.canvas = Faults(), Canvas()

    def get_driver_class(self) -> type[Driver]:
        """A driver that writes only cells that changed, where there is a terminal."""
        found = super().get_driver_class()
        return CanvasDriver if found is LinuxDriver else found

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        # A screen is told the new size of the terminal a little later. Lines of the old one would go over the edge,
        # and what the canvas knew of them would be wrong for ever; with the new size all lines are painted.
        if screen.outer_size == self.size:
            super()._display(screen, renderable)

    def _handle_exception(self, error: Exception) -> None:
        """Log the exception and end: a widget whose handler failed hears nothing any more."""
        self.report(error.error if isinstance(error, WorkerFailed) else error)
        self.exit(return_code=1)

    def report(self, error: BaseException) -> None:
        """Log an exception that nobody expected and go on."""
        self.faults.record(error, where=self.where())

    @on(NotShown)
    def _not_shown(self, event: NotShown) -> None:
        self.report(event.error)

    def where(self) -> str:
        """What the app is at, for the log."""
        return ""


def tell_of_faults(faults: Faults) -> None:
    """Say on standard error, once the terminal is as it was, that there were defects and where they are logged."""
    known = faults.all
    if not known:
        return
    logged = next((fault.log for fault in known if fault.log is not None), None)
    place = f"; places in the code, and no message, are in {logged}" if logged is not None else ""
    many = "one defect of its own" if len(known) == 1 else f"{len(known)} defects of its own"
    with suppress(OSError, ValueError):
        print(f"team-console met {many} ({known[0].kind}){place}. Please report it.", file=sys.stderr)
