"""A network of its own for everything below: only the loopback is up, so that nothing can leave the machine."""

from __future__ import annotations

import fcntl
import os
import shutil
import socket
import struct
import subprocess
import sys
from collections.abc import Sequence

_GET_FLAGS, _SET_FLAGS, _UP = 0x8913, 0x8914, 0x1
"""SIOCGIFFLAGS, SIOCSIFFLAGS and IFF_UP of `netdevice(7)`."""


def is_own() -> bool:
    """Whether no interface but the loopback is up."""
    return [name for _, name in socket.if_nameindex() if _flags(name) & _UP] == ["lo"]


def lift_loopback() -> None:
    """Bring the loopback up in a namespace that was just made."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as door:
        fcntl.ioctl(door, _SET_FLAGS, struct.pack("16sh14x", b"lo", _flags("lo") | _UP))


def unsharing() -> list[str]:
    """The command that runs another in a network of its own; empty where this machine does not allow one."""
    for words in (["unshare", "--net"], ["unshare", "--map-root-user", "--net"]):
        if (
            shutil.which(words[0])
            and subprocess.run([*words, "true"], capture_output=True, check=False).returncode == 0
        ):
            return words
    return []


def enter(arguments: Sequence[str]) -> str:
    """Start this module's caller anew, `python -m ARGUMENTS`, in such a network; returns only why it cannot."""
    words = unsharing()
    if not words:
        return "this machine allows no network namespace (unshare --net)"
    os.execvp(words[0], [*words, sys.executable, "-m", *arguments])


def _flags(name: str) -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as door:
        answer = fcntl.ioctl(door, _GET_FLAGS, struct.pack("16sh14x", name.encode(), 0))
    return int(struct.unpack("16sh14x", answer)[1])
