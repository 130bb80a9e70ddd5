"""The Master's side of the sprint: each answer is one transaction that tells exactly the right ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from msgspec.structs import replace
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message
from team_console.store.protocol.parsing import parse_message
from team_console.store.service import agents, requests, sending
from team_console.store.service.agents import hold_question
from team_console.store.service.caller import Caller, Receipt

from tests.equipment.asking import refusal
from tests.equipment.cases import cases
from tests.equipment.memory_team import MemoryTeam
from tests.equipment.teams import FakeClock
from tests.protocol.conftest import SPRINT, SPRINT_BODIES

BODIES: Mapping[str, Mapping[str, Any]] = {body["msg_type"]: body for body in SPRINT_BODIES}
MASTER, SLAVE = "master", "slave-batch-1"


def ask_creation(team: MemoryTeam) -> str:
    """The slave asks for an agent through `send`; gives the id of its message."""
    body = {key: value for key, value in BODIES["AGENT_CREATE_REQUEST"].items() if key != "msg_type"}
    payload = {**body, "summary": "Please do this for my batch"}
    sent = sending.send(Caller(team, SLAVE), to=MASTER, type="AGENT_CREATE_REQUEST", payload=payload)
    return sent.messages[0].message_id


def approve(team: MemoryTeam, request_id: str, **more: Any) -> Receipt:
    """The Master says yes."""
    return requests.approve(Caller(team, MASTER), request_id=request_id, **more)


def since(team: MemoryTeam, message_id: str) -> list[Message]:
    """What was written after the message."""
    messages = team.snapshot().messages
    return list(messages[[message.message_id for message in messages].index(message_id) + 1 :])


def refused(team: MemoryTeam, call: Any) -> TeamError:
    before = team.snapshot().messages
    error = refusal(call)
    assert team.snapshot().messages == before
    return error


def spawning(clock: FakeClock, *command: str, limit: float = 20.0) -> MemoryTeam:
    overdue = {**SPRINT.overdue_seconds, "create": limit}
    return MemoryTeam(config=replace(SPRINT, spawn=command, overdue_seconds=overdue), clock=clock)


@cases
def test_a_spawn_command_that_fails_leaves_the_request_open(
    clock: FakeClock, command: tuple[str, ...], says: str
) -> None:
    team = spawning(clock, *command, limit=0.2 if "sleep" in command else 20.0)
    request_id = ask_creation(team)
    error = refusal(approve, team, request_id)
    assert (error.code, says in error.message, "stays open" in error.hint) == (Code.SPAWN_FAILED, True, True)
    assert since(team, request_id) == []
    team._config = replace(team.config(), spawn=())
    approve(team, request_id)
    assert parse_message(since(team, request_id)[0]).name == "AGENT_CREATED"


def test_nobody_else_answers_while_an_agent_is_being_started(clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> None:
    team = spawning(clock, "start-agent")
    request_id = ask_creation(team)
    told: list[TeamError] = []

    def meanwhile(*_: object, **__: object) -> None:
        for call in (requests.approve, requests.reject):
            more: dict[str, Any] = {"reason": "no"} if call is requests.reject else {}
            told.append(refusal(call, Caller(team, MASTER), request_id=request_id, **more))

    monkeypatch.setattr(agents, "run_command", meanwhile)
    approve(team, request_id)
    assert [error.code for error in told] == [Code.STORE_LOCKED, Code.STORE_LOCKED]
    assert told[0].facts["held_by"] == MASTER
    question = next(message for message in team.snapshot().messages if message.message_id == request_id)
    assert question.envelope("lease_until") is None


def test_a_request_held_by_a_process_that_died_is_free_again_after_its_time(clock: FakeClock) -> None:
    team = MemoryTeam(config=SPRINT, clock=clock)
    request_id = ask_creation(team)
    with team.transaction(actor=MASTER, action="spawn", wait=1) as tx:
        question = tx.get(request_id)
        assert question is not None
        hold_question(tx, question, actor=MASTER, seconds=60)
        tx.record("spawn")
    assert refused(team, lambda: approve(team, request_id)).code is Code.STORE_LOCKED
    clock.advance(71)
    approve(team, request_id)
