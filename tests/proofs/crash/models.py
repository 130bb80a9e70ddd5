"""What a crash may leave of a `SimDisk`: four models from a killed process to a careless file system."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.proofs.crash.simdisk import FolderStep, Inode, Names, SimDisk, apply_step

MODELS = ("process", "ext4", "ordered", "weak")
_MOST_SUBSETS = 6

Content = tuple[bytes, int]


class Image(NamedTuple):
    """The disk after a crash: path -> (inode, bytes, modification time, mode)."""

    files: tuple[tuple[Path, int, bytes, int, int], ...]
    folders: frozenset[Path]

    def disk(self, *, can_exchange: bool = True) -> SimDisk:
        """A disk that holds exactly this, all of it durable."""
        disk = SimDisk(can_exchange=can_exchange)
        disk.folders, disk.durable_folders = set(self.folders), set(self.folders)
        for path, number, data, mtime, mode in self.files:
            inode = disk.inodes.setdefault(number, Inode(number, mode, data, mtime, (data, mtime)))
            disk.tree[path] = disk.durable_tree[path] = inode.number
        disk.begin_after(
            max((item[1] for item in self.files), default=0), max((item[3] for item in self.files), default=0)
        )
        return disk


def images(disk: SimDisk, model: str) -> Iterator[Image]:
    """Every state `model` allows, each once."""
    yield from dict.fromkeys(_images(disk, model))


def _images(disk: SimDisk, model: str) -> Iterator[Image]:
    if model == "process":
        yield _image(disk, disk.tree, {}, disk.folders)
        return
    for steps in _folder_states(disk.pending, subsets=model == "weak"):
        tree = dict(disk.durable_tree)
        folders = disk.durable_folders | {step.one for step in steps if step.kind == "mkdir"}
        favoured: set[int] = set()
        for step in steps:
            apply_step(tree, step)
            if model == "ext4" and step.kind in ("rename", "exchange"):
                favoured |= {tree.get(step.one, 0), tree.get(step.other, 0)}
        loose = [disk.inodes[number] for number in sorted(set(tree.values())) if disk.inodes[number].since]
        choices = [_contents(inode, whole=inode.number in favoured) for inode in loose]
        for chosen in itertools.product(*choices):
            contents = {inode.number: content for inode, content in zip(loose, chosen, strict=True)}
            yield _image(disk, tree, contents, folders)


def _folder_states(pending: Sequence[FolderStep], *, subsets: bool) -> Iterator[Sequence[FolderStep]]:
    """Changes of names in order up to some point; in the weak model any of the last ones may be missing."""
    if not subsets:
        yield from (pending[:count] for count in range(len(pending) + 1))
        return
    early, late = pending[:-_MOST_SUBSETS], pending[-_MOST_SUBSETS:]
    for kept in itertools.product((True, False), repeat=len(late)):
        yield [*early, *itertools.compress(late, kept)]


def _contents(inode: Inode, *, whole: bool) -> list[Content]:
    """What an unsynced file may hold: a late state, or the durable bytes with what is new cut in half or zeroed."""
    data, mtime = inode.data, inode.mtime
    if whole:
        return [(data, mtime)]
    pairs = enumerate(zip(data, inode.durable[0], strict=False))
    same = next((place for place, (new, old) in pairs if new != old), min(len(data), len(inode.durable[0])))
    half, zeros = data[: (same + len(data)) // 2], data[:same] + b"\0" * (len(data) - same)
    return list(dict.fromkeys([inode.durable, *inode.since[-3:], (half, mtime), (zeros, mtime)]))


def _image(disk: SimDisk, tree: Names, contents: dict[int, Content], folders: set[Path]) -> Image:
    files = []
    for path, number in sorted(item for item in tree.items() if item[0].parent in folders):
        inode = disk.inodes[number]
        data, mtime = contents.get(number, (inode.data, inode.mtime))
        files.append((path, number, data, mtime, inode.mode))
    return Image(tuple(files), frozenset(folders))
