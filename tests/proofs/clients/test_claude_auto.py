"""Auto mode of a real Claude Code: what the human wants to be asked for comes to the desk, and what is denied, too."""

from __future__ import annotations

import pytest

from tests.proofs.clients.conftest import SetUp
from tests.proofs.clients.kinds import bash, join_claude, start_claude
from tests.proofs.clients.scenario import AGENT, prompt
from tests.proofs.clients.sessions import READY, Claude
from tests.proofs.clients.turns import Call, Play, Say

pytestmark = pytest.mark.usefixtures("claude")
HIDDEN = "bash -c 'rm -f old'"
"""A command that no rule of the client sees."""


def test_dialog_and_desk_stand_side_by_side_and_the_first_answer_wins(set_up: SetUp) -> None:
    turns: list[Play] = [bash("git -C sub push"), bash("git push"), bash(HIDDEN), Say("That is all.")]
    scenario = set_up(*turns)
    console = scenario.open_console()
    client = start_claude(scenario, ask_for="team")
    prompt(scenario, client, "Push it")
    scenario.wait_for(client, "ceo wants to be asked for: push", "Do you want to proceed?")
    console.reject("git -C sub push", "Not on a Friday")
    scenario.wait_for_result("Not on a Friday")
    scenario.wait_for(client, "ceo wants to be asked for: push")
    console.reject("git push", "Nor this")
    console.wait_for("rm -f old")
    scenario.wait_for(client, "ceo wants to be asked for: delete")
    scenario.press_until(client, "\r", lambda: "That is all." in client.text)
    assert scenario.states() == [("permission", "rejected"), ("permission", "rejected"), ("permission", "withdrawn")]


def test_what_is_held_waits_with_nobody_at_a_console_and_fails_as_a_no(set_up: SetUp) -> None:
    scenario = set_up(bash("git push"), bash("git push again"), Say("That is all."))
    claude = Claude(scenario.place)
    scenario.verb("join", AGENT, "--for", "claude", "--hold", "push")
    client = scenario.watch(claude.start())
    scenario.wait_for(client, READY)
    prompt(scenario, client, "Push it")
    scenario.wait(lambda: scenario.states() == [("permission", "open")], "request")
    scenario.team.rename(scenario.team.with_name("away"))
    scenario.rest(2.0)
    scenario.team.with_name("away").rename(scenario.team)
    scenario.verb("reject", scenario.requests()[0]["request_id"], "--reason", "Not on a Friday")
    scenario.wait_for_result("Not on a Friday")
    scenario.wait(lambda: len(scenario.states()) == 2, "second request")
    scenario.verb("reject", scenario.requests()[0]["request_id"], "--reason", "Nor this")
    scenario.wait_for(client, "That is all.")
    assert not any("TEAM_CONSOLE" in result for result in scenario.model.results)


def test_a_denied_call_is_allowed_once_within_the_turn(set_up: SetUp) -> None:
    denied = Call("Bash", {"command": "mkfifo made", "description": "x"}, flagged="It makes a pipe")
    scenario = set_up(denied, denied, denied, Say("That is all."))
    console = scenario.open_console()
    client = start_claude(scenario, ask_for="team")
    prompt(scenario, client, "Do it")
    console.wait_for("It makes a pipe")
    console.allow("mkfifo made")
    scenario.wait(lambda: (scenario.place.project / "made").is_fifo(), "pipe")
    scenario.wait(lambda: len(scenario.states()) == 2, "second denial")  # one yes is for one call
    console.reject("mkfifo made", "Once is enough")
    scenario.wait_for(client, "That is all.")
    assert scenario.states() == [("permission", "approved"), ("permission", "rejected")]
    scenario.wait_for_words("Once is enough")


def test_a_subagent_asks_under_the_name_of_its_session(set_up: SetUp) -> None:
    task = "Helper, push it"
    spawn = Call("Agent", {"prompt": task, "description": "pushes it", "subagent_type": "general-purpose"})
    scenario = set_up(spawn, Say("It is over."), others={task: [bash("git push"), Say("I was told not to.")]})
    console = scenario.open_console()
    client = start_claude(scenario, ask_for="team")
    prompt(scenario, client, "Get it pushed")
    console.reject("git push", "Not on a Friday")
    scenario.wait_for(client, "It is over.")
    scenario.wait_for_result("Not on a Friday")
    assert [(row["from"], row["state"]) for row in scenario.requests()] == [(AGENT, "rejected")]


def test_a_console_that_is_killed_lets_a_headless_run_go_on(set_up: SetUp) -> None:
    scenario = set_up(bash(HIDDEN + "; mkfifo made"), Say("That is all."))
    console = scenario.open_console()
    claude = join_claude(scenario, ask_for="team")
    run = scenario.watch(claude.start("-p", "Do it"))
    console.wait_for("rm -f old")
    console.terminal.end()
    assert run.wait_exit(60) == 0
    assert (scenario.place.project / "made").is_fifo()
    assert scenario.states() == [("permission", "withdrawn")]
