"""A role with few rights on a PostgreSQL team: what it may do works, what it may not is refused and changes nothing."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from team_console.console.mcp.results import mails_result
from team_console.store.backends.sql.open import create_database
from team_console.store.model.errors import Code, TeamError
from team_console.store.service import inbox, sending
from team_console.store.service.caller import Caller, Received
from team_console.store.service.orchestrator import route

from tests.equipment.asking import refusal
from tests.equipment.command_line import CommandLine
from tests.equipment.statements import SEED, execute, insert
from tests.equipment.teams import make_message, put
from tests.sql.conftest import SETTINGS, Open

pytestmark = pytest.mark.slow

Role = Callable[..., str]


@pytest.fixture
def role(postgres: str) -> Iterator[Role]:
    """Makes a role with the rights given, and hands out the location it uses."""
    made: list[str] = []

    def make(*grants: str) -> str:
        name = f"role_{secrets.token_hex(4)}"
        made.append(name)
        execute(postgres, f"CREATE ROLE {name} LOGIN", *(grant.format(role=name) for grant in grants))
        return postgres.replace("//postgres@", f"//{name}@")

    yield make
    for name in made:
        execute(postgres, f"DROP OWNED BY {name} CASCADE", f"DROP ROLE {name}")


def _tables(place: str) -> set[str]:
    return {row[0] for row in execute(place, "SELECT tablename FROM pg_tables WHERE tablename LIKE 'team_console%'")}


def test_a_role_that_may_make_no_tables_is_told_so_and_changes_nothing(postgres: str, role: Role, opened: Open) -> None:
    execute(postgres, SEED.format(more=""))
    insert(postgres, "msg-001")
    team = opened(role("GRANT SELECT, INSERT, UPDATE, DELETE ON agent_message TO {role}"))
    caught = refusal(inbox.receive, Caller(team, "code_developer"), agent="code_developer")
    assert caught.code is Code.NOT_PERMITTED
    assert "permission denied for schema" in caught.message
    assert "GRANT CREATE ON SCHEMA" in caught.hint
    polled = route(Caller(team, "orchestrator"), {"ACTION": "poll", "RECIPIENT": "code_developer"})
    assert [message["message_id"] for message in polled["messages"]] == ["msg-001"]
    assert _tables(postgres) == set()
    assert [message.status for message in team.snapshot().messages] == ["pending"]


@pytest.mark.parametrize("more", [(), ("GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}",)])
def test_a_role_with_rights_on_the_messages_alone_can_look_and_is_told_what_is_missing(
    postgres: str, role: Role, opened: Open, more: tuple[str, ...]
) -> None:
    create_database(postgres, SETTINGS)
    put(opened(postgres), make_message(1, to="architect"))
    team = opened(role("GRANT SELECT, INSERT, UPDATE, DELETE ON agent_message TO {role}", *more))
    snapshot = team.snapshot()
    assert [message.message_id for message in snapshot.messages] == [make_message(1).message_id]
    assert [problem.code for problem in snapshot.problems] == ([] if more else ["TABLES_HIDDEN"])
    polled = route(Caller(team, "ceo"), {"ACTION": "poll", "RECIPIENT": "architect"})
    assert polled["messages_pending"] == 1
    caught = refusal(sending.send, Caller(team, "user"), to="architect", type="spec_ready")
    assert caught.code is Code.NOT_PERMITTED
    assert "GRANT SELECT, INSERT, UPDATE, DELETE ON team_console_state" in caught.hint


@pytest.mark.parametrize("face", ["status", "receive", "inbox", "requests", "history"])
def test_rows_that_are_hidden_from_a_role_are_no_empty_inbox(
    postgres: str, role: Role, tmp_path: Path, face: str
) -> None:
    create_database(postgres, SETTINGS)
    insert(postgres, "msg-001")
    place = role("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {role}")
    execute(postgres, "ALTER TABLE agent_message ENABLE ROW LEVEL SECURITY")
    names = {"receive": ("--agent", "code_developer"), "inbox": ("code_developer",)}
    done = CommandLine(tmp_path)("-t", place, face, *names.get(face, ()), "--json", env={"TEAM_CONSOLE_AS": "ceo"})
    told = f"{done.err} {done.json.get('doubt')}"
    assert "row security lets this role see only some rows of agent_message" in told, done
    execute(postgres, f"ALTER ROLE {place.partition('//')[2].partition('@')[0]} BYPASSRLS")
    seen = CommandLine(tmp_path)("-t", place, "inbox", "code_developer", "--json")
    assert (seen.json["count"], seen.json["doubt"]) == (1, None)


def test_a_row_that_a_policy_refuses_stops_no_other_and_is_named(postgres: str, role: Role, opened: Open) -> None:
    create_database(postgres, SETTINGS)
    insert(postgres, "msg-001")
    insert(postgres, "msg-002")
    place = role("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {role}")
    execute(
        postgres,
        "ALTER TABLE agent_message ENABLE ROW LEVEL SECURITY",
        "CREATE POLICY few ON agent_message USING (true) WITH CHECK (message_id <> 'msg-001')",
    )
    team = opened(place)
    got = inbox.receive(Caller(team, "code_developer"), agent="code_developer")
    assert [message.message_id for message in got.messages] == ["msg-002"]
    assert "row-level security" in str(got.notices)
    execute(postgres, "ALTER POLICY few ON agent_message WITH CHECK (recipient <> 'architect')")
    caught = refusal(sending.send, Caller(team, "user"), to="architect", type="spec_ready")
    assert caught.code is Code.NOT_PERMITTED
    assert "BYPASSRLS" in caught.hint


def test_an_agent_is_told_by_mcp_that_rows_may_be_hidden(postgres: str, role: Role, opened: Open) -> None:
    create_database(postgres, SETTINGS)
    insert(postgres, "msg-001")
    place = role("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {role}")
    execute(postgres, "ALTER TABLE agent_message ENABLE ROW LEVEL SECURITY")
    caller = Caller(opened(place), "code_developer")
    told = mails_result(caller, received=inbox.receive(caller, agent="code_developer"))
    assert told["count"] == 0
    assert ["row security" in warning for warning in told["warnings"]] == [True]


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
