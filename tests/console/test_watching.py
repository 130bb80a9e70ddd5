"""A watch that fails, and archives that cannot be read, are told as such and never as silence or emptiness."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import team_console.console.tui.app
from team_console.store.backends.open import open_team
from team_console.store.contract.team import WatchHint

from tests import showcase
from tests.console.conftest import Clock, hand_in_plan, opened
from tests.equipment.memory_team import MemoryTeam

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


class Deaf(MemoryTeam):
    """A team whose watch fails in a way nobody foresaw, until it is mended."""

    is_mended = False

    async def watch(self) -> AsyncIterator[WatchHint]:
        """See `Team.watch`."""
        if not self.is_mended:
            raise RuntimeError("the watcher\x1b broke")
        async for hint in super().watch():
            yield hint


async def test_a_watch_that_fails_makes_the_screen_stale_until_it_works_again(
    team: MemoryTeam, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(team_console.console.tui.app, "TICK", 0.05)
    deaf = Deaf(config=team.config(), clock=clock)
    hand_in_plan(deaf)
    async with opened(deaf) as desk:
        await desk.shows("◌ old")
        assert "RuntimeError" in desk.text
        assert "the watcher" not in desk.text
        assert "Refactor the report" in desk.text
        deaf.is_mended = True
        await desk.until(lambda: "●" in desk.text and "◌" not in desk.text, "a live screen")


@pytest.mark.parametrize("harm", [b"\0" * 400, b"- {a: [\n"], ids=["zeros", "a cut"])
async def test_archives_that_cannot_be_read_are_not_an_empty_history(tmp_path: Path, harm: bytes) -> None:
    showcase.build(tmp_path / "team")
    for archive in (tmp_path / "team" / "archive").glob("*.yaml"):
        archive.write_bytes(harm)
    (tmp_path / "team" / "message-queue.yaml").write_text("messages: []\n")
    async with opened(open_team(str(tmp_path / "team"))) as desk:
        await desk.press("3")
        await desk.shows("The archives cannot be read")
        assert "Nothing was found" not in desk.text
        assert "archive.yaml" in desk.text


async def test_without_write_permission_the_screen_says_so_before_the_first_write(
    team: MemoryTeam, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand_in_plan(team)
    monkeypatch.setattr(MemoryTeam, "obstacle", lambda self: "no write permission on /srv/team")
    async with opened(team) as desk:
        await desk.shows("Refactor the report")
        assert desk.text.count("READ-ONLY") == 2, "a badge and the reason"
        assert "no write permission on /srv/team" in desk.text
        assert "approve" not in desk.text.splitlines()[-1]
        await desk.press("a")
        await desk.tells("no write permission")
        monkeypatch.setattr(MemoryTeam, "obstacle", lambda self: "")
        await desk.press("ctrl+l")
        await desk.until(lambda: "READ-ONLY" not in desk.text, "a console that may write")
        assert "approve" in desk.text.splitlines()[-1]
