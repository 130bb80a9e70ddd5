"""Messages sent and received from Python: what one client writes another takes, once, and a lease brings it back."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from team_console.store.api import AgentClient, Code, join_team
from team_console.store.backends.open import open_team

from tests.api.conftest import Join
from tests.equipment.asking import refusal
from tests.equipment.command_line import CommandLine
from tests.equipment.teams import FakeClock

SUMMARY = "State of the export job please"


def test_a_broadcast_reaches_everybody_else(join: Join) -> None:
    lead = join("ceo")
    receipt = lead.broadcast("Only fixes.", summary="Code freeze starts at four today", message_id="nightly-1")
    again = lead.broadcast("Only fixes.", summary="Code freeze starts at four today", message_id="nightly-1")
    assert (receipt.repeated, again.repeated) == (False, True)
    names = {message.recipients[0] for message in receipt.messages}
    assert {"task-manager", "file-manager"} <= names
    assert "ceo" not in names


def test_a_look_takes_nothing(join: Join) -> None:
    join("ceo").send("task-manager", "?", summary=SUMMARY)
    agent = join("task-manager", read_only=True)
    assert [message.content for message in agent.peek().messages] == ["?"]
    assert refusal(agent.receive).code is Code.READ_ONLY
    assert len(join("task-manager").receive().messages) == 1


def test_a_leased_message_is_held_until_it_is_acknowledged(join: Join) -> None:
    join("ceo").send("task-manager", "?", summary=SUMMARY)
    agent = join("task-manager")
    (message,) = agent.receive(lease=3600).messages
    assert agent.receive().messages == agent.receive(wait=0).messages == ()
    assert agent.acknowledge(message).messages[0].status == "read"
    assert agent.acknowledge(message.message_id).repeated


def test_a_lease_that_ended_cannot_be_acknowledged_with_the_old_message(team: CommandLine) -> None:
    clock = FakeClock()
    with AgentClient(open_team(str(team.folder), clock=clock), "task-manager") as agent:
        with AgentClient(open_team(str(team.folder), clock=clock), "ceo") as lead:
            lead.send("task-manager", "?", summary=SUMMARY)
        (first,) = agent.receive(lease=60).messages
        clock.advance(61)
        (second,) = agent.receive(lease=60).messages
        assert refusal(agent.acknowledge, first).code is Code.NOT_PERMITTED
        assert agent.acknowledge(second).messages[0].status == "read"


@pytest.mark.parametrize("wait", [-1.0, float("nan"), 1e12])
def test_a_wait_that_is_no_number_of_seconds_is_refused(team: CommandLine, wait: float) -> None:
    with join_team(team.folder, "task-manager") as agent:
        assert refusal(agent.receive, wait=wait).code is Code.INVALID_FIELD


def test_an_event_loop_is_not_stopped_by_a_wait(team: CommandLine) -> None:
    with join_team(team.folder, "task-manager") as agent:

        async def waits_here() -> None:
            agent.receive(wait=1)

        refused = refusal(lambda: asyncio.run(waits_here()))
    assert (refused.code, "event loop" in refused.message, "to_thread" in refused.hint) == (Code.USAGE, True, True)


def test_a_large_content_is_whole_and_an_altered_one_is_refused(team: CommandLine) -> None:
    text = "line of a long report\n" * 6000
    with join_team(team.folder, "ceo") as lead, join_team(team.folder, "task-manager") as agent:
        lead.send("task-manager", text, summary="Report of all exports of February")
        (message,) = agent.receive().messages
        assert len(message.content) < len(text)
        assert agent.content_of(message) == text
        attachment = team.folder / message.payload["attachment"]["path"]
        attachment.write_text("something else", encoding="utf-8")
        assert refusal(agent.content_of, message).code is Code.INVALID_FIELD


def test_joining_names_what_is_wrong(tmp_path: Path) -> None:
    told = [refusal(join_team, tmp_path, name).code for name in ("ceo", "../ceo")]
    assert told == [Code.TEAM_NOT_FOUND, Code.INVALID_NAME]
