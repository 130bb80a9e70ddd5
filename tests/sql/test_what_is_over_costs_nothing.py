"""Tables with many rows that are over: verbs read what is asked for, and nothing that counts is lost for it."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import psycopg
import pytest
from msgspec import Struct
from team_console.store.backends.open import create_database, open_database
from team_console.store.backends.sql.row_reader import LARGE
from team_console.store.contract.team import Team, WatchHint
from team_console.store.service import inbox
from team_console.store.service.caller import Caller
from team_console.store.service.route_json import route
from team_console.store.service.router import deliver
from team_console.store.service.sending import broadcast, preview, send
from team_console.store.views.status import view_of_team

from tests.equipment.cases import cases
from tests.equipment.statements import SEED, execute
from tests.equipment.teams import FakeClock
from tests.sql.conftest import SETTINGS, Open

pytestmark = pytest.mark.slow

FEW, MANY = 2_500, 12_500
TEXT: dict[str, Any] = {"summary": "Five words are in here", "content": "Hello"}


def fill(place: str, count: int, clock: FakeClock, *, status: str = "delivered", name: str = "'old-' || n") -> None:
    """So many rows that another router delivered within six days, as the seed's own program writes them."""
    begin = clock.now - timedelta(days=6)
    if "://" in place:
        numbers = "generate_series(1, CAST(:count AS integer)) AS numbers(n)"
        moment = "CAST(:begin AS timestamp) + n * interval '1 second'"
        begun = ""
    else:
        begun = "WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < :count)"
        numbers, moment = "numbers", "datetime(:begin, '+' || n || ' seconds')"
    payload = """'{"task_id":"TASK-' || n || '","spec_id":"SPEC-1","priority":"high"}'"""
    execute(
        place,
        f"""
        {begun} INSERT INTO agent_message
            (message_id, sender, recipient, message_type, payload, status, created_at, delivered_at)
        SELECT {name}, 'orchestrator', CASE n - n / 3 * 3 WHEN 0 THEN 'architect' ELSE 'code_developer' END,
            'task_assignment', {f"CAST({payload} AS JSON)" if "://" in place else payload}, :status, {moment}, {moment}
        FROM {numbers}
        """,
        count=count,
        status=status,
        begin=f"{begin:%Y-%m-%d %H:%M:%S}",
    )
    if "://" in place:  # as the server does by itself now and then
        with psycopg.connect(place, autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE agent_message")


def fill_trail(place: str, count: int) -> None:
    """So many lines of our own trail that tell of plain messages."""
    last = "(SELECT * FROM team_console_audit ORDER BY seq DESC LIMIT 1) AS last"
    numbers = "WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < :count)"
    line = "last.seq + n, last.at, last.actor, 'send', '{\"ids\":[\"MSG-1\"]}', last.prev, last.hash"
    execute(place, f"{numbers} INSERT INTO team_console_audit SELECT {line} FROM numbers, {last}", count=count)
    if "://" in place:
        with psycopg.connect(place, autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE team_console_audit")


class Work(Struct):
    """What the database did for this process: steps of SQLite's machine, or rows that PostgreSQL read."""

    place: str
    steps: int = 0

    def done_by(self, action: Callable[[], object]) -> int:
        """Return it for one action."""
        # What other sessions of the server read is counted late, so that a look may take it for its own.
        return min(self._once(action) for _ in range(3 if "://" in self.place else 1))

    def _once(self, action: Callable[[], object]) -> int:
        before = self._counted()
        action()
        return self._counted() - before

    def _counted(self) -> int:
        if "://" not in self.place:
            return self.steps
        read = """
            SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) FROM pg_stat_user_tables
            WHERE relname IN ('agent_message', 'team_console_audit')
        """
        return int(execute(self.place, "SELECT pg_stat_force_next_flush()", read)[0][0])


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Work]:
    """Counts from now on."""
    works: list[Work] = []
    connect = sqlite3.connect

    def one_more() -> int:
        for work in works:
            work.steps += 1
        return 0

    def counting(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*arguments, **options)
        connection.set_progress_handler(one_more, 100)
        return connection

    def begin(place: str) -> Work:
        monkeypatch.setattr(sqlite3, "connect", counting)
        works.append(Work(place))
        return works[-1]

    return begin


Action = Callable[[Caller], object]


async def _first_hint(team: Team) -> WatchHint:
    async for hint in team.watch():
        return hint
    raise AssertionError("the watch ended")


BY_COUNT: dict[str, Action] = {
    "receive that finds nothing": lambda caller: inbox.receive(Caller(caller.team, "nobody"), agent="nobody"),
    "receive": lambda caller: inbox.receive(Caller(caller.team, "architect"), agent="architect"),
    "poll": lambda caller: route(caller, {"ACTION": "poll", "RECIPIENT": "architect"}),
    "send": lambda caller: send(caller, to="architect", **TEXT),
    "send to all": lambda caller: send(caller, to="all", **TEXT),
    "broadcast": lambda caller: (preview(caller, to="all"), broadcast(caller, **TEXT)),
    "route send": lambda caller: route(
        caller,
        {"ACTION": "send", "RECIPIENT": "architect", "MESSAGE_TYPE": "spec_ready", "PAYLOAD": {"spec_id": "S"}},
    ),
    "deliver": deliver,
    "acknowledge": lambda caller: inbox.acknowledge(Caller(caller.team, "code_developer"), ids=["7"]),
    "requests": lambda caller: view_of_team(caller.team, caller.team.snapshot(), me="ceo", counted=False),
    "snapshot": lambda caller: caller.team.snapshot(),
    "a look of a watcher": lambda caller: asyncio.run(_first_hint(caller.team)),
}
"""Verbs whose work in the database does not grow at all."""
BY_INDEX: dict[str, Action] = {
    "roster and status": lambda caller: view_of_team(caller.team, caller.team.snapshot(), me="ceo"),
}
"""Verbs that count what was delivered: they read an index, and of the table as much as ever."""
GIVE_IDS = {"send", "send to all", "broadcast", "route send"}
"""Verbs that give a message an id of ours, which is no number."""


@cases
def test_what_is_over_costs_nothing(
    empty_place: str,
    clock: FakeClock,
    counted: Callable[[str], Work],
    opened: Open,
    status: str,
    table: str,
) -> None:
    has_numbers = "numbers" in table
    if table == "of a team":
        create_database(empty_place, SETTINGS)
    else:
        execute(empty_place, SEED.format(more="").replace("id TEXT", "id BIGINT" if has_numbers else "id TEXT"))
    if "://" in empty_place:  # a scan of so few rows is cheaper than any index, which is what is to be shown
        name = execute(empty_place, "SELECT current_database()")[0][0]
        execute(empty_place, f"ALTER DATABASE {name} SET enable_seqscan = off")
    work = counted(empty_place)
    verbs = {name: action for name, action in (BY_COUNT | BY_INDEX).items() if not (has_numbers and name in GIVE_IDS)}
    costs: dict[str, list[int]] = {name: [] for name in verbs}
    for count in (FEW, MANY):
        execute(empty_place, "DELETE FROM agent_message")
        fill(empty_place, count, clock, status=status, name="n" if has_numbers else "CAST(n AS TEXT)")
        team = opened(empty_place, clock=clock)
        inbox.acknowledge(Caller(team, "code_developer"), ids=["8"])  # so that our indexes are there
        if team.has_trail:
            fill_trail(empty_place, count)
        for name, action in verbs.items():
            costs[name].append(work.done_by(partial(_fresh, empty_place, clock, action)))
    # PostgreSQL finds by its index alone whether a table is large, or reads so many rows: as it was last vacuumed.
    spared = LARGE + 100 if "://" in empty_place else 30
    names = {*BY_COUNT} if "://" not in empty_place else {*costs}
    grown = {name: cost for name, cost in costs.items() if name in names and cost[1] > 1.3 * cost[0] + spared}
    assert grown == {}
    if "://" not in empty_place:  # whoever is known and has nothing to receive costs no look at what others have
        assert 4 * costs["receive that finds nothing"][1] < costs["snapshot"][1]


def _fresh(place: str, clock: FakeClock, action: Action) -> None:
    """As a process does it that has just started."""
    team = open_database(place, clock=clock)
    try:
        if action is BY_COUNT["receive that finds nothing"] and team.config().declared:
            inbox.receive(Caller(team, "ceo"), agent="ceo")
        else:
            action(Caller(team, "ceo"))
    finally:
        team.close()
