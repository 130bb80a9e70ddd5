"""Permissions that a real Claude Code session asks for, decided at the console by keys."""

from __future__ import annotations

import pytest

from tests.proofs.clients.conftest import SetUp
from tests.proofs.clients.kinds import bash, start_claude
from tests.proofs.clients.scenario import prompt
from tests.proofs.clients.turns import Say

pytestmark = pytest.mark.usefixtures("claude")


def test_what_is_always_allowed_is_not_asked_again(set_up: SetUp) -> None:
    scenario = set_up(bash("mkfifo made"), bash("mkfifo made again"), Say("Both are made."))
    console = scenario.open_console()
    client = start_claude(scenario, mode="default", ask_for="none")  # a rule to ask leaves no "always" to offer
    prompt(scenario, client, "Make them")
    console.allow("mkfifo made", choose="2", verb="allow always")
    scenario.wait_for(client, "Both are made.")
    assert (scenario.place.project / "again").is_fifo()
    assert scenario.states() == [("permission", "approved")]


def test_what_is_answered_in_the_terminal_leaves_the_list_while_it_runs(set_up: SetUp) -> None:
    """The next event comes only when the command has ended."""
    scenario = set_up(bash("mkfifo made; cat made"), Say("It was read."))
    console = scenario.open_console()
    client = start_claude(scenario)
    prompt(scenario, client, "Make it")
    scenario.wait_for(client, "Do you want to proceed?")
    console.wait_for("mkfifo made")
    client.send("\r")
    scenario.wait(lambda: scenario.states() == [("permission", "withdrawn")], "request that has ended")
    scenario.wait(lambda: (scenario.place.project / "made").is_fifo(), "pipe")
    assert "It was read." not in client.text
    (scenario.place.project / "made").write_text("read")
    scenario.wait_for(client, "It was read.")
    assert [row["reason"] for row in scenario.requests()] == ["answered in the session"]


def test_a_session_that_is_killed_leaves_nothing_open(set_up: SetUp) -> None:
    scenario = set_up(bash("mkfifo made"))
    console = scenario.open_console()
    client = start_claude(scenario)
    prompt(scenario, client, "Make it")
    console.wait_for("mkfifo made")
    client.end()
    console.leave_behind("mkfifo made")
    (request,) = scenario.requests()
    assert (request["state"], request["reason"]) == ("withdrawn", "session ended")
