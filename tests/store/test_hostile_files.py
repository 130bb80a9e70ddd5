"""Files that nobody made for us: huge ones, links out of the team, folders in the way. One of them stops nobody."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from team_console.store.contract.team import Team
from team_console.store.contract.transaction import Transaction
from team_console.store.model.errors import TeamError
from team_console.store.service.caller import Caller
from team_console.store.service.inbox import receive

from tests.equipment.cases import cases
from tests.equipment.teams import make_message, put
from tests.equipment.yaml_folder import open_yaml, write_into

pytestmark = pytest.mark.slow


def _writing(team: Team) -> AbstractContextManager[Transaction]:
    return team.transaction(actor="ceo", action="try", wait=1)


HUGE, ROOM = 3 << 30, 600 << 20


def _sparse(path: Path) -> None:
    path.parent.mkdir(exist_ok=True)
    path.touch()
    os.truncate(path, HUGE)


def _limit_memory() -> Iterator[None]:
    """A huge file that is read whole ends in a MemoryError here, not in a machine that swaps."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + ROOM, hard))
    yield
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


limited = pytest.fixture(_limit_memory)


@pytest.fixture
def crew(tmp_path: Path) -> Path:
    """A team with two messages, one read and archived by its recipient."""
    put(open_yaml(tmp_path), make_message(1), make_message(2, to="file-manager"))
    assert len(receive(Caller(open_yaml(tmp_path), "task-manager"), agent="task-manager").messages) == 1
    return tmp_path


FILES = ("message-queue.yaml", "message-queue.yaml.prev", "audit.jsonl", "archive/task-manager-archive.yaml")


@pytest.mark.usefixtures("limited")
@cases
@pytest.mark.parametrize("name", FILES)
def test_a_huge_sparse_file_takes_no_memory_and_stops_nobody(crew: Path, name: str, grown: bool) -> None:
    if not grown:
        (crew / name).write_bytes(b"")
    _sparse(crew / name)
    reader = open_yaml(crew)
    reader.snapshot()
    reader.history()
    reader.audit()
    put(open_yaml(crew), make_message(3), make_message(4, to="file-manager"))
    for agent, count in (("task-manager", 1), ("file-manager", 2)):
        assert len(receive(Caller(open_yaml(crew), agent), agent=agent).messages) == count
    seen = open_yaml(crew).snapshot()
    assert sorted((message.message_id[-1], message.status) for message in seen.messages) == [
        (number, "read") for number in "1234"
    ]
    assert {message.message_id[-1] for message in open_yaml(crew).history().messages} >= set("234")


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


@pytest.mark.parametrize("name", ["archive", "inbox", "attachments", "drop"])
def test_a_link_out_of_the_team_is_told_and_nothing_is_written_through_it(tmp_path: Path, name: str) -> None:
    root, elsewhere = tmp_path / "team", tmp_path / "precious"
    root.mkdir()
    elsewhere.mkdir()
    put(open_yaml(root), make_message(1))
    (root / name).symlink_to(elsewhere)
    (problem,) = [problem for problem in open_yaml(root).snapshot().problems if problem.code == "LINK_OUT"]
    assert (problem.severity, problem.place) == ("error", str(root / name))
    assert f"rm {root / name}" in str(problem.hint)
    if name != "drop":
        with pytest.raises(TeamError, match="leads out of the team"), _writing(open_yaml(root)) as tx:
            write_into(tx, name)
    assert list(elsewhere.iterdir()) == []


def test_a_link_that_is_not_followed_is_not_looked_through(tmp_path: Path) -> None:
    other, root = tmp_path / "other", tmp_path / "team"
    for folder in (other, root):
        folder.mkdir()
    put(open_yaml(other), make_message(1))
    receive(Caller(open_yaml(other), "task-manager"), agent="task-manager")
    (root / "message-queue.yaml").write_text("messages: []\n")
    (root / "archive").symlink_to(other / "archive")
    codes = {problem.code for problem in open_yaml(root).snapshot().problems}
    assert "LINK_OUT" in codes
    assert "AUDIT_LOST" not in codes
