"""Proof that 0.5.0 and this version use one team in turn, and both show the same of it after every step.

One story is played on files, on SQLite and on PostgreSQL (where a server is installed), begun by either version; the
other one does each next step. Where 0.5.0 cannot read a team, it must refuse it in words.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from tests.equipment.cases import constant
from tests.equipment.command_line import CommandLine, Result
from tests.equipment.older_version import ACTS, older
from tests.equipment.postgresql import fresh_database, shared_server

STORES = ("files", "SQLite", "PostgreSQL")
_EVERY = 2
"""Both look after so many steps, and after the last one: what one of them got wrong stays in the team. In a part of the
story they look at its end alone."""
STORY: Sequence[Sequence[str]] = (*ACTS[1:4], *map(shlex.split, constant(__file__, "STORY", list[str])))
"""How it begins, and goes on as the file has it; `{KIND}` is the id of the open request of this kind."""
Run = Callable[..., Result]
"""Runs one command, given by its words."""


@dataclass(slots=True)
class Outcome:
    """What came of one story: how many looks were compared, and where the versions told something else."""

    looks: int = 0
    refused: str = ""
    differences: list[str] = field(default_factory=list)


def play(place: str, programs: Sequence[tuple[str, Run]], count: int) -> Outcome:
    """Play so many steps of the story at `place`, the first program first, and let both look.

    A difference is told once.
    """
    outcome = Outcome()
    first = programs[0][1](*ACTS[0][:-1], place)
    assert first.status == 0, first
    told_of = set[str]()
    for number, step in enumerate(STORY[:count]):
        name, program = programs[(number + 1) % 2]
        words = _with_ids(step, programs[number % 2][1], place)
        done = program("-t", place, *words)
        told = (done.out + done.err).strip()
        if done.status and name == "0.5.0" and "version" in told:
            outcome.refused = told
            return outcome
        if done.status:
            outcome.differences.append(f"step {number + 1}, {name}: {' '.join(words)[:80]}: {told[-400:]}")
            return outcome
        if number < count - 1 and (number % _EVERY or count < len(STORY)):
            continue
        looks = [dict(_look(run, place)) for _, run in programs]
        for what, shown in looks[0].items():
            outcome.looks += 1
            if shown != looks[1][what] and what not in told_of:
                told_of.add(what)
                seen = zip(programs, _apart(shown, looks[1][what]), strict=True)
                told = "; ".join(f"{name} shows {json.dumps(one)[:1500]}" for (name, _), one in seen)
                outcome.differences.append(f"step {number + 1}, {what}: {told}")
    return outcome


_OF_REQUEST = ("request_id", "message_id", "kind", "state", "from", "to", "answered_by", "reason")
"""Not what a plan supersedes: 0.5.0 takes the order for it, now a plan after a verdict has to say so."""


def _look(run: Run, place: str) -> Iterator[tuple[str, list[Any]]]:
    """Yield what a version shows, by the name of the look: parts that both have and that time alone does not change."""

    def told(*words: str) -> Any:
        done = run("-t", place, *words)
        return done.json if done.out.startswith(("{", "[")) else done.out + done.err

    rows = told("--as", "ceo", "requests", "--json")["requests"]
    for row in rows:  # between the two looks it may have become late
        row["state"] = "open" if row["state"] == "overdue" else row["state"]
    yield "requests", sorted(({key: row.get(key) for key in _OF_REQUEST} for row in rows), key=str)
    # Copies of one broadcast have one time, and no order.
    yield "history", sorted(told("history", "--format", "json")["messages"], key=str)
    yield "errors", [one["code"] for one in told("check", "--json")["findings"] if one["severity"] == "error"]


def _with_ids(step: Sequence[str], run: Run, place: str) -> list[str]:
    """Put the id of the open request of a kind in the place of `{kind}`."""
    if not any(word.startswith("{") and word.endswith("}") and word[1:-1].isalpha() for word in step):
        return list(step)
    rows = run("-t", place, "--as", "ceo", "requests", "--json").json["requests"]
    ids: Mapping[str, str] = {row["kind"]: row["request_id"] for row in rows if row["state"] in ("open", "overdue")}
    return [ids[word[1:-1]] if word[:1] == "{" and word[1:-1] in ids else word for word in step]


def _apart(one: list[Any], other: list[Any]) -> tuple[list[Any], list[Any]]:
    """Return of each list what the other does not have."""
    return [item for item in one if item not in other], [item for item in other if item not in one]


def _place(store: str) -> Callable[[], str] | None:
    """Return what gives a new place in a store, None where it cannot be had."""
    if store != "PostgreSQL":
        return lambda: "." if store == "files" else "team.db"
    server = shared_server()
    return None if server is None else lambda: fresh_database(server)


def judged(store: str, folder: Path, count: int) -> Iterator[tuple[str, Outcome]]:
    """Play so many steps of the story in a store, begun by each version.

    Nothing is played where the history of the repository is not here.
    """
    old, place = older(folder / "program"), _place(store)
    if old is None or place is None:
        return
    for begins in ("0.5.0", "now"):
        team = folder / f"{store}, {begins}"
        team.mkdir()
        programs: list[tuple[str, Run]] = [
            ("0.5.0", lambda *words, team=team: old(team, words)),
            ("now", partial(CommandLine(team), "")),
        ]
        programs.sort(key=lambda one: one[0] != begins)
        yield f"{store}, begun by {begins}", play(place(), programs, count)


def prove(count: int, seed: int, folder: Path, only: str) -> Iterator[str]:
    """Yield each difference between what the versions show of one team."""
    os.chmod(folder, 0o755)
    stores = [store for store in STORES if only in store]
    for name, outcome in chain(*(judged(store, folder / store, count) for store in stores)):
        end = outcome.refused or f"{len(outcome.differences)} differences"
        print(f"{name:28} {outcome.looks:4} looks compared, {end}", flush=True)
        yield from (f"{name}: {difference}" for difference in outcome.differences)
