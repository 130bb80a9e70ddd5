"""Agents of any script in the console, and those whose name nobody can write to."""

from __future__ import annotations

import pytest
from team_console.store.model.message import new_record
from team_console.store.settings.team_config import TeamConfig

from tests.console.conftest import Clock, Desk, opened
from tests.console.test_writing import write
from tests.equipment.memory_team import MemoryTeam

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
BOSS, FINANCE = "老板", "财务经理"


async def choose(desk: Desk, name: str) -> None:
    """Put the cursor on an agent of the roster."""
    await desk.press("2")
    pane = desk.app.main.pane
    await desk.until(lambda: bool(pane.roster.select(name)), "the agent")  # type: ignore[attr-defined]
    await desk.calm()


def heard(team: MemoryTeam, *senders: str, to: str) -> None:
    """Other programs wrote under these names."""
    with team.transaction(actor="x", action="edit", wait=1) as tx:
        for number, sender in enumerate(senders):
            facts = {"type": "message", "priority": "low", "created": "2026-02-24T10:29:00Z"}
            payload = {"summary": "s", "content": "c"}
            tx.add(new_record(message_id=f"m{number}", sender=sender, to=to, payload=payload, **facts))
        tx.record("edit")


async def test_who_cannot_be_written_to_is_refused_before_a_text_is_typed(clock: Clock) -> None:
    team = MemoryTeam(config=TeamConfig(name="t", lead="ceo"), clock=clock)
    heard(team, "a b", "../evil", "x", to="y")
    async with opened(team, me="ceo") as desk:
        for name in ("a b", "../evil"):
            await choose(desk, name)
            for key in ("m", "s"):
                await desk.press(key)
                await desk.shows(f"“{name}” is no name that could be written to")
                assert desk.front is desk.app.main
        await desk.shows("no name")
        await desk.press("b")
        await write(desk, "The export begins at noon today", "Keep the disk free.")
        await desk.press("ctrl+s")
        await desk.shows("2 deliveries: y, x.", "△ Left out, because it is no name", "b, ../evil.")


async def test_no_command_is_offered_with_a_name_that_a_shell_could_take_apart(clock: Clock) -> None:
    team = MemoryTeam(config=TeamConfig(name="t", lead="ceo"), clock=clock)
    heard(team, "../evil", "$(x)", to=FINANCE)
    async with opened(team, me="ceo") as desk:
        await desk.press("right")
        await desk.shows("join '财务经理' --for claude")
        await desk.press("Y")
        assert desk.app.clipboard.endswith("join '财务经理' --for claude")
