"""Acting as somebody: an agent's environment binds its process, and off a terminal whoever decides is named (D24)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.equipment.command_line import COMMAND, CommandLine, clean_environment, template
from tests.equipment.terminal import Terminal

pytestmark = pytest.mark.slow

SUMMARY = ("--summary", "one two three four five", "--content", "c")
AGENT = {"TEAM_CONSOLE_AS": "task-manager"}


def plan(team: CommandLine) -> str:
    return team.ok("--as", "task-manager", "plan", *SUMMARY).out.strip()


@pytest.mark.parametrize("human", ["ceo", "user"])
@pytest.mark.parametrize("verb", [("approve",), ("reject", "--reason", "no"), ("answer", "--content", "c")])
def test_an_agent_does_not_rise_to_a_human(team: CommandLine, human: str, verb: tuple[str, ...]) -> None:
    request = plan(team)
    refused = team("--as", human, verb[0], request, *verb[1:], "--json", env=AGENT)
    assert (refused.status, refused.json["error"]) == (1, "ACTOR_BOUND")
    assert "task-manager" in refused.json["message"]
    (row,) = team.ok("requests", "--json").json["requests"]
    assert row["state"] == "open"


@pytest.mark.parametrize("human", ["ceo", "user"])
def test_an_agent_takes_no_mail_of_a_human(team: CommandLine, human: str) -> None:
    """What it marked as read would no longer wait for the human."""
    sent = team.ok("send", "--to", human, *SUMMARY, "--json").json["message_id"]
    for way in ((), ("--lease", "60"), ("--wait", "0"), ("--delivered",)):
        refused = team("receive", "--agent", human, *way, "--json", env=AGENT)
        assert (refused.status, refused.json["error"]) == (1, "ACTOR_BOUND")
    looked = team("receive", "--agent", human, "--peek", "--json", env=AGENT).json
    assert [(message["message_id"], message["status"]) for message in looked["messages"]] == [(sent, "pending")]
    assert team("receive", "--agent", human, "--json", env={"TEAM_CONSOLE_AS": "ceo"}).json["count"] == 1


def test_an_agent_may_act_as_another_agent_and_a_human_as_anybody(team: CommandLine) -> None:
    words = ("send", "--to", "file-manager", *SUMMARY, "--json")
    assert team("--as", "schedule-manager", *words, env=AGENT).json["sender"] == "schedule-manager"
    assert team("--as", "task-manager", *words, env={"TEAM_CONSOLE_AS": "ceo"}).json["sender"] == "task-manager"


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
