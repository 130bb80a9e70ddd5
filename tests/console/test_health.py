"""Health says what is known of the store and of every departure, even when nothing can be read."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace
from team_console.store.backends.open import open_team
from team_console.store.model.errors import Problem

from tests.console.conftest import hand_in_plan, opened
from tests.equipment.memory_team import MemoryTeam
from tests.proofs.benchmarks.data import letters, write_team

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


async def test_a_broken_audit_chain_says_where(team: MemoryTeam) -> None:
    hand_in_plan(team)
    hand_in_plan(team, "Another plan that comes after it")
    team._state.audit[0] = replace(team._state.audit[0], intact=False)
    async with opened(team) as desk:
        await desk.press("4")
        await desk.shows("the chain is broken at line 1")


async def test_each_of_several_words_on_the_settings_can_be_read(team: MemoryTeam) -> None:
    wrong = [Problem("SETTING", "warning", f"config:{number}", f"the {number} is wrong", "") for number in (1, 2, 3)]
    team._config = replace(team.config(), problems=tuple(wrong))
    async with opened(team) as desk:
        await desk.press("4")
        await desk.shows("the 3 is wrong")
        first = next(place for place, key in enumerate(desk.rows) if "the 1 is wrong" in key)
        await desk.press(*"j" * first)
        hand_in_plan(team)
        await desk.shows("1 message")
        assert "the 1 is wrong" in desk.detail


async def test_settings_that_are_wrong_are_no_fault_of_the_watch(tmp_path: Path) -> None:
    write_team(tmp_path, letters(3))
    (tmp_path / "messenger-config.yaml").write_text("name: [", encoding="utf-8")
    async with opened(open_team(str(tmp_path)), size=(120, 40)) as desk:
        await desk.press("4")
        await desk.until(lambda: "✓ settings" not in desk.text and "this is not YAML" in desk.text, "the settings")
        await desk.shows("● watch")
