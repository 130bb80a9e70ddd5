"""Plans and questions of a real Claude Code session, decided at the console by keys."""

from __future__ import annotations

import re

import pytest

from tests.proofs.clients.conftest import SetUp
from tests.proofs.clients.kinds import start_claude
from tests.proofs.clients.scenario import EDITED, prompt
from tests.proofs.clients.sessions import READY
from tests.proofs.clients.turns import Call, Conversation, Play, Say

pytestmark = pytest.mark.usefixtures("claude")
_PLAN_FILE = re.compile(r"/\S+/\.claude/plans/[\w-]+\.md")
FIRST, SECOND = "# Split the loader\n\n1. Split it\n", "# Split the loader and test it\n\n1. Split it\n2. Test it\n"


def written(plan: str) -> list[Play]:
    """The two turns by which a model hands in a plan: the file that its client names, then the tool."""

    def write(conversation: Conversation) -> Say | Call:
        path = _PLAN_FILE.search("\n".join(conversation.texts))
        assert path is not None
        return Call("Write", {"file_path": path.group(), "content": plan})

    return [write, Call("ExitPlanMode", {"plan": plan})]


def test_a_plan_is_refused_revised_and_approved_in_manual_mode(set_up: SetUp) -> None:
    turns: list[Play] = [*written(FIRST), *written(SECOND), Say("I begin.")]
    scenario = set_up(*turns)
    console = scenario.open_console()
    client = start_claude(scenario, mode="plan")
    prompt(scenario, client, "Plan the work")
    console.reject("Split the loader", "Test it as well")
    console.approve("Split the loader and test it", choose="1")
    scenario.wait_for(client, "I begin.", "manual mode on")
    assert any("Test it as well" in result for result in scenario.model.results)
    assert scenario.states() == [("plan", "rejected"), ("plan", "approved")]


def test_a_session_from_auto_mode_goes_on_in_it(set_up: SetUp) -> None:
    scenario = set_up(Call("EnterPlanMode", {}), *written(FIRST), Say("I begin."))
    console = scenario.open_console()
    client = start_claude(scenario)
    prompt(scenario, client, "Plan the work")
    console.approve("Split the loader")
    scenario.wait_for(client, "I begin.", READY)
    assert scenario.states() == [("plan", "approved")]


def test_a_plan_that_was_edited_first_is_what_the_model_reads(set_up: SetUp) -> None:
    scenario = set_up(*written(FIRST), Say("I begin."))
    console = scenario.open_console()
    client = start_claude(scenario, mode="plan")
    prompt(scenario, client, "Plan the work")
    console.edit("Split the loader", "Approve as edited")
    scenario.wait_for(client, "I begin.")
    assert "edited by user" in scenario.model.results[-1]
    assert EDITED in scenario.model.results[-1]


def test_a_preview_and_the_words_beside_an_option_reach_the_model(set_up: SetUp) -> None:
    previews = {"SQLite": "PRAGMA journal_mode", "PostgreSQL": "CREATE TABLE"}
    options = [{"label": name, "description": "a store", "preview": text} for name, text in previews.items()]
    question = {"question": "Which database?", "header": "Database", "options": options, "multiSelect": False}
    scenario = set_up(Call("AskUserQuestion", {"questions": [question]}), Say("So be it."))
    console = scenario.open_console()
    client = start_claude(scenario)
    prompt(scenario, client, "Ask me")
    console.wait_for("PRAGMA journal_mode")
    console.answer("Which database?", "2", note="but smaller")
    scenario.wait_for(client, "So be it.")
    result = scenario.model.results[-1]
    assert '"Which database?"="PostgreSQL"' in result
    assert "CREATE TABLE" in result
    assert "notes: but smaller" in result
    assert scenario.states() == [("question", "answered")]
