"""Where room is small the words that matter stay, columns keep apart, and what is cut says so."""

from __future__ import annotations

import pytest
from team_console.widgets.bars import DOUBT, Banner, Notice
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
