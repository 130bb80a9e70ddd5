"""Directions of sprint messages on record are findings, judged by the roles of the roster."""

from __future__ import annotations

from team_console.store.model.message import Message
from team_console.store.protocol.team_rules import direction_problems

from tests.equipment.cases import cases
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


@cases
def test_a_direction_is_judged_where_the_roles_are_known(name: str, sender: str, to: str, expected: list[str]) -> None:
    assert codes(carried(BODIES[name], sender=sender, to=to)) == expected
