"""The eleven steps of a temporary agent's life, each step a process of its own, and what the screens say of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.equipment.command_line import CommandLine
from tests.protocol.conftest import SPRINT_BODIES

pytestmark = pytest.mark.slow

BODIES: dict[str, dict[str, Any]] = {body["msg_type"]: body for body in SPRINT_BODIES}
RESIDENTS = ("scrum-master", "knowledge-researcher", "debugger")
SLAVE, AGENT = "slave-batch-1", "story-creator-1"


@pytest.fixture
def sprint(make_team: Callable[..., CommandLine]) -> CommandLine:
    return make_team(*(f"{name}:resident" for name in RESIDENTS), f"{SLAVE}:slave")


def send(team: CommandLine, actor: str, to: str, kind: str, **body: Any) -> dict[str, Any]:
    """A sprint message given by its kind and body."""
    payload = json.dumps({key: value for key, value in body.items() if key != "msg_type"})
    options = ("--to", to, "--type", kind, "--summary", "A sprint message of five words", "--payload", payload)
    reply: dict[str, Any] = team.ok("--as", actor, "send", *options, "--json").json
    return reply


def inbox(team: CommandLine, name: str) -> list[str]:
    """The names before the colon, or the types, of what waits for an agent; taken."""
    messages = team.ok("receive", "--agent", name, "--json").json["messages"]
    return [
        message["payload"]["content"].partition(":")[0] if message["type"] == "message" else message["type"]
        for message in messages
    ]


def test_an_agent_lives_through_its_eleven_steps_without_a_departure(sprint: CommandLine) -> None:
    asked = send(sprint, SLAVE, "ceo", "AGENT_CREATE_REQUEST", **BODIES["AGENT_CREATE_REQUEST"])
    sprint.ok("approve", asked["message_id"])
    assert inbox(sprint, SLAVE) == ["AGENT_CREATED"]
    assert [inbox(sprint, name) for name in RESIDENTS] == [["AGENT_ROSTER_BROADCAST"]] * 3
    roles = {row["name"]: row["role"] for row in sprint.ok("roster", "--json").json["agents"]}
    assert roles[AGENT] == "temp"

    contacts = {name: name for name in RESIDENTS[1:]}
    send(sprint, SLAVE, AGENT, "TASK_ASSIGNMENT", **{**BODIES["TASK_ASSIGNMENT"], "resident_contacts": contacts})
    assert inbox(sprint, AGENT) == ["TASK_ASSIGNMENT"]
    send(sprint, AGENT, SLAVE, "AGENT_COMPLETE", status="success", results={"story": "3-1"})
    assert inbox(sprint, SLAVE) == ["AGENT_COMPLETE"]

    ended = send(sprint, SLAVE, "ceo", "AGENT_DESTROY_REQUEST", agent_name=AGENT)
    sprint.ok("approve", ended["message_id"])
    assert inbox(sprint, SLAVE) == []
    rows = {row["kind"]: row for row in sprint.ok("requests", "--json").json["requests"]}
    sprint.ok("--as", AGENT, "approve", rows["shutdown"]["request_id"])
    assert inbox(sprint, SLAVE) == ["AGENT_DESTROYED"]
    assert [inbox(sprint, name) for name in RESIDENTS] == [["AGENT_ROSTER_BROADCAST"]] * 3

    rows = {row["kind"]: row for row in sprint.ok("requests", "--json").json["requests"]}
    assert {kind: row["state"] for kind, row in rows.items()} == {
        "create": "approved",
        "destroy": "approved",
        "shutdown": "approved",
    }
    assert sprint.ok("check", "--json").json["findings"] == []
