"""Six workers on one inbox, four of them killed: what was acknowledged, and what they noted as done.

`python -m tests.sql.claimers PLACE RECEIPTS STOP BATCH` is one of them: it works until the file STOP is there.
"""

from __future__ import annotations

import random
import subprocess
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from team_console.store.backends.sql.open import create_database, open_database
from team_console.store.model.errors import Code, TeamError
from team_console.store.service.caller import Caller
from team_console.store.service.inbox import acknowledge, receive

from tests.equipment.command_line import clean_environment
from tests.equipment.statements import execute
from tests.equipment.teams import make_message, put
from tests.equipment.waiting import until
from tests.sql.conftest import SETTINGS

AGENT = "code_developer"
WORKERS, KILLS = 6, 4
LEASE_SECONDS, PATIENCE = 1.0, 240.0


class Outcome(NamedTuple):
    """What became of the messages.

    Attributes:
        lost: How many were never acknowledged.
        twice: How many were acknowledged, or written down as finished, more than once.
        intact: Whether the chain of the audit trail holds.
    """

    lost: int
    twice: int
    intact: bool


def work_off(place: str, folder: Path, messages: int) -> Outcome:
    """Make a team at `place`, put the messages in, and have them worked off while four workers are killed."""
    create_database(place, SETTINGS)
    with closing(open_database(place)) as team:
        put(team, *[make_message(number, to=AGENT, payload={"task_id": number}) for number in range(messages)])
        _keep_at_work(place, folder, messages)
        lines = team.audit(limit=10 * messages)
    acknowledged = Counter(item for line in lines if line.action == "ack" for item in line.facts["ids"])
    receipts = Counter(line for file in folder.glob("receipts-*") for line in file.read_text().splitlines())
    twice = sum(count > 1 for count in (acknowledged | receipts).values())
    return Outcome(messages - len(acknowledged), twice, all(line.intact for line in lines))


def _keep_at_work(place: str, folder: Path, total: int) -> None:
    """Start six workers, replace four that are killed, and end them all once everything is done."""
    stop, chance = folder / "stop", random.Random(7)

    def begin(number: int) -> subprocess.Popen[bytes]:
        words = (place, str(folder / f"receipts-{number}"), str(stop), str(max(5, total // 100)))
        return subprocess.Popen([sys.executable, "-m", "tests.sql.claimers", *words], env=clean_environment())

    def wait_for_archived(number: int) -> None:
        until(lambda: int(execute(place, "SELECT count(*) FROM team_console_archive")[0][0]) >= number, PATIENCE)

    crew = [begin(number) for number in range(WORKERS)]
    try:
        for kill in range(KILLS):
            wait_for_archived(total * (2 * kill + 1) // 10)
            victim = crew.pop(chance.randrange(len(crew)))
            victim.kill()
            victim.wait()
            crew.append(begin(WORKERS + kill))
        wait_for_archived(total)
        stop.touch()
        assert [worker.wait(PATIENCE) for worker in crew] == [0] * WORKERS
    finally:
        for worker in crew:
            worker.kill()
            worker.wait()


def claim(place: str, receipts: Path, stop: Path, batch: int) -> None:
    """Claim and acknowledge until `stop` is there; a receipt is written only after its acknowledgement."""
    caller = Caller(open_database(place), AGENT, wait=30.0)
    with receipts.open("a", buffering=1) as file:
        while not stop.exists():
            for message in receive(caller, agent=AGENT, lease=LEASE_SECONDS, limit=batch).messages:
                try:
                    done = acknowledge(caller, ids=[message.message_id])
                except TeamError as error:
                    if error.code is not Code.NOT_PERMITTED:  # its lease ended, and it is another worker's now
                        raise
                    continue
                if not done.repeated:
                    file.write(f"{message.message_id}\n")


if __name__ == "__main__":
    claim(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]))
