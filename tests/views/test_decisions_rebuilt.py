"""The ledger of decisions on real teams: it needs neither the queue nor anything but archives and audit trail."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from team_console.store.backends.open import open_team
from team_console.store.contract.team import Team
from team_console.store.protocol.verdicts import seen_of
from team_console.store.service import inbox, requests
from team_console.store.service.caller import Caller
from team_console.store.service.questions import live_question
from team_console.store.views.decisions import Proof, ledger_of_team

from tests.equipment.teams import FakeClock

pytestmark = pytest.mark.slow
SETTINGS = "team: sprint-42\nlead: ceo\nagents: [ceo, a1, a2]\n"


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


def made_in_folder(tmp_path: Path, clock: FakeClock) -> tuple[Team, Callable[[], None]]:
    folder = tmp_path / "team"
    folder.mkdir()
    (folder / "messenger-config.yaml").write_text(SETTINGS)
    return open_team(str(folder), clock=clock), lambda: (folder / "message-queue.yaml").unlink()


def made_in_database(tmp_path: Path, clock: FakeClock) -> tuple[Team, Callable[[], None]]:
    from team_console.store.backends.sql.open import create_database

    place = tmp_path / "team.db"
    create_database(str(place), SETTINGS)

    def forget() -> None:
        with closing(sqlite3.connect(place)) as connection, connection:
            connection.execute("DELETE FROM agent_message")

    return open_team(str(place), clock=clock), forget


@pytest.mark.parametrize("make", [made_in_folder, made_in_database])
def test_it_is_rebuilt_from_archives_and_audit_trail_alone(
    make: Callable[[Path, FakeClock], tuple[Team, Callable[[], None]]], tmp_path: Path, clock: FakeClock
) -> None:
    team, delete_queue = make(tmp_path, clock)
    ceo, agent = Caller(team, "ceo", 1.0), Caller(team, "a1", 1.0)
    for number in range(3):
        request_id = requests.submit_plan(agent, content=f"# Plan {number}\n1. Do it").request_id
        assert request_id is not None
        clock.advance(90)
        if number == 1:
            requests.reject(ceo, request_id=request_id, reason="Say how")
        else:
            question = live_question(team.snapshot(), request_id)
            assert question is not None
            seen = seen_of(question, evidence=["a.py: there"])
            requests.approve(ceo, request_id=request_id, note="go", seen=seen)
        if number == 0:
            inbox.receive(agent, agent="a1")
    requests.submit_plan(agent, content="# An open one")
    before = ledger_of_team(team, team.snapshot())
    delete_queue()
    after = ledger_of_team(team, team.snapshot())
    assert [decision.verdict for decision in before.decisions] == ["approved", "rejected", "approved"]
    assert {decision.proof for decision in before.decisions} == {Proof.RECORDED}
    assert before.decisions[0].evidence == ("a.py: there",)
    assert before.decisions[0].shown_sha256
    assert after.decisions == before.decisions
    team.close()
