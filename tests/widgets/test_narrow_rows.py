"""Where room is small the words that matter stay, columns keep apart, and what is cut says so."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from team_console.widgets.bars import DOUBT, UNREADABLE, Banner, Head, HeadFacts, Notice, Tab
from textual.app import App

pytestmark = pytest.mark.slow


@pytest.mark.anyio
async def test_what_a_banner_cannot_hold_ends_in_an_ellipsis() -> None:
    banner, app = Banner(), App[None]()
    async with app.run_test(size=(60, 12)) as pilot:
        await app.mount(banner)
        banner.show(Notice(DOUBT, "the queue is older than what was written", "Restore it, or look. " * 20))
        await pilot.pause()
        shown = [banner.render_line(y).text.rstrip() for y in range(banner.size.height)]
        assert len(shown) == 4
        assert shown[-1].endswith("…")
        assert not any(line.endswith("…") for line in shown[:-1])


@pytest.mark.anyio
@pytest.mark.parametrize("active", ["needs", "sprint"])
async def test_no_number_of_the_head_gives_way_to_words(active: str) -> None:
    head, app = Head(), App[None]()
    counts = {"needs": "12", "agents": "", "history": "", "health": "1", "sprint": "0/9", "deliveries": "1"}
    tabs = tuple(Tab(name, str(number), name.title(), count) for number, (name, count) in enumerate(counts.items(), 1))
    async with app.run_test(size=(60, 12)) as pilot:
        await app.mount(head)
        head.show(
            tabs, active, HeadFacts("sprint-42", "ceo", replace(UNREADABLE, detail="a moment old"), read_only=True)
        )
        await pilot.pause()
        line = head.render_line(0).text
    assert all(text in line for text in (*filter(None, counts.values()), "READ-ONLY", "✗ not readable")), line
