"""The ledger: one line per transaction, chained, durable before the queue, whole after a crash."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.equipment.teams import make_message, put
from tests.equipment.yaml_folder import audit_lines, notices, open_yaml, receive, states


def test_a_transaction_is_one_line_with_all_it_did(tmp_path: Path) -> None:
    team = open_yaml(tmp_path)
    put(team, make_message(1), make_message(2))
    receive(team)
    send, received = audit_lines(tmp_path)
    assert send["writes"] == [dict(make_message(n).record) for n in (1, 2)]
    assert received["action"] == "receive"
    assert received["changes"][0] == [  # type: ignore[index]
        make_message(1).message_id,
        {"status": "read", "read_at": "2026-02-24T10:31:00.000Z"},
    ]
    assert received["archived"] == [["task-manager", make_message(n).message_id] for n in (1, 2)]
    assert (send["seq"], received["seq"]) == (1, 2)


@pytest.mark.parametrize("what", ["changed", "removed", "inserted"])
def test_a_ledger_that_was_tampered_with_says_from_where(tmp_path: Path, what: str) -> None:
    team = open_yaml(tmp_path)
    for number in range(1, 6):
        put(team, make_message(number))
    path = tmp_path / "audit.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    if what == "changed":
        lines[2] = lines[2].replace(b"number 3", b"number 8")
    elif what == "removed":
        del lines[2]
    else:
        lines.insert(2, json.dumps({"seq": 9, "at": "", "actor": "x", "action": "y"}).encode() + b"\n")
    path.write_bytes(b"".join(lines))
    intact = [line.intact for line in reversed(open_yaml(tmp_path).audit())]
    assert intact[:2] == [True, True]
    assert intact[-1] is False


@pytest.mark.parametrize("torn", [b'{"seq": 3, "at"', b"\0" * 100, b'{"seq": 3}', b"\n\0\0\n"])
def test_a_torn_last_line_is_moved_aside_and_told(tmp_path: Path, torn: bytes) -> None:
    team = open_yaml(tmp_path)
    put(team, make_message(1))
    put(team, make_message(2))
    path = tmp_path / "audit.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole + torn)
    assert notices(open_yaml(tmp_path)) == {"TORN_END"}
    assert path.read_bytes() == whole
    assert [path.read_bytes() for path in tmp_path.glob("audit.jsonl.torn-*")] == [torn]
    put(open_yaml(tmp_path), make_message(3))
    assert all(line.intact for line in team.audit())
    assert states(team) == {"01": "pending", "02": "pending", "03": "pending"}


def test_several_records_of_one_transaction_are_several_lines_of_the_trail(tmp_path: Path) -> None:
    team = open_yaml(tmp_path)
    with team.transaction(actor="ceo", action="send", wait=1) as tx:
        tx.add(make_message(1))
        tx.record("compact", ids=["a"])
        tx.record("send", ids=["b"])
    assert [(line.seq, line.action, line.facts) for line in team.audit()] == [
        (1, "send", {"ids": ["b"]}),
        (1, "compact", {"ids": ["a"]}),
    ]
    assert len(audit_lines(tmp_path)) == 1


def test_the_trail_is_read_anew_only_where_it_grew(tmp_path: Path) -> None:
    team = open_yaml(tmp_path)
    for number in range(1, 4):
        put(team, make_message(number))
        assert [line.seq for line in team.audit()] == list(range(number, 0, -1))
    assert [line.seq for line in team.audit(limit=2)] == [3, 2]
    other = open_yaml(tmp_path)
    put(other, make_message(9))
    assert [line.seq for line in team.audit(limit=2)] == [4, 3]
    (tmp_path / "audit.jsonl").unlink()
    assert team.audit() == []


def test_a_lost_ledger_begins_anew_and_loses_no_message(tmp_path: Path) -> None:
    team = open_yaml(tmp_path)
    put(team, make_message(1))
    put(team, make_message(2))
    (tmp_path / "audit.jsonl").unlink()
    put(open_yaml(tmp_path), make_message(3))
    assert states(team) == {"01": "pending", "02": "pending", "03": "pending"}
    (line,) = team.audit()
    assert line.facts["audit_lost"] == [0, 2]


def test_text_that_is_no_unicode_is_recorded_all_the_same(tmp_path: Path) -> None:
    team = open_yaml(tmp_path)
    with team.transaction(actor="ceo", action="send", wait=1) as tx:
        tx.add(make_message(1))
        tx.record("send", reason="\udcff\x1b[2J")
    assert team.audit()[0].facts == {"reason": "\udcff\x1b[2J"}


def test_facts_of_another_shape_never_stop_the_reader(tmp_path: Path) -> None:
    (tmp_path / "audit.jsonl").write_bytes(
        b'{"seq": 1, "facts": 7, "writes": {"a": 1}, "changes": [[1]], "sizes": "x", "base": [1, "a", 3], "prev": 0}\n'
    )
    assert [line.facts for line in open_yaml(tmp_path).audit()] == [{}]
    put(open_yaml(tmp_path), make_message(1))
    assert states(open_yaml(tmp_path)) == {"01": "pending"}


@pytest.mark.parametrize("place", [10**30, -1, 1.5, "0"])
def test_a_line_that_says_that_the_settings_stand_where_nothing_is_stops_nobody(tmp_path: Path, place: object) -> None:
    put(open_yaml(tmp_path), make_message(1))
    line = {"seq": 2, "at": "", "actor": "x", "action": "y", "settings": {"sha256": "0" * 64, "at": place}}
    with (tmp_path / "audit.jsonl").open("ab") as file:
        file.write(json.dumps(line).encode() + b"\n")
    assert len(open_yaml(tmp_path).snapshot().messages) == 1
    put(open_yaml(tmp_path), make_message(2))
