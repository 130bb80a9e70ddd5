"""Proof that one verdict on alike requests answers those that were listed and no other, whatever arrives meanwhile.

`python -m tests.proofs.alike` runs 1,000 races with a fixed seed: three requests are listed and decided one after the
other while their asker, in a thread with a team of its own, asks for a fourth of the same cause.
"""

from __future__ import annotations

import random
import tempfile
import threading
from pathlib import Path

from team_console.store.backends.open import open_team
from team_console.store.protocol.verdicts import digest_of, seen_of
from team_console.store.service import asking, requests
from team_console.store.service.caller import Caller
from team_console.store.views.alike import causes_of
from team_console.store.views.projection import view_of
from team_console.store.views.rows import RequestRow

LISTED = 3
_TEAMS = 20
"""Teams that share the races: in one, each race would find the requests of all before it on record."""


def races(number: int, folder: Path, *, seed: int) -> tuple[int, int]:
    """How many races answered another request than the listed ones, and how many left one of those open."""
    chance, wrong, left = random.Random(seed), 0, 0
    (folder / "message-queue.yaml").write_text("messages: []\n", encoding="utf-8")
    team = open_team(str(folder))
    lead, worker = Caller(team, team.config().lead), Caller(open_team(str(folder)), "worker")
    for race in range(number):
        for each in range(LISTED):
            _ask(worker, race, each)
        rows = _open(lead)
        causes = causes_of(rows)
        alike = [row for row in rows if causes[row.key] == causes[rows[0].key]]
        late = threading.Timer(chance.random() * 0.03, _ask, (worker, race, LISTED))
        late.start()
        for row in alike[:LISTED]:
            requests.approve(lead, request_id=row.request_id, seen=seen_of(row.question))
        late.join()
        open_now = _open(lead)
        wrong += len(open_now) != 1 or digest_of(open_now[0].question) in {digest_of(row.question) for row in alike}
        left += sum(row.request_id in {each.request_id for each in alike} for row in open_now)
        for row in open_now:
            requests.reject(lead, request_id=row.request_id, reason="the next race")
    return wrong, left


def _open(lead: Caller) -> list[RequestRow]:
    view = view_of(lead.team.snapshot(), me=lead.actor, now=lead.team.clock())
    return [row for row in view.requests if row.is_open]


def _ask(worker: Caller, race: int, number: int) -> None:
    command = f"git push origin race-{race}-{number}"
    asking.ask_permission(worker, tool="Bash", input={"command": command}, directory="/srv/atlas")


if __name__ == "__main__":
    wrong = left = 0
    for part in range(_TEAMS):
        with tempfile.TemporaryDirectory() as place:
            found = races(1_000 // _TEAMS, Path(place), seed=37 + part)
        wrong, left = wrong + found[0], left + found[1]
        print(f"team {part + 1} of {_TEAMS}: {wrong} wrong, {left} left open", flush=True)
    print(f"of 1,000 races {wrong} answered what was not listed, {left} listed requests stayed open")
    raise SystemExit(bool(wrong or left))
