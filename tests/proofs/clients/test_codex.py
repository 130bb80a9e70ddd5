"""Permissions that a real Codex session asks for, decided at the console by keys; and two clients at once."""

from __future__ import annotations

import pytest

from tests.equipment.terminal import Terminal
from tests.proofs.clients import packages
from tests.proofs.clients.conftest import SetUp
from tests.proofs.clients.joining import join_claude, join_codex
from tests.proofs.clients.scenario import AGENT, OTHER, Scenario, prompt
from tests.proofs.clients.sessions import READY as CLAUDE_READY
from tests.proofs.clients.sessions import Claude, Codex, processes_with
from tests.proofs.clients.test_claude_mail import write
from tests.proofs.clients.test_claude_waking import rests
from tests.proofs.clients.turns import Call, Conversation, Say, Step, Turn

READY = "Ask Codex to do anything"
HAND_IN = "mcp__team_console.hand_in_plan"


def command(words: str) -> Call:
    """A shell command that asks for permission."""
    more = {"sandbox_permissions": "require_escalated", "justification": "the test wants it"}
    return Call("exec_command", {"cmd": words, **more})


def started(scenario: Scenario, name: str = AGENT) -> Terminal:
    """A session of the agent, ready for a prompt."""
    codex = Codex(scenario.place)
    join_codex(scenario, name)
    client = scenario.watch(codex.start())
    scenario.wait_for(client, READY)
    return client


def wakers(scenario: Scenario) -> list[int]:
    """The processes that wait for mail."""
    return processes_with("hook", "--wake", str(scenario.team))


@pytest.mark.usefixtures("codex")
def test_a_command_that_is_allowed_at_the_console_runs(set_up: SetUp) -> None:
    scenario = set_up({"": [(command("mkfifo made"),), (Say("It is made."),)]})
    console = scenario.open_console()
    client = started(scenario)
    prompt(scenario, client, "Make it")
    console.allow("mkfifo made")
    scenario.wait_for(client, "It is made.")
    assert (scenario.place.project / "made").is_fifo()
    assert scenario.states() == [("permission", "approved")]


@pytest.mark.usefixtures("codex")
def test_a_command_that_is_refused_does_not_run_and_the_model_reads_why(set_up: SetUp) -> None:
    scenario = set_up({"": [(command("mkfifo made"),), (Say("I leave it."),)]})
    console = scenario.open_console()
    client = started(scenario)
    prompt(scenario, client, "Make it")
    console.reject("mkfifo made", "Use an ordinary file")
    scenario.wait_for(client, "I leave it.")
    assert "Use an ordinary file" in "\n".join(scenario.model.results)
    assert not (scenario.place.project / "made").exists()


@pytest.mark.usefixtures("codex")
def test_nobody_at_a_console_leaves_the_terminal_alone(set_up: SetUp) -> None:
    """Codex shows no dialog while its hook runs, so the hook lets go at once."""
    scenario = set_up({"": [(command("mkfifo made"),), (Say("It is made."),)]})
    client = started(scenario)
    prompt(scenario, client, "Make it")
    scenario.wait_for(client, "Would you like to run the following command?")
    scenario.press_until(client, "y", lambda: "It is made." in client.text)


@pytest.mark.usefixtures("codex")
def test_a_plan_comes_by_mcp(set_up: SetUp) -> None:
    """Codex has no plans of its own that a hook could see."""

    def work(conversation: Conversation) -> Turn:
        if HAND_IN not in conversation.tools:
            return (Say("The server is not ready yet."),)
        if not conversation.results:
            return (Call(HAND_IN, {"plan": "1. Split it", "summary": "Split the loader into its halves"}),)
        return (Say("I begin."),)

    scenario = set_up({"": [work] * 20})
    console = scenario.open_console()
    client = started(scenario)
    while not scenario.requests():
        prompt(scenario, client, f"Go {len(scenario.model.heard)}")
        scenario.wait(lambda: bool(scenario.requests()) or "not ready yet" in client.text, "turn")
    console.approve("Split the loader into its halves")
    scenario.wait_for(client, "I begin.")
    assert '"state":"approved"' in scenario.model.results[-1]
    assert scenario.states() == [("plan", "approved")]


@pytest.mark.usefixtures("claude", "codex")
def test_two_clients_at_once_each_get_their_own_verdict(set_up: SetUp) -> None:
    claude_turns: list[Step] = [
        (Call("Bash", {"command": "mkfifo by-claude", "description": "x"}),),
        (Say("Claude is through."),),
    ]
    codex_turns: list[Step] = [(command("mkfifo by-codex"),), (Say("Codex is through."),)]
    scenario = set_up({"Work for Claude": claude_turns, "Work for Codex": codex_turns})
    console = scenario.open_console()
    session = Claude(scenario.place)
    join_claude(scenario)
    claude = scenario.watch(session.start())
    scenario.wait_for(claude, CLAUDE_READY)
    codex = started(scenario, OTHER)
    prompt(scenario, claude, "Work for Claude")
    console.wait_for("mkfifo by-claude")
    prompt(scenario, codex, "Work for Codex")
    console.wait_for("mkfifo by-claude", "mkfifo by-codex")
    console.allow("mkfifo by-claude")
    scenario.wait_for(claude, "Claude is through.")
    console.reject("mkfifo by-codex", "Not from you")
    scenario.wait_for(codex, "Codex is through.")
    made = {path.name for path in scenario.place.project.iterdir() if path.is_fifo()}
    assert made == {"by-claude"}
    assert {row["from"]: row["state"] for row in scenario.requests()} == {AGENT: "approved", OTHER: "rejected"}


@pytest.mark.usefixtures("codex")
def test_a_session_whose_turn_was_broken_off_rests_and_who_waits_beside_it_ends_with_it(set_up: SetUp) -> None:
    """After Esc it keeps what is queued until the next prompt."""
    scenario = set_up({"Sleep": [(Call("exec_command", {"cmd": "touch begun; sleep 600"}),), (Say("I am awake."),)]})
    codex = Codex(scenario.place)
    join_codex(scenario)
    program = packages.codex()
    assert program is not None
    client = scenario.watch(codex.start(path=str(program.parent)))
    scenario.wait_for(client, READY)
    prompt(scenario, client, "Sleep")
    scenario.wait(lambda: (scenario.place.project / "begun").exists(), "command")
    scenario.press_until(client, "\x1b", lambda: "interrupted" in client.text.lower(), every=3.0)
    rests(scenario)
    scenario.wait(lambda: len(wakers(scenario)) == 1, "one process that waits")
    write(scenario, "There is one more thing to do")
    scenario.wait(lambda: not wakers(scenario), "mail that is queued")
    prompt(scenario, client, "Go on")
    scenario.wait_for_words("There is one more thing to do.")
    scenario.wait(lambda: len(wakers(scenario)) == 1, "one process that waits again")
    client.end()
    scenario.wait(lambda: not wakers(scenario), "end of the process that waits")
