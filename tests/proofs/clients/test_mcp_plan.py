"""Plans over MCP by a real Claude Code session, decided at the console."""

from __future__ import annotations

import re

import pytest

from tests.proofs.clients.conftest import SetUp
from tests.proofs.clients.kinds import start_claude
from tests.proofs.clients.scenario import prompt
from tests.proofs.clients.turns import Call, Conversation, Play, Say

pytestmark = pytest.mark.usefixtures("claude")
_SERVER = "mcp__team-console__"
PLAN = {"plan": "1. Split the loader\n2. Test it", "summary": "Split the loader and test both halves"}


def test_a_plan_refused_over_mcp_is_revised_and_approved(set_up: SetUp) -> None:
    better = {"plan": f"{PLAN['plan']}\n3. Undo", "summary": "The same, with a way back at the end"}
    turns: list[Play] = [
        Call(f"{_SERVER}hand_in_plan", PLAN),
        Call(f"{_SERVER}hand_in_plan", better),
        Say("I go on."),
    ]
    scenario = set_up(*turns)
    console = scenario.open_console()
    client = start_claude(scenario)
    prompt(scenario, client, "Plan the work")
    console.reject(PLAN["summary"], "Say how it is undone")
    scenario.wait_for_result("Say how it is undone")
    console.approve(better["summary"])
    scenario.wait_for(client, "I go on.")
    assert '"state":"approved"' in scenario.model.results[-1].replace(" ", "")
    assert scenario.states() == [("plan", "rejected"), ("plan", "approved")]


def test_a_verdict_that_comes_late_wakes_the_session(set_up: SetUp) -> None:
    def look_again(conversation: Conversation) -> Say | Call:
        (ticket,) = re.findall(r'"request_id": ?"([^"]+)"', conversation.results[-1])
        return Call(f"{_SERVER}verdict", {"request_id": ticket})

    turns: list[Play] = [
        Call(f"{_SERVER}hand_in_plan", {**PLAN, "wait_seconds": 0.5}),
        Say("I wait for the verdict."),
        look_again,
        Say("I go on."),
    ]
    scenario = set_up(*turns)
    client = start_claude(scenario)
    prompt(scenario, client, "Plan the work")
    scenario.wait_for(client, "I wait for the verdict.")
    scenario.open_console().approve(PLAN["summary"])
    scenario.wait_for(client, "I go on.")
    assert '"state":"approved"' in scenario.model.results[-1].replace(" ", "")
