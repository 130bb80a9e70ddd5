"""Most events need nothing, and cost nothing: known before anything heavy is imported, or by the shell alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from team_console.console.__main__ import verb_of

from tests.equipment.cases import cases
from tests.equipment.command_line import CommandLine
from tests.hook.conftest import Client

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
    assert (verb_of(words) == "hook") is expected
