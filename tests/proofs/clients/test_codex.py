"""Permissions that a real Codex session asks for, decided at the console by keys; and two clients at once."""

from __future__ import annotations

import pytest

from tests.proofs.clients import packages
from tests.proofs.clients.conftest import SetUp
from tests.proofs.clients.kinds import escalated, join_claude, start_codex, wakers
from tests.proofs.clients.scenario import AGENT, OTHER, prompt
from tests.proofs.clients.sessions import READY, Claude
from tests.proofs.clients.test_claude_mail import write
from tests.proofs.clients.test_claude_waking import rests
from tests.proofs.clients.turns import Call, Conversation, Play, Say

HAND_IN = "mcp__team_console.hand_in_plan"


@pytest.mark.usefixtures("codex")
def test_a_plan_comes_by_mcp(set_up: SetUp) -> None:
    """Codex has no plans of its own that a hook could see."""

    def work(conversation: Conversation) -> Say | Call:
        if HAND_IN not in conversation.tools:
            return Say("The server is not ready yet.")
        if not conversation.results:
            return Call(HAND_IN, {"plan": "1. Split it", "summary": "Split the loader into its halves"})
        return Say("I begin.")

    scenario = set_up(*[work] * 20)
    console = scenario.open_console()
    client = start_codex(scenario)
    while not scenario.requests():
        prompt(scenario, client, f"Go {len(scenario.model.heard)}")
        scenario.wait(lambda: bool(scenario.requests()) or "not ready yet" in client.text, "turn")
    console.approve("Split the loader into its halves")
    scenario.wait_for(client, "I begin.")
    assert '"state":"approved"' in scenario.model.results[-1]
    assert scenario.states() == [("plan", "approved")]


@pytest.mark.usefixtures("claude", "codex")
def test_two_clients_at_once_each_get_their_own_verdict(set_up: SetUp) -> None:
    claude_turns: list[Play] = [
        Call("Bash", {"command": "mkfifo by-claude", "description": "x"}),
        Say("Claude is through."),
    ]
    codex_turns: list[Play] = [escalated("mkfifo by-codex"), Say("Codex is through.")]
    scenario = set_up(others={"Work for Claude": claude_turns, "Work for Codex": codex_turns})
    console = scenario.open_console()
    session = Claude(scenario.place)
    join_claude(scenario)
    claude = scenario.watch(session.start())
    scenario.wait_for(claude, READY)
    codex = start_codex(scenario, OTHER)
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
    scenario = set_up(Call("exec_command", {"cmd": "touch begun; sleep 600"}), Say("I am awake."))
    program = packages.codex()
    assert program is not None
    client = start_codex(scenario, path=str(program.parent))
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
