"""The collaboration patterns and scenarios of the SendMessage source, every agent a process of its own."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from tests.equipment.command_line import CommandLine
from tests.protocol.conftest import SENDMESSAGE_DOCUMENTS

pytestmark = pytest.mark.slow

OTHERS = ("task-manager", "schedule-manager", "file-manager", "knowledge-manager")


def document(section: str, number: int) -> dict[str, Any]:
    """A document of the source by section and position."""
    found: dict[str, Any] = [row["document"] for row in SENDMESSAGE_DOCUMENTS if row["section"] == section][number]
    return found


def say(team: CommandLine, actor: str, words: dict[str, Any]) -> dict[str, Any]:
    """`actor` sends the document in a process of its own."""
    reply: dict[str, Any] = team.ok("--as", actor, "sendmessage", stdin=json.dumps(words, ensure_ascii=False)).json
    assert reply["success"] is True
    return reply


class Listener:
    """An agent that already waits for its inbox when the others begin to write."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process

    def heard(self) -> dict[str, Any]:
        """The one message it was woken by."""
        out, err = self.process.communicate(timeout=60)
        assert self.process.returncode == 0, err
        received = json.loads(out)
        assert received["count"] == 1, received
        message: dict[str, Any] = received["messages"][0]
        return message


Listen = Callable[..., Listener]


@pytest.fixture
def listen(team: CommandLine) -> Iterator[Listen]:
    """Starts agents that wait, and ends those that still do."""
    with ExitStack() as processes:

        def start(name: str, kind: str | None = None) -> Listener:
            more = ("--type", kind) if kind else ()
            waiting = team.running("receive", "--agent", name, *more, "--wait", "30", "--json")
            return Listener(processes.enter_context(waiting))

        yield start


def inbox(team: CommandLine, name: str) -> list[dict[str, Any]]:
    """What waits for an agent, taken."""
    messages: list[dict[str, Any]] = team.ok("receive", "--agent", name, "--json").json["messages"]
    return messages


def requests(team: CommandLine) -> dict[str, dict[str, Any]]:
    """The ledger by request id."""
    return {row["request_id"]: row for row in team.ok("requests", "--json").json["requests"]}


def test_pattern_event_driven(team: CommandLine, listen: Listen) -> None:
    followers = {name: listen(name) for name in ("knowledge-manager", "file-manager")}
    reply = say(team, "task-manager", document("3.2", 0))
    assert set(reply["recipients"]) == {"ceo", *OTHERS} - {"task-manager"}
    for follower in followers.values():
        assert follower.heard()["payload"]["summary"] == "任务 TASK-001 完成"
    for number, name in ((1, "knowledge-manager"), (2, "file-manager")):
        reply = say(team, name, document("3.2", number))
        assert any("itself" in warning for warning in reply["warnings"])
        assert [item["payload"]["content"] for item in inbox(team, name)] == [document("3.2", number)["content"]]
    assert inbox(team, "task-manager") == []


def test_scenario_team_shutdown(team: CommandLine, listen: Listen) -> None:
    ids = []
    for number, name in ((0, "task-manager"), (2, "file-manager"), (4, "knowledge-manager")):
        agent, lead = listen(name, "shutdown_request"), listen("ceo", "shutdown_response")
        reply = say(team, "ceo", document("5.3", number))
        request = agent.heard()
        assert request["payload"]["request_id"] == reply["request_id"]
        words = {**document("5.3", number + 1), "request_id": request["payload"]["request_id"]}
        say(team, name, words)
        heard = lead.heard()["payload"]
        assert (heard["request_id"], heard["approve"]) == (reply["request_id"], True)
        ids.append(reply["request_id"])
    rows = requests(team)
    assert [rows[item]["state"] for item in ids] == ["approved"] * 3
    assert [rows[item]["answered_by"] for item in ids] == ["task-manager", "file-manager", "knowledge-manager"]


def test_scenario_plan_approval(team: CommandLine, listen: Listen) -> None:
    lead, author = listen("ceo", "plan_approval_request"), listen("task-manager")
    first = team.ok("--as", "task-manager", "plan", "--content", "1. 拆分", "--summary", "重构报表", "--json").json
    request = lead.heard()
    assert (request["from"], request["payload"]["request_id"]) == ("task-manager", first["request_id"])
    say(team, "ceo", {**document("4.4", 1), "request_id": first["request_id"]})
    verdict = author.heard()["payload"]
    assert (verdict["request_id"], verdict["approve"]) == (first["request_id"], False)
    assert "try-catch" in verdict["content"]

    author = listen("task-manager")
    second = team.ok("--as", "task-manager", "plan", "--content", "1. 拆分\n2. 错误处理", "--json").json
    assert second["request_id"] != first["request_id"]
    say(team, "ceo", {**document("5.4", 0), "request_id": second["request_id"]})
    assert author.heard()["payload"]["approve"] is True
    rows = requests(team)
    assert (rows[first["request_id"]]["state"], rows[second["request_id"]]["state"]) == ("rejected", "approved")
