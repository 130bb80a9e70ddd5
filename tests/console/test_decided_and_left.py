"""What was decided and waits is written when the console is left or steps aside, or it is said that it was not."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from team_console.console.tui.decisions import KEPT
from team_console.store.settings.team_config import Human

from tests.console.conftest import LEAD, Desk, hand_in_plan, opened, verdicts
from tests.equipment.memory_team import MemoryTeam
from tests.equipment.signing_keys import key_file, public_line

pytestmark = [pytest.mark.anyio, pytest.mark.slow, pytest.mark.usefixtures("long_grace")]


async def hand_in(desk: Desk, key: str, number: int = 1) -> None:
    """Open a form with `key` and hand it in, so that so many decisions wait."""
    await desk.asks(key)
    await desk.press("enter")
    await desk.until(lambda: len(desk.app.main.pending_decisions) == number, "decisions in their grace")


async def test_what_waits_for_its_turn_is_written_on_leaving(team: MemoryTeam) -> None:
    hand_in_plan(team)
    hand_in_plan(team, by="schedule-manager")
    async with opened(team) as desk:
        await hand_in(desk, "a")
        await hand_in(desk, "a", 2)
        with team._lock:  # the first of the two waits for it, the second for the first
            await desk.press("W")
            first, second = desk.app.main.pending_decisions._waiting
            await desk.until(lambda: first.taken, "a write that is under way")
            assert not second.taken
            await desk.press("q")
            await desk.until(lambda: desk.app._exit, "the end")
    assert desk.app.write_decided() == []
    assert second.taken
    assert "schedule-manager" in [verdict.recipients[0] for verdict in verdicts(team)]


async def test_a_verdict_that_has_to_be_signed_is_written_on_leaving(team: MemoryTeam) -> None:
    human = Human("ceo", (public_line(),), str(key_file()))
    team._config = replace(team.config(), humans={LEAD: human}, verdicts="signed", team_id="x1")
    hand_in_plan(team)
    async with opened(team) as desk:
        await hand_in(desk, "a")
    assert desk.app.write_decided() == []
    assert len(verdicts(team)) == 1


async def test_a_shutdown_of_the_team_that_did_not_begin_is_named_on_leaving(team: MemoryTeam) -> None:
    async with opened(team) as desk:
        await hand_in(desk, "S")
    assert desk.app.write_decided() == [
        "ask 3 agents to stop, one after the other: the console was left before it began"
    ]
    assert team.snapshot().messages == ()
    assert desk.app.main.drafts.purposes(KEPT), "a note for the next start"


async def test_what_waits_is_written_before_the_console_steps_aside(team: MemoryTeam) -> None:
    """While an editor is open or the process is stopped no grace ends."""
    hand_in_plan(team)
    async with opened(team) as desk:
        await hand_in(desk, "a")
        desk.app._suspend_signal()  # as ctrl+z and an editor do
        assert len(verdicts(team)) == 1
        await desk.tells("Approved")
        await desk.until(lambda: desk.rows == [], "the list without it")
