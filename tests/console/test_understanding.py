"""Remarks on lines, questions back and grants by key: each goes where it was meant, and says so on the screen."""

from __future__ import annotations

import pytest

from tests.console.conftest import LEAD, Desk, ask_permission, opened
from tests.equipment.memory_team import MemoryTeam

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


async def remark(desk: Desk, words: str, *moves: str) -> None:
    """Say something to the line that `moves` lead to."""
    await desk.asks(*moves, "enter")
    await desk.type(words)
    await desk.press("enter")
    await desk.shows(f"✎ {words}")


def answers(team: MemoryTeam) -> int:
    """How many permissions were answered."""
    return sum(message.type == "permission_response" for message in team.snapshot().messages)


async def test_permissions_of_one_cause_are_one_row_and_one_verdict_answers_those_that_are_listed(
    team: MemoryTeam,
) -> None:
    listed = [ask_permission(team, f"git push origin branch-{number}") for number in range(3)]
    other = ask_permission(team, "rm -r build")
    async with opened(team, me=LEAD) as desk:
        await desk.shows("Needs you 4", "3 alike: Bash: git push origin …", "branch-0, branch-1", "branch-2")
        await desk.asks("a")
        await desk.shows("Approve 3", "branch-0", "branch-1", "branch-2")
        late = ask_permission(team, "git push origin branch-3")
        await desk.press("ctrl+s")
        await desk.until(lambda: answers(team) == 3, "three answers")
        await desk.shows("git push origin branch-3")
        messages = team.snapshot().messages
        answered = {message.request_id for message in messages if message.type == "permission_response"}
        assert answered == set(listed)
        assert not answered & {late, other}
        for number in (4, 5):
            ask_permission(team, f"git push origin branch-{number}")
        await desk.shows("3 alike")
        while "3 alike" not in desk.detail:
            await desk.press("j")
        await desk.press("enter", "a")  # each a row of its own
        await desk.form()
        await desk.press("enter")
        await desk.until(lambda: answers(team) == 4, "one answer")
