"""What a transaction puts at the ends of archives and inbox files, worked out before anything is written."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

from msgspec import Struct, field
from team_console.store.backends.yaml.archive_text import closed
from team_console.store.backends.yaml.codec import QueueText
from team_console.store.backends.yaml.disk import Disk
from team_console.store.backends.yaml.layout import Layout, refuse_way_out
from team_console.store.backends.yaml.reading.archives import Archives
from team_console.store.backends.yaml.recovery.ledger import Line
from team_console.store.backends.yaml.writing.obstacles import clear_file, clear_folder
from team_console.store.backends.yaml.writing.queue_edit import archive_entry
from team_console.store.model.problem import Problem

_to_json = json.JSONEncoder(ensure_ascii=False, default=str).encode


class Append(Struct):
    """Bytes for the end of a file that is `size` long; `data` begins with what its form needs.

    Attributes:
        ids: Of the messages that come to an archive.
    """

    path: Path
    size: int
    data: bytearray
    fresh: bool
    ids: list[str] = field(default_factory=list)


def plan_appends(
    disk: Disk, layout: Layout, archives: Archives, line: Line, text: QueueText, *, stamp: str, mode: int
) -> tuple[list[Append], list[Problem]]:
    """What `line` appends where, with its folders made and torn ends mended; `text` is the queue after it.

    Raises:
        CodecError: A message cannot be written.
    """
    archived: dict[str, Append] = {}
    pushed: dict[str, Append] = {}
    problems: list[Problem] = []
    for agent, message_id, record in line.archived:
        entry = archive_entry(text, message_id, record)
        if entry is None:
            continue
        if agent not in archived:
            path = layout.archive(agent)
            problems += make_room(disk, layout, path, stamp=stamp, mode=mode)
            before, found = archives.open_end(agent, stamp=stamp)
            problems += found
            archived[agent] = _at_end(disk, path, before)
        archived[agent].data += closed(*entry)
        archived[agent].ids.append(message_id)
    for agent, record in line.pushed:
        if agent not in pushed:
            path = layout.inbox(agent)
            problems += make_room(disk, layout, path, stamp=stamp, mode=mode)
            pushed[agent] = _at_end(disk, path, b"" if _is_whole(disk, path) else b"\n")
        pushed[agent].data += inbox_line(record)
    return [*archived.values(), *pushed.values()], problems


def make_room(disk: Disk, layout: Layout, path: Path, *, stamp: str, mode: int) -> list[Problem]:
    """Make the folder of `path`, and move aside what stands in the place of either; what was moved.

    Raises:
        OSError: It cannot be made, or is a link that leads out of the team.
    """
    refuse_way_out(disk, layout, path.parent)
    moved = clear_folder(disk, path.parent, stamp=stamp)
    make_folder(disk, layout, path.parent, mode=mode)
    return [*moved, *clear_file(disk, path, stamp=stamp)]


def make_folder(disk: Disk, layout: Layout, folder: Path, *, mode: int) -> None:
    """Make `folder` and the missing ones above it, durable, for those who may use files of `mode`.

    Raises:
        OSError: It cannot be made, or is a link that leads out of the team.
    """
    refuse_way_out(disk, layout, folder)
    if disk.stat(folder) is None:
        make_folder(disk, layout, folder.parent, mode=mode)
        with contextlib.suppress(FileExistsError):
            disk.mkdir(folder, 0o700 | (0o070 if mode & 0o020 else 0))
        disk.sync_folder(folder.parent)


def inbox_line(record: dict[str, object]) -> bytes:
    """One pushed message as a line of JSON (seed 003, file delivery)."""
    return _to_json(record).encode("utf-8", "backslashreplace") + b"\n"


def _at_end(disk: Disk, path: Path, before: bytes) -> Append:
    found = disk.stat(path)
    return Append(path, found.size if found else 0, bytearray(before), fresh=found is None)


def _is_whole(disk: Disk, path: Path) -> bool:
    found = disk.stat(path)
    return found is None or found.size == 0 or disk.read(path, found.size - 1)[0] == b"\n"
