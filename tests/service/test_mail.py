"""Sending, as the desk promises it."""

from __future__ import annotations

import json

import pytest
from team_console.store.model.errors import Code, TeamError
from team_console.store.service import requests, sending

from tests.equipment.memory_team import MemoryTeam
from tests.equipment.teams import FakeClock, make_message, put
from tests.service.conftest import SeatOf


@pytest.mark.parametrize("type", ["broadcast", "message"])
def test_a_name_that_nobody_has_writes_to_nobody_and_not_to_everybody(
    type: str, team: MemoryTeam, caller: SeatOf
) -> None:
    with pytest.raises(TeamError) as caught:
        sending.send(caller("file-manger"), to="all", type=type, summary="Project starts right now today", content="Go")
    assert caught.value.code is Code.AGENT_NOT_FOUND
    assert "file-manager" in caught.value.hint
    with pytest.raises(TeamError):
        sending.send(caller("ceo"), to=["file-manager", "nobody-here"], type=type, content="c", summary="s")
    assert not team.snapshot().messages


@pytest.mark.parametrize("to", ["ceo", "knowledge-manager"])
def test_the_id_of_a_request_is_no_id_for_a_message(to: str, team: MemoryTeam, caller: SeatOf) -> None:
    """Under that id an answer decides the request, so nobody could answer what the message asks."""
    plan = requests.submit_plan(caller("task-manager"), content="1. Split", summary="s").request_id
    with pytest.raises(TeamError, match="the plan_approval_request from task-manager") as refused:
        sending.send(caller("file-manager"), to=to, content="c", summary="s", message_id=plan)
    assert refused.value.code is Code.DUPLICATE_ID
    assert len(team.snapshot().messages) == 1


@pytest.mark.parametrize("bad", ["\ud83d", {"n": float("nan")}, {"k": object()}, {1: "a"}])
def test_what_could_not_be_read_back_is_refused_with_its_place(team: MemoryTeam, caller: SeatOf, bad: object) -> None:
    with pytest.raises(TeamError) as caught:
        sending.send(caller("ceo"), to="file-manager", content="c", summary="s", payload={"extra": bad})
    assert caught.value.code is Code.INVALID_FIELD
    assert "payload.extra" in caught.value.message


def test_a_large_sprint_message_stays_whole_and_one_above_the_limit_is_refused(
    team: MemoryTeam, caller: SeatOf
) -> None:
    body = {"msg_type": "AGENT_COMPLETE", "status": "success", "results": {"log": "x" * 70_000}}
    content = f"AGENT_COMPLETE: {json.dumps(body)}"
    sending.send(caller("task-manager"), to="file-manager", content=content, summary="Story 3-1 is complete and tested")
    assert team.snapshot().messages[0].content == content
    with pytest.raises(TeamError) as caught:
        sending.send(caller("ceo"), to=["file-manager", "task-manager"], content="x" * 1_100_000, summary="s")
    assert (caught.value.code, len(team.snapshot().messages)) == (Code.CONTENT_TOO_LARGE, 1)


def test_what_looks_like_a_secret_anywhere_in_the_payload_is_warned_about(caller: SeatOf) -> None:
    receipt = sending.send(
        caller("ceo"),
        to="file-manager",
        content="c",
        summary="s",
        payload={"env": [{"note": "password=hunter2hunter2"}]},
    )
    assert any("password" in warning or "secret" in warning for warning in receipt.warnings)
    assert not any("hunter2" in warning for warning in receipt.warnings)


def test_a_message_to_a_stopped_agent_is_written_with_a_warning_until_it_speaks_again(
    team: MemoryTeam, caller: SeatOf, clock: FakeClock
) -> None:
    asked = requests.request_shutdown(caller("ceo"), agent="file-manager", reason="done")
    assert asked.request_id is not None
    requests.approve(caller("file-manager"), request_id=asked.request_id)
    receipt = sending.send(
        caller("ceo"), to=["file-manager", "task-manager"], content="c", summary="One more thing before you go please"
    )
    assert [warning for warning in receipt.warnings if "file-manager" in warning]
    assert not [warning for warning in receipt.warnings if "task-manager" in warning]
    assert len(team.snapshot().messages) == 4
    clock.advance(5)
    sending.send(caller("file-manager"), to="ceo", content="I am back", summary="Back at work after the restart")
    receipt = sending.send(caller("ceo"), to="file-manager", content="c", summary="Good to have you back today")
    assert receipt.warnings == ()


def test_a_destroyed_agent_stays_known_and_is_warned_about(team: MemoryTeam, caller: SeatOf) -> None:
    for name in ("AGENT_CREATED", "AGENT_DESTROYED"):
        body = json.dumps({"msg_type": name, "agent_name": "dev-runner-3-1", "agent_type": "dev-runner"})
        number = len(team.snapshot().messages) + 1
        put(team, make_message(number, payload={"content": f"{name}: {body}", "summary": name}))
    receipt = sending.send(caller("ceo"), to="dev-runner-3-1", content="c", summary="Where did you put the notes")
    assert "dev-runner-3-1" in receipt.warnings[0]
