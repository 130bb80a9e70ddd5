"""What a real session asks for is decided at the console by keys, whatever client it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
from team_console.store.backends.open import open_team
from team_console.store.service.waiting import announce_presence

from tests.proofs.clients.conftest import SetUp
from tests.proofs.clients.kinds import CODEX, Kind, bash
from tests.proofs.clients.scenario import AGENT, EDITED, Scenario, prompt
from tests.proofs.clients.turns import Call, Play, Say


def pipes(scenario: Scenario) -> set[str]:
    """Return the names of what the commands made."""
    return {path.name for path in scenario.place.project.iterdir() if path.is_fifo()}


def test_a_command_that_is_allowed_at_the_console_runs(kind: Kind, set_up: SetUp) -> None:
    scenario = set_up(kind.command("mkfifo made"), Say("It is made."))
    console = scenario.open_console()
    client = kind.start(scenario)
    prompt(scenario, client, "Make it")
    console.wait_for("Bash: mkfifo made" if kind.question == "ask_user_question" else "mkfifo made")
    (request,) = scenario.requests()
    shown = scenario.verb("show", request["request_id"])["message"]["payload"]
    assert (request["from"], shown["client"]) == (AGENT, kind.named)
    console.allow("mkfifo made")
    scenario.wait_for(client, "It is made.")
    assert pipes(scenario) == {"made"}
    assert scenario.states() == [("permission", "approved")]


def test_a_command_that_is_refused_does_not_run_and_the_model_reads_why(kind: Kind, set_up: SetUp) -> None:
    scenario = set_up(kind.command("mkfifo made"), Say("I leave it."))
    console = scenario.open_console()
    client = kind.start(scenario)
    prompt(scenario, client, "Make it")
    console.reject("mkfifo made", "Use an ordinary file")
    scenario.wait_for(client, "I leave it.")
    assert "Use an ordinary file" in "\n".join(scenario.model.results)
    assert pipes(scenario) == set()
    assert scenario.states() == [("permission", "rejected")]


def test_nobody_at_a_console_leaves_the_terminal_alone(kind: Kind, set_up: SetUp) -> None:
    scenario = set_up(kind.command("mkfifo made"), Say("It is made."))
    client = kind.manual(scenario)
    prompt(scenario, client, "Make it")
    scenario.wait_for(client, kind.dialog)
    assert [row for row in scenario.requests() if row["state"] == "open"] == []
    scenario.press_until(client, kind.accept, lambda: "It is made." in client.text)
    assert pipes(scenario) == {"made"}


def test_a_command_that_was_edited_first_runs_as_it_was_approved(kind: Kind, set_up: SetUp) -> None:
    if kind is CODEX:
        pytest.skip("Codex takes no other command than it asked for")
    scenario = set_up(kind.command("mkfifo made"), Say("It is made."))
    console = scenario.open_console()
    client = kind.manual(scenario)
    prompt(scenario, client, "Make it")
    console.edit("mkfifo made", "Allow once as edited")
    scenario.wait_for(client, "It is made.")
    assert pipes(scenario) == {"made", EDITED.strip()}


def test_a_question_is_answered_by_the_keys_of_its_options(kind: Kind, set_up: SetUp) -> None:
    if kind is CODEX:
        pytest.skip("Codex has no tool that asks a question")
    options = [{"label": "SQLite", "description": "a file"}, {"label": "PostgreSQL", "description": "a server"}]
    question = {"question": "Which database?", "header": "Database", "options": options, "multiSelect": False}
    scenario = set_up(Call(kind.question, {"questions": [question]}), Say("So be it."))
    console = scenario.open_console()
    client = kind.start(scenario)
    prompt(scenario, client, "Ask me")
    console.answer("Which database?", "2")
    scenario.wait_for(client, "So be it.")
    assert "PostgreSQL" in "\n".join(scenario.model.results)
    assert scenario.states() == [("question", "answered")]


@contextmanager
def human_there(scenario: Scenario) -> Iterator[None]:
    """A human who decides by verbs."""
    team = open_team(str(scenario.team))
    with announce_presence(team):
        yield
    team.close()


def asked(scenario: Scenario) -> dict[str, Any]:
    """The only open request, with its thread, as `show` has it."""
    scenario.wait(lambda: len(open_ones(scenario)) == 1, "request")
    shown: dict[str, Any] = scenario.verb("show", open_ones(scenario)[0])
    return shown


def open_ones(scenario: Scenario) -> list[str]:
    return [row["request_id"] for row in scenario.requests() if row["state"] in ("open", "overdue")]


WORDS = "Two words more:\n\n- 加载器\n- done"
WHY: dict[str, tuple[Sequence[Play], list[str], list[str]]] = {
    "claude": (
        [
            (Say("I look at the loader first."), bash("ls")),
            (bash("cat no-such-file"),),
            (Say(WORDS), bash("pwd"), bash("mkfifo made")),
        ],
        ["ls", "cat no-such-file", "pwd"],
        ["ok", "exit 1"],
    ),
    "codex": (
        [
            (Say("I look at the loader first."), Call("exec_command", {"cmd": "ls"})),
            (Call("exec_command", {"cmd": "cat no-such-file"}),),
            (Say(WORDS), CODEX.command("mkfifo made")),
        ],
        ["ls", "cat no-such-file"],
        ["exit 0", "exit 1"],
    ),
}
"""A client whose transcript is read -> what its model does, what it did before, and how the first two of it ended."""


@pytest.mark.parametrize("kind", WHY, indirect=True)
def test_why_a_client_asks_is_read_of_its_transcript(kind: Kind, set_up: SetUp) -> None:
    turns, subjects, states = WHY["codex" if kind is CODEX else "claude"]
    scenario = set_up(*turns, Say("I leave it."))
    with human_there(scenario):
        client = kind.start(scenario)
        prompt(scenario, client, "Please make the loader ready")
        shown = asked(scenario)
        why = shown["why"]
        assert (why["user"], why["agent"], why["missing"]) == ("Please make the loader ready", WORDS, "")
        assert [call["subject"] for call in why["calls"]] == subjects
        assert [call["state"] for call in why["calls"]][:2] == states
        scenario.verb("reject", shown["request"]["request_id"], "--reason", "Not now")
        scenario.wait_for(client, "I leave it.")


@pytest.mark.parametrize("kind", ["claude", "codex"], indirect=True)
def test_remarks_reach_the_model_with_a_yes_a_no_and_a_question_back(kind: Kind, set_up: SetUp) -> None:
    scenario = set_up(kind.command("mkfifo made"), kind.command("mkfifo again"), Say("I leave it."))
    with human_there(scenario):
        session = kind.start(scenario)
        prompt(scenario, session, "Make it")
        first = asked(scenario)["request"]["request_id"]
        scenario.verb("askback", first, "What is it for?", "--remark", "1:asked of this line")
        scenario.verb("approve", first, "--remark", "1:said with the yes")
        scenario.wait(lambda: open_ones(scenario) not in ([], [first]), "second request")
        assert "Line 1 «mkfifo made»: asked of this line" in scenario.model.told
        assert "Line 1 «mkfifo made»: said with the yes" in scenario.model.told
        scenario.verb("reject", open_ones(scenario)[0], "--remark", "1:said with the no")
        scenario.wait_for(session, "I leave it.")
        assert "said with the no" in "\n".join(scenario.model.results)
