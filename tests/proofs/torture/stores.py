"""The stores that are tortured: how a team is made in each, who works on it, and what an independent reader finds."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from team_console.store.backends.open import open_team
from team_console.store.backends.yaml.disk import Disk
from team_console.store.settings.team_config import Agent

from tests.equipment.postgresql import new_location, shared_server
from tests.equipment.statements import execute, named_rows
from tests.equipment.teams import made_at, team_of
from tests.proofs.crash.state import Broken, check_files, messages_in
from tests.proofs.torture.workers import NAMES

Record = dict[str, Any]
_CREW = (
    *("sender", "sender", "receiver", "receiver", "receiver", "claimer", "claimer", "router"),
    *("planner", "approver", "approver", "clearer", "console", "bulk", "screen"),
)


class NotHereError(Exception):
    """Such a store cannot be had on this machine."""


class Contents(NamedTuple):
    """What a team holds.

    Attributes:
        live: The messages of its queue.
        archives: Agent -> the messages of its archive.
        broken: Promises about the store itself that do not hold.
    """

    live: list[Record]
    archives: Mapping[str, list[Record]]
    broken: list[str]


class Store(NamedTuple):
    """One kind of store.

    Attributes:
        make: Makes the team in an empty folder; gives its location. NotHereError where it cannot be had here.
        crew: The children that work on it.
        strangers: Those that do as other programs.
        litter: Leaves in the folder what a program leaves that was killed.
        read: Reads the team at a location, by other means than the program's own.
    """

    make: Callable[[Path], str]
    crew: tuple[str, ...]
    strangers: tuple[str, ...]
    litter: Callable[[Path, Random], None]
    read: Callable[[str], Contents]


def _make(kind: str, folder: Path) -> str:
    """Make the team on a kind of store; its location."""
    if kind == "postgresql" and shared_server() is None:
        raise NotHereError("no PostgreSQL server is installed")
    place = str(folder) if kind == "files" else new_location(kind, folder)
    location = made_at(place, team_of(*map(Agent, NAMES[1:]), name="torture"))
    if kind == "files":
        (folder / "message-queue.yaml").write_text("messages: []\n")
        (folder / "message-queue.yaml").chmod(0o644)
    return location


def _leave_half_of_a_write(folder: Path, chance: Random) -> None:
    (folder / f"message-queue.yaml.tmp.{chance.randrange(9999)}.0").write_text("messages:\n- half")


def read_files(location: str) -> Contents:
    """Read a team in files."""
    root, archives = Path(location), defaultdict[str, list[Record]](list)
    for path in sorted((root / "archive").glob("*.yaml")):
        archives[path.name.partition("-archive")[0]] += messages_in(Disk(), path)
    return Contents(messages_in(Disk(), root / "message-queue.yaml"), archives, list(_wrong_with_files(root)))


def _wrong_with_files(root: Path) -> Iterator[str]:
    try:
        check_files(Disk(), root)
    except Broken as broken:
        yield str(broken)
    yield from (f"litter: {path.name}" for path in root.rglob("*") if ".tmp." in path.name)
    for path in (root / "message-queue.yaml", root / "message-queue.yaml.prev"):
        if (mode := path.stat().st_mode & 0o777) != 0o644:
            yield f"a mode became {mode:o}"


def _leave_nothing(folder: Path, chance: Random) -> None:
    """Do nothing: a database takes back by itself what a client that was killed had begun."""


def read_table(location: str) -> Contents:
    """Read a team in a database, by its tables."""
    columns = 'message_id, message_type AS type, sender AS "from", recipient AS "to", status, created_at AS created'
    rows = named_rows(location, f"SELECT {columns}, payload FROM agent_message")
    live = [{**row, "created": str(row["created"]), "payload": _parsed(row["payload"])} for row in rows]
    archives = defaultdict[str, list[Record]](list)
    for agent, record in execute(location, "SELECT agent, record FROM team_console_archive ORDER BY n"):
        archives[agent].append(json.loads(record))
    return Contents(live, archives, list(_wrong_with_table(location)))


def _parsed(payload: object) -> object:
    return json.loads(payload) if isinstance(payload, str) else payload


def _wrong_with_table(location: str) -> Iterator[str]:
    if "://" not in location and (told := execute(location, "PRAGMA integrity_check")) != [("ok",)]:
        yield f"the file is damaged: {told}"
    with closing(open_team(location, read_only=True)) as team:
        if not all(line.intact for line in team.audit(limit=1_000_000)):
            yield "the chain of the trail is broken"


STORES: Mapping[str, Store] = {
    "files": Store(
        partial(_make, "files"),
        (*_CREW, "limited_sender", "watcher"),
        ("careless", "dropper", "copier"),
        _leave_half_of_a_write,
        read_files,
    ),
    "sqlite": Store(
        partial(_make, "sqlite"),
        (*_CREW, "limited_sender"),
        ("inserter",),
        _leave_nothing,
        read_table,
    ),
    "postgresql": Store(
        partial(_make, "postgresql"),
        _CREW,
        ("inserter",),
        _leave_nothing,
        read_table,
    ),
}
