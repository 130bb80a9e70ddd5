"""Typed fast and shown small: no letter is lost, a key answers a question, forms keep in sight what counts."""

from __future__ import annotations

import pytest
from team_console.store.service import sending
from team_console.store.service.caller import Caller
from team_console.widgets.forms import Compose

from tests.console.conftest import AUTHOR, LEAD, opened
from tests.equipment.memory_team import MemoryTeam

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


async def test_a_answers_a_question_and_leaves_its_bulk_verdict_alone(team: MemoryTeam) -> None:
    ask = Caller(team, AUTHOR)
    fields = {"question": "Is the release still planned for Thursday?", "context": "The audit is late."}
    sending.send(ask, to=LEAD, type="clarify", payload=fields)
    async with opened(team) as desk:
        await desk.shows("a answer…")
        await desk.press("a")
        assert isinstance(await desk.form(), Compose)
        assert "Is the release still planned" in desk.text
