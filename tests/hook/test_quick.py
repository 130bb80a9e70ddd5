"""Most events need nothing, and cost nothing: known before anything heavy is imported, or by the shell alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from team_console.console.__main__ import is_call_of

from tests.equipment.cases import cases
from tests.equipment.command_line import CommandLine
from tests.hook.conftest import Client, Human
from tests.hook.test_joining import Desk
from tests.hook.test_mail import DENIED

pytestmark = pytest.mark.slow


HEAVY = {"msgspec", "yaml", "asyncio", "argparse", "typing"}
_RUN = """
import sys
before = set(sys.modules)
sys.argv = ["team-console", "hook"]
from team_console.console.__main__ import command
print("LOADED", command(), *sorted(set(sys.modules) - before), file=sys.stderr)
"""


def loaded(client: Client, name: str, **changes: Any) -> set[str]:
    """What the hook imports for an event beyond what every start does."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", _RUN],
        input=json.dumps(client.event(name, **changes)).encode(),
        env=client.environment,
        cwd=client.folder,
        capture_output=True,
        check=True,
    )
    status, *names = done.stderr.decode().partition("LOADED")[2].split()
    assert status == "0"
    return set(names)


@cases
def test_an_event_that_needs_nothing_imports_nothing_heavy(name: str, client: Client) -> None:
    client.tell("claude: SessionStart")
    names = loaded(client, name)
    assert names & HEAVY == set()
    assert [
        module for module in names if module.startswith(("team_console.store.service", "team_console.console.cli."))
    ] == []


START, PROMPT, STOP, END = TURNS = (
    "claude: SessionStart",
    "claude: UserPromptSubmit (plan mode)",
    "claude: Stop",
    "claude: SessionEnd",
)
OTHER = "99999999-2222-3333-4444-555555555555"


def at(client: Client, kind: str, office: CommandLine, folder: Path) -> CommandLine:
    """The command line on the team of the client: as it is in a folder, or moved into a database."""
    if kind == "database":
        client.location = str(folder / "team.db")
        office.ok("migrate", str(office.folder), client.location)
    return office


@pytest.mark.parametrize("kind", ["folder", "database"])
def test_a_session_begins_works_rests_and_ends_without_a_look_at_the_store(
    kind: str, client: Client, office: CommandLine, tmp_path: Path
) -> None:
    at(client, kind, office, tmp_path)
    told = client.tell(START).context
    client.tell(END)
    client.session = OTHER
    for name in TURNS:
        assert loaded(client, name) & HEAVY == set(), name
    assert client.tell(START).context == told
    assert "Your mail comes by itself" in told


@pytest.mark.parametrize("name", [START, STOP])
@pytest.mark.parametrize("kind", ["folder", "database"])
def test_mail_that_waits_is_told_by_every_turn(
    kind: str, name: str, client: Client, office: CommandLine, tmp_path: Path
) -> None:
    place = at(client, kind, office, tmp_path)
    words = ["-t", client.location] if client.location else []
    client.tell(START)
    place.ok(*words, "--as", "ceo", *SENT)
    assert ("Stop using" if name == STOP else "1 message") in client.tell(name).out
    client.session = OTHER
    assert ("Stop using" if name == STOP else "1 message") in client.tell(name).out or name == STOP


def test_a_change_that_a_file_cannot_show_yet_is_looked_for(client: Client, office: CommandLine) -> None:
    """File systems that count whole seconds: two changes within one bear the same time."""
    queue = office.folder / "message-queue.yaml"
    client.tell(START)
    moment = int(time.time())
    os.utime(queue, (moment, moment))
    client.tell(START)
    assert "msgspec" in loaded(client, PROMPT)
    os.utime(queue, (moment - 60, moment - 60))
    client.tell(START)
    assert "msgspec" not in loaded(client, PROMPT)


SENT = ("send", "--to", "alice", "--summary", "Stop using the old loader", "--content", "x", "--priority", "high")


def test_what_others_did_without_the_lock_is_looked_at(client: Client, office: CommandLine) -> None:
    client.tell("claude: SessionStart")
    queue = office.folder / "message-queue.yaml"
    queue.write_text(queue.read_text() + "\n")
    assert "msgspec" in loaded(client, "claude: PostToolUse Bash")
    client.tell("claude: SessionStart")
    assert "msgspec" not in loaded(client, "claude: PostToolUse Bash")
    (office.folder / "drop").mkdir(exist_ok=True)
    (office.folder / "drop" / "note.yaml").write_text("type: message\nfrom: ben\nto: alice\npayload: {content: x}\n")
    assert "msgspec" in loaded(client, "claude: PostToolUse Bash")


@cases
def test_the_hook_is_told_from_every_other_verb(words: list[str], expected: bool) -> None:
    assert is_call_of("hook", words) is expected


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


def test_settings_that_are_copied_back_with_an_older_date_are_looked_at(desk: Desk) -> None:
    settings = desk.team.folder / "messenger-config.yaml"
    settings.write_text(f"{settings.read_text()}wait_for_human: always\n")
    os.utime(settings, (1_000_000_000, 1_000_000_000))
    assert before_tool(desk, tool_input={"command": "ls"})[1]


def test_a_call_that_is_allowed_once_passes_without_a_console(desk: Desk) -> None:
    run(desk, "PermissionDenied", **{key: value for key, value in DENIED.items() if key != "hook_event_name"})
    (request,) = desk.ok("requests", "--open")["requests"]
    desk.ok("approve", request["request_id"])
    assert "It is allowed once" in run(desk, "Stop")[0]
    tried = {key: DENIED[key] for key in ("tool_name", "tool_input", "tool_use_id")}
    said, _ = run(desk, "PreToolUse", **tried)
    assert json.loads(said)["hookSpecificOutput"]["permissionDecision"] == "allow"
