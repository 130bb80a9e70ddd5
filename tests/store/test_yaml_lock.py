"""The write lock of a YAML team: bounded, named, kernel-held, never shared (cases 19-28)."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from team_console.store.backends.yaml import lock
from team_console.store.backends.yaml.disk import Disk, KernelLock, Stat
from team_console.store.model.clock import to_text, utc_now
from team_console.store.model.errors import Code, TeamError

from tests.equipment.cases import cases
from tests.equipment.yaml_folder import (
    HOLD,
    QUEUE,
    make_message,
    open_yaml,
    process,
    put,
    wait_for,
)

pytestmark = pytest.mark.slow

LOCK = QUEUE + ".lock"


class _Kernel(Disk):
    """A disk whose kernel says who holds the lock."""

    def __init__(self, holders: Callable[[], list[int]] = list) -> None:
        self.asked = 0
        self._holders = holders

    def lock_holders(self, path: Path, expected: object) -> list[int]:
        self.asked += 1
        return self._holders()


class _Unlocked(KernelLock):
    """A lock whose file system fails when it is given back."""

    def release(self) -> None:
        super().release()
        raise OSError(errno.EIO, os.strerror(errno.EIO))


class _FailingAtTheEnd(Disk):
    def lock(self, path: Path, wait: float, mode: int) -> KernelLock:
        return _Unlocked(path, wait, mode)


def test_a_lock_that_cannot_be_given_back_fails_no_write(tmp_path: Path) -> None:
    team = open_yaml(tmp_path, disk=_FailingAtTheEnd())
    put(team, make_message(1))
    put(team, make_message(2))
    assert len(open_yaml(tmp_path).snapshot().messages) == 2


def test_the_lock_of_a_killed_holder_is_free_and_its_end_is_told(tmp_path: Path) -> None:
    team = open_yaml(tmp_path)
    put(team, make_message(1))
    with process(HOLD, tmp_path) as holder:
        wait_for(holder, b"held")
        holder.kill()
        holder.wait()
    snapshot = team.snapshot()
    assert snapshot.holder is None
    assert [problem.code for problem in snapshot.problems] == ["STALE_LOCK"]
    assert str(holder.pid) in snapshot.problems[0].message
    put(team, make_message(2))
    assert team.snapshot().problems == ()


def test_a_lock_file_deleted_while_held_stops_the_commit(tmp_path: Path) -> None:
    team = open_yaml(tmp_path)
    put(team, make_message(1))
    with pytest.raises(TeamError) as caught, team.transaction(actor="ceo", action="send", wait=1) as tx:
        tx.add(make_message(2))
        tx.record("send")
        (tmp_path / LOCK).unlink()
    assert caught.value.code is Code.STORE_FAILED
    assert "lock file" in caught.value.message
    assert len(team.snapshot().messages) == 1
    put(team, make_message(2))
    assert len(team.snapshot().messages) == 2


def test_locking_twice_in_one_thread_is_a_programming_error_and_no_hang(tmp_path: Path) -> None:
    team = open_yaml(tmp_path)
    with team.transaction(actor="ceo", action="outer", wait=5) as tx:
        with (
            pytest.raises(RuntimeError, match="already holds"),
            open_yaml(tmp_path).transaction(actor="ceo", action="inner", wait=5),
        ):
            pass
        tx.add(make_message(1))
        tx.record("outer")
    assert len(team.snapshot().messages) == 1


def test_a_fork_inside_a_transaction_neither_ends_nor_doubles_it(tmp_path: Path) -> None:
    code = """
try:
    with team.transaction(actor="ceo", action="send", wait=5) as tx:
        tx.add(make_message(1))
        tx.record("send")
        child = os.fork()
        if child:
            assert os.waitpid(child, 0)[1] == 0
            text = (root / "message-queue.yaml.lock").read_bytes()
            assert b"pid" in text, text
except RuntimeError:
    os._exit(0)
os.write(1, b"done")
"""
    with process(code, tmp_path) as running:
        wait_for(running, b"done")
    assert len(open_yaml(tmp_path).snapshot().messages) == 1
    assert len(open_yaml(tmp_path).audit()) == 1


class _Meanwhile(_Kernel):
    """Something happens to the lock right after its text was read for the `number`th time."""

    def __init__(self, number: int, happens: Callable[[], object], holders: Callable[[], list[int]] = list) -> None:
        super().__init__(holders)
        self.left, self._happens = number, happens

    def read(self, path: Path, start: int = 0, length: int | None = None) -> tuple[bytes, Stat]:
        found = super().read(path, start, length)
        if path.name == LOCK:
            self.left -= 1
            if self.left == 0:
                self._happens()
        return found


def test_who_takes_over_from_one_that_died_while_it_is_looked_at_is_not_said_to_have_died(tmp_path: Path) -> None:
    put(open_yaml(tmp_path), make_message(1))
    with process(HOLD, tmp_path) as holder:
        wait_for(holder, b"held")
        holder.kill()
        holder.wait()
    text = lock.holder_text(since=to_text(utc_now()), action="send")
    team = open_yaml(tmp_path, disk=_Meanwhile(1, lambda: (tmp_path / LOCK).write_bytes(text)))
    assert team.snapshot().problems == ()


@pytest.mark.parametrize("number", [1, 2, 3])
@cases
def test_who_gives_the_lock_back_while_it_is_looked_at_is_not_said_to_have_died(
    tmp_path: Path, number: int, age: int
) -> None:
    put(open_yaml(tmp_path), make_message(1))
    released = (tmp_path / LOCK).read_bytes()
    since = to_text(utc_now() - timedelta(seconds=age))
    (tmp_path / LOCK).write_bytes(lock.holder_text(since=since, action="send"))

    def holders() -> list[int]:
        return [os.getpid()] if (tmp_path / LOCK).read_bytes() != released else []

    disk = _Meanwhile(number, lambda: (tmp_path / LOCK).write_bytes(released), holders)
    team = open_yaml(tmp_path, disk=disk)
    assert team.snapshot().problems == ()


@pytest.mark.parametrize("beside", ["link", "target"])
def test_a_queue_that_is_a_link_is_locked_beside_the_link_and_beside_its_target(tmp_path: Path, beside: str) -> None:
    real = tmp_path / "real"
    real.mkdir()
    (real / "q.yaml").write_text("messages: []\n")
    root = tmp_path / "team"
    root.mkdir()
    (root / QUEUE).symlink_to("../real/q.yaml")
    put(open_yaml(root), make_message(1))
    held = root / LOCK if beside == "link" else real / "q.yaml.lock"
    with open(held, "rb+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(TeamError) as caught:
            put(open_yaml(root), make_message(2), wait=0.1)
        assert caught.value.code is Code.STORE_LOCKED
        assert str(held) in caught.value.message
    put(open_yaml(root), make_message(2))
    assert len(open_yaml(root).snapshot().messages) == 2
    assert (root / QUEUE).is_symlink()
