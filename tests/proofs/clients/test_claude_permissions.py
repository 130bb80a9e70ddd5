"""Permissions that a real Claude Code session asks for, decided at the console by keys."""

from __future__ import annotations

import pytest

from tests.equipment.terminal import Terminal
from tests.proofs.clients.conftest import SetUp
from tests.proofs.clients.joining import PIPES, join_claude
from tests.proofs.clients.scenario import AGENT, EDITED, Scenario, prompt
from tests.proofs.clients.sessions import MANUAL, READY, Claude
from tests.proofs.clients.turns import Call, Say

pytestmark = pytest.mark.usefixtures("claude")


def bash(command: str) -> Call:
    """A shell command that asks for permission."""
    return Call("Bash", {"command": command, "description": "what the test wants"})


def started(scenario: Scenario, *, mode: str = "auto", ask_for: str = PIPES) -> Terminal:
    """A session of the agent, ready for a prompt."""
    claude = Claude(scenario.place)
    join_claude(scenario, ask_for=ask_for)
    client = scenario.watch(claude.start(mode=mode))
    scenario.wait_for(client, MANUAL if mode == "default" else READY)
    return client


def test_a_command_that_is_allowed_at_the_console_runs(set_up: SetUp) -> None:
    scenario = set_up({"": [(bash("mkfifo made"),), (Say("It is made."),)]})
    console = scenario.open_console()
    client = started(scenario)
    prompt(scenario, client, "Make it")
    console.allow("mkfifo made")
    scenario.wait_for(client, "It is made.")
    assert (scenario.place.project / "made").is_fifo()
    assert scenario.states() == [("permission", "approved")]


def test_a_command_that_is_refused_does_not_run_and_the_model_reads_why(set_up: SetUp) -> None:
    scenario = set_up({"": [(bash("mkfifo made"),), (Say("I leave it."),)]})
    console = scenario.open_console()
    client = started(scenario)
    prompt(scenario, client, "Make it")
    console.reject("mkfifo made", "Use an ordinary file")
    scenario.wait_for(client, "I leave it.")
    assert "Use an ordinary file" in scenario.model.results[-1]
    assert not (scenario.place.project / "made").exists()
    (request,) = scenario.requests()
    assert (request["state"], request["from"]) == ("rejected", AGENT)


def test_what_is_always_allowed_is_not_asked_again(set_up: SetUp) -> None:
    scenario = set_up({"": [(bash("mkfifo made"),), (bash("mkfifo made again"),), (Say("Both are made."),)]})
    console = scenario.open_console()
    client = started(scenario, mode="default", ask_for="none")  # a rule to ask leaves no "always" to offer
    prompt(scenario, client, "Make them")
    console.allow("mkfifo made", choose="2", verb="allow always")
    scenario.wait_for(client, "Both are made.")
    assert (scenario.place.project / "again").is_fifo()
    assert scenario.states() == [("permission", "approved")]


def test_a_command_that_was_edited_first_runs_as_it_was_approved(set_up: SetUp) -> None:
    scenario = set_up({"": [(bash("mkfifo made"),), (Say("It is made."),)]})
    console = scenario.open_console()
    client = started(scenario, mode="default", ask_for="none")
    prompt(scenario, client, "Make it")
    console.edit("mkfifo made", "Allow once as edited")
    scenario.wait_for(client, "It is made.")
    assert {path.name for path in scenario.place.project.iterdir() if path.is_fifo()} == {"made", EDITED.strip()}


def test_what_is_answered_in_the_terminal_leaves_the_list_while_it_runs(set_up: SetUp) -> None:
    """The next event comes only when the command has ended."""
    scenario = set_up({"": [(bash("mkfifo made; cat made"),), (Say("It was read."),)]})
    console = scenario.open_console()
    client = started(scenario)
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
    scenario = set_up({"": [(bash("mkfifo made"),)]})
    console = scenario.open_console()
    client = started(scenario)
    prompt(scenario, client, "Make it")
    console.wait_for("mkfifo made")
    client.end()
    console.leave_behind("mkfifo made")
    (request,) = scenario.requests()
    assert (request["state"], request["reason"]) == ("withdrawn", "session ended")


def test_nobody_at_a_console_leaves_the_terminal_alone(set_up: SetUp) -> None:
    scenario = set_up({"": [(bash("mkfifo made"),), (Say("It is made."),)]})
    client = started(scenario, mode="default")
    prompt(scenario, client, "Make it")
    scenario.wait_for(client, "Do you want to proceed?")
    assert [row for row in scenario.requests() if row["state"] == "open"] == []
    client.send("\r")
    scenario.wait_for(client, "It is made.")
