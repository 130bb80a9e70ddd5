"""Every widget runs by itself, has its help, and is drawn at a small size too."""

from __future__ import annotations

import inspect
import pkgutil
from importlib import import_module

import pytest
import team_console.widgets
from textual.screen import ModalScreen
from textual.widget import Widget

from tests.gallery import WIDGETS, Gallery

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
BASES = {"FewLines", "OneLine", "Form", "FormBody", "GatedPanel", "Detail", "Field", "Note", "LongNote"}
"""What others are made of or stand in; those say what it is for."""


@pytest.mark.parametrize("name", WIDGETS)
async def test_a_widget_runs_alone(name: str) -> None:
    async with Gallery(name).run_test(size=(100, 30)) as pilot:
        for size in ((100, 30), (40, 12)):
            await pilot.resize_terminal(*size)
            await pilot.press("j", "k", "tab")
            strips = pilot.app.screen._compositor.render_strips()
            assert any(strip.text.strip() for strip in strips)


def test_every_widget_says_what_it_is_for() -> None:
    for module in pkgutil.walk_packages(team_console.widgets.__path__, "team_console.widgets."):
        for name, made in inspect.getmembers(import_module(module.name), inspect.isclass):
            ours = made.__module__ == module.name and issubclass(made, Widget)
            if ours and name not in BASES:
                assert getattr(made, "HELP", None), made
                assert made.__doc__ or issubclass(made, ModalScreen), made
