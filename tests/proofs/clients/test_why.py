"""Why a real client asks, and what its model is told of it: the transcript read at the moment of asking."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from team_console.store.backends.open import open_team
from team_console.store.service.waiting import announce_presence

from tests.equipment.terminal import Terminal
from tests.proofs.clients.conftest import SetUp
from tests.proofs.clients.scenario import Scenario, prompt
from tests.proofs.clients.test_claude_permissions import bash
from tests.proofs.clients.test_claude_permissions import started as start_claude
from tests.proofs.clients.test_codex import command
from tests.proofs.clients.test_codex import started as start_codex
from tests.proofs.clients.turns import Call, Say


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


@pytest.mark.usefixtures("claude")
def test_claude_code_says_why_it_asks(set_up: SetUp) -> None:
    turns = [
        (Say("I look at the loader first."), bash("ls")),
        (bash("cat no-such-file"),),
        (Say("Two words more:\n\n- 加载器\n- done"), bash("pwd"), bash("mkfifo made")),
        (Say("I leave it."),),
    ]
    scenario = set_up({"": turns})
    with human_there(scenario):
        client = start_claude(scenario)
        prompt(scenario, client, "Please make the loader ready")
        shown = asked(scenario)
        why = shown["why"]
        assert why["user"] == "Please make the loader ready"
        assert why["agent"] == "Two words more:\n\n- 加载器\n- done"
        calls = [(call["tool"], call["subject"], call["state"]) for call in why["calls"]]
        assert calls[:2] == [("Bash", "ls", "ok"), ("Bash", "cat no-such-file", "exit 1")]
        assert [call[:2] for call in calls[2:]] == [("Bash", "pwd")]
        assert why["missing"] == ""
        scenario.verb("reject", shown["request"]["request_id"], "--reason", "Not now")
        scenario.wait_for(client, "I leave it.")


@pytest.mark.usefixtures("codex")
def test_codex_says_why_it_asks(set_up: SetUp) -> None:
    turns = [
        (Say("I look at the loader first."), Call("exec_command", {"cmd": "ls"})),
        (Call("exec_command", {"cmd": "cat no-such-file"}),),
        (Say("Now the pipe."), command("mkfifo made")),
        (Say("I leave it."),),
    ]
    scenario = set_up({"": turns})
    with human_there(scenario):
        client = start_codex(scenario)
        prompt(scenario, client, "Please make the loader ready")
        shown = asked(scenario)
        why = shown["why"]
        assert (why["user"], why["agent"]) == ("Please make the loader ready", "Now the pipe.")
        calls = [(call["subject"], call["state"]) for call in why["calls"]]
        assert calls == [("ls", "exit 0"), ("cat no-such-file", "exit 1")]
        scenario.verb("reject", shown["request"]["request_id"], "--reason", "Not now")
        scenario.wait_for(client, "I leave it.")


@pytest.mark.parametrize(
    ("client", "start", "ask"),
    [("claude", start_claude, bash), ("codex", start_codex, command)],
    ids=["claude", "codex"],
)
def test_remarks_reach_the_model_with_a_yes_a_no_and_a_question_back(
    client: str, start: Callable[[Scenario], Terminal], ask: Callable[[str], Call], request: Any, set_up: SetUp
) -> None:
    request.getfixturevalue(client)
    scenario = set_up({"": [(ask("mkfifo made"),), (ask("mkfifo again"),), (Say("I leave it."),)]})
    with human_there(scenario):
        session = start(scenario)
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
