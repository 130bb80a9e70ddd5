"""A role with few rights on a PostgreSQL team: what it may do works, what it may not is refused and changes nothing."""

from __future__ import annotations

import threading

import pytest
from team_console.console.mcp.results import mails_result
from team_console.store.backends.open import create_database
from team_console.store.backends.sql.schema import OUR_TABLES
from team_console.store.model.errors import TeamError
from team_console.store.service import inbox
from team_console.store.service.caller import Caller
from team_console.store.service.inbox import Received

from tests.equipment.statements import SEED, execute, insert
from tests.equipment.teams import make_message, put
from tests.sql.conftest import SETTINGS, Open

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("table", "count"), [("agent_message", 0), ("team_console_archive", 1)])
def test_an_agent_is_told_by_mcp_that_rows_may_be_hidden(postgres: str, opened: Open, table: str, count: int) -> None:
    create_database(postgres, SETTINGS)
    insert(postgres, "msg-001")
    role = postgres.rpartition("/")[2]
    execute(
        postgres,
        f"CREATE USER {role}",
        f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {role}",
        f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY",
    )
    caller = Caller(opened(postgres.replace("//postgres@", f"//{role}@")), "code_developer")
    told = mails_result(caller, received=inbox.receive(caller, agent="code_developer", mark_read=False))
    assert told["count"] == count
    assert {"row security" in warning for warning in told["warnings"]} == {True}


@pytest.mark.parametrize("table", ["agent_message", "team_console_archive", "team_console_audit"])
def test_tables_of_two_teams_that_a_search_path_mixes_are_told(postgres: str, opened: Open, table: str) -> None:
    create_database(postgres, SETTINGS)
    insert(postgres, "msg-001")
    name = postgres.rpartition("/")[2]
    execute(postgres, "CREATE SCHEMA other", f"CREATE TABLE other.{table} (LIKE public.{table} INCLUDING ALL)")
    assert opened(postgres).snapshot().doubt is None
    execute(postgres, f"ALTER DATABASE {name} SET search_path = other, public")
    doubt = opened(postgres).snapshot().doubt
    assert doubt is not None
    assert f"other.{table} and not public.{table}" in doubt.message
    for one in (*OUR_TABLES, "agent_message"):
        execute(postgres, f"CREATE TABLE IF NOT EXISTS other.{one} (LIKE public.{one} INCLUDING ALL)")
    assert opened(postgres).snapshot().doubt is None


def test_agents_that_all_write_first_to_a_database_of_others_are_all_served(postgres: str, opened: Open) -> None:
    execute(postgres, SEED.format(more=""))
    agents = [f"agent-{number}" for number in range(6)]
    for name in agents:
        insert(postgres, f"for-{name}")
        execute(postgres, f"UPDATE agent_message SET recipient = '{name}' WHERE message_id = 'for-{name}'")
    teams = {name: opened(postgres) for name in agents}
    got: dict[str, list[str]] = {}
    trouble: list[TeamError] = []
    together = threading.Barrier(len(agents))

    def work(name: str) -> None:
        teams[name].snapshot()
        together.wait(30)
        try:
            taken = inbox.receive(Caller(teams[name], name, wait=30.0), agent=name).messages
            got[name] = [message.message_id for message in taken]
        except TeamError as error:
            trouble.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in agents]
    for thread in threads:
        thread.start()
    for item in threads:
        item.join(60)
    assert trouble == []
    assert got == {name: [f"for-{name}"] for name in agents}


@pytest.mark.parametrize("level", ["serializable", "repeatable read"])
def test_a_stricter_isolation_of_the_database_does_not_make_claims_fail(
    postgres: str, opened: Open, level: str
) -> None:
    create_database(postgres, SETTINGS)
    execute(postgres, f"ALTER DATABASE {postgres.rpartition('/')[2]} SET default_transaction_isolation = '{level}'")
    put(opened(postgres), *[make_message(number, to="architect") for number in range(1, 9)])
    first, second = opened(postgres), opened(postgres)
    got: list[Received] = []

    def claim() -> None:
        got.append(inbox.receive(Caller(second, "architect", wait=20.0), agent="architect", limit=3, lease=60))

    waiting = threading.Thread(target=claim)
    with first.transaction(actor="architect", action="claim", wait=5.0) as tx:
        item = tx.get(make_message(1).message_id)
        assert item is not None
        waiting.start()
        waiting.join(0.3)
        tx.replace(item, item.with_changes(status="delivered"))
        tx.record("deliver", ids=[item.message_id])
    waiting.join(20)
    taken = [message.message_id for message in got[0].messages]
    assert taken == [make_message(number).message_id for number in (2, 3, 4)]
    states = sorted(message.status for message in first.snapshot().messages)
    assert states == ["claimed"] * 3 + ["delivered"] + ["pending"] * 4
