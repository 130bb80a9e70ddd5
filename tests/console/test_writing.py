"""Messages, broadcasts, shutdowns and creations: who is meant and how many comes first, and nothing typed is lost."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from team_console.store.protocol.parsing import parse_message
from team_console.store.service import sending
from team_console.store.service.caller import Caller
from team_console.store.settings.team_config import Agent
from team_console.widgets.fields import Field, Letter

from tests.console.conftest import AUTHOR, LEAD, Desk, opened
from tests.equipment.memory_team import MemoryTeam

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


async def write(desk: Desk, summary: str, content: str) -> None:
    """Fill in summary and text of the open letter."""
    form = await desk.form()
    form.query_one("#summary", Field).value = summary
    form.query_one("#content", Letter).text = content


async def test_while_the_team_is_asked_to_stop_other_things_are_done(team: MemoryTeam) -> None:
    sending.send(Caller(team, AUTHOR), to=LEAD, summary="The export is done for today", content="Here it is")
    async with opened(team) as desk:
        await desk.asks("S")
        await desk.press("enter")
        await desk.until(lambda: "stopping 1 of 3" in desk.app.main.around.busy, "somebody who is asked")
        await desk.press("escape", "S")
        await desk.shows("Shutdown of the team")
        await desk.press("escape", "d")
        await desk.tells("Read: ")
        assert "stopping 1 of 3" in desk.app.main.around.busy
        desk.app.main.background.stop_in_turn((AUTHOR,), None)
        await desk.tells("asked to stop already")
        await desk.press("escape", "escape")
        await desk.tells("Nobody else")
        assert desk.app.main.around.busy == ""


@pytest.fixture
def sprint(team: MemoryTeam) -> MemoryTeam:
    """The team with a slave and two residents."""
    roles = {"slave-1": "slave", "debugger": "resident", "scrum-master": "resident"}
    config = team.config()
    team._config = replace(
        config, agents={**config.agents, **{name: Agent(name, role) for name, role in roles.items()}}
    )
    return team


def ask(team: MemoryTeam, kind: str, **body: Any) -> None:
    sending.send(
        Caller(team, "slave-1"), to=LEAD, type=kind, payload={**body, "summary": "Please do this for my batch"}
    )


def told(team: MemoryTeam, name: str) -> list[Any]:
    """The bodies of the sprint messages of this kind."""
    return [parse_message(message).body for message in team.snapshot().messages if parse_message(message).name == name]


async def test_the_new_agent_gets_the_name_that_is_typed_and_the_form_says_who_will_be_told(sprint: MemoryTeam) -> None:
    ask(sprint, "AGENT_CREATE_REQUEST", agent_type="dev-runner", role_hint="Developer", requested_by="slave-1")
    async with opened(sprint) as desk:
        form = await desk.asks("a")
        await desk.shows("Let slave-1 have a dev-runner")
        assert "dev-runner-1 is created; AGENT_CREATED goes to slave-1" in desk.text
        form.query_one("#second").focus()
        await desk.type("debugger")
        await desk.shows("debugger is already in the team")
        await desk.press(*["backspace"] * 8)
        await desk.type("dev-7")
        await desk.shows("dev-7 is created")
        await desk.press("enter")
        await desk.until(lambda: bool(told(sprint, "AGENT_CREATED")), "the creation")
    assert [body["agent_name"] for body in told(sprint, "AGENT_CREATED")] == ["dev-7"]
