"""Files that a console keeps in the human's state folder, exchanged whole."""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path

from team_console.console.clients.session_files import absolute_location
from team_console.store.model.home import state_folder


def state_file(folder: str, location: str, me: str) -> Path:
    """Return the path of what is kept below `folder` of one team and identity: a name that tells of neither."""
    digest = hashlib.sha256(f"{absolute_location(location)}\0{me}".encode(errors="replace")).hexdigest()[:24]
    return state_folder() / folder / f"{digest}.json"


def replace_file(path: Path, data: bytes) -> None:
    """Put `data` in place of a file, which keeps its mode; a new one is the user's alone.

    Raises:
        OSError: It cannot be written; what was there stays.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    staged = path.with_suffix(f".{os.getpid()}.tmp")
    try:
        with os.fdopen(os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            with suppress(FileNotFoundError):
                os.fchmod(file.fileno(), path.stat().st_mode & 0o777)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        staged.replace(path)
    except OSError:
        with suppress(OSError):
            staged.unlink()
        raise
