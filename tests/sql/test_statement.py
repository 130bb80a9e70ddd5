"""SQL as text: names of others are quoted, values are bound, and both drivers mean the same by one statement."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

import pytest
from team_console.store.backends.sql.connection import containing, for_psycopg, insert, listed, quoted
from team_console.store.model.errors import TeamError
from team_console.store.service.caller import Caller
from team_console.store.service.deliveries import discard
from team_console.store.service.router import deliver

from tests.sql.conftest import Open
from tests.sql.test_foreign import SEED, execute

HOSTILE = """we"ird; DROP TABLE agent_message; -- :message_id %s %(x)s '"""
"""A name that ends a quoted one, holds statements, and what either driver takes for a parameter."""


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("SELECT a FROM t WHERE b = :b AND c = :c", "SELECT a FROM t WHERE b = %(b)s AND c = %(c)s"),
        ("SELECT now()::text, ':b', 5 % 2", "SELECT now()::text, ':b', 5 %% 2"),
        ("a LIKE '%,%' AND b = 'it''s :c'", "a LIKE '%%,%%' AND b = 'it''s :c'"),
        (
            'SELECT ":b ""%s" FROM t WHERE c = CAST(:c AS JSON)',
            'SELECT ":b ""%%s" FROM t WHERE c = CAST(%(c)s AS JSON)',
        ),
    ],
)
def test_parameters_are_spelt_as_psycopg_wants_them(statement: str, expected: str) -> None:
    assert for_psycopg(statement) == expected


def test_a_name_of_others_cannot_end_its_quotes() -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute(f"CREATE TABLE {quoted(HOSTILE)} (a TEXT)")
    assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [(HOSTILE,)]
    connection.close()
    for name in ("", "a\0b"):
        with pytest.raises(TeamError):
            quoted(name)


def test_lists_and_rows_are_parameters_only() -> None:
    assert listed("id", ["x", "y'"]) == ("(:id_0, :id_1)", {"id_0": "x", "id_1": "y'"})
    assert listed("id", []) == ("(NULL)", {})
    assert insert("t", {"a": 1, "b": 2}) == "INSERT INTO t (a, b) VALUES (:a, :b)"
    assert containing("5%_/") == "%5/%/_//%"


def test_columns_of_others_with_hostile_names_are_kept_when_their_row_goes(empty_place: str, opened: Open) -> None:
    execute(empty_place, SEED.format(more=f",\n {quoted(HOSTILE)} TEXT"))
    columns = f"message_id, sender, recipient, status, error_message, {quoted(HOSTILE)}"
    execute(empty_place, f"INSERT INTO agent_message ({columns}) VALUES ('m-1', 'a', 'b', 'failed', 'no', 'acme')")
    team = opened(empty_place)
    assert [message.message_id for message in team.snapshot().messages] == ["m-1"]
    discard(Caller(team, "user"), ids=["m-1"], reason="old")
    kept: list[Any] = [line.facts["columns"] for line in team.audit() if line.action == "columns"]
    assert kept == [{HOSTILE: "acme"}]
    assert team.snapshot().messages == ()


def test_values_that_look_like_statements_are_values(empty_place: str, opened: Open) -> None:
    execute(empty_place, SEED.format(more=""))
    payload = json.dumps({"text": HOSTILE}).replace("'", "''")
    columns = "message_id, sender, recipient, status, payload"
    execute(
        empty_place,
        f"INSERT INTO agent_message ({columns}) VALUES ('m-1', 'o', 'task-manager', 'pending', '{payload}')",
    )
    team = opened(empty_place)
    execute(empty_place, f"CREATE TABLE {quoted('task-manager_inbox')} (message_id TEXT, payload TEXT)")
    deliver(Caller(team, "user"))
    ((pushed,),) = execute(empty_place, f"SELECT payload FROM {quoted('task-manager_inbox')}")
    assert json.loads(pushed) == {"text": HOSTILE}
