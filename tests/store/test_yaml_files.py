"""What a YAML team does to the files it finds: rights, links, litter, half and missing ones (cases 11-16, 24, 33)."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest
from team_console.store.backends.yaml.disk import Disk
from team_console.store.contract.snapshot import Condition
from team_console.store.model.errors import Code, TeamError

from tests.equipment.cases import cases
from tests.equipment.yaml_folder import (
    QUEUE,
    ROOT_ONLY,
    as_nobody,
    everything_in,
    make_message,
    open_folder,
    open_yaml,
    put,
    queue_of,
    receive,
    states,
)


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("umask", [0o000, 0o077])
@pytest.mark.parametrize("mode", [None, 0o600, 0o640, 0o660, 0o644])
def test_the_queue_keeps_its_mode(tmp_path: Path, mode: int | None, umask: int) -> None:
    """New files are for their owner, and for the group where the queue is one that the group may write."""
    if mode is not None:
        (tmp_path / QUEUE).write_bytes(queue_of(make_message(1)))
        (tmp_path / QUEUE).chmod(mode)
    before = os.umask(umask)
    try:
        put(open_yaml(tmp_path), make_message(2))
        receive(open_yaml(tmp_path))
    finally:
        os.umask(before)
    assert _mode(tmp_path / QUEUE) == mode or mode is None
    if mode in (None, 0o600, 0o660):
        assert {_mode(path) for path in tmp_path.rglob("*") if path.is_file()} == {mode or 0o600}
        assert _mode(tmp_path / "archive") == (0o770 if mode == 0o660 else 0o700)


def test_a_reader_waits_out_a_writer_that_rewrites_in_place(tmp_path: Path) -> None:
    team = open_yaml(tmp_path)
    put(team, make_message(1))
    whole = (tmp_path / QUEUE).read_bytes()
    (tmp_path / QUEUE).write_bytes(b"")
    writer = threading.Timer(0.05, (tmp_path / QUEUE).write_bytes, [whole])
    writer.start()
    assert team.snapshot().condition is Condition.OK
    writer.join()


def test_a_folder_moved_away_during_a_transaction_stops_the_commit(tmp_path: Path) -> None:
    root = tmp_path / "team"
    root.mkdir()
    team = open_yaml(root)
    put(team, make_message(1))
    with pytest.raises(TeamError), team.transaction(actor="ceo", action="send", wait=1) as tx:
        tx.add(make_message(2))
        tx.record("send")
        root.rename(tmp_path / "moved")
        root.mkdir()
    assert list(root.iterdir()) == []
    assert states(open_yaml(tmp_path / "moved")) == {"01": "pending"}


@cases
def test_a_name_never_leaves_its_folder(tmp_path: Path, name: str) -> None:
    root = tmp_path / "deep" / "team"
    root.mkdir(parents=True)
    team = open_yaml(root)
    put(team, make_message(1))
    before = sorted(tmp_path.rglob("*"))
    for act in ("archive", "push"):
        with pytest.raises(TeamError) as caught, team.transaction(actor="ceo", action="x", wait=1) as tx:
            getattr(tx, act)(name, tx.everything()[0])
            tx.record("x")
        assert caught.value.code is Code.INVALID_NAME
    assert sorted(tmp_path.rglob("*")) == before


def test_short_writes_are_continued(tmp_path: Path) -> None:
    class Short(Disk):
        def write(self, fd: int, data: memoryview) -> int:
            return super().write(fd, data[:7])

    team = open_yaml(tmp_path, disk=Short())
    put(team, make_message(1))
    receive(team)
    assert states(open_yaml(tmp_path)) == {"01": "read"}
    assert len(team.history().messages) == 1


@ROOT_ONLY
@pytest.mark.parametrize("closed", ["", "audit.jsonl", f"{QUEUE}.lock"])
def test_who_may_not_write_is_told_so_before_the_first_write_and_nothing_is_made(closed: str) -> None:
    with open_folder() as root:
        put(open_yaml(root), make_message(1))
        receive(open_yaml(root))
        for path in (root, *root.rglob("*")):
            path.chmod(0o777)
        team = open_yaml(root)
        with as_nobody():
            assert team.obstacle() == ""
        (root / closed).chmod(0o555)
        before = everything_in(root)
        with as_nobody():
            assert team.obstacle() == f"no write permission on {root / closed}"
            assert len(team.snapshot().messages) == 1
            with pytest.raises(TeamError):
                put(team, make_message(2))
                receive(team)
        assert everything_in(root).keys() == before.keys()
        (root / closed).chmod(0o777)
        with as_nobody():
            assert team.obstacle() == ""
