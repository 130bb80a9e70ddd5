"""Files that nobody made for us: huge ones, links out of the team, folders in the way. One of them stops nobody."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from team_console.store.contract.team import Team, Transaction
from team_console.store.desk.caller import Caller
from team_console.store.desk.inbox import receive
from team_console.store.model.errors import TeamError

from tests.store.contract import make_message, put
from tests.store.yaml_folder import open_yaml


def _writing(team: Team) -> AbstractContextManager[Transaction]:
    return team.transaction(actor="ceo", action="try", wait=1)


HUGE = 3 << 30


def _sparse(path: Path) -> None:
    path.parent.mkdir(exist_ok=True)
    path.touch()
    os.truncate(path, HUGE)


def test_a_huge_drop_file_is_set_aside_unread(tmp_path: Path) -> None:
    team = open_yaml(tmp_path)
    _sparse(tmp_path / "drop" / "x.yaml")
    put(team, make_message(1))
    assert (tmp_path / "drop" / "rejected" / "x.yaml").stat().st_size == HUGE
    assert len(team.snapshot().messages) == 1


def test_a_huge_queue_is_named_and_not_read(tmp_path: Path) -> None:
    team = open_yaml(tmp_path)
    _sparse(tmp_path / "message-queue.yaml")
    assert any("limit" in problem.message for problem in team.snapshot().problems)


def test_a_huge_ledger_without_lines_is_named_and_not_read_whole(tmp_path: Path) -> None:
    team = open_yaml(tmp_path)
    _sparse(tmp_path / "audit.jsonl")
    with pytest.raises(TeamError, match="no whole line"):
        put(team, make_message(1))


@pytest.mark.parametrize("content", ["same", "other"])
def test_a_dropped_message_with_a_known_id_is_forgotten_only_when_it_is_that_message(
    tmp_path: Path, content: str
) -> None:
    team = open_yaml(tmp_path)
    put(team, make_message(1, message_id="X1", payload={"content": "same"}))
    (tmp_path / "drop").mkdir()
    text = "message_id: X1\ntype: message\nfrom: ceo\nto: task-manager\npriority: medium\n"
    text += f"payload: {{content: {content}}}\n"
    (tmp_path / "drop" / "x.yaml").write_text(text)
    with team.transaction(actor="ceo", action="look", wait=1) as tx:
        told = [notice.code for notice in tx.notices]
    assert not (tmp_path / "drop" / "x.yaml").exists()
    assert (tmp_path / "drop" / "rejected" / "x.yaml").exists() == (content == "other")
    assert ("DROP_REJECTED" in told) == (content == "other")


def test_a_drop_folder_elsewhere_is_left_alone(tmp_path: Path) -> None:
    root, elsewhere = tmp_path / "team", tmp_path / "precious"
    root.mkdir()
    elsewhere.mkdir()
    (elsewhere / "values.yaml").write_text("a: 1\n")
    (root / "drop").symlink_to(elsewhere)
    put(open_yaml(root), make_message(1))
    assert [path.name for path in elsewhere.iterdir()] == ["values.yaml"]


@pytest.mark.parametrize("name", ["archive", "inbox", "attachments"])
def test_nothing_is_written_through_a_link_out_of_the_team(tmp_path: Path, name: str) -> None:
    root, elsewhere = tmp_path / "team", tmp_path / "precious"
    root.mkdir()
    elsewhere.mkdir()
    team = open_yaml(root)
    put(team, make_message(1))
    (root / name).symlink_to(elsewhere)
    with pytest.raises(TeamError, match="leads out of the team"), _writing(team) as tx:
        message = tx.everything()[0]
        if name == "archive":
            tx.archive("task-manager", message)
        elif name == "inbox":
            tx.push("task-manager", message)
        else:
            tx.attach(b"x" * 100)
        tx.record("try")
    assert list(elsewhere.iterdir()) == []


def test_a_folder_in_the_place_of_the_generation_before_spoils_no_write(tmp_path: Path) -> None:
    team = open_yaml(tmp_path)
    put(team, make_message(1))
    prev = tmp_path / "message-queue.yaml.prev"
    prev.unlink(missing_ok=True)
    (prev / "x").mkdir(parents=True)
    put(team, make_message(2))
    assert len(receive(Caller(open_yaml(tmp_path), "task-manager"), agent="task-manager").messages) == 2


def test_a_message_torn_in_the_queue_is_put_back_from_the_ledger(tmp_path: Path) -> None:
    team = open_yaml(tmp_path)
    put(team, make_message(1), make_message(2))
    queue = tmp_path / "message-queue.yaml"
    text = queue.read_text()
    queue.write_text(text.replace("summary: Summary of message number 2", 'summary: "Summary of mess'))
    assert len(open_yaml(tmp_path).snapshot().messages) == 1
    put(open_yaml(tmp_path), make_message(3))
    assert sorted(message.message_id[-1] for message in open_yaml(tmp_path).snapshot().messages) == ["1", "2", "3"]
