"""The ledger: one line per transaction, chained, durable before the queue, whole after a crash."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.equipment.teams import make_message, put
from tests.equipment.yaml_folder import notices, open_yaml, states


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


def test_facts_of_another_shape_never_stop_the_reader(tmp_path: Path) -> None:
    (tmp_path / "audit.jsonl").write_bytes(
        b'{"seq": 1, "facts": 7, "writes": {"a": 1}, "changes": [[1]], "sizes": "x", "base": [1, "a", 3], "prev": 0}\n'
    )
    assert [line.facts for line in open_yaml(tmp_path).audit()] == [{}]
    put(open_yaml(tmp_path), make_message(1))
    assert states(open_yaml(tmp_path)) == {"01": "pending"}
