"""The roster tells what sessions do: members, and teammates under their own names while their session goes on."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.equipment.command_line import CommandLine
from tests.hook.conftest import Client

pytestmark = pytest.mark.slow


def rows(office: CommandLine) -> dict[str, Any]:
    """The roster by name."""
    return {row["name"]: row for row in office.ok("roster --json").json["agents"]}


def test_a_note_of_a_session_brings_nobody_along(client: Client, office: CommandLine) -> None:
    """Whoever can write beside the messages makes no members by it, and odd notes say nothing."""
    client.tell("claude: SessionStart")
    (path,) = (office.folder / "presence").glob("session-*")
    note = json.loads(path.read_text())
    path.write_text(json.dumps({**note, "agent": "mallory", "state": "working"}))
    for number, odd in enumerate(
        ("", "[]", "{", '{"member": "../x"}', '{"member": "ben", "session": 1}', "9" * 70_000)
    ):
        (office.folder / "presence" / f"session-{number}").write_text(odd)
    (office.folder / "presence" / "session-link").symlink_to("/dev/zero")
    assert rows(office)["alice"]["state"] == "active"
    assert rows(office).keys() == {"ceo", "alice", "ben"}
    assert office("send --to mallory --summary x --content x").status == 1
