"""The drop folder: messages that scripts renamed in because they cannot lock; the next lock holder takes them."""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime
from pathlib import Path

from store.backends.yamlteam.appends import make_folder
from store.backends.yamlteam.archives import HEADER
from store.backends.yamlteam.codec import CodecError, QueueText
from store.backends.yamlteam.commit import Store
from store.backends.yamlteam.disk import Disk
from store.backends.yamlteam.files import NOT_PLAIN
from store.backends.yamlteam.work import Work
from store.clock import to_text
from store.errors import TeamError
from store.message import Message, from_record
from store.names import is_name
from store.team import Problem

_MAX_BYTES = 4 * 1024 * 1024


def take_in(store: Store) -> None:
    """Put every message in `drop/` into the queue, then remove its file; what is no message goes to `rejected/`.

    A crash in between leaves the file; its ids are known then, so the next turn only removes it.

    Raises:
        Slipped: The queue was written meanwhile; settle and call it again.
    """
    names = [name for name in store.disk.names(store.layout.drop) if is_offered(name)]
    if not names:
        return
    accepted: dict[Path, list[Message]] = {}
    for path in (store.layout.drop / name for name in names):
        try:
            accepted[path] = read_offered(store.disk, path)
        except (CodecError, TeamError, ValueError) as error:
            _reject(store, path, getattr(error, "message", None) or str(error))
        except OSError as error:
            if error.errno in NOT_PLAIN:
                _reject(store, path, error.strerror or str(error))
            else:
                _stays(store, path, f"cannot be read: {error.strerror or error}")
    _commit(store, [one for messages in accepted.values() for one in messages])
    for path in accepted:
        try:
            with contextlib.suppress(FileNotFoundError):
                store.disk.unlink(path)
        except OSError as error:
            _stays(store, path, f"was taken in and cannot be removed: {error.strerror or error}")


def _stays(store: Store, path: Path, why: str) -> None:
    """A file that cannot be dealt with must keep nobody from writing, and is neither lost nor taken in twice."""
    hint = f"It stays in drop/ and is tried again with each write; team-console may need permission on {path.parent}."
    store.notices.append(Problem("DROP_UNREADABLE", "warning", f"drop/{path.name}", f"drop/{path.name} {why}", hint))


def is_offered(name: str) -> bool:
    """Whether a file of this name in `drop/` is meant to be taken in; others are still being written."""
    return name.endswith((".yaml", ".yml", ".json")) and not name.startswith(".")


def _commit(store: Store, messages: list[Message]) -> None:
    text = store.generation.text
    fresh: dict[str, Message] = {}
    for one in messages:
        if text.find(one.message_id) is None and store.archives.find(one.message_id) is None:
            fresh.setdefault(one.message_id, one)
    if fresh:
        store.commit(Work("drop", "drop", {"ids": list(fresh)}, adds=tuple(fresh.values())))


def read_offered(disk: Disk, path: Path) -> list[Message]:
    """The messages in one file of `drop/`. Raises `CodecError`, `ValueError` or `OSError` when it is none."""
    data, found = disk.read(path)
    if len(data) > _MAX_BYTES:
        raise ValueError(f"{len(data):,} bytes, the limit is {_MAX_BYTES:,}")
    text = QueueText.parse(_as_queue(data))
    damaged = text.damaged()
    if damaged:
        raise damaged[0][1]
    arrived = to_text(datetime.fromtimestamp(found.mtime_ns / 1e9, UTC))
    entries = text.messages()
    if not entries:
        raise ValueError("there is no message in it")
    return [_completed(one, path.stem, arrived) for one in entries]


def _as_queue(data: bytes) -> bytes:
    """A single record, a list of records, or a whole queue file, as a queue file."""
    lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    while lines and (not lines[0].strip() or lines[0].startswith((b"#", b"---", b"%"))):
        lines.pop(0)
    first = lines[0] if lines else b""
    body = b"\n".join(lines)
    if first.startswith((b"messages:", b'"messages"')):
        return body
    if first.startswith((b"- ", b"-\n")) or first == b"-":
        return HEADER + body
    return HEADER + b"-\n" + b"".join(b"  " + line + b"\n" for line in lines)


def _completed(message: Message, stem: str, arrived: str) -> Message:
    """What a script may leave out: the time, the state, and that a name must be one."""
    for name in (message.sender, *message.recipients):
        if not is_name(name):
            raise ValueError(f"{name!r} is not an agent name")
    record = dict(message.record)
    record.setdefault("created", arrived)
    record.setdefault("status", "pending")
    return from_record(record)


def _reject(store: Store, path: Path, why: str) -> None:
    target = store.layout.rejected / path.name
    try:
        make_folder(store.disk, store.layout.rejected, mode=store.mode)
        if store.disk.stat(target) is not None:
            target = target.with_name(f"{path.stem}-{store.stamp()}{path.suffix}")
        store.disk.rename(path, target)
    except OSError as error:
        _stays(store, path, f"is no message ({why}) and cannot be moved to rejected/: {error.strerror or error}")
        return
    hint = "Correct it and move it into drop/ again."
    store.notices.append(Problem("DROP_REJECTED", "warning", f"drop/rejected/{target.name}", why, hint))
