"""Sides of a scrolled widget made once for all lines: cell by cell what Textual would have drawn."""

from __future__ import annotations

from collections.abc import Callable
from unittest.mock import patch

import pytest
from rich.segment import Segment
from team_console.widgets.bars import OneLine
from team_console.widgets.detail import Detail
from team_console.widgets.document import Document, Form, Text
from team_console.widgets.scrolled import PlainLine, PlainSides
from textual._styles_cache import StylesCache
from textual.app import App, ComposeResult
from textual.containers import VerticalScroll
from textual.geometry import Region
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


_CHANGES: dict[str, Callable[[App[None], OneLine], object]] = {
    "other words": lambda app, line: None,
    "another theme": lambda app, line: setattr(app, "theme", "textual-light"),
    "the terminal's own colours": lambda app, line: setattr(app, "theme", "ansi-dark"),
    "more padding": lambda app, line: setattr(line.styles, "padding", (0, 3)),
    "a border": lambda app, line: setattr(line.styles, "border_left", ("thick", "red")),
    "a tint": lambda app, line: setattr(line.styles, "tint", "red 20%"),
    "half to be seen through": lambda app, line: setattr(line.styles, "opacity", 0.5),
    "another ground": lambda app, line: setattr(line.styles, "background", "blue"),
    "a class of its own": lambda app, line: line.add_class("odd"),
    "what holds it cannot be used": lambda app, line: setattr(line.parent, "disabled", True),
    "what holds it has another ground": lambda app, line: app.query_one(VerticalScroll).add_class("odd"),
    "less room": lambda app, line: setattr(line.styles, "width", 30),
    "lines below": lambda app, line: setattr(line.styles, "padding", (1, 2)),
}


@pytest.mark.parametrize("change", _CHANGES.values(), ids=_CHANGES)
@pytest.mark.parametrize("css", ["", "OneLine { padding: 0 2; background: $panel; }"], ids=["bare", "padded"])
async def test_one_line_looks_as_textual_draws_it(change: Callable[[App[None], OneLine], object], css: str) -> None:
    class Shown(App[None]):
        CSS = "VerticalScroll.odd { background: green; } OneLine.odd { background: red; padding: 0 1; }" + css

        def compose(self) -> ComposeResult:
            with VerticalScroll():
                yield OneLine()

    app = Shown()
    async with app.run_test(size=(50, 14)) as pilot:
        line = app.query_one(OneLine)
        line.set_line((("some ", "muted"), ("words", "accent")), (("at the end", ""),))
        await pilot.pause()
        assert _cells(line.render_lines(line.outer_size.region)) == _as_textual(line)
        change(app, line)
        await pilot.pause()
        line.set_line((("some ", "muted"), ("others 你", "strong")), (("at the end", ""),))
        assert _cells(line.render_lines(line.outer_size.region)) == _as_textual(line)
        await pilot.pause()
        assert _cells(line.render_lines(line.outer_size.region)) == _as_textual(line)
        middle = Region(3, 0, 9, 1)
        assert _cells(line.render_lines(middle)) == _as_textual(line, middle)


async def test_one_line_is_framed_once() -> None:
    class Shown(App[None]):
        def compose(self) -> ComposeResult:
            yield OneLine()

    app = Shown()
    async with app.run_test(size=(50, 14)) as pilot:
        line = app.query_one(OneLine)
        await pilot.pause()
        line.render_lines(line.outer_size.region)
        known = line._styles_cache
        assert isinstance(known, PlainLine)
        with patch.object(PlainLine, "render", side_effect=AssertionError("framed again")):
            line.set_line((("words", ""),))
            assert "words" in line.render_lines(line.outer_size.region)[0].text


def _as_textual(line: OneLine, part: Region | None = None) -> list[list[Segment]]:
    with patch.object(line, "_styles_cache", StylesCache()):
        return _cells(line.render_lines(part or line.outer_size.region))


def _cells(strips: list[Strip]) -> list[list[Segment]]:
    return [list(Segment.simplify(strip)) for strip in strips]
