"""The places of the console: tabs, an agent's page, what happened meanwhile, the line between list and text."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from team_console.console.clients.place import JoinReceipt, keep_receipt
from team_console.console.tui.modes.agents import AgentsPane
from team_console.store.protocol.membership import Doing
from team_console.store.service import sending
from team_console.store.service.caller import Caller
from team_console.store.service.sessions import note_session

from tests.console.conftest import AUTHOR, LEAD, Clock, Desk, hand_in_plan, opened
from tests.equipment.memory_team import MemoryTeam
from tests.hook.test_joining import put

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


def finish(team: MemoryTeam, number: int = 1) -> None:
    """Agents write that they are done."""
    for _ in range(number):
        sending.send(Caller(team, AUTHOR), to=LEAD, summary="Finished for today", content="done")


async def test_what_happened_meanwhile_is_one_key_and_all_of_it_two(team: MemoryTeam) -> None:
    hand_in_plan(team, "Split the loader")
    finish(team)
    async with opened(team) as desk:
        await desk.press("full_stop")
        await desk.shows("(12 h)", "1 new request", "1 message", "1 waits for you")
        await desk.press("full_stop")
        await desk.shows("plan: Split the loader", "not known")
        await desk.press("escape")
        await desk.is_back()
        await desk.press("full_stop", "escape")
        await desk.until(lambda: "(12 h)" not in desk.text, "no card")


async def test_who_comes_back_is_told_what_happened_and_finds_the_line_between_list_and_text_where_it_was_put(
    team: MemoryTeam, clock: Clock
) -> None:
    hand_in_plan(team, "Split the loader")
    async with opened(team) as desk:
        assert "Since you left" not in desk.text
        before = desk.app.main.pane.rows.size.width
        await desk.performs(*("wider",) * 3)
        await desk.until(lambda: desk.app.main.pane.rows.size.width > before + 5, "a wider list")
        width = desk.app.main.pane.rows.size.width
        desk.app.exit()
    clock.advance(2_460)
    finish(team)
    async with opened(team) as desk:
        await desk.shows("Since you left at", "(41 min)", "1 message")
        await desk.until(lambda: desk.app.main.pane.rows.size.width == width, "the same line")


def page(desk: Desk) -> str:
    """The text beside the list, as one line."""
    return " ".join(desk.detail.split())


def over() -> int:
    """The number of a process that has ended."""
    return int(subprocess.run(["sh", "-c", "echo $$"], capture_output=True, check=True).stdout)


async def test_an_agents_page_says_who_says_so_since_when_and_what_its_calls_may_pass_by(
    team: MemoryTeam, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    for session, pid in (("s-1", os.getpid()), ("s-2", over())):
        put(tmp_path / "sessions" / f"{session}.json", json.dumps({"sessionId": session, "pid": pid}))
    put(tmp_path / "plugins" / "mods" / "hooks" / "hooks.json", json.dumps({"modules": ["all.js"]}))
    keep_receipt(JoinReceipt(AUTHOR, os.path.join(os.getcwd(), team.location), str(tmp_path / "settings.json")))
    for name, session in ((AUTHOR, "s-1"), ("file-manager", "s-2")):
        note_session(Caller(team, name), session=session, doing=Doing.WORKING, client="claude-code", mode="dontAsk")
    async with opened(team) as desk:
        await desk.press("2")
        pane = desk.app.main.pane
        assert isinstance(pane, AgentsPane)
        pane.seek_agent(AUTHOR)
        desk.app.look()
        words = f"its hook said so just now · asks nobody · process {os.getpid()} runs"
        await desk.until(lambda: words in page(desk), "its process")
        assert "this plugin has modules" in page(desk)
        assert "our part is gone" in page(desk)
        pane.seek_agent("file-manager")
        await desk.until(lambda: "its process is gone" in page(desk), "the other")
        assert "our part is gone" not in page(desk)
