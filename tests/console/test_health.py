"""Health says what is known of the store and of every departure, even when nothing can be read."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace
from team_console.store.backends.open import open_team
from team_console.store.contract.team import Condition, Snapshot
from team_console.store.model.errors import Problem
from team_console.store.model.message import new_record
from team_console.store.service import asking
from team_console.store.service.caller import Caller

from tests.console.conftest import AUTHOR, Clock, hand_in_plan, opened
from tests.equipment.memory_team import MemoryTeam
from tests.proofs.benchmarks.data import letters, write_team

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


async def test_the_store_its_lock_its_watch_and_its_audit_are_shown(team: MemoryTeam) -> None:
    hand_in_plan(team)
    async with opened(team, size=(160, 40)) as desk:
        await desk.press("4")
        await desk.shows("intact to line 1 · last plan by task-manager")
        for words in ("queue", "1 message ·", "is free", "●"):
            assert words in desk.text


async def test_a_broken_audit_chain_says_where(team: MemoryTeam) -> None:
    hand_in_plan(team)
    hand_in_plan(team, "Another plan that comes after it")
    team._state.audit[0] = replace(team._state.audit[0], intact=False)
    async with opened(team) as desk:
        await desk.press("4")
        await desk.shows("the chain is broken at line 1")


async def test_a_store_that_cannot_be_read_is_not_looked_at_for_what_expires(
    team: MemoryTeam, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    end = clock.now + timedelta(seconds=30)
    asking.ask_permission(Caller(team, AUTHOR), tool="Bash", input={"command": "make"}, expires=end)
    async with opened(team) as desk:
        assert "end" in desk.app._later
        snapshot = team.snapshot()
        unread = replace(snapshot, messages=(), condition=Condition.UNREADABLE)
        monkeypatch.setattr(team, "snapshot", lambda **options: unread)
        clock.advance(60)
        desk.app.look()
        await desk.until(lambda: desk.app.situation.snapshot is unread, "a reading that saw nothing")
        assert len(desk.rows) == 1, "what was shown stays"
        assert "end" not in desk.app._later


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


async def test_the_facts_say_how_long_ago_also_where_nothing_changes(team: MemoryTeam, clock: Clock) -> None:
    hand_in_plan(team)
    began = clock()
    snapshot = team.snapshot
    team.snapshot = lambda **options: replace(snapshot(**options), changed_at=began)  # type: ignore[method-assign]
    async with opened(team) as desk:
        await desk.press("4")
        await desk.shows("1 message · changed")
        clock.advance(3 * 3600)
        desk.app._tick()
        await desk.shows("10:30:00, 3 h ago")


async def test_a_finding_says_where_and_what_to_do(team: MemoryTeam) -> None:
    lost = new_record(
        message_id="MSG-9",
        type="plan_approval_response",
        sender="ceo",
        to="task-manager",
        created="2026-02-24T10:00:00Z",
        priority="high",
        payload={"request_id": "plan-that-never-was", "approve": True},
    )
    team._state.messages = (lost,)
    async with opened(team) as desk:
        await desk.press("4")
        await desk.shows("answers plan-that-never-was")
        await desk.reads("→ ")


async def test_what_is_wrong_with_an_unreadable_queue_stands_first(
    team: MemoryTeam, monkeypatch: pytest.MonkeyPatch
) -> None:
    damage = Problem("UNREADABLE", "error", "queue.yaml:47", "the frame is broken", "Repair line 47.")
    original = MemoryTeam.snapshot

    def damaged(self: MemoryTeam, **options: object) -> Snapshot:
        found = original(self)
        return replace(found, messages=(), condition=Condition.UNREADABLE, problems=(damage,))

    monkeypatch.setattr(MemoryTeam, "snapshot", damaged)
    async with opened(team) as desk:
        assert "✗ not readable" in desk.text
        assert "The queue cannot be read" in desk.text
        await desk.press("4")
        await desk.shows("unreadable: queue.yaml:47: the frame is broken")
        await desk.reads("Repair line 47.")
