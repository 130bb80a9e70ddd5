"""Why a real client asks, and what its model is told of it: the transcript read at the moment of asking."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from team_console.store.backends.open import open_team
from team_console.store.service.waiting import announce_presence

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
        (Say("Two words more:\n\n- 加载器\n- done"), Call("Read", {"file_path": "/etc/hostname"}), bash("mkfifo made")),
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
        assert calls[2][:2] == ("Read", "/etc/hostname")
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
