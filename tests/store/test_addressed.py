"""Looking for one agent's messages without a lock: nothing of it is missed, and what is for others is not read."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from team_console.store.backends.yaml.disk import Disk
from team_console.store.backends.yaml.lock import holder_text
from team_console.store.model.clock import to_text, utc_now
from team_console.store.service import inbox
from team_console.store.service.caller import Caller

from tests.equipment.teams import make_message, put
from tests.equipment.yaml_folder import QUEUE, open_yaml

ME, OTHER = "task-manager", "file-manager"


def _large(root: Path, count: int = 400) -> None:
    records = [dict(make_message(number, to=OTHER).record) for number in range(count)]
    (root / QUEUE).write_text(yaml.safe_dump({"messages": records}), encoding="utf-8")


def test_nothing_is_locked_where_nothing_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _large(tmp_path)
    inbox.receive(Caller(open_yaml(tmp_path), ME), agent=ME)
    locked: list[int] = []
    monkeypatch.setattr(Disk, "lock", lambda *_: locked.append(1))
    got = inbox.receive(Caller(open_yaml(tmp_path), ME), agent=ME)
    assert (got.status_message, locked) == (f"No pending messages for {ME}", [])


def test_a_change_of_an_own_message_is_seen_although_the_ledger_names_only_its_id(tmp_path: Path) -> None:
    team = open_yaml(tmp_path)
    put(team, make_message(1, to=ME))
    other = Caller(open_yaml(tmp_path), ME)
    assert len(inbox.receive(other, agent=ME, lease=60).messages) == 1
    assert inbox.receive(Caller(team, ME), agent=ME).messages == ()
    held = open_yaml(tmp_path).addressed(ME)
    assert held is not None
    assert [message.status for message in held.messages] == ["claimed"]
    known = team.addressed(ME)
    inbox.acknowledge(other, ids=[make_message(1).message_id])
    seen = team.addressed(ME)
    assert known is not None
    assert seen is not None
    assert [[message.status for message in look.messages] for look in (known, seen)] == [["claimed"], ["read"]]


def test_what_was_known_is_no_answer_while_the_writer_of_a_new_message_holds_the_lock(tmp_path: Path) -> None:
    """The queue is swapped before the lock is let go, and letting go changes no watched file: a waiter that took the
    answer of before would go on waiting for a message that is there.
    """
    put(open_yaml(tmp_path), make_message(1, to=OTHER))
    waiter = open_yaml(tmp_path)
    assert inbox.receive(Caller(waiter, ME), agent=ME).messages == ()
    known = waiter.addressed(ME)
    put(open_yaml(tmp_path), make_message(2, to=ME))
    lock = waiter.layout.lock
    left = lock.read_bytes()
    lock.write_bytes(holder_text(since=to_text(utc_now()), action="send"))
    while_held = waiter.addressed(ME)
    lock.write_bytes(left)
    let_go = waiter.addressed(ME)
    assert known is not None
    assert known.messages == ()
    assert while_held is None
    assert let_go is not None
    assert [message.message_id for message in let_go.messages] == [make_message(2).message_id]
