"""Write and read notes on sessions of clients: what each does now, in a small file beside the files of who is present.

A note counts for nothing that a message has to prove: lost, the roster only knows less. It is written by rename, so
that none is ever half, and its moment is that of its file. Writing is done at each event of a client, so that nothing
is imported here that costs a start anything.
"""

from __future__ import annotations

import json
import os
import time
import zlib

from team_console.store.backends.locked_files import SAFE, open_file

TYPE_CHECKING = False  # `typing` would cost each event of a client 5 ms
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from team_console.store.model.message import Message

RUNS, ENDED = "session-", "ended-"
"""Begin the names of the files: of each session that goes on, and of each member's last one that ended."""
MOST_WORDS = 4_000
"""Characters of one text of a note."""
_DAYS = 14
"""Days after which a session that never said its end is not thought of any more."""


def write_note(folder: str, note: dict[str, str], *, like: str) -> bool:
    """Leave what a session does now; returns whether that could be kept.

    Args:
        folder: Where those who are present have their files; made where it is missing.
        note: `member`, `session`, `state` and whatever else is known, as text.
        like: A file of the team, whose permissions say who may read the note.
    """
    whose = f"{zlib.crc32(note['member'].encode('utf-8', 'replace')):08x}"
    own = f"{RUNS}{whose}-{zlib.crc32(note['session'].encode('utf-8', 'replace')):08x}"
    has_ended = note["state"] == "ended"
    name = f"{ENDED}{whose}" if has_ended else own
    try:
        mode = os.stat(like).st_mode
        if not os.path.isdir(folder):
            make_shared_folder(folder, mode)
        texts = {key: text[:MOST_WORDS] for key, text in note.items()}
        write_whole(os.path.join(folder, name), texts, mode=mode & 0o664 | 0o600)
    except OSError:
        return False
    try:
        if has_ended:
            os.unlink(os.path.join(folder, own))
    except OSError:
        pass  # it was gone
    return True


def make_shared_folder(folder: str | os.PathLike[str], mode: int) -> None:
    """Make a folder for whoever may read or write files of this mode.

    Raises:
        OSError: It is there, or cannot be made.
    """
    os.mkdir(folder, 0o700 | (0o070 if mode & 0o020 else 0o050 if mode & 0o040 else 0))


def write_whole(path: str, value: Mapping[str, object], *, mode: int = 0o600) -> None:
    """Write a small file as JSON beside the old one and rename it: whoever reads it sees the old or the new.

    Raises:
        OSError: It cannot be kept.
    """
    folder, name = os.path.split(path)
    staged = os.path.join(folder, f".{name}.{os.getpid()}.tmp")
    descriptor = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | SAFE, 0o600)
    with open(descriptor, "w", encoding="utf-8") as file:
        os.fchmod(descriptor, mode)
        json.dump(value, file)
    os.replace(staged, path)


def sweep_notes(folder: str) -> None:
    """Throw away notes of sessions that were killed long ago."""
    oldest = time.time() - _DAYS * 86_400
    try:
        for entry in os.scandir(folder):
            if entry.name.lstrip(".").startswith(RUNS) and entry.stat(follow_symlinks=False).st_mtime < oldest:
                os.unlink(entry.path)
    except OSError:
        return


# Reading, by whoever has the team open.

_MOST_FILES = 2_000
"""Files that are looked at: no team has so many sessions."""
_LARGEST = 64 << 10
"""Bytes of one note."""
_SHOWN = ("session", "state", "client", "mode", "last_words")
"""Fields of a note that are believed; whom a session brings along stands in the queue alone."""


class SessionNotes:
    """The notes that sessions of clients keep in the folder `path`, as the messages that they would be in the queue."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[tuple[str, int, int], Message | None] = {}
        """Name, inode and time of a file -> the note in it."""

    def look(self) -> tuple[Message, ...]:
        """Return them, oldest first; unchanged ones are the same objects as before. Writes nothing and never waits."""
        files = dict(files_of_notes(str(self._path)))
        known = self._known
        self._known = {mark: known[mark] if mark in known else _as_message(*mark, path) for mark, path in files.items()}
        found = (message for message in self._known.values() if message is not None)
        return tuple(sorted(found, key=lambda message: message.created))


def files_of_notes(folder: str) -> Iterator[tuple[tuple[str, int, int], str]]:
    """Yield each file of a note: its mark (name, inode, time in ns), and its path; never raises."""
    try:
        entries = [entry for entry in os.scandir(folder) if entry.name.startswith((RUNS, ENDED))]
    except OSError:
        return
    for entry in entries[:_MOST_FILES]:
        try:
            found = entry.stat(follow_symlinks=False)
        except OSError:
            continue
        yield (entry.name, found.st_ino, found.st_mtime_ns), entry.path


def _as_message(name: str, inode: int, moment: int, path: str) -> Message | None:
    """Return a note as the message that it would be in the queue; None for one that names no member."""
    # 20 ms, which writing a note does not need:
    from team_console.store.model.clock import from_nanoseconds, to_text
    from team_console.store.model.message import Priority, Status, new_record
    from team_console.store.model.names import as_name
    from team_console.store.protocol.client_sessions import SESSION

    note = {key: text.encode("utf-8", "replace").decode() for key, text in _read_note(path).items()}
    member = as_name(note.get("member"))
    if member is None:
        return None
    # guard: note-brings-nobody
    shown = {key: text for key, text in note.items() if key in _SHOWN}
    at = to_text(from_nanoseconds(moment))
    return new_record(
        message_id=f"{name}-{inode}",
        type=SESSION,
        sender=member,
        to=member,
        created=at,
        priority=Priority.LOW.value,
        payload=shown,
        status=Status.READ.value,
        read_at=at,
    )


def _read_note(path: str) -> dict[str, str]:
    """Return one note, its texts alone; empty for one that cannot be read."""
    try:
        with open(open_file(path), "rb") as file:
            note = json.loads(file.read(_LARGEST))
    except (OSError, ValueError, RecursionError):
        return {}
    pairs = note.items() if isinstance(note, dict) else ()
    return {key: text for key, text in pairs if isinstance(text, str)}
