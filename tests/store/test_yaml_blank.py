"""A queue file that is empty or holds only comments: a new queue, unless ledger or `.prev` know better."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from team_console.store.backends.yaml.queue import QueueText
from team_console.store.model.errors import TeamError

from tests.equipment.teams import make_message, put
from tests.equipment.yaml_folder import QUEUE, notices, open_yaml, states

APPENDED = (
    "- message_id: X1\n  type: message\n  from: a1\n  to: a2\n  created: '2026-02-24T10:30:15.123Z'\n"
    "  status: pending\n  payload: {content: c}\n"
)


def test_without_a_copy_the_way_back_is_the_ledger_and_it_works(tmp_path: Path) -> None:
    put(open_yaml(tmp_path), make_message(1))
    (tmp_path / QUEUE).write_bytes(b"messages: 7\n")
    assert not (tmp_path / (QUEUE + ".prev")).exists()
    with pytest.raises(TeamError) as caught:
        put(open_yaml(tmp_path), make_message(2))
    assert ".prev" not in caught.value.hint
    recipe = caught.value.hint.partition("put them back: ")[2]
    assert os.system(f"cd {tmp_path} && {recipe}") == 0
    put(open_yaml(tmp_path), make_message(2))
    assert states(open_yaml(tmp_path)) == {"01": "pending", "02": "pending"}


def test_without_copy_and_ledger_no_way_back_is_promised(tmp_path: Path) -> None:
    (tmp_path / QUEUE).write_bytes(b"messages: 7\n")
    with pytest.raises(TeamError) as caught:
        put(open_yaml(tmp_path), make_message(1))
    assert ".prev" not in caught.value.hint
    assert "ledger" not in caught.value.hint


def test_a_vanished_queue_names_a_copy_only_where_there_is_one(tmp_path: Path) -> None:
    put(open_yaml(tmp_path), make_message(1))
    (tmp_path / QUEUE).unlink()
    (tmp_path / "audit.jsonl").unlink()
    (tmp_path / "archive").mkdir(exist_ok=True)
    (tmp_path / "archive" / "a-archive.yaml").write_bytes(b"messages:\n")
    problems = [problem for problem in open_yaml(tmp_path).snapshot().problems if problem.code == "VANISHED"]
    assert all(".prev" not in problem.hint for problem in problems)


def test_a_death_between_ledger_and_queue_leaves_a_blank_queue_writable(tmp_path: Path) -> None:
    """The ledger then holds a line that was built upon this very blank file."""
    (tmp_path / QUEUE).write_bytes(b"# new\n")
    blank = (tmp_path / QUEUE).stat()
    put(open_yaml(tmp_path), make_message(1))
    kept = tmp_path / (QUEUE + ".prev")
    assert kept.stat().st_ino == blank.st_ino
    os.replace(kept, tmp_path / QUEUE)
    put(open_yaml(tmp_path), make_message(2))
    assert states(open_yaml(tmp_path)) == {"01": "pending", "02": "pending"}


@pytest.mark.parametrize(
    "empty", ["messages: []\n", "messages: [ ] # none yet\n\n", "messages: null\n", "messages: ~\n"]
)
@pytest.mark.parametrize("indent", ["", "  "])
def test_what_a_script_appends_to_a_new_queue_is_understood(tmp_path: Path, empty: str, indent: str) -> None:
    lines = "".join(indent + line + "\n" for line in APPENDED.splitlines())
    (tmp_path / QUEUE).write_text(empty + lines + lines.replace("X1", "X2"))
    team = open_yaml(tmp_path)
    snapshot = team.snapshot()
    assert [message.message_id for message in snapshot.messages] == ["X1", "X2"]
    assert [problem for problem in snapshot.problems if problem.severity == "error"] == []
    put(team, make_message(1))
    written = (tmp_path / QUEUE).read_text()
    assert lines + lines.replace("X1", "X2") in written
    assert "[" not in written.partition("\n")[0]
    assert [message.message_id for message in QueueText.parse(written.encode()).messages()][:2] == ["X1", "X2"]
    assert "HEALED_LOST" not in notices(open_yaml(tmp_path))


def test_the_last_of_appended_messages_leaves_an_empty_list() -> None:
    text = QueueText.parse(b"messages: []\n" + APPENDED.encode())
    assert text.edit(remove=[0]).data() == b"messages: []\n"
    changed = text.edit(replace={0: text.messages()[0].with_changes(status="read")})
    assert changed.data() == b"messages:\n" + APPENDED.replace("pending", "read").encode()
