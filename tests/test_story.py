"""The whole story on real files: an agent's plan, the human's no with a reason, the revised plan, the yes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.equipment.command_line import COMMAND, CommandLine, clean_environment
from tests.equipment.terminal import Terminal
from tests.hook.conftest import CAPTURED
from tests.readme import README

pytestmark = pytest.mark.slow

REASON = "Say how to roll it back"
FIRST, SECOND = "Split the report generator in two", "Split it and keep a way back"


def submit(agent: CommandLine, title: str) -> str:
    """Hand in a plan as the agent's process does; the request id it prints."""
    words = ("--as", "task-manager", "plan", "--summary", title, "--content", f"# {title}\n\n1. Do it\n2. Prove it")
    return agent.ok(*words).out.strip()


def decided(team: CommandLine, console: Terminal, title: str, key: str, words: str, done: str) -> tuple[str, Any]:
    """Hand in a plan, decide it by keys, and return its request id and what the agent's waiting process was told."""
    wanted = ("receive", "--agent", "task-manager", "--type", "plan_approval_response", "--wait", "30", "--json")
    with team.running(*wanted) as waiting:
        request = submit(team, title)
        console.wait_for(title)
        console.settle(1.0)
        console.send(key)
        console.wait_for(f"{done} the plan of task-manager", f"enter {done.lower()}")
        console.send(words + "\r")
        console.wait_for(f"{done.rstrip('e')}ed the plan of task-manager")
        out, _ = waiting.communicate(timeout=40)
    [message] = json.loads(out)["messages"]
    return request, message["payload"]


def records(path: Path) -> list[dict[str, Any]]:
    """The records of a queue or archive by a loader that is not ours."""
    found = yaml.safe_load(path.read_text(encoding="utf-8"))["messages"]
    assert isinstance(found, list)
    return found


def test_a_plan_is_rejected_revised_and_approved_from_the_keyboard(team: CommandLine) -> None:
    with Terminal([*COMMAND, "-t", str(team.folder)], cwd=team.folder) as console:
        console.wait_for("●")
        first, no = decided(team, console, FIRST, "r", REASON, "Reject")
        second, yes = decided(team, console, SECOND, "a", "", "Approve")
        console.send("q")
        assert console.wait_exit() == 0
    assert (no["request_id"], no["approve"], REASON in no["content"]) == (first, False, True)
    assert (yes["request_id"], yes["approve"], first != second) == (second, True, True)
    assert_agreement(team.folder, first, second)


def assert_agreement(folder: Path, first: str, second: str) -> None:
    """Queue, archives and audit tell one story."""
    queue = records(folder / "message-queue.yaml")
    asked, told = (records(folder / "archive" / f"{name}-archive.yaml") for name in ("ceo", "task-manager"))
    assert queue == [asked[0], told[0], asked[1], told[1]]
    assert [item["payload"]["request_id"] for item in queue] == [first, first, second, second]
    assert [item["payload"].get("approve") for item in queue] == [None, False, None, True]
    assert {item["status"] for item in queue} == {"read"}
    audit = [json.loads(line) for line in (folder / "audit.jsonl").read_text(encoding="utf-8").splitlines()]
    decided = [line for line in audit if "kind" in line["facts"]]
    assert [(line["actor"], line["action"]) for line in decided] == [("ceo", "reject"), ("ceo", "approve")]
    assert [line["facts"]["request_id"] for line in decided] == [first, second]
    received = [line["facts"]["ids"] for line in audit if line["action"] == "receive"]
    assert received == [[message["message_id"]] for message in told]


def test_the_line_of_the_readme_joins_a_client_whose_request_is_answered(elsewhere: CommandLine) -> None:
    """Nothing but what README says, then the client's event as its settings have it, and two keys."""
    [line] = re.findall(r"^team-console join helper --for claude$", README.read_text(encoding="utf-8"), re.M)
    folder = elsewhere.folder
    environment = clean_environment(
        HOME=str(folder), PATH=f"{Path(sys.executable).parent}:{os.environ['PATH']}", XDG_STATE_HOME=""
    )
    subprocess.run(["sh", "-c", line], cwd=folder, env=environment, capture_output=True, timeout=60, check=True)
    hooks = json.loads((folder / ".claude" / "settings.json").read_text())["hooks"]
    [hook] = hooks["PermissionRequest"][0]["hooks"]
    event = {**CAPTURED["claude: PermissionRequest"], "cwd": str(folder)}
    with Terminal([*COMMAND], cwd=folder, env={"HOME": str(folder), "XDG_STATE_HOME": ""}) as console:
        console.wait_for("●")
        command = ["sh", "-c", hook["command"]]
        with subprocess.Popen(
            command, cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as asking:
            assert asking.stdin is not None
            asking.stdin.write(json.dumps(event).encode())
            asking.stdin.close()
            asking.stdin = None
            console.wait_for("Permission · helper")
            console.settle(1.0)
            console.send("a")
            console.wait_for("shown ")  # the form says what of the request was on the screen
            console.settle(1.0)
            console.send("\r")
            heard, _ = asking.communicate(timeout=60)
        console.send("q")
        assert console.wait_exit() == 0
    assert json.loads(heard)["hookSpecificOutput"]["decision"]["behavior"] == "allow"
