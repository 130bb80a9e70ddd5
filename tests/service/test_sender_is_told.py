"""Whatever `check` would report of a message is told to its sender first, in the same words."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest
from team_console.store.service import sending
from team_console.store.service.caller import Caller, Receipt
from team_console.store.settings.team_config import Agent, TeamConfig
from team_console.store.views.projection import view_of

from tests.equipment.cases import cases, constant
from tests.equipment.memory_team import MemoryTeam
from tests.equipment.teams import FakeClock
from tests.protocol.conftest import SPRINT_BODIES

BODIES: Mapping[str, Mapping[str, Any]] = {body["msg_type"]: body for body in SPRINT_BODIES}
ROLES = constant(__file__, "ROLES", dict[str, str])


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def team(clock: FakeClock) -> MemoryTeam:
    agents = {name: Agent(name, role=role) for name, role in ROLES.items()}
    return MemoryTeam(
        config=TeamConfig(name="sprint-42", lead="ceo", declared=True, agents=MappingProxyType(agents)), clock=clock
    )


def send(team: MemoryTeam, sender: str, to: str, kind: str, **changes: Any) -> Receipt:
    """Send a kind with the body of the source, changed."""
    body = {**{key: value for key, value in BODIES.get(kind, {}).items() if key != "msg_type"}, **changes}
    payload = {**body, "summary": "A summary of five words here"}
    return sending.send(Caller(team, sender), to=to, type=kind, payload=payload)


def findings(team: MemoryTeam) -> list[str]:
    """What `check` says."""
    snapshot = team.snapshot()
    return [problem.message for problem in view_of(snapshot, me="ceo", now=snapshot.taken_at).findings]


@cases
def test_a_departure_is_told_to_its_sender_and_reported_by_check(
    team: MemoryTeam, sender: str, to: str, kind: str, changes: dict[str, Any], words: str
) -> None:
    told = [text for text in send(team, sender, to, kind, **changes).warnings if words in text]
    assert len(told) == 1
    assert [text for text in findings(team) if words in text]
    if "answers DBG-001" not in words:
        assert told[0] in findings(team)
