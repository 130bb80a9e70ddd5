"""Proof that one verdict on alike requests answers those that were listed and no other, whatever arrives meanwhile.

In each race three requests are listed and decided one after the other while their asker, in a thread with a team of
its own, asks for a fourth of the same cause.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from pathlib import Path

from team_console.store.backends.open import open_team
from team_console.store.protocol.verdicts import digest_of, seen_of
from team_console.store.service import asking, requests
from team_console.store.service.caller import Caller
from team_console.store.views.alike import causes_of
from team_console.store.views.projection import view_of
from team_console.store.views.rows import RequestRow

LISTED = 3
_A_TEAM = 50
"""Races on one team: each would find the requests of all before it on record."""


def prove(count: int, seed: int, folder: Path, only: str) -> Iterator[str]:
    """Yield each race that answered another request than the listed ones, or left one of those open."""
    chance = random.Random(seed)
    for race in range(count):
        if race % _A_TEAM == 0:
            lead, worker = _seats(folder / f"team-{race}")
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
        if len(open_now) != 1 or digest_of(open_now[0].question) in {digest_of(row.question) for row in alike}:
            yield f"race {race}: another request than the listed ones was answered"
        listed = {row.request_id for row in alike}
        yield from (
            f"race {race}: {row.request_id} was listed and is open" for row in open_now if row.request_id in listed
        )
        for row in open_now:
            requests.reject(lead, request_id=row.request_id, reason="the next race")


def _seats(folder: Path) -> tuple[Caller, Caller]:
    """The lead and an agent of a new team, each with a team of their own."""
    folder.mkdir()
    (folder / "message-queue.yaml").write_text("messages: []\n", encoding="utf-8")
    team = open_team(str(folder))
    return Caller(team, team.config().lead), Caller(open_team(str(folder)), "worker")


def _open(lead: Caller) -> list[RequestRow]:
    view = view_of(lead.team.snapshot(), me=lead.actor, now=lead.team.clock())
    return [row for row in view.requests if row.is_open]


def _ask(worker: Caller, race: int, number: int) -> None:
    command = f"git push origin race-{race}-{number}"
    asking.ask_permission(worker, tool="Bash", input={"command": command}, directory="/srv/atlas")
