"""A real Qwen Code session: what it asks is answered at the console, mail and our tools reach it."""

from __future__ import annotations

import pytest

from tests.proofs.clients.conftest import SetUp
from tests.proofs.clients.kinds import join_qwen, shell, start_qwen
from tests.proofs.clients.scenario import AGENT, PATIENCE, prompt
from tests.proofs.clients.sessions import Qwen
from tests.proofs.clients.turns import Call, Play, Say

pytestmark = pytest.mark.usefixtures("qwen")

DIALOG = "Allow execution"


def test_what_nobody_answers_in_time_is_asked_in_the_terminal_and_leaves_the_list(set_up: SetUp) -> None:
    """It waits a minute for a hook, whatever its settings say; what came later would count for nothing."""
    scenario = set_up(shell("mkfifo made"), Say("It is made."))
    console = scenario.open_console()
    client = start_qwen(scenario)
    prompt(scenario, client, "Make it")
    console.wait_for("Bash: mkfifo made")
    scenario.wait(lambda: DIALOG in client.text, "dialog", 2 * PATIENCE)
    assert scenario.states() == [("permission", "withdrawn")]
    scenario.press_until(client, "\r", lambda: "It is made." in client.text)


def test_mail_is_handed_over_at_the_end_of_a_turn(set_up: SetUp) -> None:
    scenario = set_up(Say("I look around."), Say("I have read it."))
    client = start_qwen(scenario)
    scenario.verb("send", "--to", AGENT, "--summary", "Read this before you go on", "--content", "The word is BLUE.")
    prompt(scenario, client, "Look around")
    scenario.wait_for(client, "I have read it.")
    assert "The word is BLUE." in scenario.model.told


def test_the_tools_of_the_team_are_there_and_ask_nothing(set_up: SetUp) -> None:
    """It shows its model the tools of servers only when that looks for them, and takes their names at once."""
    look = Call("tool_search", {"query": "select:mcp__team-console__whoami"})
    turns: list[Play] = [look, Call("mcp__team-console__whoami", {}), Say("Now I know.")]
    scenario = set_up(*turns)
    client = start_qwen(scenario)
    scenario.rest(5)  # its server starts beside it, and shows nowhere
    prompt(scenario, client, "Who are you")
    scenario.wait_for(client, "Now I know.")
    assert f'"name": "{AGENT}"' in scenario.model.results[-1] or f'"name":"{AGENT}"' in scenario.model.results[-1]


def test_a_run_without_a_terminal_does_what_it_would_do_without_us(set_up: SetUp) -> None:
    """It offers its model no tool that asks: with and without a console."""
    scenario = set_up(shell("mkfifo made"), Say("I could not."))
    before = Qwen(scenario.place).run("Make it")
    join_qwen(scenario)
    scenario.open_console()
    after = Qwen(scenario.place).run("Make it")
    assert (before.returncode, before.stdout) == (after.returncode, after.stdout)
    assert scenario.states() == []
