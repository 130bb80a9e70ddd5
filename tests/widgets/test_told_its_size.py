"""A widget that appears while others ask where things are is told its size nevertheless."""

from __future__ import annotations

import pytest
from team_console.widgets.detail import Detail
from team_console.widgets.document import Document, Lines
from textual.app import App

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    """The loop of asynchronous tests."""
    return "asyncio"


async def test_a_detail_whose_place_was_asked_for_before_it_was_laid_out_shows_its_document() -> None:
    app: App[None] = App()
    async with app.run_test(size=(60, 10)) as pilot:
        detail = Detail()
        await app.screen.mount(detail)
        detail.show(Document(key="k", title="t", token="t", blocks=(Lines(((("words", ""),),)),)))
        # Something beside it scrolled and something asked where things are, as a list does that shows other rows. Now
        # the map of the screen has the new widget, and Textual tells a size only to what that did not have yet.
        app.screen._compositor.reflow_visible(app.screen, app.size)
        assert detail in app.screen._compositor.full_map
        for _ in range(100):
            if "words" not in _text(app):
                await pilot.pause()
        assert "words" in _text(app)


def _text(app: App[None]) -> str:
    return "\n".join(strip.text for strip in app.screen._compositor.render_strips())
