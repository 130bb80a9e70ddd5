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
    return {row["name"]: row for row in office.ok("roster", "--json").json["agents"]}


def test_a_session_works_rests_and_ends(client: Client, office: CommandLine) -> None:
    assert rows(office)["alice"]["state"] == "unknown"
    started = client.tell("claude: SessionStart")
    assert "You are alice" in started.context
    assert rows(office)["alice"]["state"] == "idle"
    client.tell("claude: UserPromptSubmit (plan mode)")
    assert (rows(office)["alice"]["state"], rows(office)["alice"]["reason"]) == (
        "active",
        "works in a claude-code session, in plan mode",
    )
    row = rows(office)["alice"]
    assert (row["source"], row["mode"]) == ("hook", "plan")
    client.tell("claude: Stop", permission_mode="bypassPermissions")
    assert rows(office)["alice"]["reason"] == "rests in a claude-code session, asks nobody"
    client.tell(
        "claude: Stop", permission_mode="default", last_assistant_message="The loader is split.\nTests are green."
    )
    assert (rows(office)["alice"]["state"], rows(office)["alice"]["reported"]) == ("idle", "The loader is split.")
    client.tell("claude: SessionEnd")
    assert (rows(office)["alice"]["state"], rows(office)["alice"]["reason"]) == ("stopped", "its session has ended")
    client.tell("claude: SessionStart")
    assert rows(office)["alice"]["state"] == "idle"


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
    assert office("send", "--to", "mallory", "--summary", "x", "--content", "x").status == 1


def test_a_teammate_is_a_temporary_member_under_its_own_name(client: Client, office: CommandLine) -> None:
    client.tell("claude: UserPromptSubmit (plan mode)")
    client.tell("claude: SubagentStart (teammate)")
    assert (rows(office)[MATE]["role"], rows(office)[MATE]["state"]) == ("temp", "active")
    office.ok("send", "--to", MATE, "--summary", "Keep the old files for now", "--content", "x")
    office.ok("receive", "--agent", MATE)
    client.tell("claude: SubagentStop (teammate)")
    mate = rows(office)[MATE]
    assert (mate["state"], mate["reported"]) == ("idle", "mate idle")
    before = (office.folder / "audit.jsonl").read_bytes()
    client.tell("claude: TeammateIdle")
    assert (office.folder / "audit.jsonl").read_bytes() == before
    client.tell("claude: SessionEnd")
    assert MATE not in {name for name, row in rows(office).items() if row["state"] not in ("stopped",)}
    assert office("send", "--to", "nobody-else", "--summary", "x", "--content", "x").status == 1


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
    assert office("send", "--to", "mallory", "--summary", "x", "--content", "x").status == 1


def test_notes_wait_in_no_inbox_and_stay_as_long_as_they_count(client: Client, office: CommandLine) -> None:
    client.tell("claude: SubagentStart (teammate)")
    client.tell("claude: Stop")
    for name in ("alice", "ceo"):
        assert office.ok("inbox", name, "--json").json["count"] == 0
    path = office.folder / "messenger-config.yaml"
    path.write_text(path.read_text() + "retention: {active_messages_max: 1}\n")
    for number in range(4):
        office.ok("send", "--to", "ben", "--summary", f"Something to read number {number}", "--content", "x")
        office.ok("receive", "--agent", "ben")
    assert rows(office)[MATE]["role"] == "temp"
    assert rows(office)["alice"]["state"] == "idle"
    assert "session_state" in (office.folder / "message-queue.yaml").read_text(), "archives alone hold them"
