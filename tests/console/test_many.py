"""Marks, and one form for all that is marked."""

from __future__ import annotations

from typing import Any

import pytest
from team_console.store.service import asking, requests, sending
from team_console.store.service.caller import Caller
from team_console.widgets.many import Many

from tests.console.conftest import AGENTS, LEAD, Desk, opened, three_plans, verdicts
from tests.equipment.memory_team import MemoryTeam

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


async def many(desk: Desk) -> Many[Any]:
    """The form about many things, once it is there."""
    form = await desk.form()
    assert isinstance(form, Many)
    return form


async def test_every_marked_request_gets_a_verdict_of_its_own_and_one_answered_meanwhile_is_named(
    team: MemoryTeam,
) -> None:
    asked = three_plans(team)
    async with opened(team) as desk:
        await desk.press("G")
        await desk.performs("mark_range")
        await desk.shows("* 3 marked")
        await desk.press("escape", "g", "space")
        await desk.performs("mark_range")
        await desk.shows("* 2 marked")
        await desk.looks_through()
        await desk.press("escape", "asterisk", "r")
        form = await many(desk)
        assert all(name in desk.text for name in AGENTS)
        requests.reject(Caller(team, LEAD), request_id=asked[1], reason="another console was faster")
        await desk.type("tests first")
        await desk.press("enter")
        await desk.decided(team, 3)
        assert sorted(str(verdict.request_id) for verdict in verdicts(team)) == sorted(asked)
        assert sorted(verdict.content for verdict in verdicts(team))[1:] == ["tests first"] * 2
        await desk.until(lambda: desk.front is not form, "the list")
        await desk.tells("ALREADY_ANSWERED")
        assert any("2 requests rejected" in toast for toast in desk.toasts)


async def test_what_wants_words_is_left_alone_and_what_was_never_shown_stays(
    team: MemoryTeam,
) -> None:
    three_plans(team)
    sending.send(Caller(team, "file-manager"), to=LEAD, summary="The report is ready for reading", content="Here it is")
    question = [{"question": "Which one?", "options": [{"label": "This"}, {"label": "That"}]}]
    asking.ask_question(Caller(team, "file-manager"), questions=question)
    async with opened(team) as desk:
        await desk.press("g")
        while (shown := desk.app.main.context().selection.request) is None or shown.kind != "plan":
            await desk.press("j")
        await desk.press("asterisk", "a")
        form = await many(desk)
        assert len(form.meant) == 1
        assert "2 marked rows left alone" in desk.text
        assert "2 not shown whole stay" in " ".join(desk.text.replace("│", "").split())
        assert "enter approve 1" in desk.text
        await desk.press("enter")
        await desk.decided(team)
        assert [verdict.request_id for verdict in verdicts(team)] == [shown.request_id]
