"""Plans, shutdowns, messages and their answers: one answer each, by whom it is for, about one life of an agent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from team_console.store.contract.team import Snapshot, Team
from team_console.store.contract.transaction import ChangedError
from team_console.store.model.clock import to_text
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message, new_record
from team_console.store.model.schedule import MAX_LEASE, is_due, is_held
from team_console.store.protocol.verdicts import EVIDENCE, Face, Seen, digest_of, seen_of
from team_console.store.service import requests, sending
from team_console.store.service.caller import Caller, Receipt
from team_console.store.service.compaction import still_needed
from team_console.store.service.grants import start_grant, trial_of
from team_console.store.service.inbox import acknowledge, receive
from team_console.store.service.members import add_members, remove_members
from team_console.store.service.questions import live_question
from team_console.store.service.requests import submit_plan
from team_console.store.settings.team_config import Agent

from tests.console.conftest import rewrite
from tests.equipment.asking import agent, ask, lead, refusal, row, view
from tests.equipment.memory_team import MemoryTeam
from tests.equipment.teams import FACTORIES, START, FakeClock, config, make_message, put
from tests.service.conftest import SeatOf


def _plan(caller: SeatOf, text: str = "1. Split\n2. Test") -> str:
    request_id = requests.submit_plan(
        caller("task-manager"), content=text, summary="Refactor the report generator"
    ).request_id
    assert request_id is not None
    return request_id


def test_an_answer_to_a_question_that_changed_since_it_was_seen_is_refused(team: MemoryTeam, caller: SeatOf) -> None:
    request_id = _plan(caller)
    question = team.snapshot().messages[0]
    seen = Seen(digest_of(question), face=Face.HANDED)
    with team.transaction(actor="x", action="edit", wait=1.0) as tx:
        live = tx.everything()[0]
        tx.replace(live, live.with_changes(payload={**live.payload, "content": "rm -rf /"}))
        tx.record("edit")
    assert refusal(requests.approve, caller("ceo"), request_id=request_id, seen=seen).code is Code.INVALID_REQUEST_ID


@pytest.mark.parametrize("bad", ["\ud83d", {"n": float("nan")}, {"k": object()}, {1: "a"}])
def test_what_could_not_be_read_back_is_refused_with_its_place(team: MemoryTeam, caller: SeatOf, bad: object) -> None:
    payload = {"extra": bad}
    refused = refusal(sending.send, caller("ceo"), to="file-manager", content="c", summary="s", payload=payload)
    assert (refused.code, "payload.extra" in refused.message) == (Code.INVALID_FIELD, True)


def test_a_large_sprint_message_stays_whole_and_one_above_the_limit_is_refused(
    team: MemoryTeam, caller: SeatOf
) -> None:
    body = {"msg_type": "AGENT_COMPLETE", "status": "success", "results": {"log": "x" * 70_000}}
    content = f"AGENT_COMPLETE: {json.dumps(body)}"
    sending.send(caller("task-manager"), to="file-manager", content=content, summary="Story 3-1 is complete and tested")
    assert team.snapshot().messages[0].content == content
    caught = refusal(
        sending.send, caller("ceo"), to=["file-manager", "task-manager"], content="x" * 1_100_000, summary="s"
    )
    assert (caught.code, len(team.snapshot().messages)) == (Code.CONTENT_TOO_LARGE, 1)


def plan(team: MemoryTeam, caller: SeatOf, text: str) -> tuple[str, Message]:
    request_id = requests.submit_plan(caller("task-manager"), content=text).request_id
    assert request_id is not None
    question = live_question(team.snapshot(), request_id)
    assert question is not None
    return request_id, question


def test_another_former_version_beside_it_is_refused(team: MemoryTeam, caller: SeatOf) -> None:
    first, before = plan(team, caller, "1. Split")
    refusal = requests.reject(caller("ceo"), request_id=first, reason="Say how").messages[0]
    request_id, question = plan(team, caller, "1. Split\n2. Say how")
    seen = seen_of(question, before=[(first, before), (first, refusal)])
    rewrite(team, refusal.message_id, content="Go ahead")
    with pytest.raises(ChangedError):
        requests.approve(caller("ceo"), request_id=request_id, seen=seen)
    rewrite(team, refusal.message_id, content=refusal.content)
    requests.approve(caller("ceo"), request_id=request_id, seen=seen)


def test_everything_shown_is_in_the_digest_and_little_of_it_is_kept(team: MemoryTeam, caller: SeatOf) -> None:
    _, question = plan(team, caller, "1. Split")
    _, other = plan(team, caller, "1. Split it")
    lines = [f"piece {number}" + "x" * 1000 for number in range(100)]
    digests = {
        seen_of(question).sha256,
        seen_of(other).sha256,
        seen_of(question, before=[("r", other)]).sha256,
        seen_of(question, evidence=lines).sha256,
        seen_of(question, evidence=[*lines[:-1], "another"]).sha256,
        seen_of(question, evidence=["a\nb"]).sha256,
        seen_of(question, evidence=["a", "b"]).sha256,
    }
    assert len(digests) == 7
    kept = seen_of(question, evidence=lines).as_recorded[EVIDENCE]
    assert len(kept) == 41
    assert kept[-1] == "60 more were shown"
    assert max(map(len, kept)) <= 241


PLAN, RESPONSE = "plan_approval_request", "plan_approval_response"


def plan_of(caller: Caller, clock: FakeClock, text: str) -> str:
    """Hand in a plan_of; its request id."""
    clock.advance(1)
    return str(submit_plan(caller, content=text, summary="A plan_of of five words").request_id)


def kept(messages: tuple[Message, ...], leaving: list[str]) -> frozenset[str]:
    """Ids of messages that must stay when these leave."""
    return still_needed(Snapshot("", START, None, config(), messages), leaving=leaving)


def stored(message_id: str, type: str, sender: str, *, status: str = "read", **payload: object) -> Message:
    """A record as a queue may hold it."""
    to = "ceo" if sender != "ceo" else "task-manager"
    message = new_record(
        message_id=message_id,
        type=type,
        sender=sender,
        to=to,
        created=to_text(START),
        priority="high",
        payload=payload,
    )
    return message.with_changes(status=status)


def test_a_superseded_plan_too_young_to_leave_keeps_its_successor() -> None:
    old, new = (stored(f"Q{item}", PLAN, "task-manager", request_id=f"r{item}") for item in (1, 2))
    no = stored("V2", RESPONSE, "ceo", request_id="r2", approve=False)
    assert kept((old, new, no), leaving=["Q2", "V2"]) >= {"Q2", "V2"}
    assert kept((old.with_changes(status="pending"), new, no), leaving=["Q2", "V2"]) == {"Q1", "Q2", "V2"}
    assert kept((old, new, no), leaving=["Q1", "Q2", "V2"]) == frozenset()


def test_an_answer_of_somebody_who_may_not_give_it_settles_nothing_and_a_withdrawal_does() -> None:
    asked = stored("Q1", PLAN, "task-manager", request_id="r1")
    forged = stored("V1", RESPONSE, "file-manager", request_id="r1", approve=True)
    gone = stored("W1", "request_withdrawn", "task-manager", request_id="r1", reason="timed out")
    assert kept((asked, forged), leaving=["Q1", "V1"]) == {"Q1", "V1"}
    assert kept((asked, gone), leaving=["Q1", "W1"]) == frozenset()


def test_a_lease_of_a_clock_that_was_ahead_is_over(team: MemoryTeam, caller: SeatOf, clock: FakeClock) -> None:
    put(team, make_message(1))
    clock.advance(10 * 365 * 86_400)
    receive(caller("task-manager"), agent="task-manager", lease=600)
    clock.now = START + timedelta(minutes=1)
    assert not is_held(team.snapshot().messages[0], clock.now)
    with pytest.raises(TeamError, match="up to"):
        receive(caller("task-manager"), agent="task-manager", lease=MAX_LEASE.total_seconds() + 1)
    assert is_due(team.snapshot().messages[0], clock.now)
    again = receive(caller("task-manager"), agent="task-manager", lease=600)
    assert [message.message_id for message in again.messages] == [make_message(1).message_id]
    acknowledge(caller("task-manager"), ids=[make_message(1).message_id])


ROLES = {"slave-1": "slave", "slave-2": "slave", "scrum-master": "resident"}
WISH = {"agent_type": "story-creator", "role_hint": "r"}


class Sprint:
    """A team of a lead, two slaves and a resident, in which each act is a second after the one before."""

    def __init__(self, team: Team, clock: FakeClock) -> None:
        self.team, self._clock = team, clock
        add_members(lead(team), [Agent(name, role=role) for name, role in ROLES.items()])

    def says(self, sender: str, kind: str, *, to: str = "ceo", **body: Any) -> Receipt:
        self._clock.advance(1)
        payload = {**body, "requested_by": sender, "summary": "one two three four five"}
        return sending.send(agent(self.team, sender), to=to, type=kind, payload=payload)

    def wants(self, slave: str) -> str:
        """Ask for an agent; return the request id."""
        return self.says(slave, "AGENT_CREATE_REQUEST", **WISH).messages[0].message_id

    def created(self, slave: str) -> None:
        self.approve(self.wants(slave), agent_name="sc-1")

    def end_asked(self, slave: str) -> Receipt:
        return self.says(slave, "AGENT_DESTROY_REQUEST", agent_name="sc-1", reason="done")

    def ended(self, request: str) -> None:
        """The lead agrees to the end, and the agent stops."""
        self.approve(request)
        stop = next(row for row in view(self.team).requests if row.is_open and row.kind == "shutdown")
        self.approve(stop.request_id, by="sc-1")

    def approve(self, request: str, *, by: str = "ceo", **more: Any) -> None:
        self._clock.advance(1)
        requests.approve(agent(self.team, by), request_id=request, **more)

    def told(self, name: str, word: str) -> int:
        """How many messages to an agent begin with this word."""
        mail = (message for message in self.team.snapshot().messages if message.is_addressed_to(name))
        return sum(message.content.startswith(word) for message in mail)


@pytest.fixture(params=["yaml", "sqlite"])
def sprint(request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock) -> Iterator[Sprint]:
    with FACTORIES[request.param](tmp_path, clock) as make:
        yield Sprint(make(), clock)


def id_of(receipt: Receipt) -> str:
    return receipt.messages[0].message_id


def test_an_old_request_ends_no_new_agent(sprint: Sprint) -> None:
    sprint.created("slave-1")
    sprint.ended(id_of(sprint.end_asked("slave-1")))
    repeated = sprint.end_asked("slave-1")
    assert any("sc-1 has ended already" in warning for warning in repeated.warnings)
    sprint.created("slave-2")
    old = id_of(repeated)
    assert (row(sprint.team, old).state, row(sprint.team, old).reason) == (
        *("withdrawn", "another sc-1 was created since"),
    )
    for refused in (
        refusal(sprint.approve, old),
        refusal(requests.foresee, sprint.team.snapshot(), request_id=old),
    ):
        assert (refused.code, "another sc-1 was created since" in refused.message) == (Code.INVALID_REQUEST_ID, True)
    assert not [row for row in view(sprint.team).requests if row.is_open and row.kind in ("shutdown", "destroy")]


def test_a_creation_says_what_it_closes(sprint: Sprint) -> None:
    sprint.created("slave-1")
    sprint.ended(id_of(sprint.end_asked("slave-1")))
    old, wanted = id_of(sprint.end_asked("slave-1")), sprint.wants("slave-2")
    said = requests.foresee(sprint.team.snapshot(), request_id=wanted, agent_name="sc-1")
    assert f"closes what was asked about the sc-1 before: {old}" in said
    assert row(sprint.team, old).is_open


def test_an_old_order_to_stop_is_none_to_the_new_agent(sprint: Sprint) -> None:
    sprint.created("slave-1")
    order = requests.request_shutdown(lead(sprint.team), agent="sc-1").request_id
    sprint.ended(id_of(sprint.end_asked("slave-1")))
    sprint.created("slave-2")
    refusal(sprint.approve, order, by="sc-1")
    assert next(row for row in view(sprint.team).roster if row.name == "sc-1").state != "stopped"


def granted(team: Team, name: str) -> None:
    """A permission of this agent is approved, and from now on answered by a grant."""
    request = ask(team, by=name)
    requests.approve(lead(team), request_id=request)
    start_grant(lead(team), trial_of(lead(team), [request]), uses=9)
    assert row(team, ask(team, by=name)).is_approved


def test_a_grant_ends_with_the_agent_that_it_was_made_for(sprint: Sprint) -> None:
    sprint.created("slave-1")
    granted(sprint.team, "sc-1")
    granted(sprint.team, "slave-2")
    sprint.ended(id_of(sprint.end_asked("slave-1")))
    assert row(sprint.team, ask(sprint.team, by="sc-1")).is_open
    sprint.created("slave-2")
    assert row(sprint.team, ask(sprint.team, by="sc-1")).is_open
    assert row(sprint.team, ask(sprint.team, by="slave-2")).is_approved


def test_a_grant_ends_when_its_agent_leaves_and_is_none_to_whoever_has_the_name_next(sprint: Sprint) -> None:
    granted(sprint.team, "slave-1")
    granted(sprint.team, "slave-2")
    warnings = remove_members(lead(sprint.team), ["slave-1"]).warnings
    assert "1 grant for slave-1 ended" in warnings
    add_members(lead(sprint.team), [Agent("slave-1", role="slave")])
    assert row(sprint.team, ask(sprint.team, by="slave-1")).is_open
    assert row(sprint.team, ask(sprint.team, by="slave-2")).is_approved


def test_whoever_asked_for_the_agent_hears_of_its_end_too(sprint: Sprint) -> None:
    sprint.created("slave-1")
    sprint.ended(id_of(sprint.end_asked("slave-1")))
    sprint.created("slave-2")
    asked = id_of(sprint.end_asked("slave-1"))
    (said, *_) = [text for text in requests.foresee(sprint.team.snapshot(), request_id=asked) if "DESTROYED" in text]
    assert "AGENT_DESTROYED goes to slave-1 and slave-2" in said
    sprint.ended(asked)
    assert [sprint.told(name, "AGENT_DESTROYED") for name in ("slave-1", "slave-2")] == [2, 1]
    assert sprint.told("scrum-master", "AGENT_ROSTER_BROADCAST")
    assert (row(sprint.team, asked).state, row(sprint.team, asked).flags) == ("approved", ())


def test_what_only_the_lead_decides_is_asked_of_no_other_master(sprint: Sprint) -> None:
    add_members(lead(sprint.team), [Agent("master2", role="master")])
    refused = refusal(sprint.says, "slave-1", "AGENT_CREATE_REQUEST", to="master2", **WISH)
    assert (refused.code, "goes to the lead ceo" in refused.message) == (Code.NOT_PERMITTED, True)
