"""A request about an agent is about one life of it: the next one of that name is not meant by what was asked before."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from team_console.store.contract.team import Team
from team_console.store.model.errors import Code
from team_console.store.service import requests, sending
from team_console.store.service.caller import Receipt
from team_console.store.service.grants import start_grant, trial_of
from team_console.store.service.members import add_members, remove_members
from team_console.store.settings.team_config import Agent

from tests.equipment.asking import agent, ask, lead, refusal, row, view
from tests.equipment.teams import FACTORIES, FakeClock

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
