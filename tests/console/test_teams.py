"""All teams on one screen, and what the console said last."""

from __future__ import annotations

from pathlib import Path

import pytest
from team_console.console.tui.screens import TeamRow
from team_console.store.backends.open import open_team
from team_console.store.service import requests
from team_console.store.service.caller import Caller
from team_console.widgets.row_list import RowList

from tests.console.conftest import Desk, opened

pytestmark = pytest.mark.anyio


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    """Two teams side by side, in one of which a plan waits, and one whose queue cannot be read."""
    for name in ("alpha", "beta", "gamma"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "message-queue.yaml").write_text("messages: []\n", encoding="utf-8")
    requests.submit_plan(Caller(open_team(str(tmp_path / "beta")), "bob"), content="1. Go")
    (tmp_path / "gamma" / "message-queue.yaml").write_text("messages: {", encoding="utf-8")
    return tmp_path


def rows(desk: Desk) -> tuple[TeamRow, ...]:
    """The teams that are listed."""
    return tuple(desk.front.query_one(RowList).rows)


async def test_every_team_says_what_waits_in_it_and_enter_goes_there(folders: Path) -> None:
    async with opened(open_team(str(folders / "alpha"))) as desk:
        await desk.performs("teams")
        await desk.shows("beta", "1 waiting", "alpha", "gamma", "unreadable")
        await desk.press(*("j" * [row.name for row in rows(desk)].index("beta")), "enter")
        await desk.until(lambda: desk.app.next_team == str(folders / "beta"), "the team where something waits")
