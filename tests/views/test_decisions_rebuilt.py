"""The ledger of decisions on real teams: it needs neither the queue nor anything but archives and audit trail."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from team_console.store.protocol.shown_when_decided import seen_of
from team_console.store.service import inbox, requests
from team_console.store.views.decisions import Proof, ledger_of_team

from tests.equipment.asking import agent, lead, plan, row
from tests.equipment.teams import FACTORIES, FakeClock

pytestmark = pytest.mark.slow


def no_file(place: Path) -> None:
    (place / "message-queue.yaml").unlink()


def no_rows(place: Path) -> None:
    with closing(sqlite3.connect(place)) as connection, connection:
        connection.execute("DELETE FROM agent_message")


@pytest.mark.parametrize(("store", "delete_queue"), [("yaml", no_file), ("sqlite", no_rows)])
def test_it_is_rebuilt_from_archives_and_audit_trail_alone(
    store: str, delete_queue: Callable[[Path], None], tmp_path: Path
) -> None:
    clock = FakeClock()
    with FACTORIES[store](tmp_path, clock) as make:
        team = make()
        for number in range(3):
            request_id = plan(team, f"# Plan {number}\n1. Do it")
            clock.advance(90)
            if number == 1:
                requests.reject(lead(team), request_id=request_id, reason="Say how")
            else:
                seen = seen_of(row(team, request_id).question, evidence=["a.py: there"])
                requests.approve(lead(team), request_id=request_id, note="go", seen=seen)
            if number == 0:
                inbox.receive(agent(team), agent="task-manager")
        plan(team, "# An open one")
        before = ledger_of_team(team, team.snapshot())
        delete_queue(Path(team.location))
        after = ledger_of_team(team, team.snapshot())
    assert [decision.verdict for decision in before.decisions] == ["approved", "rejected", "approved"]
    assert {decision.proof for decision in before.decisions} == {Proof.RECORDED}
    assert before.decisions[0].evidence == ("a.py: there",)
    assert before.decisions[0].shown_sha256
    assert after.decisions == before.decisions
