"""What a transaction puts at the ends of archives and inbox files, worked out before anything is written."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

from msgspec import Struct

from store.backends.yamlteam.archives import Archives, closed
from store.backends.yamlteam.codec import QueueText
from store.backends.yamlteam.disk import Disk
from store.backends.yamlteam.layout import Layout
from store.backends.yamlteam.work import Work, archive_record
from store.team import Problem


class Append(Struct):
    """Bytes for the end of a file that is `size` long; `data` begins with what its form needs."""

    path: Path
    size: int
    data: bytes
    fresh: bool


def plan_appends(
    disk: Disk, layout: Layout, archives: Archives, work: Work, text: QueueText, *, stamp: str, mode: int
) -> tuple[list[Append], list[Problem]]:
    """What `work` appends where, with its folders made and torn ends mended; `text` is the queue after it.

    Raises:
        CodecError: A message cannot be written.
    """
    by_path: dict[Path, Append] = {}
    problems: list[Problem] = []
    for agent, message_id, record in work.archived:
        message = archive_record(text, message_id, record)
        if message is None:
            continue
        path = layout.archive(agent)
        if path not in by_path:
            make_folder(disk, layout.archives, mode=mode)
            before, found = archives.open_end(agent, stamp=stamp)
            problems += found
            by_path[path] = _at_end(disk, path, before)
        by_path[path].data += closed(message)
    for agent, pushed in work.pushed:
        path = layout.inbox(agent)
        if path not in by_path:
            make_folder(disk, path.parent, mode=mode)
            by_path[path] = _at_end(disk, path, b"" if _is_whole(disk, path) else b"\n")
        by_path[path].data += inbox_line(pushed)
    return list(by_path.values()), problems


def make_folder(disk: Disk, folder: Path, *, mode: int) -> None:
    """Make `folder` and the missing ones above it, durable, for those who may use files of `mode`."""
    if disk.stat(folder) is None:
        make_folder(disk, folder.parent, mode=mode)
        with contextlib.suppress(FileExistsError):
            disk.mkdir(folder, 0o700 | (0o070 if mode & 0o020 else 0))
        disk.sync_folder(folder.parent)


def inbox_line(record: dict[str, object]) -> bytes:
    """One pushed message as a line of JSON (seed 003, file delivery)."""
    return json.dumps(record, ensure_ascii=False, default=str).encode("utf-8", "backslashreplace") + b"\n"


def _at_end(disk: Disk, path: Path, before: bytes) -> Append:
    found = disk.stat(path)
    return Append(path, found.size if found else 0, before, fresh=found is None)


def _is_whole(disk: Disk, path: Path) -> bool:
    found = disk.stat(path)
    return found is None or found.size == 0 or disk.read(path, found.size - 1)[0] == b"\n"
