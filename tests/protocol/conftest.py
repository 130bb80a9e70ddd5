"""Teams in memory and the documents of the sources."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from team_console.store.model.message import Message, new_record
from team_console.store.settings.team_config import Agent, TeamConfig

from tests.equipment.memory_team import MemoryTeam
from tests.equipment.teams import FakeClock

SPRINT_BODIES: list[dict[str, Any]] = json.loads(Path(__file__).with_name("sprint_bodies.json").read_text("utf-8"))
"""Every JSON block of the sprint source."""


def agents_of(*agents: Agent) -> Mapping[str, Agent]:
    return MappingProxyType({agent.name: agent for agent in agents})


OFFICE = TeamConfig(
    name="office",
    lead="ceo",
    declared=True,
    language="zh",
    agents=agents_of(
        Agent("ceo", role="master"),
        Agent("task-manager", plan_mode_required=True),
        Agent("schedule-manager"),
        Agent("file-manager"),
        Agent("knowledge-manager"),
    ),
)

SPRINT = TeamConfig(
    name="sprint-42",
    lead="master",
    declared=True,
    agents=agents_of(
        Agent("master", role="master"),
        Agent("scrum-master", role="resident"),
        Agent("knowledge-researcher", role="resident"),
        Agent("debugger", role="resident"),
        Agent("slave-batch-1", role="slave"),
    ),
)


def message(content: str = "text", **changes: Any) -> Message:
    """A stored message; `payload` adds to content and summary, other changes go to the envelope."""
    payload = {"content": content, "summary": "A summary of five words here", **changes.pop("payload", {})}
    facts: dict[str, Any] = {
        "message_id": "MSG-20260224-aaaaaaaa",
        "type": "message",
        "sender": "slave-batch-1",
        "to": "master",
        "created": "2026-02-24T10:30:00.000Z",
        "priority": "medium",
    }
    return new_record(**{**facts, **changes}, payload=payload)


def carried(body: Mapping[str, Any], **changes: Any) -> Message:
    """A plain message that carries the sprint body."""
    return message(f"{body['msg_type']}: {json.dumps(body, ensure_ascii=False)}", **changes)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def office(clock: FakeClock) -> MemoryTeam:
    return MemoryTeam(config=OFFICE, clock=clock)


@pytest.fixture
def sprint(clock: FakeClock) -> MemoryTeam:
    return MemoryTeam(config=SPRINT, clock=clock)
