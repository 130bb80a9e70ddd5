"""Teammates of a real Claude Code session: in the roster and in requests under their own names."""

from __future__ import annotations

import pytest

from tests.clients.conftest import SetUp
from tests.clients.joining import join_claude
from tests.clients.sessions import Claude
from tests.clients.stage import prompt
from tests.clients.test_claude_permissions import bash
from tests.clients.turns import Call, Say

pytestmark = pytest.mark.usefixtures("claude")
MATE = "bob"


def test_a_teammate_asks_under_its_own_name(set_up: SetUp) -> None:
    task = "Mate, make the pipe"
    spawn = Call(
        "Agent", {"name": MATE, "prompt": task, "description": "makes a pipe", "subagent_type": "general-purpose"}
    )
    stage = set_up(
        {
            task: [(bash("mkfifo by-mate"),), (Say("The pipe is there."),)],
            "": [(spawn,), (Say("I have help."),)],
        }
    )
    console = stage.open_console()
    claude = Claude(stage.place)
    join_claude(stage)
    client = stage.watch(claude.start(teams=True))
    stage.wait_for(client, "? for shortcuts")
    prompt(stage, client, "Get help")
    console.allow("mkfifo by-mate")
    stage.wait(lambda: (stage.place.project / "by-mate").is_fifo(), "pipe of the teammate")
    (request,) = stage.requests()
    assert (request["from"], request["state"]) == (MATE, "approved")
    rows = {row["name"]: row for row in stage.verb("roster")["agents"]}
    assert MATE in rows
    client.end()
