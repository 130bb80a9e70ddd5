"""Permissions that a real Claude Code session asks for, decided at the console by keys."""

from __future__ import annotations

import pytest

from tests.clients.conftest import SetUp
from tests.clients.joining import join_claude
from tests.clients.sessions import Claude
from tests.clients.stage import AGENT, EDITED, Stage, prompt
from tests.clients.turns import Call, Say
from tests.pty import Terminal

pytestmark = pytest.mark.usefixtures("claude")


def bash(command: str) -> Call:
    """A shell command that asks for permission."""
    return Call("Bash", {"command": command, "description": "what the test wants"})


def started(stage: Stage, *arguments: str) -> Terminal:
    """A session of the agent, ready for a prompt."""
    claude = Claude(stage.place)
    join_claude(stage)
    client = stage.watch(claude.start(*arguments))
    stage.wait_for(client, "? for shortcuts")
    return client


def test_a_command_that_is_allowed_at_the_console_runs(set_up: SetUp) -> None:
    stage = set_up({"": [(bash("mkfifo made"),), (Say("It is made."),)]})
    console = stage.open_console()
    client = started(stage)
    prompt(stage, client, "Make it")
    console.allow("mkfifo made")
    stage.wait_for(client, "It is made.")
    assert (stage.place.project / "made").is_fifo()
    assert stage.states() == [("permission", "approved")]


def test_a_command_that_is_refused_does_not_run_and_the_model_reads_why(set_up: SetUp) -> None:
    stage = set_up({"": [(bash("mkfifo made"),), (Say("I leave it."),)]})
    console = stage.open_console()
    client = started(stage)
    prompt(stage, client, "Make it")
    console.reject("mkfifo made", "Use an ordinary file")
    stage.wait_for(client, "I leave it.")
    assert "Use an ordinary file" in stage.model.results[-1]
    assert not (stage.place.project / "made").exists()
    (request,) = stage.requests()
    assert (request["state"], request["from"]) == ("rejected", AGENT)


def test_what_is_always_allowed_is_not_asked_again(set_up: SetUp) -> None:
    stage = set_up({"": [(bash("mkfifo made"),), (bash("mkfifo made again"),), (Say("Both are made."),)]})
    console = stage.open_console()
    client = started(stage)
    prompt(stage, client, "Make them")
    stage.wait(lambda: bool(stage.model.heard), "prompt")
    console.allow("mkfifo made", choose="2", verb="allow always")
    stage.wait_for(client, "Both are made.")
    assert (stage.place.project / "again").is_fifo()
    assert stage.states() == [("permission", "approved")]


def test_a_command_that_was_edited_first_runs_as_it_was_approved(set_up: SetUp) -> None:
    stage = set_up({"": [(bash("mkfifo made"),), (Say("It is made."),)]})
    console = stage.open_console()
    client = started(stage)
    prompt(stage, client, "Make it")
    console.edit("mkfifo made", "Allow once as edited")
    stage.wait_for(client, "It is made.")
    assert {path.name for path in stage.place.project.iterdir() if path.is_fifo()} == {"made", EDITED.strip()}


def test_what_is_answered_in_the_terminal_leaves_the_list_and_was_not_approved_here(set_up: SetUp) -> None:
    stage = set_up({"": [(bash("mkfifo made"),), (Say("It is made."),)]})
    console = stage.open_console()
    client = started(stage)
    prompt(stage, client, "Make it")
    stage.wait_for(client, "Do you want to proceed?")
    console.wait_for("mkfifo made")
    client.send("\r")
    stage.wait_for(client, "It is made.")
    stage.wait(lambda: "mkfifo made" not in console.terminal.text, "list without the request")
    (request,) = stage.requests()
    assert (request["state"], request["reason"]) == ("withdrawn", "answered in the session")


def test_what_is_answered_in_the_terminal_leaves_the_list_while_it_runs(set_up: SetUp) -> None:
    """The next event comes only when the command has ended."""
    stage = set_up({"": [(bash("mkfifo made; cat made"),), (Say("It was read."),)]})
    console = stage.open_console()
    client = started(stage)
    prompt(stage, client, "Make it")
    stage.wait_for(client, "Do you want to proceed?")
    console.wait_for("mkfifo made")
    client.send("\r")
    stage.wait(lambda: stage.states() == [("permission", "withdrawn")], "request that has ended")
    stage.wait(lambda: (stage.place.project / "made").is_fifo(), "pipe")
    assert "It was read." not in client.text
    (stage.place.project / "made").write_text("read")
    stage.wait_for(client, "It was read.")
    assert [row["reason"] for row in stage.requests()] == ["answered in the session"]


def test_a_session_that_is_killed_leaves_nothing_open(set_up: SetUp) -> None:
    stage = set_up({"": [(bash("mkfifo made"),)]})
    console = stage.open_console()
    client = started(stage)
    prompt(stage, client, "Make it")
    console.wait_for("mkfifo made")
    client.end()
    stage.wait(lambda: "mkfifo made" not in console.terminal.text, "list without the request")
    (request,) = stage.requests()
    assert (request["state"], request["reason"]) == ("withdrawn", "session ended")


def test_nobody_at_a_console_leaves_the_terminal_alone(set_up: SetUp) -> None:
    stage = set_up({"": [(bash("mkfifo made"),), (Say("It is made."),)]})
    client = started(stage)
    prompt(stage, client, "Make it")
    stage.wait_for(client, "Do you want to proceed?")
    assert [row for row in stage.requests() if row["state"] == "open"] == []
    client.send("\r")
    stage.wait_for(client, "It is made.")


def test_a_headless_run_asks_at_the_console(set_up: SetUp) -> None:
    """Nobody else could answer it there."""
    stage = set_up({"": [(bash("mkfifo made"),), (Say("It is made."),)]})
    console = stage.open_console()
    claude = Claude(stage.place)
    join_claude(stage)
    run = stage.watch(claude.start("-p", "Make it"))
    console.allow("mkfifo made")
    assert run.wait_exit(60) == 0
    assert "It is made." in run.text
    assert (stage.place.project / "made").is_fifo()
