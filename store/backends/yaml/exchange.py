"""Swap two names in one step: the exchanging rename of Linux, which Python has no call for."""

from __future__ import annotations

import errno
import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ctypes import CDLL

_EXCHANGE = 2
_AT_FDCWD = -100
_REFUSED = frozenset({errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EXDEV})


def exchange(path: Path, other: Path) -> bool:
    """Swap two names atomically; False where the system or its file system cannot.

    Unlike a rename it destroys nothing: whatever a foreign writer put at `path` a moment ago is at `other` then.
    """
    libc = _libc()
    if libc is None:
        return False
    import ctypes  # 5 ms, loaded by then

    one, two = os.fsencode(path), os.fsencode(other)
    if libc.renameat2(_AT_FDCWD, one, _AT_FDCWD, two, _EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in _REFUSED:
        return False
    raise OSError(number, os.strerror(number), str(other))


@cache
def _libc() -> CDLL | None:
    """Load the C library; None where it has no such call."""
    import ctypes  # 5 ms, which only a write needs

    libc = ctypes.CDLL(None, use_errno=True) if os.uname().sysname == "Linux" else None
    if libc is None or not hasattr(libc, "renameat2"):
        return None
    kinds = ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint
    libc.renameat2.argtypes = kinds
    return libc
