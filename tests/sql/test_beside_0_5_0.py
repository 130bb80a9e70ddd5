"""0.5.0 and today's program read each other's requests and verdicts alike, in files and in both databases.

A verdict names the digest of its question: whatever one of them adds to a row would be a forgery to the other.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from team_console.store.backends.open import open_team
from team_console.store.model.message import from_record
from team_console.store.protocol.shown_when_decided import digest_of
from team_console.store.service import requests, sending
from team_console.store.service.caller import Caller
from team_console.store.views.status import view_of_team

from tests.equipment.cases import cases
from tests.equipment.command_line import CommandLine
from tests.equipment.postgresql import new_location
from tests.equipment.statements import execute

WRITTEN = json.loads(Path(__file__).with_name("written_by_0_5_0.json").read_text())
"""What is done by 0.5.0 -> table -> rows, as both programs left them: the other half was done by today's."""


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A team in a database without a row."""
    place = new_location(request.param, tmp_path)
    CommandLine(tmp_path).ok("init", place, "--name", "T", "--lead", "ceo", "--agent", "a1")
    return place


@pytest.mark.parametrize("name", WRITTEN)
def test_what_0_5_0_wrote_is_what_it_was(location: str, name: str) -> None:
    for table, rows in WRITTEN[name].items():
        execute(location, f"DELETE FROM {table}")
        for row in rows:
            execute(location, f"INSERT INTO {table} ({', '.join(row)}) VALUES (:{', :'.join(row)})", **row)
    team = open_team(location)
    view = view_of_team(team, team.snapshot(), me="ceo")
    (row,) = view.requests
    assert (row.state, row.flags) == ("rejected", ())
    assert [found.code for found in view.findings if found.severity == "error"] == []
    team.close()


@cases
def test_a_key_envelope_of_a_user_survives_and_is_part_of_the_digest(location: str, value: Any) -> None:
    """Sent by us, and put into the table by another program."""
    team = open_team(location)
    payload = {"_envelope": value, "content": "c"}
    sending.send(Caller(team, "a1"), to="ceo", summary="one two three four five", payload=payload)
    names = "message_id, sender, recipient, message_type, status, created_at, payload"
    values = "'m1', 'a1', 'ceo', 'message', 'pending', '2026-02-24T10:30:00.000Z', :payload"
    execute(location, f"INSERT INTO agent_message ({names}) VALUES ({values})", payload=json.dumps(payload))
    for message in team.snapshot().messages:
        assert message.payload["_envelope"] == value
        without = from_record({**message.record, "payload": {**message.payload, "_envelope": "another"}})
        assert digest_of(message) != digest_of(without)
    ask = {"_envelope": value, "issue": "i", "severity": "blocker", "recommendation": "r"}
    asked = sending.send(Caller(team, "a1"), to="ceo", type="escalate", payload=ask)
    request = asked.messages[0].message_id
    requests.answer(Caller(team, "ceo"), request_id=request, content="go")
    team.close()
    team = open_team(location)
    (row,) = view_of_team(team, team.snapshot(), me="ceo").requests
    assert (row.outcome, row.flags) == ("answered", ())
    team.close()
