"""Sessions that join at once: each is a member of its own, whoever starts it and however many are in one project."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.equipment.command_line import COMMAND, CommandLine
from tests.hook.conftest import CAPTURED
from tests.hook.test_joining import Desk

pytestmark = pytest.mark.slow

START, STOP, END = "claude: SessionStart", "claude: Stop", "claude: SessionEnd"
MINE, OTHER = "aaaaaaaa-1", "bbbbbbbb-2"


@pytest.fixture
def desk(office: CommandLine, tmp_path: Path) -> Desk:
    return Desk(office, tmp_path)


def commands(desk: Desk, path: str, event: str) -> list[str]:
    """What a client is told to run for an event."""
    hooks = json.loads((desk.home / path).read_text())["hooks"][event]
    return [hook["command"] for entry in hooks for hook in entry["hooks"]]


SETTINGS = ".claude/settings.json"


def tell(desk: Desk, name: str, session: str, **changes: Any) -> str:
    """Run the hook of a session as the client does."""
    event = {**CAPTURED[name], "session_id": session, "cwd": str(desk.project), "transcript_path": "", **changes}
    environment = {"PATH": os.environ["PATH"], "CLAUDE_CODE_SESSION_ID": session, **desk.environment}
    command = commands(desk, SETTINGS, event["hook_event_name"])[0]
    done = subprocess.run(
        ["/bin/sh", "-c", command], input=json.dumps(event), capture_output=True, text=True, env=environment, check=True
    )
    return done.stdout


def title(said: str) -> str:
    return str(json.loads(said)["hookSpecificOutput"]["sessionTitle"])


def test_two_sessions_in_one_project_are_two_members_with_mail_of_their_own(desk: Desk) -> None:
    desk.ok("join", "--all")
    assert title(tell(desk, START, MINE)) == "project-1"
    assert title(tell(desk, START, OTHER)) == "project-2"
    names = {member["name"] for member in desk.team.ok("member", "list", "--json").json["members"]}
    assert {"project-1", "project-2"} <= names
    for name in ("project-1", "project-2"):
        desk.team.ok("send", "--to", name, "--summary", f"For {name} alone to read now", "--content", f"Only {name}.")
    assert "Only project-2." in tell(desk, STOP, OTHER)
    told = tell(desk, STOP, MINE)
    assert ("Only project-1." in told, "Only project-2." in told) == (True, False)
    tell(desk, END, MINE)
    assert title(tell(desk, START, "cccccccc-3")) == "project-1"  # nobody has it any more
    desk.ok("leave", "--all")
    assert {member["name"] for member in desk.team.ok("member", "list", "--json").json["members"]} < names


def test_a_session_that_goes_on_for_weeks_keeps_its_name(desk: Desk) -> None:
    desk.ok("join", "--all")
    tell(desk, START, MINE)
    (name,) = (desk.home.parent / "state" / "team-console" / "named").glob(f"{MINE}*")
    os.utime(name, (0, 0))
    assert title(tell(desk, START, OTHER)) == "project-2"
    assert title(tell(desk, START, MINE)) == "project-1"


def test_a_project_that_has_a_member_of_its_own_keeps_it(desk: Desk) -> None:
    desk.ok("join", "--all")
    desk.ok("join", "alice", "--for", "claude")
    assert tell(desk, START, MINE) == ""
    refused = desk("join", "alice", "--for", "claude", "--user", "--json").json
    assert (refused["error"], "leave --all" in refused["hint"]) == ("NOT_PERMITTED", True)


# What would take a gate away, and plugins that can.


def changed(desk: Desk, path: Path) -> Any:
    """What the hook of a session in the project says to a change of its settings."""
    event = {**CAPTURED["claude: ConfigChange"], "session_id": MINE, "cwd": str(desk.project), "file_path": str(path)}
    environment = {**os.environ, "TEAM_CONSOLE_AS": "alice", **desk.environment}
    words = [*COMMAND, "-t", str(desk.team.folder), "hook"]
    done = subprocess.run(words, input=json.dumps(event), capture_output=True, text=True, env=environment, check=True)
    return json.loads(done.stdout) if done.stdout else None


def codes(desk: Desk) -> list[str]:
    """The findings on joins."""
    found = desk("check", "--json").json["findings"]
    return [finding["code"] for finding in found if finding["code"] in ("UNHOOKED", "PLUGIN_MODULES")]


@pytest.mark.parametrize("harm", ["emptied", "hooks", "one hook"])
def test_unhooking_is_refused_and_told(harm: str, desk: Desk) -> None:
    desk.ok("join", "alice", "--for", "claude")
    path = desk.project / ".claude" / "settings.json"
    assert (changed(desk, path), codes(desk)) == (None, [])
    settings = json.loads(path.read_text())
    if harm == "hooks":
        del settings["hooks"]
    elif harm == "one hook":
        settings["hooks"]["PermissionRequest"] = []
    path.write_text("{}" if harm == "emptied" else json.dumps(settings))
    for _ in range(2):
        assert changed(desk, path)["decision"] == "block"
    (row,) = desk.team.ok("status", "--json").json["needs"]
    assert (row["who"], str(path) in row["title"]) == ("alice", True)
    assert codes(desk) == ["UNHOOKED"]
    desk.ok("join", "alice", "--for", "claude")
    assert (changed(desk, path), codes(desk)) == (None, [])
    desk.ok("leave", "alice")
    assert (changed(desk, path), codes(desk)) == (None, [])  # taken out by a human
