"""Several workers on one inbox: every message goes to exactly one, whoever is killed over it."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from store.backends.sql.locate import create_database
from store.backends.sql.team import SqlTeam
from store.desk.inbox import acknowledge, receive
from store.desk.seat import Seat
from store.errors import TeamError
from tests.conftest import clean_environment
from tests.router.conftest import until
from tests.sql.conftest import SETTINGS, Open
from tests.sql.test_foreign import execute
from tests.sql.worker import AGENT
from tests.store.contract import FakeClock, make_message, put

MESSAGES = 20_000
WORKERS = 6


def test_six_claimers_on_twenty_thousand_messages_lose_none_and_do_none_twice(
    empty_place: str, opened: Open, tmp_path: Path
) -> None:
    create_database(empty_place, SETTINGS)
    team = opened(empty_place)
    put(team, *[make_message(number, to=AGENT, payload={"task_id": number}) for number in range(MESSAGES)])
    crew = _Crew(empty_place, tmp_path)
    crew.work(lambda: _archived(empty_place), MESSAGES)
    acknowledged = Counter(_acknowledged_ids(team))
    receipts = Counter(crew.receipts())
    assert len(acknowledged) == MESSAGES, "lost"
    assert set(acknowledged.values()) == {1}, "acknowledged twice"
    assert set(receipts.values()) == {1}, "handed to two workers that both finished it"
    assert crew.killed >= 4
    assert all(line.intact for line in team.audit(limit=5))


class _Crew:
    """Keeps six workers at work and kills one now and then."""

    def __init__(self, place: str, folder: Path) -> None:
        self._place = place
        self._folder = folder
        self._stop = folder / "stop"
        self._started = 0
        self.killed = 0

    def work(self, done: Callable[[], int], total: int) -> None:
        """Until all is done; then the workers end by themselves."""
        chance = random.Random(7)
        crew = [self._start() for _ in range(WORKERS)]
        try:
            for kill_at in (1, 3, 5, 7):
                until(lambda kill_at=kill_at: done() >= total * kill_at // 10, seconds=240)  # type: ignore[misc]
                victim = crew.pop(chance.randrange(len(crew)))
                victim.kill()
                victim.wait()
                self.killed += 1
                crew.append(self._start())
            until(lambda: done() >= total, seconds=240)
            self._stop.touch()
            for one in crew:
                assert one.wait(60) == 0
        finally:
            for one in crew:
                one.kill()
                one.wait()

    def receipts(self) -> list[str]:
        """Ids the workers wrote down as finished."""
        return [line for file in self._folder.glob("receipts-*") for line in file.read_text().splitlines()]

    def _start(self) -> subprocess.Popen[bytes]:
        self._started += 1
        receipts = self._folder / f"receipts-{self._started}"
        command = [sys.executable, "-m", "tests.sql.worker", self._place, str(receipts), str(self._stop)]
        return subprocess.Popen(command, env=clean_environment())


def _archived(place: str) -> int:
    time.sleep(0.2)
    return int(execute(place, "SELECT count(*) FROM team_console_archive")[0][0])


def _acknowledged_ids(team: SqlTeam) -> list[str]:
    lines = team.audit(limit=100_000)
    return [one for line in lines if line.action == "ack" for one in line.facts["ids"]]


def test_claims_of_several_agents_run_side_by_side(postgres: str, opened: Open) -> None:
    create_database(postgres, SETTINGS)
    team = opened(postgres)
    put(team, make_message(1, to="architect"), make_message(2, to=AGENT))
    with team.claims(actor="architect", action="claim", wait=1.0) as tx:
        assert [one.message_id for one in tx.select(recipient="architect")] == [make_message(1).message_id]
        got = receive(Seat(opened(postgres), AGENT, wait=1.0), agent=AGENT)
    assert [one.message_id for one in got.messages] == [make_message(2).message_id]


def test_with_a_limit_workers_leave_out_what_another_is_just_given(postgres: str, opened: Open) -> None:
    create_database(postgres, SETTINGS)
    team = opened(postgres)
    put(team, *[make_message(number, to=AGENT) for number in range(1, 5)])
    with team.claims(actor=AGENT, action="claim", wait=1.0) as tx:
        mine = [one.message_id for one in tx.select(recipient=AGENT, statuses=("pending",), limit=2)]
        got = receive(Seat(opened(postgres), AGENT, wait=1.0), agent=AGENT, limit=3)
    theirs = [one.message_id for one in got.messages]
    assert (mine, theirs) == (
        [make_message(number).message_id for number in (1, 2)],
        [make_message(number).message_id for number in (3, 4)],
    )


def test_without_a_limit_a_busy_inbox_is_waited_for_and_never_called_empty(postgres: str, opened: Open) -> None:
    create_database(postgres, SETTINGS)
    team = opened(postgres)
    put(team, make_message(1, to=AGENT))
    looking, result = threading.Event(), []

    def receive_all() -> None:
        looking.set()
        result.append(receive(Seat(opened(postgres), AGENT, wait=20.0), agent=AGENT).as_json()["count"])

    reader = threading.Thread(target=receive_all)
    with team.claims(actor=AGENT, action="claim", wait=1.0) as tx:
        tx.select(recipient=AGENT)
        reader.start()
        assert looking.wait(10)
        reader.join(0.3)
        assert result == []
    reader.join(20)
    assert result == [1]


def test_a_writer_waits_for_claims_and_claims_for_a_writer(postgres: str, opened: Open) -> None:
    create_database(postgres, SETTINGS)
    team = opened(postgres)
    for first, second in ((team.claims, team.transaction), (team.transaction, team.claims)):
        with first(actor="ceo", action="one", wait=1.0):
            try:
                with second(actor="ceo", action="two", wait=0.05):
                    raise AssertionError("both at once")
            except TeamError as error:
                assert error.exit_code == 3  # noqa: PT017


def test_a_claim_that_ran_out_is_handed_out_again_and_the_late_worker_refused(team: SqlTeam, clock: FakeClock) -> None:
    put(team, make_message(1, to=AGENT))
    seat = Seat(team, AGENT)
    (first,) = receive(seat, agent=AGENT, lease=60, limit=5).messages
    clock.advance(61)
    (second,) = receive(seat, agent=AGENT, lease=60, limit=5).messages
    assert first.envelope("token") != second.envelope("token")
    refused = None
    try:
        acknowledge(seat, ids=[first.message_id], token=str(first.envelope("token")))
    except TeamError as error:
        refused = error
    assert refused is not None
    acknowledge(seat, ids=[second.message_id], token=str(second.envelope("token")))
    assert [one.status for one in team.snapshot().messages] == ["read"]
