"""Session files: what one event of a client's session leaves on this machine for the next one, so that it costs little.

They are hints: everything that counts is in the store, and a file that is lost only costs time. Each is written by
rename, so that none is ever half. Only modules that every Python start has loaded anyway, and `json`, are imported.
"""

from __future__ import annotations

import json
import os
import time
import zlib

MOST_DAYS = 14
"""Days after which the files of a session that never said its end are thrown away."""
LOOK = "look"
"""What is known of the store, and how to see that it still holds."""
HANDED = "handed-"
"""One for each process that took mail for an agent of the session: which, and whether it left that process."""
TURN = "turn"
"""Counts events, so that whoever waits for mail sees that the session went on."""
WAITS = "waits"
"""Which process waits for mail while the session rests."""
ASKED = "asked-"
"""One for each request that waits."""
ALLOWED = "allowed-"
"""One for each call that the human allows once although the client denied it."""
TEAMMATE = "teammate-"
"""What each teammate was last noted to be doing."""


class SessionFiles:
    """The files of one session of one agent of one team."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def read(self, name: str) -> dict[str, object] | None:
        """One file; None when it is not there or not to be read."""
        try:
            with open(os.path.join(self.folder, name), encoding="utf-8") as file:
                value = json.load(file)
        except (OSError, ValueError):
            return None
        return value if isinstance(value, dict) else None

    def write(self, name: str, value: dict[str, object]) -> None:
        """Leave `value`; a machine that cannot keep it only costs later events time."""
        path = os.path.join(self.folder, name)
        staged = f"{path}.{os.getpid()}.tmp"
        try:
            os.makedirs(self.folder, mode=0o700, exist_ok=True)
            descriptor = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
            with open(descriptor, "w", encoding="utf-8") as file:
                json.dump(value, file)
            os.replace(staged, path)
        except OSError:
            return

    def remove(self, name: str) -> None:
        """Take a file away."""
        try:
            os.unlink(os.path.join(self.folder, name))
        except OSError:
            return

    def names(self, prefix: str) -> list[str]:
        """The files whose names begin so."""
        try:
            return sorted(name for name in os.listdir(self.folder) if name.startswith(prefix) and name[-4:] != ".tmp")
        except OSError:
            return []

    def forget(self) -> None:
        """The session is over."""
        _remove_folder(self.folder)


def files_of(session: str, agent: str, location: str) -> SessionFiles | None:
    """The files of a session; None where this machine has no place for them or the session's id cannot be a name."""
    base = sessions_folder()
    plain = session.replace("-", "").replace("_", "")
    if base is None or not plain.isalnum() or not plain.isascii() or len(session) > 80:
        return None
    whose = zlib.crc32(f"{agent}\0{os.path.abspath(location)}".encode("utf-8", "replace"))
    return SessionFiles(os.path.join(base, f"{session}-{whose:08x}"))


def sessions_folder() -> str | None:
    """`XDG_STATE_HOME/team-console/sessions`, by default below `~/.local/state`."""
    base = os.environ.get("XDG_STATE_HOME", "")
    if os.path.isabs(base):
        return os.path.join(base, "team-console", "sessions")
    home = os.path.expanduser("~")
    return os.path.join(home, ".local", "state", "team-console", "sessions") if os.path.isabs(home) else None


def sweep() -> None:
    """Throw away what sessions left that were killed long ago."""
    base, oldest = sessions_folder(), time.time() - MOST_DAYS * 86_400
    if base is None:
        return
    try:
        for entry in os.scandir(base):
            if entry.is_dir(follow_symlinks=False) and entry.stat(follow_symlinks=False).st_mtime < oldest:
                _remove_folder(entry.path)
    except OSError:
        return


def _remove_folder(folder: str) -> None:
    """Take away a folder of plain files. (`shutil` would cost each event its import.)"""
    try:
        for entry in os.scandir(folder):
            os.unlink(entry.path)
        os.rmdir(folder)
    except OSError:
        return


def digest(value: object) -> int:
    """A number that tells one input of a tool from another; equal for equal ones."""
    return zlib.crc32(json.dumps(value, sort_keys=True).encode("utf-8", "backslashreplace"))
