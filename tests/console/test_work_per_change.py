"""How much is done for a change: a look that found nothing new paints nothing, another paints once what it changed."""

from __future__ import annotations

import pytest
from team_console.store.service.caller import Caller
from team_console.store.service.sending import send
from team_console.widgets.bars import Standing, StatusLine

from tests.console.conftest import AUTHOR, LEAD, Clock, Desk, hand_in_plan, opened
from tests.memory_team import MemoryTeam

pytestmark = pytest.mark.anyio


@pytest.fixture
def painted(monkeypatch: pytest.MonkeyPatch) -> list[Standing]:
    """What the frame was drawn from, each time it was."""
    known: list[Standing] = []
    show = StatusLine.show

    def counted(self: StatusLine, shown: Standing) -> None:
        known.append(shown)
        show(self, shown)

    monkeypatch.setattr(StatusLine, "show", counted)
    return known


async def looked(desk: Desk) -> None:
    """Have the store looked at once more."""
    before = desk.app.situation.sight
    desk.app.look()
    await desk.until(lambda: desk.app.situation.sight is not before and not desk.app.is_behind, "another look")
    await desk.pilot.pause()


async def test_a_look_that_found_nothing_new_paints_nothing(
    team: MemoryTeam, clock: Clock, painted: list[Standing]
) -> None:
    hand_in_plan(team)
    async with opened(team) as desk:
        await desk.until(lambda: "Refactor the report" in desk.text, "the plan")
        await looked(desk)
        before = len(painted)
        clock.advance(1)
        await looked(desk)
        await looked(desk)
        assert len(painted) == before
        assert desk.app.main.pane.situation is desk.app.situation


async def test_a_look_that_found_something_paints_it(team: MemoryTeam, painted: list[Standing]) -> None:
    hand_in_plan(team)
    async with opened(team) as desk:
        await desk.until(lambda: "Refactor the report" in desk.text, "the plan")
        await looked(desk)
        before = len(painted)
        send(Caller(team, AUTHOR), to=LEAD, summary="One more thing", content="Look.")
        await desk.until(lambda: "One more thing" in desk.text, "the message")
        assert before < len(painted) <= before + 2
