"""The Master's side of the sprint: each answer is one transaction that tells exactly the right ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from msgspec.structs import replace
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message
from team_console.store.protocol.checks import problems_of
from team_console.store.protocol.parsing import parse_message
from team_console.store.service import agents, requests, sending
from team_console.store.service.agents import finish_due, hold
from team_console.store.service.caller import Caller, Receipt
from team_console.store.service.inbox import receive
from team_console.store.service.router import deliver
from team_console.store.views.projection import view_of

from tests.equipment.asking import refusal
from tests.equipment.cases import cases
from tests.equipment.memory_team import MemoryTeam
from tests.equipment.teams import FakeClock, put
from tests.protocol.conftest import SPRINT, SPRINT_BODIES, carried

BODIES: Mapping[str, Mapping[str, Any]] = {body["msg_type"]: body for body in SPRINT_BODIES}
RESIDENTS = ["scrum-master", "knowledge-researcher", "debugger"]
MASTER, SLAVE = "master", "slave-batch-1"


def ask(team: MemoryTeam, name: str, body: Mapping[str, Any]) -> str:
    """The slave asks through `send`; gives the id of its message."""
    payload = {**body, "summary": "Please do this for my batch"}
    return sending.send(Caller(team, SLAVE), to=MASTER, type=name, payload=payload).messages[0].message_id


def ask_creation(team: MemoryTeam) -> str:
    return ask(
        team, "AGENT_CREATE_REQUEST", {k: v for k, v in BODIES["AGENT_CREATE_REQUEST"].items() if k != "msg_type"}
    )


def approve(team: MemoryTeam, request_id: str, **more: Any) -> Receipt:
    """The Master says yes."""
    return requests.approve(Caller(team, MASTER), request_id=request_id, **more)


def since(team: MemoryTeam, message_id: str) -> list[Message]:
    """What was written after the message."""
    messages = team.snapshot().messages
    return list(messages[[message.message_id for message in messages].index(message_id) + 1 :])


def names_to(messages: list[Message]) -> list[tuple[str, str]]:
    return [(parse_message(message).name, message.recipients[0]) for message in messages]


def refused(team: MemoryTeam, call: Any) -> TeamError:
    before = team.snapshot().messages
    error = refusal(call)
    assert team.snapshot().messages == before
    return error


def agree_to_stop(team: MemoryTeam, receipt: Receipt) -> Receipt:
    """The agent that this approval asks to stop agrees."""
    [order] = receipt.messages
    assert order.request_id is not None
    return requests.approve(Caller(team, order.recipients[0]), request_id=order.request_id)


def doomed(team: MemoryTeam) -> str:
    """A request for the end of an agent that exists; its id."""
    approve(team, ask_creation(team), agent_name="story-creator-3-1")
    return ask(team, "AGENT_DESTROY_REQUEST", {"agent_name": "story-creator-3-1"})


CONFIRMED = [("AGENT_DESTROYED", SLAVE), *(("AGENT_ROSTER_BROADCAST", name) for name in RESIDENTS)]


def _sends(team: MemoryTeam) -> object:
    return sending.send(Caller(team, "debugger"), to=MASTER, content="c", summary="Some other words of mine")


def _receives(team: MemoryTeam) -> object:
    put(team, carried({"msg_type": "AGENT_COMPLETE"}, message_id=f"n{len(team.snapshot().messages)}", to=MASTER))
    return receive(Caller(team, MASTER), agent=MASTER)


def _comes_by(team: MemoryTeam) -> object:
    return finish_due(Caller(team, MASTER), team.snapshot())


@pytest.mark.parametrize("write", [_sends, _receives, _comes_by])
def test_an_end_is_confirmed_by_whoever_writes_once_the_time_is_over(
    sprint: MemoryTeam, clock: FakeClock, write: Callable[[MemoryTeam], object]
) -> None:
    request_id = doomed(sprint)
    order = approve(sprint, request_id).messages[0]
    write(sprint)
    assert ("AGENT_DESTROYED", SLAVE) not in names_to(since(sprint, order.message_id))
    clock.advance(16)
    write(sprint)
    assert [item for item in names_to(since(sprint, order.message_id)) if item in CONFIRMED] == CONFIRMED
    write(sprint)
    assert names_to(since(sprint, order.message_id)).count(CONFIRMED[0]) == 1
    view = view_of(sprint.snapshot(), me=MASTER, now=clock())
    rows = {row.request_id: (row.state, row.flags) for row in view.requests}
    assert rows[request_id] == ("approved", ())
    assert rows[order.request_id or ""] == ("withdrawn", ())
    assert not [item for item in view.attention if item.need in ("DESTROY", "OVERDUE")]


def test_a_slave_that_reported_its_batch_is_not_told_that_it_asked_for_its_own_end(sprint: MemoryTeam) -> None:
    body = {key: value for key, value in BODIES["SLAVE_BATCH_COMPLETE"].items() if key != "msg_type"}
    first, second = ask(sprint, "SLAVE_BATCH_COMPLETE", body), ask(sprint, "SLAVE_BATCH_COMPLETE", body)
    needs = [item.request for item in view_of(sprint.snapshot(), me=MASTER, now=sprint.clock()).attention]
    assert [row.request_id for row in needs if row is not None] == [second]
    assert refused(sprint, lambda: approve(sprint, first)).facts == {
        "request_id": first,
        "superseded_by": second,
    }
    [order] = approve(sprint, second).messages
    assert order.content == "Your work is done, as you reported."
    rows = {row.request_id: row for row in view_of(sprint.snapshot(), me=MASTER, now=sprint.clock()).requests}
    assert rows[second].reason == ""
    assert order.recipients == (SLAVE,)


def test_a_second_approval_is_refused_and_after_the_time_it_confirms_the_first(
    sprint: MemoryTeam, clock: FakeClock
) -> None:
    request_id = doomed(sprint)
    order = approve(sprint, request_id).messages[0]
    error = refused(sprint, lambda: approve(sprint, request_id))
    assert (error.code, error.facts["answered_by"]) == (Code.ALREADY_ANSWERED, MASTER)
    clock.advance(16)
    late = refusal(approve, sprint, request_id)
    assert (late.code, late.facts["answered_at"]) == (Code.ALREADY_ANSWERED, order.created)
    assert names_to(since(sprint, order.message_id)) == CONFIRMED


def test_an_agent_that_refuses_to_stop_is_not_confirmed_and_may_be_asked_again(
    sprint: MemoryTeam, clock: FakeClock
) -> None:
    request_id = doomed(sprint)
    order = approve(sprint, request_id).messages[0]
    requests.reject(
        Caller(sprint, "story-creator-3-1"), request_id=order.request_id or "", reason="One test still runs"
    )
    clock.advance(60)
    deliver(Caller(sprint, MASTER))
    assert "AGENT_DESTROYED" not in [name for name, _ in names_to(since(sprint, order.message_id))]
    again = approve(sprint, request_id)
    assert names_to(list(again.messages)) == [("shutdown_request", "story-creator-3-1")]
    agree_to_stop(sprint, again)
    assert names_to(since(sprint, order.message_id))[-len(CONFIRMED) :] == CONFIRMED


@pytest.mark.parametrize("agent", ["master", "user", "../etc", "all", "story-creator-9-9"])
def test_what_is_no_agent_that_could_be_ended_is_not_ended(sprint: MemoryTeam, agent: str) -> None:
    body = {"msg_type": "AGENT_DESTROY_REQUEST", "agent_name": agent}
    put(sprint, carried(body, message_id="gone"))
    error = refused(sprint, lambda: approve(sprint, "gone"))
    assert error.code in (Code.INVALID_FIELD, Code.AGENT_NOT_FOUND)


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
        hold(tx, question, actor=MASTER, seconds=60)
        tx.record("spawn")
    assert refused(team, lambda: approve(team, request_id)).code is Code.STORE_LOCKED
    clock.advance(71)
    approve(team, request_id)


def test_a_course_correction_goes_to_the_scrum_master(sprint: MemoryTeam) -> None:
    agents.trigger_course_correction(Caller(sprint, MASTER), user_input="Drop the report story")
    [stored] = sprint.snapshot().messages
    read = parse_message(stored)
    assert (stored.recipients, read.name, problems_of(read)) == (("scrum-master",), "CC_TRIGGER", ())
    assert (read.body["reason"], read.body["user_input"]) == ("user_request", "Drop the report story")


@pytest.mark.parametrize(
    ("actor", "options", "code"),
    [
        (MASTER, {"user_input": " "}, Code.MISSING_CONTENT),
        (MASTER, {"user_input": "x" * 2001}, Code.INVALID_FIELD),
        (SLAVE, {"user_input": "x"}, Code.NOT_PERMITTED),
    ],
)
def test_a_course_correction_that_cannot_be_right_is_refused(
    sprint: MemoryTeam, actor: str, options: dict[str, Any], code: Code
) -> None:
    call = lambda: agents.trigger_course_correction(Caller(sprint, actor), **options)  # noqa: E731
    assert refused(sprint, call).code is code
