"""The reading room: one thing on the whole screen, where every key works and nothing else takes its place."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from team_console.store.backends.open import open_team
from team_console.store.service import requests
from team_console.store.service.caller import Caller

from tests.console.conftest import LEAD, Clock, hand_in_plan, opened, verdicts
from tests.equipment.memory_team import MemoryTeam
from tests.equipment.terminal import console

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


def plan_of(lines: int) -> str:
    """A plan of so many lines."""
    return "\n".join(f"{number}. step {number}." for number in range(1, lines + 1))


async def test_what_is_decided_there_makes_room_for_the_next_thing_and_at_last_for_the_list(
    team: MemoryTeam, clock: Clock
) -> None:
    hand_in_plan(team, "The first of two plans", plan_of(60))
    clock.advance(1)
    hand_in_plan(team, "The second of two plans", plan_of(60), by="file-manager")
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
