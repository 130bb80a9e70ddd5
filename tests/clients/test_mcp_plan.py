"""Plans and questions over MCP by a real Claude Code session, decided at the console or in its own dialog."""

from __future__ import annotations

import pytest

from tests.clients.conftest import SetUp
from tests.clients.joining import join_claude
from tests.clients.sessions import Claude
from tests.clients.stage import Stage, prompt
from tests.clients.turns import Call, Conversation, Say, Step, Turn
from tests.pty import Terminal

pytestmark = pytest.mark.usefixtures("claude")
_SERVER = "mcp__team-console__"
PLAN = {"plan": "1. Split the loader\n2. Test it", "summary": "Split the loader and test both halves"}


def session(stage: Stage) -> Terminal:
    """Claude Code with the server of `AGENT`."""
    claude = Claude(stage.place)
    join_claude(stage)
    return stage.watch(claude.start())


def test_a_plan_refused_over_mcp_is_revised_and_approved(set_up: SetUp) -> None:
    better = {"plan": f"{PLAN['plan']}\n3. Undo", "summary": "The same, with a way back at the end"}
    turns: list[Step] = [
        (Call(f"{_SERVER}hand_in_plan", PLAN),),
        (Call(f"{_SERVER}hand_in_plan", better),),
        (Say("I go on."),),
    ]
    stage = set_up({"": turns})
    console = stage.open_console()
    client = session(stage)
    stage.wait_for(client, "? for shortcuts")
    prompt(stage, client, "Plan the work")
    console.reject(PLAN["summary"], "Say how it is undone")
    stage.wait_for_result("Say how it is undone")
    console.approve(better["summary"])
    stage.wait_for(client, "I go on.")
    assert '"state":"approved"' in stage.model.results[-1].replace(" ", "")
    assert stage.states() == [("plan", "rejected"), ("plan", "approved")]


def test_a_verdict_that_comes_late_wakes_the_session(set_up: SetUp) -> None:
    def look_again(conversation: Conversation) -> Turn:
        ticket = conversation.results[-1].split("server-side task ")[1].split(".")[0]
        return (Call(f"{_SERVER}verdict", {"request_id": ticket}),)

    turns: list[Step] = [
        (Call(f"{_SERVER}hand_in_plan", {**PLAN, "wait_seconds": 0.5}),),
        (Say("I wait for the verdict."),),
        look_again,
        (Say("I go on."),),
    ]
    stage = set_up({"": turns})
    client = session(stage)
    stage.wait_for(client, "? for shortcuts")
    prompt(stage, client, "Plan the work")
    stage.wait_for(client, "I wait for the verdict.")
    stage.open_console().approve(PLAN["summary"])
    stage.wait_for(client, "I go on.")
    assert '"state":"approved"' in stage.model.results[-1].replace(" ", "")


def test_a_question_is_put_in_the_clients_own_dialog_while_nobody_is_at_a_console(set_up: SetUp) -> None:
    options = [{"label": "SQLite", "description": "a file"}, {"label": "PostgreSQL"}]
    question = {"question": "Which database?", "header": "Database", "options": options}
    stage = set_up({"": [(Call(f"{_SERVER}ask_human", {"questions": [question]}),), (Say("So be it."),)]})
    client = session(stage)
    stage.wait_for(client, "? for shortcuts")
    prompt(stage, client, "Ask me")
    stage.wait_for(client, "requests your input", "- SQLite: a file")
    client.send("\x1b[B")
    stage.wait_for(client, "Type something")
    client.send("DuckDB")
    stage.wait_for(client, "DuckDB")
    client.send("\x1b[B")
    stage.wait_for(client, "❯ Accept")
    stage.press_until(client, "\r", lambda: "So be it." in client.text)
    assert '"Which database?":"DuckDB"' in stage.model.results[-1].replace('": "', '":"')
    assert [(row["state"], row["reason"]) for row in stage.requests()] == [("withdrawn", "answered in the session")]
