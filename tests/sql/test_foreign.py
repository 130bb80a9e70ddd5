"""A database that others made with seed 003's CREATE TABLE is a team as it is, and stays theirs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from team_console.store.service.caller import Caller
from team_console.store.service.router import deliver

from tests.equipment.statements import PAYLOAD, SEED, execute, insert
from tests.equipment.teams import FakeClock
from tests.sql.conftest import Open

pytestmark = pytest.mark.slow


def test_what_an_inbox_table_does_not_take_goes_into_a_file_once(
    empty_place: str, opened: Open, clock: FakeClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    execute(empty_place, SEED.format(more=""))
    insert(empty_place, "msg-001")
    execute(empty_place, "CREATE TABLE code_developer_inbox (message_id TEXT CHECK (message_id = ''), payload TEXT)")
    caller = Caller(opened(empty_place, clock=clock), "orchestrator")
    done = deliver(caller)
    execute(empty_place, "UPDATE agent_message SET status = 'pending'")
    assert len(done.delivered) == len(deliver(caller).delivered) == 1
    (line,) = next(tmp_path.rglob("code_developer.jsonl")).read_text().splitlines()
    assert (json.loads(line)["message_id"], json.loads(line)["payload"]) == ("msg-001", json.loads(PAYLOAD))
    assert [fact.facts["ids"] for fact in caller.team.audit() if fact.action == "inbox_file"] == [["msg-001"]] * 2
