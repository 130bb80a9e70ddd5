"""Changes in folders as the Linux kernel tells them: a file descriptor to wait for, so that waiting costs nothing."""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

_HEAD = struct.Struct("iIII")
_CLOSE_WRITE, _MOVED_FROM, _MOVED_TO, _DELETE = 0x8, 0x40, 0x80, 0x200
_DELETE_SELF, _MOVE_SELF, _UNMOUNT, _OVERFLOW, _IGNORED = 0x400, 0x800, 0x2000, 0x4000, 0x8000
_ONLY_FOLDERS = 0x01000000
_WANTED = _CLOSE_WRITE | _MOVED_FROM | _MOVED_TO | _DELETE | _DELETE_SELF | _MOVE_SELF | _ONLY_FOLDERS
"""What ends a change. Its steps (a file is made, bytes are written) would wake us several times before there is
anything to see, and a file that is half written is better not looked at. The look now and then finds what never ends.
"""
_ENDS = _DELETE_SELF | _MOVE_SELF | _UNMOUNT | _IGNORED
_BUFFER = 1 << 16
_LARGEST = _HEAD.size + 256
"""Bytes of an event at most: where so many are free in the buffer, no event is left."""


class Changed(Struct):
    """What changed in the folders.

    Attributes:
        names: The names in them that changed; an empty one when more happened than could be told.
        is_end: A folder itself is gone or was moved, so that nothing more will be told of it.
    """

    names: set[str]
    is_end: bool = False

    def add(self, more: Changed) -> None:
        """Take what changed later too."""
        self.names |= more.names
        self.is_end |= more.is_end


def is_available() -> bool:
    """Whether this system has it."""
    return os.uname().sysname == "Linux"


class FolderChanges:
    """Follows some folders, not those in them, from when it is made until it is closed."""

    def __init__(self, folders: Iterable[Path]) -> None:
        """Begin. Raises `OSError` when a folder is missing or the system's limit is reached."""
        self._libc = ctypes.CDLL(None, use_errno=True)
        self.fd = self._checked(self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC), "inotify")
        try:
            for folder in folders:
                self._checked(self._libc.inotify_add_watch(self.fd, os.fsencode(folder), _WANTED), str(folder))
        except OSError:
            self.close()
            raise

    def read(self) -> Changed:
        """What changed since the last call; does not wait."""
        names: set[bytes] = set()
        happened = 0
        while True:
            try:
                data = os.read(self.fd, _BUFFER)
            except BlockingIOError:
                data = b""
            happened |= _collect(data, names)
            if len(data) < _BUFFER - _LARGEST:
                return Changed({os.fsdecode(name) for name in names}, bool(happened & _ENDS))

    def close(self) -> None:
        """Follow nothing any more."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

    @staticmethod
    def _checked(result: int, what: str) -> int:
        if result < 0:
            number = ctypes.get_errno() or errno.EIO
            raise OSError(number, os.strerror(number), what)
        return result


def _collect(data: bytes, names: set[bytes]) -> int:
    """Add the names of these events, of which a write makes a dozen for few names; returns all their kinds."""
    place = happened = 0
    while place + _HEAD.size <= len(data):
        _, mask, _, length = _HEAD.unpack_from(data, place)
        place += _HEAD.size
        names.add(b"" if mask & _OVERFLOW else data[place : place + length].rstrip(b"\0"))
        place += length
        happened |= mask
    return happened
