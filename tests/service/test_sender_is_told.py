"""Whatever `check` would report of a message is told to its sender first, in the same words."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest
from team_console.store.model.errors import Code, TeamError
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


CONTACTS = {"resident_contacts": {"debugger": "debugger"}, "report_to": "slave-1"}


@cases
def test_a_departure_is_told_to_its_sender_and_reported_by_check(
    team: MemoryTeam, sender: str, to: str, kind: str, changes: dict[str, Any], words: str
) -> None:
    told = [text for text in send(team, sender, to, kind, **changes).warnings if words in text]
    assert len(told) == 1
    assert [text for text in findings(team) if words in text]
    if "answers DBG-001" not in words:
        assert told[0] in findings(team)


def test_a_report_that_does_not_go_where_the_assignment_says_is_told(team: MemoryTeam) -> None:
    send(team, "slave-1", "dev-1", "TASK_ASSIGNMENT", **CONTACTS)
    told = send(team, "dev-1", "slave-2", "AGENT_COMPLETE", status="success", results={}).warnings
    assert told == ("AGENT_COMPLETE of dev-1 goes to slave-1, whom report_to names, not to slave-2",)
    assert told[0] in findings(team)


def test_a_roster_that_misses_a_resident_is_told(team: MemoryTeam) -> None:
    roster = {"residents": ["scrum-master", "e2e-live"], "slaves": ["slave-1", "slave-2"], "temps": ["dev-1"]}
    told = send(team, "ceo", "scrum-master", "AGENT_ROSTER_BROADCAST", session_id="s", roster=roster).warnings
    assert told == ("AGENT_ROSTER_BROADCAST: debugger is left out; a roster is complete",)
    assert [text for text in findings(team) if text.startswith("debugger is left out")]
    whole = {**roster, "residents": [*roster["residents"], "debugger"]}
    (told_too,) = send(team, "ceo", "scrum-master", "AGENT_ROSTER_BROADCAST", session_id="", roster=whole).warnings
    assert ("session_id: is empty" in told_too, told_too in findings(team)) == (True, True)


def test_a_result_by_somebody_who_was_not_asked_is_refused(team: MemoryTeam) -> None:
    send(team, "dev-1", "e2e-live", "BROWSER_REQUEST")
    plain = TeamConfig(name="t", lead="ceo", agents=team.config().agents)
    other = MemoryTeam(config=plain)
    send(other, "dev-1", "runner", "BROWSER_REQUEST")
    with pytest.raises(TeamError) as caught:
        send(other, "somebody", "dev-1", "BROWSER_RESULT")
    assert caught.value.code is Code.NOT_PERMITTED


@pytest.mark.parametrize("field", ["in_reply_to", "request_id"])
def test_quoting_what_nobody_has_is_told(team: MemoryTeam, field: str) -> None:
    def quote(quoted: str) -> Receipt:
        text = {"content": "About that", "summary": "An answer to what you wrote"}
        return sending.send(Caller(team, "dev-1"), to="slave-1", payload={**text, field: quoted})

    first = quote("MSG-20260224-nothing0")
    assert first.warnings == (
        f"{field}: no message or request MSG-20260224-nothing0 is known, so this answers nothing",
    )
    assert quote(first.messages[0].message_id).warnings == ()


def test_sending_to_all_says_how_many_deliveries_that_is(team: MemoryTeam) -> None:
    receipt = sending.send(Caller(team, "ceo"), to="all", content="c", summary="A summary of five words")
    assert receipt.warnings == ("sent to all: 9 deliveries, one for each member",)
    words: dict[str, Any] = {"type": "broadcast", "content": "c", "summary": "A summary of five words"}
    assert sending.send(Caller(team, "ceo"), to="dev-1", **words).warnings == (
        "a broadcast goes to every member, this one reaches 1 agent; use type message for some",
    )


def test_the_same_broadcast_again_and_too_many_broadcasts_are_told(team: MemoryTeam, clock: FakeClock) -> None:
    def broadcast(number: int = 0) -> tuple[str, ...]:
        clock.advance(1)
        return sending.broadcast(Caller(team, "ceo"), summary="A summary of five words", content=f"c{number}").warnings

    assert broadcast() == ()
    assert broadcast() == ("the same broadcast went out once in the last minute; each is a delivery to every member",)
    assert [broadcast() for _ in range(7)][-1][0].startswith("the same broadcast went out 8 times in the last minute")
    clock.advance(120)
    assert [broadcast(number) for number in (1, 2, 3)] == [(), (), ()]
    assert broadcast(4) == ("this is broadcast number 4 of ceo within a minute; keep them for what all must see",)


def test_a_second_research_is_told_apart_by_its_story(team: MemoryTeam) -> None:
    plain = MemoryTeam(config=TeamConfig(name="t", lead="ceo", agents=team.config().agents))
    queries = [{"query": "How is it configured?"}]
    found = [{"query": "How is it configured?", "status": "success"}]
    for story in ("3-1", "3-2"):
        body = {"story_key": story, "requesting_agent": "dev-1", "queries": queries}
        assert send(plain, "dev-1", "kr", "RESEARCH_REQUEST", **body).warnings == ()
    assert send(plain, "kr", "dev-1", "RESEARCH_RESULT", story_key="3-1", results=found).warnings == ()
    with pytest.raises(TeamError) as caught:
        send(plain, "kr", "dev-1", "RESEARCH_RESULT", story_key="3-1", results=[{**found[0], "status": "failure"}])
    assert caught.value.code is Code.ALREADY_ANSWERED
    assert send(plain, "kr", "dev-1", "RESEARCH_RESULT", story_key="3-2", results=found).warnings == ()
    assert "has not asked" in send(plain, "kr", "dev-1", "RESEARCH_RESULT", story_key="9-9", results=found).warnings[0]


def test_a_result_about_another_story_than_its_request_is_told(team: MemoryTeam) -> None:
    send(team, "slave-1", "debugger", "DEBUG_REQUEST")
    told = send(team, "debugger", "slave-1", "DEBUG_RESULT", story_key="9-9").warnings
    assert "DEBUG_RESULT is about the story 9-9, DBG-001 asked about 3-1" in told


def test_batches_that_share_an_id_keep_the_stories_of_all(team: MemoryTeam) -> None:
    batches = [{"batch_id": 1, "stories": ["a-1"]}, {"batch_id": 1, "stories": ["b-1", "a-1"]}]
    planned = {"total_stories": 2, "batches": batches, "dependency_graph": {}}
    send(team, "scrum-master", "ceo", "BATCH_PLAN_READY", **planned)
    done = {"stories_completed": ["a-1", "b-1"], "stories_failed": []}
    told = send(team, "slave-1", "ceo", "SLAVE_BATCH_COMPLETE", **done).warnings
    assert not [text for text in told if "b-1" in text]
