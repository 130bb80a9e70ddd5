"""What the place of a verdict really showed is kept with it: evidence in Inboxes, in a list of several the titles."""

from __future__ import annotations

import pytest
from team_console.store.protocol.verdicts import EVIDENCE, SHOWN, SHOWN_BY, Face
from team_console.store.service import requests
from team_console.store.service.caller import Caller
from team_console.widgets.forms import Many

from tests.console.conftest import hand_in_plan, opened, verdicts
from tests.memory_team import MemoryTeam

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


async def test_an_approval_in_inboxes_shows_and_keeps_the_evidence(team: MemoryTeam) -> None:
    hand_in_plan(team)
    async with opened(team, size=(160, 50)) as desk:
        await desk.press("2", "enter")
        await desk.reads("unknown (not connected with `join`)")
        await desk.approves(team)
    payload = verdicts(team)[0].payload
    assert payload[SHOWN_BY] == "the console: lines 1-2 of 2; of its evidence all"
    assert any("unknown (not connected with `join`)" in line for line in payload[EVIDENCE])
    assert len(payload[SHOWN]) == 64


async def test_of_several_each_keeps_whether_its_text_or_only_its_title_was_shown(team: MemoryTeam) -> None:
    names = ("task-manager", "schedule-manager", "file-manager")
    for name in names:
        requests.submit_plan(Caller(team, name), content="1. Do it", summary=f"A plan of {name} for today")
    async with opened(team) as desk:
        shown = desk.app.main.context().selection.request
        assert shown is not None
        form = await desk.asks("asterisk", "a")
        assert isinstance(form, Many)
        await desk.press("enter")
        await desk.decided(team, 3)
    kept = {verdict.request_id: verdict.payload for verdict in verdicts(team)}
    read = kept.pop(shown.request_id)
    assert read[SHOWN_BY] == "the console: line 1 of 1; of its evidence all"
    assert {payload[SHOWN_BY] for payload in kept.values()} == {str(Face.TITLE)}
    assert all(payload[EVIDENCE][0].startswith("title: A plan of ") for payload in kept.values())
