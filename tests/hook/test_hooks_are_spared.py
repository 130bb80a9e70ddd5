"""Before each tool a client runs our line in a shell, which starts nothing where nobody would be asked."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.equipment.command_line import CommandLine
from tests.hook.conftest import Human
from tests.hook.test_joining import Desk
from tests.hook.test_mail import DENIED

pytestmark = pytest.mark.slow
PUSH: dict[str, Any] = {
    "tool_name": "Bash",
    "tool_input": {"command": "git push", "description": "x"},
    "tool_use_id": "toolu_1",
}
NUMBERS: Iterator[int] = count(1)


@pytest.fixture
def desk(office: CommandLine, tmp_path: Path) -> Desk:
    """A project in which `alice` joined, and once had a session; its team's folder has a name that a shell minds."""
    strange = tmp_path / "a team of 'ours' and $more"
    office.folder.rename(strange)
    desk = Desk(CommandLine(strange), tmp_path)
    desk.ok("join", "alice", "--for", "claude")
    run(desk, "SessionStart")
    return desk


def run(desk: Desk, event: str, session: str = "11111111-2222", **more: Any) -> tuple[str, bool]:
    """What the client's own line says to an event, and whether it started our program at all."""
    settings = json.loads((desk.project / ".claude" / "settings.json").read_text())
    line = settings["hooks"][event][0]["hooks"][0]["command"]
    data = {"hook_event_name": event, "session_id": session, "cwd": str(desk.project), **more}
    ours = {key: os.environ[key] for key in ("PATH", "PYTHONPATH") if key in os.environ}
    environment = {**ours, "CLAUDE_CODE_SESSION_ATTENDED": "1", **desk.environment}
    shell = ["/bin/sh", "-c", line]
    done = subprocess.run(shell, input=json.dumps(data), capture_output=True, text=True, env=environment, check=True)
    assert done.stderr == ""
    records = Path(desk.environment["XDG_STATE_HOME"]) / "team-console" / "runs"
    return done.stdout, any(path.name.endswith(f"-{session}.jsonl") for path in records.iterdir())


def before_tool(desk: Desk, **more: Any) -> tuple[str, bool]:
    """The same before a tool, in a session of its own: its first event puts it on record."""
    return run(desk, "PreToolUse", f"{next(NUMBERS):08}-3333", **{**PUSH, **more})


def test_nothing_is_started_while_no_console_is_open(desk: Desk) -> None:
    assert before_tool(desk) == ("", False)
    with Human(desk.team).at_console():
        said, was_started = before_tool(desk)
        assert was_started
        assert json.loads(said)["hookSpecificOutput"]["permissionDecision"] == "ask"
    assert before_tool(desk) == ("", False)


def test_a_console_that_was_killed_and_settings_that_changed_are_looked_at(desk: Desk) -> None:
    left = desk.team.folder / "presence" / "console-0123456789abcdef01234567"
    left.write_text("")
    assert before_tool(desk) == ("", True)
    left.unlink()
    settings = desk.team.folder / "messenger-config.yaml"
    settings.write_text(f"{settings.read_text()}wait_for_human: always\n")
    assert before_tool(desk, tool_input={"command": "ls"})[1]
    run(desk, "PostToolUse", **{**PUSH, "tool_response": ""})
    assert before_tool(desk, tool_input={"command": "ls"})[1]


def test_a_call_that_is_allowed_once_passes_without_a_console(desk: Desk) -> None:
    run(desk, "PermissionDenied", **{key: value for key, value in DENIED.items() if key != "hook_event_name"})
    (request,) = desk.ok("requests", "--open")["requests"]
    desk.ok("approve", request["request_id"])
    assert "It is allowed once" in run(desk, "Stop")[0]
    tried = {key: DENIED[key] for key in ("tool_name", "tool_input", "tool_use_id")}
    said, _ = run(desk, "PreToolUse", **tried)
    assert json.loads(said)["hookSpecificOutput"]["permissionDecision"] == "allow"
