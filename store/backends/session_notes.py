"""Write notes on sessions of clients: what each does now, in a small file beside the files of who is present.

A note counts for nothing that a message has to prove: lost, the roster only knows less. It is written by rename, so
that none is ever half, and its moment is that of its file. Imports nothing that costs a start anything.
"""

from __future__ import annotations

import json
import os
import time
import zlib

from team_console.store.backends.locked_files import SAFE

TYPE_CHECKING = False  # `typing` would cost each event of a client 5 ms
if TYPE_CHECKING:
    from collections.abc import Mapping

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
