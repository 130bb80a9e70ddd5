"""What was decided can be taken back for a few seconds; until it is written every word says so, and nothing is lost."""

from __future__ import annotations

import pytest
from team_console.console.preferences import Preferences
from team_console.console.tui.decisions import KEPT
from team_console.store.service import requests
from team_console.store.service.caller import Caller

from tests.console.conftest import AUTHOR, LEAD, Desk, hand_in_plan, letter, opened, three_plans
from tests.equipment.cases import cases
from tests.equipment.memory_team import MemoryTeam

pytestmark = [pytest.mark.anyio, pytest.mark.slow, pytest.mark.usefixtures("long_grace")]


async def approve(desk: Desk, note: str = "") -> None:
    """Approve what is under the cursor, until it waits to be written."""
    await desk.asks("a")
    await desk.press(*("n" if note else ""))
    await desk.type(note)
    await desk.press("enter")
    await desk.until(lambda: len(desk.app.main.pending_decisions) > 0, "a decision in its grace")


async def test_what_cannot_be_written_on_leaving_is_told_now_and_at_the_next_start(
    team: MemoryTeam, monkeypatch: pytest.MonkeyPatch
) -> None:
    request_id = hand_in_plan(team)
    async with opened(team) as desk:
        await approve(desk)
        requests.reject(Caller(team, LEAD), request_id=request_id, reason="another console was faster")
        (words,) = desk.app.write_decided()
        assert words.startswith("approve task-manager's plan: ")
    async with opened(team) as desk:
        await desk.tells("Decided and not written")
        assert any("approve task-manager's plan" in toast for toast in desk.toasts)
    async with opened(team) as desk:
        assert not any("Decided and not written" in toast for toast in desk.toasts)


async def approve_all(desk: Desk, team: MemoryTeam) -> list[str]:
    """Approve the plans of three agents with one form, until they wait to be written; their request ids."""
    made = three_plans(team)
    await desk.lists(3)
    await desk.looks_through()
    await desk.asks("asterisk", "a")
    await desk.press("enter")
    await desk.until(lambda: len(desk.app.main.pending_decisions) == 3, "three decisions in their grace")
    return made


@cases
async def test_of_many_decisions_a_cut_leaves_behind_only_those_that_were_not_written(
    team: MemoryTeam, written: int, told: str
) -> None:
    async with opened(team) as desk:
        asked = await approve_all(desk, team)
        (entry,) = desk.app.main.pending_decisions._waiting
        for act in entry.pending.writes[:written]:  # and then the process is killed
            act.do(desk.app.main.caller)
        left = [act.subject for act in entry.pending.writes[written:]]
    assert sorted(asked) == sorted(act.subject for act in entry.pending.writes)
    async with opened(team) as desk:
        await desk.until(lambda: desk.app.main.drafts.purposes(KEPT) == [], "notes that were looked at")
        words = "\n".join(toast for toast in desk.toasts if "Decided and not written" in toast)
        assert (told in words) if told else (words == "")
        if 0 < written < 3:
            assert all(request_id in words for request_id in left)
            assert not any(request_id in words for request_id in asked if request_id not in left)


async def test_messages_and_done_wait_too(team: MemoryTeam) -> None:
    letter(team)
    async with opened(team) as desk:
        await desk.asks("m")
        await desk.type("thanks")
        await desk.press("enter")
        await desk.until(lambda: len(desk.app.main.pending_decisions) == 1, "a message in its grace")
        await desk.press("2", "1", "D")
        await desk.until(lambda: "done" in desk.app.main.pending_decisions.subjects.values(), "a done in its grace")
        assert [(message.sender, message.status) for message in team.snapshot().messages] == [(AUTHOR, "pending")]
        await desk.press("W")
        await desk.until(lambda: [message.sender for message in team.snapshot().messages][-1:] == [LEAD], "the answer")


@cases
def test_the_seconds_are_a_setting(monkeypatch: pytest.MonkeyPatch, given: str, seconds: float) -> None:
    monkeypatch.setenv("TEAM_CONSOLE_GRACE", given)
    assert Preferences(grace_seconds=7.0).undo_delay == seconds
