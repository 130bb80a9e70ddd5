"""The reading room: one thing on the whole screen, where every key works and nothing else takes its place."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from team_console.store.backends.open import open_team
from team_console.store.protocol.verdicts import EVIDENCE, SHOWN_BY
from team_console.store.service import requests
from team_console.store.service.caller import Caller

from tests.console.conftest import AUTHOR, LEAD, Clock, Desk, hand_in_plan, opened, verdicts
from tests.equipment.memory_team import MemoryTeam
from tests.equipment.terminal import console

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
LINES = 192


def plan_of(lines: int) -> str:
    """A plan of so many lines."""
    return "\n".join(f"{number}. step {number}." for number in range(1, lines + 1))


async def pages_until(desk: Desk, text: str) -> int:
    """Page down until `text` stands on the screen; how many pages that took."""
    await desk.press("f")
    for page in range(1, 100):
        await desk.settle()
        if text in desk.text:
            return page
        await desk.press("space")
    raise AssertionError(f"{text} is nowhere")


async def test_approving_after_all_was_read_takes_eight_keys_and_the_record_says_that_it_was(team: MemoryTeam) -> None:
    hand_in_plan(team, content=plan_of(LINES))
    async with opened(team) as desk:
        await desk.reads("what it ran")
        keys = 1 + await pages_until(desk, "what it ran last")
        assert "shown 100 %" in desk.text
        await desk.approves(team)
    assert keys + 1 <= 8
    (verdict,) = verdicts(team)
    assert verdict.payload[SHOWN_BY] == f"the console: lines 1-{LINES} of {LINES}; of its evidence all"
    assert verdict.payload[EVIDENCE] != []


async def test_what_is_decided_there_makes_room_for_the_next_thing_and_at_last_for_the_list(
    team: MemoryTeam, clock: Clock
) -> None:
    requests.submit_plan(Caller(team, AUTHOR), content=plan_of(60), summary="The first of two plans")
    clock.advance(1)
    requests.submit_plan(Caller(team, "file-manager"), content=plan_of(60), summary="The second of two plans")
    async with opened(team) as desk:
        await desk.press("f")
        await desk.shows("1 of 2", "The first of two plans", "esc back", "space page")
        await desk.press("n")
        await desk.shows("2 of 2", "The second of two plans")
        await desk.press("p")
        await desk.shows("1 of 2", "The first of two plans")
        await desk.asks("a")
        await desk.press("enter")
        await desk.shows("1 of 1", "The second of two plans")
        await desk.asks("r")
        await desk.type("too long")
        await desk.press("enter")
        await desk.shows("Nothing waits for you", "1 Needs you")
    assert [verdict.payload["approve"] for verdict in verdicts(team)] == [True, False]


async def test_a_search_goes_through_what_is_read_and_headings_are_gone_to(team: MemoryTeam) -> None:
    text = f"# Goal\n{plan_of(80)}\n## Rollback\nBy a Flag.\n{plan_of(80)}\nA flag again."
    hand_in_plan(team, content=text)
    async with opened(team) as desk:
        await desk.press("f", "slash")
        await desk.type("flag")
        await desk.press("enter")
        await desk.shows("By a Flag.")
        await desk.press("n")
        await desk.shows("A flag again.")
        await desk.press("n", "escape", "g")
        await desk.performs("next_heading", "next_heading")
        await desk.shows("Rollback")
        assert "Goal" not in desk.text
        await desk.performs("previous_heading")
        await desk.shows("Goal")
        await desk.press("escape")
        await desk.shows("1 Needs you")
        assert desk.app.main.lists.mode == "needs"


def test_its_text_is_read_in_an_editor_and_piped_to_a_command(tmp_path: Path) -> None:
    (tmp_path / "messenger-config.yaml").write_text("name: s\nlead: ceo\nagents: [dev]\n", encoding="utf-8")
    team = open_team(str(tmp_path))
    requests.submit_plan(Caller(team, "dev"), content="1. one \x1b[31mred\n2. two", summary="What is to be done")
    team.close()
    script = tmp_path / "reader.py"
    script.write_text("import sys\nprint('READS', ascii(open(sys.argv[1]).read()))\ninput()\n", encoding="utf-8")
    env = {"VISUAL": f"{sys.executable} {script}", "XDG_STATE_HOME": str(tmp_path / "state")}
    with console(tmp_path, "--as", LEAD, env=env) as terminal:
        terminal.wait_for("●", "1. one")
        terminal.send("f")
        terminal.wait_for("esc back")
        terminal.send("E")
        terminal.wait_for("READS '1. one", "2. two")
        assert "\\x1b" not in terminal.text
        terminal.send("\r")
        terminal.wait_for("esc back")
        terminal.send(":pipe\r")
        terminal.wait_for("Pipe the text")
        terminal.send("grep -c step; echo done | tr a-z A-Z\r")
        terminal.wait_for("DONE", "back to the console")
        terminal.send("\r")
        terminal.wait_for("esc back", "1. one")
        terminal.send("q")
        assert terminal.wait_exit() == 0


async def test_whatever_place_one_reads_in_the_text_has_the_whole_screen(team: MemoryTeam) -> None:
    size = (60, 20)
    hand_in_plan(team, content=plan_of(LINES))
    async with opened(team, size=size) as desk:
        for place in ("2", "3"):
            await desk.press(place)
            await desk.until(lambda: desk.app.main.pane.is_complete, "the place")
            await desk.press(*("enter",) * (place == "2"))
            await desk.until(lambda: bool(desk.rows), "the row of the plan")
            await desk.press("f")
            await desk.until(lambda: len(re.findall(r"step \d+\.", desk.text)) > size[1] // 2, "the text alone")
            await desk.press("slash")
            await desk.type("step 77")
            await desk.press("enter")
            await desk.shows("77. step 77.")
            await desk.press("escape", "escape")
            await desk.until(lambda: not desk.app.main.pane.is_reading, "the list")
