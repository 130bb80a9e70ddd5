"""Teammates of a real Claude Code session: in the roster and in requests under their own names."""

from __future__ import annotations

import pytest

from tests.proofs.clients.conftest import SetUp
from tests.proofs.clients.joining import join_claude
from tests.proofs.clients.scenario import prompt
from tests.proofs.clients.sessions import READY, Claude
from tests.proofs.clients.test_claude_permissions import bash
from tests.proofs.clients.turns import Call, Say

pytestmark = pytest.mark.usefixtures("claude")
MATE = "bob"


def test_a_teammate_asks_under_its_own_name(set_up: SetUp) -> None:
    task = "Mate, make the pipe"
    spawn = Call(
        "Agent", {"name": MATE, "prompt": task, "description": "makes a pipe", "subagent_type": "general-purpose"}
    )
    scenario = set_up(
        {
            task: [(bash("mkfifo by-mate"),), (Say("The pipe is there."),)],
            "": [(spawn,), (Say("I have help."),)],
        }
    )
    console = scenario.open_console()
    claude = Claude(scenario.place)
    join_claude(scenario)
    client = scenario.watch(claude.start(teams=True))
    scenario.wait_for(client, READY)
    prompt(scenario, client, "Get help")
    console.allow("mkfifo by-mate")
    scenario.wait(lambda: (scenario.place.project / "by-mate").is_fifo(), "pipe of the teammate")
    (request,) = scenario.requests()
    assert (request["from"], request["state"]) == (MATE, "approved")
    rows = {row["name"]: row for row in scenario.verb("roster")["agents"]}
    assert MATE in rows
    client.end()
