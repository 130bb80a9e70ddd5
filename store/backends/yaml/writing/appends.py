"""What a transaction puts at the ends of archives and inbox files, worked out before anything is written."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

from msgspec import Struct, field
from team_console.store.backends.yaml.archive_text import closed
from team_console.store.backends.yaml.codec import QueueText
from team_console.store.backends.yaml.disk import Disk
from team_console.store.backends.yaml.layout import refuse_way_out
from team_console.store.backends.yaml.recovery.ledger import Line
from team_console.store.backends.yaml.writing.locked_team import LockedTeam
from team_console.store.backends.yaml.writing.obstacles import clear_file, clear_folder
from team_console.store.backends.yaml.writing.queue_edit import archive_entry
from team_console.store.model.names import word_for

_to_json = json.JSONEncoder(ensure_ascii=False, default=str).encode


class Append(Struct):
    """Bytes for the end of a file that is `size` long; `data` begins with what its form needs.

    Attributes:
        ids: Of the messages that come to an archive.
    """

    path: Path
    size: int
    data: bytearray
    ids: list[str] = field(default_factory=list)


def plan_appends(team: LockedTeam, line: Line, text: QueueText, *, mode: int) -> list[Append]:
    """What `line` appends where, with its folders made and torn ends mended; `text` is the queue after it.

    Raises:
        CodecError: A message cannot be written.
    """
    archived: dict[str, Append] = {}
    pushed: dict[str, Append] = {}
    words = team.archives.words() if line.archived else set()
    for agent, message_id, record in line.archived:
        entry = archive_entry(text, message_id, record)
        if entry is None:
            continue
        if agent not in archived:
            word = word_for(agent, words)
            words.add(word)
            path = team.layout.archive(word)
            make_room(team, path, mode=mode)
            before, problems = team.archives.open_end(path)
            team.notices.extend(problems)
            archived[agent] = _at_end(team.disk, path, before)
        archived[agent].data += closed(*entry)
        archived[agent].ids.append(message_id)
    for agent, record in line.pushed:
        if agent not in pushed:
            path = team.layout.inbox(team.disk, agent, beside=[item.path.name for item in pushed.values()])
            make_room(team, path, mode=mode)
            pushed[agent] = _at_end(team.disk, path, b"" if _is_whole(team.disk, path) else b"\n")
        pushed[agent].data += inbox_line(record)
    return [*archived.values(), *pushed.values()]


def make_room(team: LockedTeam, path: Path, *, mode: int) -> None:
    """Make the folder of `path`, and move aside what stands in the place of either.

    Raises:
        OSError: It cannot be made, or is a link that leads out of the team.
    """
    refuse_way_out(team.disk, team.layout, path.parent)
    clear_folder(team, path.parent)
    make_folder(team, path.parent, mode=mode)
    clear_file(team, path)


def make_folder(team: LockedTeam, folder: Path, *, mode: int) -> None:
    """Make `folder` and the missing ones above it, durable, for those who may use files of `mode`.

    Raises:
        OSError: It cannot be made, or is a link that leads out of the team.
    """
    refuse_way_out(team.disk, team.layout, folder)
    if team.disk.stat(folder) is None:
        make_folder(team, folder.parent, mode=mode)
        with contextlib.suppress(FileExistsError):
            team.disk.mkdir(folder, 0o700 | (0o070 if mode & 0o020 else 0))
        team.disk.sync_folder(folder.parent)


def inbox_line(record: dict[str, object]) -> bytes:
    """One pushed message as a line of JSON (seed 003, file delivery)."""
    return _to_json(record).encode("utf-8", "backslashreplace") + b"\n"


def _at_end(disk: Disk, path: Path, before: bytes) -> Append:
    found = disk.stat(path)
    return Append(path, found.size if found else 0, bytearray(before))


def _is_whole(disk: Disk, path: Path) -> bool:
    found = disk.stat(path)
    return found is None or found.size == 0 or disk.read(path, found.size - 1)[0] == b"\n"
