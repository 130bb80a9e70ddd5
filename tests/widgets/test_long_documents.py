"""A long document: its end is there for whoever goes there, and nothing of it is left out."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager

import pytest
from team_console.widgets import document
from team_console.widgets.detail import Detail
from team_console.widgets.document import CANNOT_BE_SHOWN, Document, Text, TextForm
from team_console.widgets.text import Line
from textual.app import App
from textual.pilot import Pilot

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


@asynccontextmanager
async def shown(wanted: Document) -> AsyncIterator[tuple[Detail, Pilot[None]]]:
    """A detail that shows a document as nobody has let it go on yet."""
    app: App[None] = App()
    async with app.run_test(size=(60, 10)) as pilot:
        detail = Detail()
        await app.screen.mount(detail)
        detail.focus()
        await pilot.pause()
        detail.show(wanted)
        yield detail, pilot


def screen_of(pilot: Pilot[None]) -> str:
    """What stands on the screen."""
    return "\n".join(strip.text for strip in pilot.app.screen._compositor.render_strips())


async def test_a_text_whose_layout_breaks_off_says_so_each_time_instead_of_looking_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(text: str, form: TextForm, width: int, whole: bool) -> Iterator[Sequence[Line]]:
        yield from ((((f"line {number}", ""),),) for number in range(3_000))
        raise ZeroDivisionError

    monkeypatch.setattr(document, "_lines_of", broken)
    text = Text("+a text of its own" * 2_000, TextForm.DIFF)
    for token in ("first", "again"):
        async with shown(Document(key=token, title="t", token=token, blocks=(text,))) as (detail, pilot):
            detail.scroll_end(animate=False)
            while not detail.scroll_offset.y:
                await pilot.pause()
            shown_now = screen_of(pilot)
            assert "line 2999" in shown_now
            assert CANNOT_BE_SHOWN in shown_now
