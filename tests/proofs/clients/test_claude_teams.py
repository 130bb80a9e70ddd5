"""Teammates of a real Claude Code session: in the roster and in requests under their own names."""

from __future__ import annotations

import pytest

from tests.proofs.clients.conftest import SetUp
from tests.proofs.clients.kinds import bash, start_claude
from tests.proofs.clients.scenario import prompt
from tests.proofs.clients.turns import Call, Say

pytestmark = pytest.mark.usefixtures("claude")
MATE = "bob"


def test_a_teammate_asks_under_its_own_name(set_up: SetUp) -> None:
    task = "Mate, make the pipe"
    spawn = Call(
        "Agent", {"name": MATE, "prompt": task, "description": "makes a pipe", "subagent_type": "general-purpose"}
    )
    scenario = set_up(spawn, Say("I have help."), others={task: [bash("mkfifo by-mate"), Say("The pipe is there.")]})
    console = scenario.open_console()
    client = start_claude(scenario, teams=True)
    prompt(scenario, client, "Get help")
    console.allow("mkfifo by-mate")
    scenario.wait(lambda: (scenario.place.project / "by-mate").is_fifo(), "pipe of the teammate")
    (request,) = scenario.requests()
    assert (request["from"], request["state"]) == (MATE, "approved")
    rows = {row["name"]: row for row in scenario.verb("roster")["agents"]}
    assert MATE in rows
    client.end()
