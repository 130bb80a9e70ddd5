"""Agents of any script behind their clients: the hook, join, the MCP server, instructions, completion."""

from __future__ import annotations

import json
from unicodedata import normalize

import pytest

from tests.equipment.command_line import CommandLine

pytestmark = pytest.mark.slow

NAME, BOSS = "Бухгалтер-é", "老板"
APART = normalize("NFD", NAME)
TEXT = ("--summary", "one two three four five", "--content", "pay the rent")


@pytest.fixture
def team(elsewhere: CommandLine) -> CommandLine:
    elsewhere.ok("init --name '财务团队' --lead", BOSS, "--agent", NAME, "--agent", "हिन्दी")
    return elsewhere


def test_the_hook_hands_mail_to_an_agent_however_its_name_is_spelt(team: CommandLine) -> None:
    event = {"session_id": "s1", "cwd": str(team.folder), "transcript_path": "/t", "permission_mode": "default"}

    def tell(kind: str, **more: object) -> str:
        data = json.dumps({**event, "hook_event_name": kind, **more})
        environment = {"TEAM_CONSOLE_AS": APART, "XDG_STATE_HOME": str(team.folder / "state")}
        return team("hook", stdin=data, env=environment).out

    assert f"You are {NAME}" in tell("SessionStart", source="startup")
    assert tell("Stop", stop_hook_active=False) == ""
    team.ok("--as", BOSS, "send", "--to", NAME, *TEXT)
    assert "pay the rent" in tell("Stop", stop_hook_active=False)


@pytest.mark.parametrize("client", ["claude", "codex"])
def test_an_agent_joins_and_leaves_with_all_it_wrote(team: CommandLine, client: str) -> None:
    place = team.folder / "project"
    place.mkdir()
    environment = {"HOME": str(team.folder / "home"), "XDG_STATE_HOME": str(team.folder / "state")}
    words = ("--as", BOSS, "join", "財務", "--for", client, "--in", str(place))
    assert team(*words, env=environment).status == 0
    assert "財務" in team.ok("member list").out
    assert any(path.is_file() for path in place.rglob("*"))
    assert team("--as", BOSS, "leave", "財務", "--in", str(place), env=environment).status == 0
    assert not list(place.rglob("*"))
    assert "財務" not in team.ok("member list").out
