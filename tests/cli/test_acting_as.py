"""Acting as somebody: an agent's environment binds its process, and off a terminal whoever decides is named (D24)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.equipment.cases import cases
from tests.equipment.command_line import COMMAND, CommandLine, clean_environment, template
from tests.equipment.terminal import Terminal

pytestmark = pytest.mark.slow

SUMMARY = ("--summary", "one two three four five", "--content", "c")
AGENT = {"TEAM_CONSOLE_AS": "task-manager"}


def plan(team: CommandLine) -> str:
    return team.ok("--as", "task-manager", "plan", *SUMMARY).out.strip()


@pytest.mark.parametrize("human", ["ceo", "user"])
@cases
def test_an_agent_does_not_rise_to_a_human(team: CommandLine, human: str, verb: tuple[str, ...]) -> None:
    request = plan(team)
    refused = team("--as", human, verb[0], request, *verb[1:], "--json", env=AGENT)
    assert (refused.status, refused.json["error"]) == (1, "ACTOR_BOUND")
    assert "task-manager" in refused.json["message"]
    (row,) = team.ok("requests", "--json").json["requests"]
    assert row["state"] == "open"


def unnamed(folder: Path, *words: str) -> tuple[int, str]:
    status, out, _ = template().run(words, data=b"", folder=folder, environment=clean_environment(), timeout=30.0)
    return status, out.decode()


def test_off_a_terminal_whoever_decides_is_named(team: CommandLine) -> None:
    request = plan(team)
    for words in (("approve", request), ("reject", request, "--reason", "no"), ("shutdown", "file-manager")):
        status, out = unnamed(team.folder, *words, "--json")
        assert (status, "ACTOR_UNNAMED" in out) == (1, True)
    assert unnamed(team.folder, "--as", "ceo", "approve", request)[0] == 0


def test_at_a_terminal_the_lead_need_not_be_named(team: CommandLine) -> None:
    with Terminal([*COMMAND, "approve", plan(team)], cwd=team.folder) as terminal:
        assert terminal.wait_exit() == 0, terminal.text
