"""Whoever asked acts on what it asked: a request that is rewritten behind its asker gets no answer to it."""

from __future__ import annotations

from typing import Any

import pytest
from team_console.store.contract.team import Team
from team_console.store.model.message import Message
from team_console.store.service import asking, requests
from team_console.store.service.caller import Caller
from team_console.store.views.rows import Flag
from team_console.store.views.verdicts import await_verdict

from tests.console.conftest import rewrite
from tests.equipment.memory_team import MemoryTeam
from tests.equipment.teams import FakeClock
from tests.hook.conftest import CAPTURED, Client, Human, client, human, office  # noqa: F401

BASH = "claude: PermissionRequest"


def ask(team: Team, given: dict[str, Any]) -> Message:
    """A permission; the message that was written."""
    return asking.ask_permission(Caller(team, "task-manager"), tool="Bash", input=given).messages[0]


def test_an_answer_to_what_it_was_for_a_moment_decides_nothing(clock: FakeClock) -> None:
    """Rewritten before the human looks, and back before the asker does: the human is asked again, on what it is."""
    team = memory(clock)
    asked = ask(team, {"command": "rm -rf /"})
    request_id = asked.request_id or ""
    rewrite(team, asked.message_id, input={"command": "ls"})
    requests.approve(Caller(team, "ceo"), request_id=request_id)
    rewrite(team, asked.message_id, input={"command": "rm -rf /"})
    outcome = await_verdict(team, request_id, timeout=0, asked=asked)
    assert (outcome.state, Flag.FORGED in outcome.flags) == ("open", True)
    requests.reject(Caller(team, "ceo"), request_id=request_id, reason="never")
    assert await_verdict(team, request_id, timeout=0, asked=asked).state == "rejected"


@pytest.mark.slow
def test_a_client_is_told_nothing_when_its_request_was_rewritten(client: Client, human: Human) -> None:  # noqa: F811
    with human.at_console():
        hook = client.begin(BASH)
        (request,) = human.asked()
        queue = human.command.folder / "message-queue.yaml"
        command = CAPTURED[BASH]["tool_input"]["command"]
        text = queue.read_text()
        assert command in text
        queue.write_text(text.replace(command, "ls"))
        human.command.ok("approve", request["request_id"])
        heard = client.end(hook)
    assert (heard.status, heard.out) == (0, "")


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


def memory(clock: FakeClock) -> MemoryTeam:
    """A team in this process."""
    from tests.equipment.teams import config

    return MemoryTeam(config=config(), clock=clock)
