"""Urgent is another word for critical, whoever writes it and wherever."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from team_console.store.api import join_team

from tests.equipment.command_line import CommandLine

ROUTED = {
    "ACTION": "send",
    "SENDER": "schedule-manager",
    "RECIPIENT": "file-manager",
    "MESSAGE_TYPE": "message",
    "PAYLOAD": {"content": "Stop using the old loader", "summary": "Stop using the old loader", "priority": "urgent"},
}


def by_verb(team: CommandLine) -> None:
    """The command line."""
    team.ok("send", "--to", "file-manager", "--summary", "Stop it", "--content", "x", "--priority", "urgent")


def by_route(team: CommandLine) -> None:
    """An orchestrator's JSON."""
    done = team("route", stdin=json.dumps(ROUTED), env={"TEAM_CONSOLE_AS": "schedule-manager"})
    assert done.json["success"], done


def by_python(team: CommandLine) -> None:
    """A Python program."""
    with join_team(str(team.folder), "schedule-manager") as agent:
        agent.send("file-manager", summary="Stop it", content="x", priority="urgent")


def by_settings(team: CommandLine) -> None:
    """A kind that is urgent in this team."""
    path = team.folder / "messenger-config.yaml"
    path.write_text(f"{path.read_text()}priorities: {{message: urgent}}\n")
    team.ok("send", "--to", "file-manager", "--summary", "Stop it", "--content", "x")
    assert team.ok("check", "--json").json["findings"] == []


def by_another_program(team: CommandLine) -> None:
    """A record that another program put into the queue."""
    (team.folder / "message-queue.yaml").write_text(
        "messages:\n- {message_id: M-1, type: message, from: ceo, to: file-manager, priority: Urgent, status: pending,"
        " created: '2026-02-24T10:30:15.123Z', payload: {content: x}}\n"
    )


@pytest.mark.parametrize("write", [by_verb, by_route, by_python, by_settings, by_another_program])
def test_urgent_is_critical(write: Callable[[CommandLine], None], team: CommandLine) -> None:
    write(team)
    (message,) = team.ok("receive", "--agent", "file-manager", "--peek", "--json").json["messages"]
    shown = team.ok("inbox", "file-manager").out
    assert message["priority"].lower() in ("critical", "urgent")
    assert "critical" in shown
