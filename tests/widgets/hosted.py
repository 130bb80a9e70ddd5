"""A form in a small app, below an empty thing and as wide as the terminal."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from team_console.console.tui.main import size_classes
from team_console.widgets.form import Form
from textual.app import App
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widget import Widget


class Host(Screen[None]):
    """Leaves it to the form to bring a field into sight, as the console does."""

    def set_focus(self, widget: Widget | None, scroll_visible: bool = True, from_app_focus: bool = False) -> None:
        """Give a widget the focus."""
        super().set_focus(widget, scroll_visible=False, from_app_focus=from_app_focus)


@asynccontextmanager
async def shown(form: Form[Any], size: tuple[int, int]) -> AsyncIterator[Pilot[None]]:
    """The form at the bottom of a terminal of this size."""
    app: App[None] = App()
    async with app.run_test(size=size) as pilot:
        await app.push_screen(Host(classes=" ".join(size_classes(app.size))))
        await app.screen.mount(form)
        await pilot.pause()
        yield pilot


async def lines_after(pilot: Pilot[None], *keys: str) -> list[str]:
    """The lines of the screen after these keys."""
    await pilot.press(*keys)
    await pilot.pause()
    return [strip.text.strip() for strip in pilot.app.screen._compositor.render_strips()]
