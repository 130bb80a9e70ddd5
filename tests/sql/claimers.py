"""Six workers on one inbox, one of them killed now and then: what was acknowledged, and what they noted as done."""

from __future__ import annotations

import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from team_console.store.backends.sql.open import create_database, open_database

from tests.equipment.command_line import clean_environment
from tests.equipment.statements import execute
from tests.equipment.teams import make_message, put
from tests.equipment.waiting import until
from tests.sql.conftest import SETTINGS
from tests.sql.worker import AGENT

WORKERS = 6
PATIENCE = 240.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of the messages.

    Attributes:
        acknowledged: How often the audit trail says that a message was acknowledged, by id.
        receipts: How often a worker wrote it down as finished.
        killed: How many workers were killed.
        intact: Whether the audit chain holds.
    """

    acknowledged: Counter[str]
    receipts: Counter[str]
    killed: int
    intact: bool

    def lost(self, messages: int) -> int:
        """How many of so many were never acknowledged."""
        return messages - len(self.acknowledged)

    @property
    def twice(self) -> int:
        """How many were acknowledged or finished more than once."""
        return sum(count > 1 for count in (self.acknowledged | self.receipts).values())


def work_off(place: str, folder: Path, messages: int) -> Outcome:
    """Make a team at `place`, put the messages in, and have them worked off while four workers are killed."""
    create_database(place, SETTINGS)
    team = open_database(place)
    try:
        put(team, *[make_message(number, to=AGENT, payload={"task_id": number}) for number in range(messages)])
        crew = _Crew(place, folder, batch=max(5, messages // 100))
        crew.work(lambda: int(execute(place, "SELECT count(*) FROM team_console_archive")[0][0]), messages)
        lines = team.audit(limit=10 * messages)
        acknowledged = Counter(fact for line in lines if line.action == "ack" for fact in line.facts["ids"])
        return Outcome(acknowledged, Counter(crew.receipts()), crew.killed, all(line.intact for line in lines))
    finally:
        team.close()


class _Crew:
    """Keeps six workers at work and kills one now and then."""

    def __init__(self, place: str, folder: Path, *, batch: int) -> None:
        self._place = place
        self._folder = folder
        self._batch = batch
        self._stop = folder / "stop"
        self._started = 0
        self.killed = 0

    def work(self, done: Callable[[], int], total: int) -> None:
        """Until all is done; then the workers end by themselves."""

        def reached(number: int) -> Callable[[], bool]:
            return lambda: done() >= number

        chance = random.Random(7)
        crew = [self._start() for _ in range(WORKERS)]
        try:
            for kill_at in (1, 3, 5, 7):
                until(reached(total * kill_at // 10), PATIENCE)
                victim = crew.pop(chance.randrange(len(crew)))
                victim.kill()
                victim.wait()
                self.killed += 1
                crew.append(self._start())
            until(reached(total), PATIENCE)
            self._stop.touch()
            for agent in crew:
                assert agent.wait(PATIENCE) == 0
        finally:
            for process in crew:
                process.kill()
                process.wait()

    def receipts(self) -> list[str]:
        """Ids the workers wrote down as finished."""
        return [line for file in self._folder.glob("receipts-*") for line in file.read_text().splitlines()]

    def _start(self) -> subprocess.Popen[bytes]:
        self._started += 1
        receipts = self._folder / f"receipts-{self._started}"
        words = (self._place, str(receipts), str(self._stop), str(self._batch))
        return subprocess.Popen([sys.executable, "-m", "tests.sql.worker", *words], env=clean_environment())
