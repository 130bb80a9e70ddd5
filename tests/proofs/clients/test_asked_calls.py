"""Every call of a list by a real Claude Code in auto mode: those that the team wants to be asked for, and no other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.proofs.clients.conftest import SetUp
from tests.proofs.clients.kinds import join_claude
from tests.proofs.clients.turns import Call, Play, Say

pytestmark = pytest.mark.usefixtures("claude")
CALLS = Path(__file__).parent / "data" / "asked_calls.json"


def test_what_is_on_the_list_is_asked_for_and_nothing_else(set_up: SetUp, tmp_path: Path) -> None:
    project = tmp_path / "project"
    calls: list[dict[str, Any]] = json.loads(CALLS.read_text("utf-8").replace("PROJECT", str(project)))
    turns: list[Play] = [Call(call["tool"], call["input"]) for call in calls]
    scenario = set_up(*turns, Say("That is all."))
    scenario.open_console()
    claude = join_claude(scenario, ask_for="team")
    run = scenario.watch(claude.start("-p", "Do all of it"))

    def goes_on() -> bool:
        for request in scenario.verb("requests", "--open")["requests"]:
            scenario.verb("reject", request["request_id"], "--reason", "Not now")
        return "That is all." in run.text

    scenario.wait(goes_on, "end of the list", seconds=400.0)
    asked = []
    for request in scenario.requests():
        payload = scenario.verb("show", request["message_id"])["message"]["payload"]
        asked.append((payload["tool"], payload["input"]))
    wanted = [(call["tool"], call["input"]) for call in calls if call["rule"]]
    assert sorted(asked, key=str) == sorted(wanted, key=str)
