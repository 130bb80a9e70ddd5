"""Read plain files safely, and tell whether settings and keys can be trusted by who may read and write their files."""

from __future__ import annotations

import errno
import grp
import os
import pwd
import stat
from pathlib import Path

from team_console.store.model.errors import Code, TeamError
from team_console.store.settings.team_config import PROJECT_FOLDER, ConfigProblem, is_in_project_folder

_KEY_BYTES = 65_536
"""Bytes of the longest key."""
_SHORTEST_KEY = 16
"""Bytes of the shortest key."""


def read_plain(path: Path, limit: int) -> tuple[bytes, os.stat_result]:
    """Return at most `limit` + 1 bytes of a plain file and whose it is.

    Opening a pipe for reading would wait for a writer for ever, and a device may never end.

    Raises:
        OSError: It cannot be opened, or is not a plain file.
    """
    with open(path, "rb", opener=open_quietly) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "not a plain file", str(path))
        return file.read(limit + 1), status


def open_quietly(path: str | Path, flags: int) -> int:
    """Open for reading; the access time stays, where we own the file: who only looks leaves no trace."""
    flags |= os.O_NONBLOCK | os.O_NOCTTY
    try:
        return os.open(path, flags | getattr(os, "O_NOATIME", 0))
    except PermissionError:
        return os.open(path, flags)


# Whether settings and keys can be trusted.


def find_distrust(path: Path) -> ConfigProblem | None:
    """Return why no command in these settings may be run: somebody else can write them. None: they may be run."""
    # Through these folders the settings are reached, within their project.
    folders = path.parents[: len(PROJECT_FOLDER.parts) + 1] if is_in_project_folder(path) else [path.parent]
    for place in (path, *folders):
        owned = os.stat(place)
        if _can_others_write(owned):
            text = f"{place} can be written by other users, so no command in the settings is run"
            return ConfigProblem("CONFIG_UNTRUSTED", "error", 0, text, f"chmod go-w {place}")
        if owned.st_uid not in (0, os.geteuid()):
            text = f"{place} belongs to {_user_words(owned.st_uid)}, so no command in the settings is run by you"
            hint = "Let the user who runs the router own the settings and their folder."
            return ConfigProblem("CONFIG_UNTRUSTED", "warning", 0, text, hint)
    return None


def owners_of(path: Path) -> tuple[int, ...]:
    """Return owner and mode of a file, then of its folder, by which it is trusted or not; empty without a file.

    A value to compare: with any other one its trust is to be judged anew.
    """
    try:
        file, folder = os.stat(path), os.stat(path.parent)
        return file.st_uid, file.st_mode, folder.st_uid, folder.st_mode
    except OSError:
        return ()


def read_key(path: Path) -> bytes:
    """Return the key in a file that only its owner can read.

    A key that its team shares may be read by the group the team's folder is shared with, and by nobody else.

    Raises:
        TeamError: `NOT_PERMITTED`: why it cannot be used, and what to do.
    """
    try:
        data, status = read_plain(path, _KEY_BYTES)
    except OSError as error:
        raise key_refusal(f"{path}: {error.strerror}", "Make the key a plain file you can read.") from error
    if status.st_uid not in (0, os.geteuid()) and not _is_shared_with_team(path.parent, status):
        raise key_refusal(f"{path} belongs to {_user_words(status.st_uid)}", "A key must be your own, or root's.")
    # guard: private-key-files
    if status.st_mode & 0o007 or (status.st_mode & 0o070 and not _is_shared_with_team(path.parent, status)):
        raise key_refusal(f"{path} can be read or written by other users", f"chmod 600 {path}, and make a new key.")
    key = data.strip()
    if not _SHORTEST_KEY <= len(key) <= _KEY_BYTES:
        text = f"{path}: a key has {_SHORTEST_KEY} to {_KEY_BYTES} bytes"
        raise key_refusal(text, "Make one of 32 random bytes.")
    return key


def key_refusal(text: str, hint: str) -> TeamError:
    """Return the error for a key that cannot be used: why, and what to do."""
    return TeamError(Code.NOT_PERMITTED, text, hint)


def _can_others_write(status: os.stat_result) -> bool:
    """Return whether other users can write there.

    A folder with the sticky bit keeps what is in it from others; a group of its owner alone is no other.
    """
    if stat.S_ISDIR(status.st_mode) and status.st_mode & stat.S_ISVTX:
        return False
    return bool(status.st_mode & 0o002) or (bool(status.st_mode & 0o020) and not _is_own_group(status))


def _is_own_group(status: os.stat_result) -> bool:
    """Return whether the group is the owner's private one, as most distributions make it."""
    try:
        owner, group = pwd.getpwuid(status.st_uid), grp.getgrgid(status.st_gid)
    except KeyError:
        return False
    return owner.pw_gid == status.st_gid and set(group.gr_mem) <= {owner.pw_name}


def _is_shared_with_team(folder: Path, status: os.stat_result) -> bool:
    """Return whether the file is for the group that may write its folder, and not for everybody."""
    shared = os.stat(folder)
    return bool(shared.st_mode & 0o020) and shared.st_gid == status.st_gid and not shared.st_mode & 0o002


def _user_words(uid: int) -> str:
    """Return a user by name and number, by the number alone where the system has no name for it."""
    try:
        return f"{pwd.getpwuid(uid).pw_name} ({uid})"
    except KeyError:
        return f"user {uid}"
