"""Sides of a scrolled widget made once for all lines: cell by cell what Textual would have drawn."""

from __future__ import annotations

import pytest
from rich.segment import Segment
from team_console.widgets.details.detail import Detail
from team_console.widgets.details.document import Document, Form, Text
from team_console.widgets.text.plain_sides import PlainSides
from textual._styles_cache import StylesCache
from textual.app import App, ComposeResult
from textual.strip import Strip

pytestmark = pytest.mark.anyio
_TEXT = "\n".join(
    f"+{number}. a line that goes on with some words, {'wide 你好' * (number % 3)}" for number in range(90)
)
_STYLES = {
    "padding alone": "",
    "a title above": "Detail { border-top: panel $panel; }",
    "edges at both sides": "Detail { border: round $accent; padding: 1 2; }",
    "a tint over it": "Detail { border-left: vkey $panel; tint: red 20%; }",
    "an outline": "Detail { outline-left: thick $accent; }",
    "half to be seen through": "Detail { opacity: 50%; }",
    "pale letters": "Detail { text-opacity: 50%; }",
}


@pytest.mark.parametrize("css", _STYLES.values(), ids=_STYLES)
@pytest.mark.parametrize("theme", ["textual-dark", "ansi-dark"])
async def test_lines_look_as_textual_draws_them(css: str, theme: str) -> None:
    class Shown(App[None]):
        CSS = css

        def compose(self) -> ComposeResult:
            yield Detail()

    app = Shown()
    async with app.run_test(size=(50, 14)) as pilot:
        app.theme = theme
        detail = app.query_one(Detail)
        detail.border_title = "a title"
        detail.show(Document("key", "title", (Text(_TEXT, Form.DIFF),)))
        await pilot.pause()
        detail.scroll_to(y=7, animate=False)
        await pilot.pause()
        for widget in (detail, detail.vertical_scrollbar):
            assert isinstance(widget._styles_cache, PlainSides)
            ours = _cells(widget.render_lines(widget.size.region))
            widget._styles_cache = StylesCache()
            assert ours == _cells(widget.render_lines(widget.size.region))


def _cells(strips: list[Strip]) -> list[list[Segment]]:
    return [list(Segment.simplify(strip)) for strip in strips]
