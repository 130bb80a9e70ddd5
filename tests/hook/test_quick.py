"""Most events need nothing, and are known as such before anything heavy is imported."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from team_console.console.__main__ import is_call_of
from team_console.store.backends.open import open_team
from team_console.store.service.waiting import announce_presence

from tests.equipment.command_line import COMMAND, CommandLine
from tests.hook.conftest import Client, Human

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


NEEDLESS = (
    "claude: PostToolUse Bash",
    "claude: PermissionRequest",
    "claude: Notification",
    "claude: PreToolUse Write (plan mode)",
    "codex: PermissionRequest",
)


@pytest.mark.parametrize("name", NEEDLESS)
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


KEYS = ("hook_event_name", "tool_name", "tool_input", "session_id", "cwd", "agent_id", "prompt")
ODD: tuple[Any, ...] = ({}, [], [[]], {"a": 1}, 7, None, True, "", "\ud800", "x" * 10_000)


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: repr(odd)[:20])
@pytest.mark.parametrize(
    "key", ["hook_event_name", "tool_name", "tool_input", "session_id", "cwd", "agent_id", "prompt"]
)
def test_an_event_in_odd_words_is_answered_by_nothing(key: str, odd: Any, client: Client) -> None:
    for name in ("claude: PostToolUse Bash", "claude: PreToolUse auto", "claude: PermissionRequest"):
        heard = client.tell(name, **{key: odd})
        assert (heard.status, heard.out, heard.err) == (0, "", "")


@pytest.mark.parametrize(
    "text", ["", "[]", "7", "null", "{", '{"a": 1, "a": 2}', "[" * 100_000, "\ud800", '{"session_id": 1}']
)
def test_what_is_no_event_is_answered_by_nothing(text: str, client: Client) -> None:
    for words in (("hook",), ("hook", "--wake")):
        done = subprocess.run(
            [*COMMAND, *words],
            input=text.encode("utf-8", "surrogatepass"),
            env=client.environment,
            cwd=client.folder,
            capture_output=True,
            check=False,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_command_is_parsed_only_while_a_console_is_open(client: Client, human: Human) -> None:
    client.tell("claude: SessionStart")
    harmless = {"command": "echo 'git push'"}
    parser = "team_console.console.clients.shell_tree"
    assert parser not in loaded(client, "claude: PreToolUse auto", tool_input=harmless)
    with human.at_console():
        client.tell("claude: SessionStart")
        names = loaded(client, "claude: PreToolUse auto", tool_input=harmless)
    assert parser in names
    assert names & HEAVY == set()


def test_a_session_of_nobody_costs_as_little(client: Client) -> None:
    client.member = ""
    assert "msgspec" not in loaded(client, "claude: SessionStart")


SENT = ("send", "--to", "alice", "--summary", "Stop using the old loader", "--content", "x", "--priority", "high")


def test_whatever_may_concern_the_agent_is_looked_at(client: Client, office: CommandLine) -> None:
    client.tell("claude: SessionStart")
    assert "msgspec" not in loaded(client, "claude: PostToolUse Bash")
    office.ok(*SENT)
    assert "msgspec" in loaded(client, "claude: PostToolUse Bash")


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


def test_an_asker_that_is_gone_is_looked_at(client: Client, human: Human) -> None:
    client.tell("claude: SessionStart")
    with human.at_console():
        hook = client.begin("claude: PermissionRequest")
        human.asked()
        hook.kill()
        hook.wait()
        assert "msgspec" in loaded(client, "claude: PostToolUse Bash")
        assert "msgspec" not in loaded(client, "claude: PostToolUse Bash")
    assert human.ended()["state"] == "withdrawn"


@pytest.mark.parametrize("is_open", [False, True])
def test_an_event_in_a_database_that_needs_nothing_imports_nothing_heavy(
    is_open: bool, client: Client, office: CommandLine, tmp_path: Path
) -> None:
    client.location = str(tmp_path / "team.db")
    office.ok("migrate", str(office.folder), client.location)
    with ExitStack() as stack:
        if is_open:
            team = open_team(client.location)
            stack.callback(team.close)
            stack.enter_context(announce_presence(team))
        for name in ("claude: SessionStart", "claude: Stop"):
            client.tell(name)
            assert "msgspec" not in loaded(client, "claude: PostToolUse Bash")
        office.ok("-t", client.location, "--as", "ceo", *SENT)
        assert "msgspec" in loaded(client, "claude: PostToolUse Bash")
        client.tell("claude: PostToolUse Bash")  # that shows that what was handed over was read
        assert "msgspec" not in loaded(client, "claude: PostToolUse Bash")


def test_settings_that_change_are_noticed(client: Client, human: Human, office: CommandLine) -> None:
    client.tell("claude: SessionStart")
    path = office.folder / "messenger-config.yaml"
    path.write_text(path.read_text() + "wait_for_human: always\n")
    hook = client.begin("claude: PermissionRequest")
    office.ok("approve", human.asked()[0]["request_id"])
    assert client.end(hook).decision == {"behavior": "allow"}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["hook"], True),
        (["-t", "x", "--as", "hook", "hook"], True),
        (["--team=x", "hook", "--wake"], True),
        (["-t", "hook", "status"], False),
        (["send", "--content", "hook"], False),
        (["hook", "--help"], False),
        (["help", "hook"], False),
    ],
)
def test_the_hook_is_told_from_every_other_verb(words: list[str], expected: bool) -> None:
    assert is_call_of("hook", words) is expected
