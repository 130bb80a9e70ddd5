"""A real Qwen Code session: what it asks is answered at the console, mail and our tools reach it."""

from __future__ import annotations

import pytest

from tests.equipment.terminal import Terminal
from tests.proofs.clients.conftest import SetUp
from tests.proofs.clients.joining import join_qwen
from tests.proofs.clients.scenario import AGENT, PATIENCE, Scenario, prompt
from tests.proofs.clients.sessions import Qwen
from tests.proofs.clients.turns import Call, Say, Step

pytestmark = pytest.mark.usefixtures("qwen")

READY = "Type your message"
TRUST = "Untrusted MCP server"
"""What later versions ask before they start a server that a project's settings name."""
DIALOG = "Allow execution"


def command(words: str) -> Call:
    """A shell command that asks for permission."""
    return Call("run_shell_command", {"command": words, "description": "as the test wants", "is_background": False})


def started(scenario: Scenario) -> Terminal:
    """A session of the agent, ready for a prompt."""
    join_qwen(scenario)
    client = scenario.watch(Qwen(scenario.place).start("--approval-mode", "default"))
    scenario.wait(lambda: READY in client.text or TRUST in client.text, "prompt")
    if TRUST in client.text:
        scenario.press_until(client, "\r", lambda: READY in client.text)
    return client


def test_a_command_that_is_allowed_at_the_console_runs(set_up: SetUp) -> None:
    scenario = set_up({"": [(command("mkfifo made"),), (Say("It is made."),)]})
    console = scenario.open_console()
    client = started(scenario)
    prompt(scenario, client, "Make it")
    console.wait_for("Bash: mkfifo made")
    (row,) = scenario.requests()
    assert scenario.verb("show", row["request_id"])["message"]["payload"]["client"] == "qwen-code"
    console.allow("mkfifo made")
    scenario.wait_for(client, "It is made.")
    assert (scenario.place.project / "made").is_fifo()
    assert scenario.states() == [("permission", "approved")]


def test_what_runs_is_what_was_approved_when_it_was_edited(set_up: SetUp) -> None:
    scenario = set_up({"": [(command("mkfifo made"),), (Say("It is made."),)]})
    console = scenario.open_console()
    client = started(scenario)
    prompt(scenario, client, "Make it")
    console.edit("mkfifo made", "Allow once as edited")
    scenario.wait_for(client, "It is made.")
    assert sorted(path.name for path in scenario.place.project.iterdir() if path.is_fifo()) == ["as-edited", "made"]


def test_a_command_that_is_refused_does_not_run_and_the_model_reads_why(set_up: SetUp) -> None:
    scenario = set_up({"": [(command("mkfifo made"),), (Say("I leave it."),)]})
    console = scenario.open_console()
    client = started(scenario)
    prompt(scenario, client, "Make it")
    console.reject("mkfifo made", "Use an ordinary file")
    scenario.wait_for(client, "I leave it.")
    assert "Use an ordinary file" in "\n".join(scenario.model.results)
    assert not (scenario.place.project / "made").exists()


def test_nobody_at_a_console_leaves_the_terminal_alone(set_up: SetUp) -> None:
    scenario = set_up({"": [(command("mkfifo made"),), (Say("It is made."),)]})
    client = started(scenario)
    prompt(scenario, client, "Make it")
    scenario.wait_for(client, DIALOG)
    scenario.press_until(client, "\r", lambda: "It is made." in client.text)
    assert scenario.states() in ([], [("permission", "withdrawn")])


def test_what_nobody_answers_in_time_is_asked_in_the_terminal_and_leaves_the_list(set_up: SetUp) -> None:
    """It waits a minute for a hook, whatever its settings say; what came later would count for nothing."""
    scenario = set_up({"": [(command("mkfifo made"),), (Say("It is made."),)]})
    console = scenario.open_console()
    client = started(scenario)
    prompt(scenario, client, "Make it")
    console.wait_for("Bash: mkfifo made")
    scenario.wait(lambda: DIALOG in client.text, "dialog", 2 * PATIENCE)
    assert scenario.states() == [("permission", "withdrawn")]
    scenario.press_until(client, "\r", lambda: "It is made." in client.text)


def test_a_question_is_answered_at_the_console(set_up: SetUp) -> None:
    options = [{"label": "SQLite", "description": "one file"}, {"label": "PostgreSQL", "description": "a server"}]
    asked = {"question": "Which database?", "header": "Database", "options": options, "multiSelect": False}
    scenario = set_up({"": [(Call("ask_user_question", {"questions": [asked]}),), (Say("So be it."),)]})
    console = scenario.open_console()
    client = started(scenario)
    prompt(scenario, client, "Ask me")
    console.answer("Which database?", "2")
    scenario.wait_for(client, "So be it.")
    assert "PostgreSQL" in "\n".join(scenario.model.results)
    assert scenario.states() == [("question", "answered")]


def test_mail_is_handed_over_at_the_end_of_a_turn(set_up: SetUp) -> None:
    scenario = set_up({"": [(Say("I look around."),), (Say("I have read it."),)]})
    client = started(scenario)
    scenario.verb("send", "--to", AGENT, "--summary", "Read this before you go on", "--content", "The word is BLUE.")
    prompt(scenario, client, "Look around")
    scenario.wait_for(client, "I have read it.")
    assert "The word is BLUE." in scenario.model.told


def test_the_tools_of_the_team_are_there_and_ask_nothing(set_up: SetUp) -> None:
    """It shows its model the tools of servers only when that looks for them, and takes their names at once."""
    look = (Call("tool_search", {"query": "select:mcp__team-console__whoami"}),)
    turns: list[Step] = [look, (Call("mcp__team-console__whoami", {}),), (Say("Now I know."),)]
    scenario = set_up({"": turns})
    client = started(scenario)
    scenario.rest(5)  # its server starts beside it, and shows nowhere
    prompt(scenario, client, "Who are you")
    scenario.wait_for(client, "Now I know.")
    assert f'"name": "{AGENT}"' in scenario.model.results[-1] or f'"name":"{AGENT}"' in scenario.model.results[-1]


def test_a_run_without_a_terminal_does_what_it_would_do_without_us(set_up: SetUp) -> None:
    """It offers its model no tool that asks: with and without a console."""
    scenario = set_up({"": [(command("mkfifo made"),), (Say("I could not."),)]})
    before = Qwen(scenario.place).run("Make it")
    join_qwen(scenario)
    scenario.open_console()
    after = Qwen(scenario.place).run("Make it")
    assert (before.returncode, before.stdout) == (after.returncode, after.stdout)
    assert scenario.states() == []
