"""`plan`, `approve`, `reject`, `shutdown`: asking, answering, and being told what was decided."""

from __future__ import annotations

from typing import Any

from tests.equipment.command_line import CommandLine


def inbox(team: CommandLine, agent: str) -> list[dict[str, Any]]:
    """What waits for `agent`, without touching it."""
    return list(team.ok("receive", "--agent", agent, "--peek", "--json").json["messages"])


def answer_next(team: CommandLine, agent: str, *verdict: str) -> None:
    """Be `agent`: wait for the request to stop and answer it."""
    waiting = team.ok("receive", "--agent", agent, "--type", "shutdown_request", "--wait", "25", "--json").json
    request_id = waiting["messages"][0]["payload"]["request_id"]
    team.ok(verdict[0], request_id, "--as", agent, *verdict[1:])


def test_shutting_everybody_down_goes_one_after_the_other_and_waits(team: CommandLine) -> None:
    order = ["task-manager", "schedule-manager", "file-manager", "knowledge-manager"]
    with team.running("shutdown", "--all", "--timeout", "25") as asking:
        for number, agent in enumerate(order):
            assert all(inbox(team, later) == [] for later in order[number + 1 :])
            verdict = ("reject", "--reason", "3 tasks are running") if agent == "file-manager" else ("approve",)
            answer_next(team, agent, *verdict)
        out, err = asking.communicate(timeout=60)
    lines = out.decode().splitlines()
    assert [line.partition(":")[0] for line in lines] == [agent for agent in order for _ in range(2)]
    assert "file-manager: refused: 3 tasks are running" in lines
    assert "task-manager: agreed to stop" in lines
    assert err.decode().strip() == "3 of 4 agreed to stop"
    assert asking.returncode == 1
