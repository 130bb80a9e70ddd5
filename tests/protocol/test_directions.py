"""Directions of sprint messages on record are findings, judged by the roles of the roster."""

from __future__ import annotations

import pytest
from team_console.store.model.message import Message
from team_console.store.protocol.team_rules import direction_problems

from tests.protocol.conftest import SPRINT_BODIES, carried

BODIES = {body["msg_type"]: body for body in SPRINT_BODIES}
ROLES = {
    "master": "master",
    "scrum-master": "resident",
    "e2e_live": "resident",
    "clerk": "resident",
    "slave-batch-1": "slave",
    "dev-runner-3-1": "temp",
}


def codes(stored: Message) -> list[str]:
    return [problem.code for problem in direction_problems(stored, ROLES, "master")]


@pytest.mark.parametrize(
    ("name", "sender", "to", "expected"),
    [
        ("AGENT_CREATE_REQUEST", "slave-batch-1", "master", []),
        ("AGENT_CREATE_REQUEST", "dev-runner-3-1", "master", ["WRONG_DIRECTION"]),
        ("AGENT_CREATE_REQUEST", "somebody-new", "master", []),
        ("AGENT_CREATED", "slave-batch-1", "master", ["WRONG_DIRECTION"]),
        ("TASK_ASSIGNMENT", "slave-batch-1", "dev-runner-3-1", []),
        ("TASK_ASSIGNMENT", "master", "dev-runner-3-1", ["WRONG_DIRECTION"]),
        ("AGENT_ROSTER_BROADCAST", "master", "scrum-master", []),
        ("AGENT_ROSTER_BROADCAST", "master", "clerk", []),
        ("AGENT_ROSTER_BROADCAST", "master", "slave-batch-1", ["ROSTER_TO_NON_RESIDENT"]),
        ("AGENT_ROSTER_BROADCAST", "master", "all", ["ROSTER_TO_NON_RESIDENT"]),
        ("AGENT_ROSTER_BROADCAST", "scrum-master", "debugger", ["WRONG_DIRECTION"]),
        ("BROWSER_REQUEST", "dev-runner-3-1", "e2e_live", []),
        ("BROWSER_REQUEST", "dev-runner-3-1", "scrum-master", ["WRONG_DIRECTION"]),
        ("DEBUG_RESULT", "debugger", "anyone", []),
        ("DEBUG_RESULT", "scrum-master", "anyone", ["WRONG_DIRECTION"]),
        ("BATCH_PLAN_READY", "scrum-master", "master", []),
    ],
)
def test_a_direction_is_judged_where_the_roles_are_known(name: str, sender: str, to: str, expected: list[str]) -> None:
    assert codes(carried(BODIES[name], sender=sender, to=to)) == expected
