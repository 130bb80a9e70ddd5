"""Whose files: settings, keys and their folders count only with the right owner and mode, as for ssh and Postfix."""

from __future__ import annotations

import errno
import os
import pwd
import stat
from collections.abc import Iterable
from pathlib import Path

from team_console.store.model.errors import Code, TeamError
from team_console.store.settings.team_config import ConfigProblem

_KEY_BYTES = 65_536
_SHORTEST_KEY = 16
_NOT_PLAIN = "not a plain file"


def read_plain(path: Path, limit: int) -> tuple[bytes, os.stat_result]:
    """At most `limit` + 1 bytes of a plain file and whose it is.

    Opening a pipe for reading would wait for a writer for ever, and a device may never end.

    Raises:
        OSError: It cannot be opened, or is not a plain file.
    """
    with open(path, "rb", opener=_open_quietly) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, _NOT_PLAIN, str(path))
        return file.read(limit + 1), status


def _open_quietly(name: str, flags: int) -> int:
    """Without touching the access time where the owner may ask for that."""
    flags |= os.O_NONBLOCK | os.O_NOCTTY
    try:
        return os.open(name, flags | getattr(os, "O_NOATIME", 0))
    except PermissionError:
        return os.open(name, flags)


def distrust(path: Path, status: os.stat_result, folders: Iterable[Path]) -> ConfigProblem | None:
    """Why no command in these settings may be run: somebody else can write what they say. None: they may be run."""
    for place, owned in ((path, status), *((folder, os.stat(folder)) for folder in folders)):
        if _others_write(owned):
            text = f"{place} can be written by other users, so no command in the settings is run"
            return ConfigProblem("CONFIG_UNTRUSTED", "error", 0, text, f"chmod go-w {place}")
        if owned.st_uid not in (0, os.geteuid()):
            text = f"{place} belongs to {_user(owned.st_uid)}, so no command in the settings is run by you"
            hint = "Let the user who runs the router own the settings and their folder."
            return ConfigProblem("CONFIG_UNTRUSTED", "warning", 0, text, hint)
    return None


def whose(path: Path) -> tuple[int, ...]:
    """What `distrust` of a file rests on, to notice when it changes; nothing when it is not there."""
    try:
        file, folder = os.stat(path), os.stat(path.parent)
        return file.st_uid, file.st_mode, folder.st_uid, folder.st_mode
    except OSError:
        return ()


def read_key(path: Path) -> bytes:
    """The key in a file that only its owner can read.

    A key that its team shares may be read by the group the team's folder is shared with, and by nobody else.

    Raises:
        TeamError: `NOT_PERMITTED`: why it cannot be used, and what to do.
    """
    try:
        data, status = read_plain(path, _KEY_BYTES)
    except OSError as error:
        raise _refused(f"{path}: {error.strerror}", "Make the key a plain file you can read.") from error
    if status.st_uid not in (0, os.geteuid()) and not _shares(path.parent, status):
        raise _refused(f"{path} belongs to {_user(status.st_uid)}", "A key must be your own, or root's.")
    if status.st_mode & 0o007 or (status.st_mode & 0o070 and not _shares(path.parent, status)):
        raise _refused(f"{path} can be read or written by other users", f"chmod 600 {path}, and make a new key.")
    key = data.strip()
    if not _SHORTEST_KEY <= len(key) <= _KEY_BYTES:
        text = f"{path}: a key has {_SHORTEST_KEY} to {_KEY_BYTES} bytes"
        raise _refused(text, "Make one of 32 random bytes.")
    return key


def _refused(text: str, hint: str) -> TeamError:
    return TeamError(Code.NOT_PERMITTED, text, hint)


def _others_write(status: os.stat_result) -> bool:
    """A folder with the sticky bit keeps what is in it from others; a group of its owner alone is no other."""
    if stat.S_ISDIR(status.st_mode) and status.st_mode & stat.S_ISVTX:
        return False
    return bool(status.st_mode & 0o002) or (bool(status.st_mode & 0o020) and not _is_own_group(status))


def _is_own_group(status: os.stat_result) -> bool:
    """Whether the group is the owner's private one, as most distributions make it."""
    import grp

    try:
        owner, group = pwd.getpwuid(status.st_uid), grp.getgrgid(status.st_gid)
    except KeyError:
        return False
    return owner.pw_gid == status.st_gid and set(group.gr_mem) <= {owner.pw_name}


def _shares(folder: Path, status: os.stat_result) -> bool:
    """Whether the file is for the group that may write its folder, and not for everybody."""
    shared = os.stat(folder)
    return bool(shared.st_mode & 0o020) and shared.st_gid == status.st_gid and not shared.st_mode & 0o002


def _user(uid: int) -> str:
    try:
        return f"{pwd.getpwuid(uid).pw_name} ({uid})"
    except KeyError:
        return f"user {uid}"
