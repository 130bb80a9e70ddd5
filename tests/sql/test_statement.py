"""Names and values of others that look like SQL: names are quoted, values are bound."""

from __future__ import annotations

import json
from typing import Any

from team_console.store.service.caller import Caller
from team_console.store.service.deliveries import Remedy, apply_remedy
from team_console.store.service.router import deliver

from tests.equipment.statements import SEED, execute
from tests.sql.conftest import Open

HOSTILE = """we"ird; DROP TABLE agent_message; -- :message_id %s %(x)s '"""
"""A name that ends a quoted one, holds statements, and what either driver takes for a parameter."""


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def test_columns_of_others_with_hostile_names_are_kept_when_their_row_goes(empty_place: str, opened: Open) -> None:
    execute(empty_place, SEED.format(more=f",\n {_quoted(HOSTILE)} TEXT"))
    columns = f"message_id, sender, recipient, status, error_message, {_quoted(HOSTILE)}"
    execute(empty_place, f"INSERT INTO agent_message ({columns}) VALUES ('m-1', 'a', 'b', 'failed', 'no', 'acme')")
    team = opened(empty_place)
    assert [message.message_id for message in team.snapshot().messages] == ["m-1"]
    apply_remedy(Caller(team, "user"), Remedy.DISCARD, ["m-1"], reason="old")
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
    execute(empty_place, f"CREATE TABLE {_quoted('task-manager_inbox')} (message_id TEXT, payload TEXT)")
    deliver(Caller(team, "user"))
    ((pushed,),) = execute(empty_place, f"SELECT payload FROM {_quoted('task-manager_inbox')}")
    assert json.loads(pushed) == {"text": HOSTILE}
