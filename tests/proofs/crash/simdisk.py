"""A disk in memory that remembers what was made durable and what was not, and stops at any step it is told to."""

from __future__ import annotations

import errno
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from team_console.store.backends.yaml.disk import Disk, Stat


class PowerCut(BaseException):
    """The process is gone; nothing it does from here on reaches the disk."""


@dataclass(slots=True)
class Inode:
    """A file: what programs see, what is durable, and every content since then (bytes, modification time)."""

    number: int
    mode: int
    data: bytes = b""
    mtime: int = 0
    durable: tuple[bytes, int] = (b"", 0)
    since: list[tuple[bytes, int]] = field(default_factory=list)


class FolderStep(NamedTuple):
    """One change of names: `link`, `unlink`, `rename`, `exchange` or `mkdir`."""

    kind: str
    one: Path
    other: Path
    inode: int = 0


ROOT = Path("/sim-team")
"""The folder of every simulated team; it does not exist on the real disk."""
Names = dict[Path, int]
Fault = Callable[[int, str], None]


def apply_step(names: Names, step: FolderStep) -> None:
    """Do one change of names on a directory tree; one that makes no sense there does nothing."""
    if step.kind == "link":
        names[step.one] = step.inode
    elif step.kind == "unlink":
        names.pop(step.one, None)
    elif step.kind == "rename" and step.one in names:
        names[step.other] = names.pop(step.one)
    elif step.kind == "exchange" and step.one in names and step.other in names:
        names[step.one], names[step.other] = names[step.other], names[step.one]


class SimDisk(Disk):
    """A `Disk` in memory: every call of it is simulated, which a test holds.

    Each mutating call asks `fault` first, with its number and name; `fault` may raise `PowerCut` or an `OSError`.
    A write is two steps, so that a torn one is a state too.
    """

    def __init__(self, *, can_exchange: bool = True) -> None:
        self.inodes: dict[int, Inode] = {}
        self.tree: Names = {}
        self.durable_tree: Names = {}
        self.pending: list[FolderStep] = []
        self.folders: set[Path] = {Path("/"), ROOT}
        self.durable_folders: set[Path] = {Path("/"), ROOT}
        self.can_exchange = can_exchange
        self.fault: Fault | None = None
        self.steps: list[str] = []
        self.before_step: Callable[[str], None] | None = None
        self._time = 1
        self._next = 1
        self._open: dict[int, Inode] = {}
        self._locked = False
        self._dead = False

    def stat(self, path: Path) -> Stat | None:
        self._alive()
        if path in self.folders:
            return Stat("folder", 1, 0, 0, 0, 0o700, 1)
        number = self.tree.get(path)
        return None if number is None else self._stat(self.inodes[number])

    def read(self, path: Path, start: int = 0, length: int | None = None) -> tuple[bytes, Stat]:
        self._alive()
        inode = self._inode(path)
        return inode.data[start : None if length is None else start + length], self._stat(inode)

    def find(self, path: Path, needle: bytes) -> int:
        self._alive()
        return self._inode(path).data.find(needle)

    def names(self, folder: Path) -> list[str]:
        self._alive()
        return sorted(path.name for path in self.tree if path.parent == folder)

    def mkdir(self, folder: Path, mode: int) -> None:
        self._step("mkdir")
        if folder in self.folders:
            raise FileExistsError(errno.EEXIST, "exists", str(folder))
        self.folders.add(folder)
        self.pending.append(FolderStep("mkdir", folder, folder))

    def open_new(self, path: Path, mode: int, group: int = -1) -> int:
        self._step("create")
        if path in self.tree:
            raise FileExistsError(errno.EEXIST, "exists", str(path))
        return self._open_inode(self._create(path, mode))

    def open_append(self, path: Path, mode: int) -> int:
        self._alive()
        if path not in self.tree:
            self._step("create")
            self._create(path, mode)
        return self._open_inode(self._inode(path))

    def open_existing(self, path: Path) -> int:
        self._alive()
        return self._open_inode(self._inode(path))

    def stat_of(self, fd: int) -> Stat:
        self._alive()
        return self._stat(self._open[fd])

    def write(self, fd: int, data: memoryview) -> int:
        inode, before = self._open[fd], self._open[fd].data
        self._step("write")
        if len(data) > 1:
            self._set(inode, before + bytes(data[: len(data) // 2]))
        self._step("write")
        self._set(inode, before + bytes(data))
        return len(data)

    def truncate(self, fd: int, size: int) -> None:
        self._step("truncate")
        inode = self._open[fd]
        self._set(inode, inode.data[:size])

    # guard: file-synced
    def sync(self, fd: int) -> None:
        self._step("fsync")
        inode = self._open[fd]
        inode.durable, inode.since = (inode.data, inode.mtime), []

    def close(self, fd: int) -> None:
        self._alive()
        del self._open[fd]

    def link(self, source: Path, target: Path) -> None:
        self._step("link")
        if target in self.tree:
            raise FileExistsError(errno.EEXIST, "exists", str(target))
        self._change(FolderStep("link", target, target, self._inode(source).number))

    def rename(self, source: Path, target: Path) -> None:
        self._step("rename")
        self._inode(source)
        self._change(FolderStep("rename", source, target))

    def exchange(self, path: Path, other: Path) -> bool:
        if not self.can_exchange:
            return False
        self._step("exchange")
        self._inode(path), self._inode(other)
        self._change(FolderStep("exchange", path, other))
        return True

    def unlink(self, path: Path) -> None:
        self._step("unlink")
        self._inode(path)
        self._change(FolderStep("unlink", path, path))

    # guard: folder-synced
    def sync_folder(self, folder: Path) -> None:
        self._step("fsync folder")
        for step in [item for item in self.pending if folder in (item.one.parent, item.other.parent)]:
            apply_step(self.durable_tree, step)
            self.durable_folders |= {step.one} if step.kind == "mkdir" else set()
            self.pending.remove(step)

    def lock_holders(self, path: Path, expected: object) -> list[int]:
        return []

    def lock(self, path: Path, wait: float, mode: int) -> SimHeld:
        self._alive()
        if self._locked:
            raise TimeoutError
        if path not in self.tree:
            self._step("create lock")
            self._create(path, mode)
        self._locked = True
        return SimHeld(self, self._inode(path))

    def put(self, path: Path, data: bytes, *, mode: int = 0o600) -> None:
        """What somebody else does in one durable step: a new file in this place."""
        inode = self._create(path, mode)
        self._set(inode, data)
        inode.durable, inode.since = (data, inode.mtime), []
        self.durable_tree[path] = inode.number
        self.pending = [item for item in self.pending if item.one != path and item.other != path]

    def overwrite(self, path: Path, data: bytes) -> None:
        """What somebody else does who rewrites a file in place, durable."""
        inode = self._inode(path)
        self._set(inode, data)
        inode.durable, inode.since = (data, inode.mtime), []

    def begin_after(self, inode: int, time: int) -> None:
        """Number inodes and times above those that are there."""
        self._next, self._time = inode + 1, time

    def fault_from(self, number: int, raises: Callable[[bool, str], BaseException | None]) -> None:
        """Count steps anew, and raise at one of this number and later what `raises` gives, told whether it is that."""

        def fault(count: int, name: str) -> None:
            if count >= number and (error := raises(count == number, name)):
                raise error

        self.steps.clear()
        self.fault = fault

    def unlocked(self) -> None:
        self._locked = False

    def set_text(self, inode: Inode, text: bytes) -> None:
        self._step("lock text")
        self._set(inode, text)

    def _alive(self) -> None:
        if self._dead:
            raise PowerCut

    def _step(self, name: str) -> None:
        self._alive()
        if self.before_step is not None:
            self.before_step(name)
        self.steps.append(name)
        if self.fault is not None:
            try:
                self.fault(len(self.steps), name)
            except PowerCut:
                self._dead = True
                raise

    def _inode(self, path: Path) -> Inode:
        number = self.tree.get(path)
        if number is None:
            raise FileNotFoundError(errno.ENOENT, "no such file", str(path))
        return self.inodes[number]

    def _create(self, path: Path, mode: int) -> Inode:
        inode = Inode(self._next, mode)
        self._next += 1
        self.inodes[inode.number] = inode
        self._change(FolderStep("link", path, path, inode.number))
        self._set(inode, b"")
        return inode

    def _open_inode(self, inode: Inode) -> int:
        fd = max(self._open, default=2) + 1
        self._open[fd] = inode
        return fd

    def _set(self, inode: Inode, data: bytes) -> None:
        self._time += 1
        inode.data, inode.mtime = data, self._time
        inode.since.append((data, self._time))

    def _change(self, step: FolderStep) -> None:
        apply_step(self.tree, step)
        self.pending.append(step)

    def _stat(self, inode: Inode) -> Stat:
        links = sum(1 for number in self.tree.values() if number == inode.number)
        return Stat("file", 1, inode.number, len(inode.data), inode.mtime, inode.mode, links)


class SimHeld:
    """The lock of a `SimDisk`, held."""

    def __init__(self, disk: SimDisk, inode: Inode) -> None:
        self._disk = disk
        self._inode = inode
        self.ino = inode.number

    def write(self, text: bytes) -> None:
        self._disk.set_text(self._inode, text)

    def release(self) -> None:
        self._disk.unlocked()
