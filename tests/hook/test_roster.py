"""The roster tells what sessions do: members, and teammates under their own names while their session goes on."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.equipment.command_line import CommandLine
from tests.hook.conftest import Client, Human

pytestmark = pytest.mark.slow

MATE = "file-manager"


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


def test_a_teammate_never_acts_as_a_member(client: Client, human: Human, office: CommandLine) -> None:
    """A teammate that bears the name of a member is not that member."""
    with human.at_console():
        hook = client.begin(
            "claude: PermissionRequest Bash (teammate)", agent_type="ben", agent_id="aben-0123456789abcdef"
        )
        (request,) = human.asked()
        assert request["from"] == "alice.ben"
        client.escape(hook)


def test_nobody_but_a_member_brings_anybody_along(client: Client, office: CommandLine) -> None:
    forged = '{"session": "s", "state": "working", "agent": "mallory"}'
    queue = office.folder / "message-queue.yaml"
    queue.write_text(
        "messages:\n- message_id: M-1\n  type: session_state\n  from: stranger\n  to: stranger\n"
        f"  created: '2026-02-24T10:30:15.123Z'\n  status: read\n  payload: {forged}\n"
    )
    assert "mallory" not in rows(office)
    assert office("send --to mallory --summary x --content x").status == 1


def test_notes_wait_in_no_inbox_and_stay_as_long_as_they_count(client: Client, office: CommandLine) -> None:
    client.tell("claude: SubagentStart (teammate)")
    client.tell("claude: Stop")
    for name in ("alice", "ceo"):
        assert office.ok("inbox", name, "--json").json["count"] == 0
    path = office.folder / "messenger-config.yaml"
    path.write_text(path.read_text() + "retention: {active_messages_max: 1}\n")
    for number in range(4):
        office.ok("send --to ben --summary", f"Something to read number {number}", "--content", "x")
        office.ok("receive --agent ben")
    assert rows(office)[MATE]["role"] == "temp"
    assert rows(office)["alice"]["state"] == "idle"
    assert "session_state" in (office.folder / "message-queue.yaml").read_text(), "archives alone hold them"
