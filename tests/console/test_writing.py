"""Messages, broadcasts, shutdowns and creations: who is meant and how many comes first, and nothing typed is lost."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import pytest
from msgspec.structs import replace
from team_console.store.protocol.parsing import parse_message
from team_console.store.service import requests, sending
from team_console.store.service.caller import Caller
from team_console.store.settings.team_config import Agent
from team_console.widgets.fields import Field, Letter

from tests.console.conftest import AUTHOR, LEAD, Desk, hand_in_plan, opened
from tests.equipment.memory_team import MemoryTeam

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


async def holds(desk: Desk, team: MemoryTeam, number: int) -> None:
    """Wait until there are so many messages."""
    await desk.until(lambda: len(team.snapshot().messages) == number, f"{number} messages")


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


async def test_a_message_goes_to_the_agent_under_the_cursor_or_to_a_group_said_by_its_names(team: MemoryTeam) -> None:
    hand_in_plan(team)
    async with opened(team) as desk:
        await desk.press("2")
        await desk.shows("file-manager")
        assert desk.app.main.pane.roster.select("file-manager")  # type: ignore[attr-defined]
        form = await desk.asks("m")
        assert form.query_one("#to", Field).value == "file-manager"
        await write(desk, "Please keep forty gigabytes free today", "For the export.")
        await desk.press("ctrl+s")
        await holds(desk, team, 2)
        message = team.snapshot().messages[-1]
        assert (message.sender, message.recipients, message.content) == (LEAD, ("file-manager",), "For the export.")
        await desk.tells("Sent to file-manager")
        form = await desk.asks("m")
        await write(desk, "Please keep forty gigabytes free today", "For all exports.")
        form.query_one("#to", Field).value = "all"
        await desk.press("ctrl+s")
        await desk.shows("Use broadcast (b)")
        form.query_one("#to", Field).value = "@nobody*"
        await desk.shows("nobody is in this group")
        form.query_one("#to", Field).value = "@*-manager"
        await desk.shows("3 deliveries")
        form.query_one("#content", Letter).focus()
        await desk.press("tab", "space", "ctrl+s")
        await holds(desk, team, 5)
    sent = {
        message.recipients[0]: message for message in team.snapshot().messages if message.content == "For all exports."
    }
    assert set(sent) == {"task-manager", "schedule-manager", "file-manager"}
    assert {one.priority for one in sent.values()} == {"critical"}
    assert message.priority != "critical"


async def test_a_broadcast_says_how_many_and_who_is_not_listening_and_counts_again(team: MemoryTeam) -> None:
    stop = requests.request_shutdown(Caller(team, LEAD), agent="file-manager")
    requests.approve(Caller(team, "file-manager"), request_id=str(stop.request_id))
    before = len(team.snapshot().messages)
    async with opened(team) as desk:
        await desk.press("b")
        await write(desk, "Code freeze starts today at four", "Merge what is reviewed.")
        await desk.press("ctrl+s")
        await desk.shows("Send 3 messages")
        assert "3 deliveries" in desk.text
        assert "Not listening: file-manager" in desk.text
        await desk.press("escape")
        await desk.is_back()
        assert len(team.snapshot().messages) == before
        await desk.asks("b")
        agents = {**team.config().agents, "newcomer": Agent("newcomer")}
        team._config = replace(team.config(), agents=MappingProxyType(agents))
        await desk.press("ctrl+s")
        await desk.shows("Send 4 messages")
        assert "newcomer" in desk.text
        await desk.press("enter")
        await holds(desk, team, before + 4)
        await desk.until(lambda: desk.app.main.drafts.get("broadcast") == {}, "no draft")


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
