"""Several workers on one inbox: every message goes to exactly one, whoever is killed over it."""

from __future__ import annotations

from pathlib import Path

import pytest
from team_console.store.backends.sql.open import create_database
from team_console.store.backends.sql.team import SqlTeam
from team_console.store.model.errors import TeamError
from team_console.store.service.caller import Caller
from team_console.store.service.inbox import acknowledge, receive

from tests.equipment.teams import FakeClock, make_message, put
from tests.sql.claimers import work_off
from tests.sql.conftest import SETTINGS, Open
from tests.sql.worker import AGENT

pytestmark = pytest.mark.slow

MESSAGES = 200
"""Enough for all that can go wrong; `python -m tests.sql` does it with 20,000."""


def test_six_claimers_on_many_messages_lose_none_and_do_none_twice(empty_place: str, tmp_path: Path) -> None:
    done = work_off(empty_place, tmp_path, MESSAGES)
    assert done.lost(MESSAGES) == 0
    assert set(done.acknowledged.values()) == {1}, "acknowledged twice"
    assert set(done.receipts.values()) == {1}, "handed to two workers that both finished it"
    assert done.killed == 4
    assert done.intact


def test_a_claim_that_ran_out_is_handed_out_again_and_the_late_worker_refused(team: SqlTeam, clock: FakeClock) -> None:
    put(team, make_message(1, to=AGENT))
    caller = Caller(team, AGENT)
    (first,) = receive(caller, agent=AGENT, lease=60, limit=5).messages
    clock.advance(61)
    (second,) = receive(caller, agent=AGENT, lease=60, limit=5).messages
    assert first.envelope("token") != second.envelope("token")
    refused = None
    try:
        acknowledge(caller, ids=[first.message_id], token=str(first.envelope("token")))
    except TeamError as error:
        refused = error
    assert refused is not None
    acknowledge(caller, ids=[second.message_id], token=str(second.envelope("token")))
    assert [message.status for message in team.snapshot().messages] == ["read"]


def test_a_queue_that_is_only_received_from_stays_small(empty_place: str, opened: Open) -> None:
    create_database(empty_place, f"{SETTINGS}active_messages_max: 2\n")
    team = opened(empty_place)
    put(team, *[make_message(number, to="architect") for number in range(40)])
    for _ in range(40):
        assert len(receive(Caller(team, "architect"), agent="architect", limit=1).messages) == 1
    assert len(team.snapshot().messages) < 15
    assert len(team.history().messages) == 40
