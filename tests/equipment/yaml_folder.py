"""A YAML team in a real folder, and what its tests do to it."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from team_console.store.backends.yaml.disk import Disk
from team_console.store.backends.yaml.entry import write_entry
from team_console.store.backends.yaml.team import YamlTeam
from team_console.store.contract.snapshot import ROLLED_BACK, Snapshot
from team_console.store.contract.transaction import Transaction
from team_console.store.model.message import Message

from tests.equipment.teams import FakeClock, make_message, put
from tests.equipment.waiting import until

QUEUE = "message-queue.yaml"


def open_yaml(root: Path, *, read_only: bool = False, disk: Disk | None = None) -> YamlTeam:
    """The team in `root`, opened as a new process would."""
    return YamlTeam(
        root,
        queue=root / QUEUE,
        archive_dir=root / "archive",
        config_path=root / "messenger-config.yaml",
        read_only=read_only,
        clock=FakeClock(),
        disk=disk,
    )


def queue_of(*messages: Message) -> bytes:
    """A queue file as another program would write it."""
    return b"messages:\n" + b"".join(write_entry(message) for message in messages)


def receive(team: YamlTeam, agent: str = "task-manager", *, wait: float = 5) -> list[str]:
    """Hand out what is pending for `agent`: read, archived; the ids."""
    with team.transaction(actor=agent, action="receive", wait=wait) as tx:
        waiting = [message for message in tx.everything() if message.is_pending_for(agent)]
        for item in waiting:
            new = item.with_changes(status="read", read_at="2026-02-24T10:31:00.000Z")
            tx.replace(item, new)
            tx.archive(agent, new)
        if waiting:
            tx.record("receive", ids=[message.message_id for message in waiting])
    return [message.message_id for message in waiting]


def remove(team: YamlTeam, number: int) -> None:
    """Archive a message and take it out of the queue."""
    with team.transaction(actor="ceo", action="clear", wait=5) as tx:
        message = tx.get(make_message(number).message_id)
        assert message is not None
        tx.archive("task-manager", message)
        tx.remove(message)
        tx.record("clear")


def notices(team: YamlTeam) -> set[str]:
    """Enter once; the codes of what was repaired."""
    with team.transaction(actor="ceo", action="look", wait=5) as tx:
        return {notice.code for notice in tx.notices}


def write_into(tx: Transaction, folder: str) -> None:
    """Have a transaction put something into one of the folders beside the queue."""
    message = tx.everything()[0]
    if folder == "archive":
        tx.archive("task-manager", message)
    elif folder == "inbox":
        tx.push("task-manager", message)
    else:
        tx.attach(b"x" * 100)
    tx.record("try")


def is_rolled_back(snapshot: Snapshot) -> bool:
    """Whether the queue is known not to be what it should be: messages are missing or in an earlier state."""
    return any(problem.code == ROLLED_BACK for problem in snapshot.problems)


def states(team: YamlTeam) -> dict[str, str]:
    """Number of each live message -> its status."""
    return {message.message_id[-2:]: message.status for message in team.snapshot().messages}


def everything_in(root: Path) -> dict[str, tuple[bytes, int, int, int]]:
    """Bytes, modification and access time and mode of each file under `root`; this look changes none of them."""
    times = {
        path: path.lstat() for path in (root, *(root / name for name in ("archive", "drop", "inbox"))) if path.exists()
    }
    found: dict[str, tuple[bytes, int, int, int]] = {}
    for path in sorted(root.rglob("*")):
        stat = times.get(path) or path.lstat()
        data = b"" if path.is_dir() else path.read_bytes()
        times[path] = stat
        found[str(path.relative_to(root))] = data, stat.st_mtime_ns, stat.st_atime_ns, stat.st_mode
    for path, stat in times.items():
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    return found


def replace_by_rename(path: Path, data: bytes) -> None:
    """Write as a program does that does not lock but renames."""
    temporary = path.with_name("somebody-elses.new")
    temporary.write_bytes(data)
    temporary.rename(path)


@contextlib.contextmanager
def process(code: str, root: Path, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """Another Python process that runs `code` with the folder as first argument; killed at the end if need be."""
    command = [sys.executable, "-c", PROLOGUE + code, str(root), *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        try:
            yield running
        finally:
            if running.poll() is None:
                running.kill()


PROLOGUE = """
import sys, os, time
from pathlib import Path
from tests.equipment.yaml_folder import *
from tests.equipment.teams import make_message, put
root = Path(sys.argv[1])
team = open_yaml(root)
"""
HOLD = """
with team.transaction(actor="ceo", action="hold", wait=5):
    os.write(1, b"held")
    sys.stdin.read(1)
"""


def wait_for(running: subprocess.Popen[bytes], word: bytes) -> None:
    """Read until the process has said `word`."""
    assert running.stdout is not None
    said = running.stdout.read(len(word))
    assert said == word, said


@contextlib.contextmanager
def open_folder() -> Iterator[Path]:
    """A folder that other users may enter and write."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o777)
        put(open_yaml(Path(name) / "."), make_message(0))
        for path in Path(name).iterdir():
            path.unlink()
        yield Path(name)


@contextlib.contextmanager
def as_nobody() -> Iterator[None]:
    """Act as a user without rights; only root can, and everything must be imported before."""
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="only root may act as somebody else")


def audit_lines(root: Path) -> list[dict[str, object]]:
    """The trail's lines as JSON."""
    return [json.loads(line) for line in (root / "audit.jsonl").read_bytes().splitlines()]


__all__ = [
    "HOLD",
    "PROLOGUE",
    "QUEUE",
    "ROOT_ONLY",
    "as_nobody",
    "audit_lines",
    "everything_in",
    "make_message",
    "notices",
    "open_folder",
    "open_yaml",
    "process",
    "put",
    "queue_of",
    "receive",
    "remove",
    "replace_by_rename",
    "states",
    "until",
    "wait_for",
]


STEPS = ("stage", "check", "swap")
"""Moments of a write: the new queue is about to be staged, looked at for the last time, put in its place."""


@contextlib.contextmanager
def meanwhile(step: str, act: Callable[[], object], *, times: int = 1) -> Iterator[None]:
    """Let somebody else act just before this step of our writes, so often."""
    left, staged = times, set[int]()
    open_new, sync, exchange = Disk.open_new, Disk.sync, Disk.exchange

    def reach(name: str) -> None:
        nonlocal left
        if name == step and left:
            left -= 1
            act()

    def staging(disk: Disk, path: Path, mode: int, group: int = -1) -> int:
        reach("stage")
        found = open_new(disk, path, mode, group)
        staged.add(found)
        return found

    def syncing(disk: Disk, fd: int) -> None:
        sync(disk, fd)
        if fd in staged:
            staged.discard(fd)
            reach("check")

    def swapping(disk: Disk, path: Path, other: Path) -> bool:
        reach("swap")
        return exchange(disk, path, other)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Disk, "open_new", staging)
        patch.setattr(Disk, "sync", syncing)
        patch.setattr(Disk, "exchange", swapping)
        yield
