"""The system calls that a verb cannot do without, alone: run as `python -I floor.py read|write FOLDER`.

Imports nothing but `os` and `sys`. `read` reads the queue; `write` does that, adds a line to a journal and an entry
to the queue as a new file, makes both durable, renames the file into place and makes the folder durable.
"""

from __future__ import annotations

import os
import sys

ENTRY = b"- message_id: MSG-20260224-aaaaaaaa\n  type: message\n  from: ceo\n  to: architect\n" + b" " * 340 + b"\n"
_BLOCK = 1 << 20
"""Bytes of one write: of many megabytes at once the kernel's time varies tenfold in a virtual machine."""


def read(path: str) -> bytes:
    """Every byte of a file."""
    fd = os.open(path, os.O_RDONLY)
    data = os.read(fd, os.fstat(fd).st_size)
    os.close(fd)
    return data


def write(folder: str, data: bytes | bytearray, line: bytes = ENTRY) -> None:
    """A line for the journal and `data` as the queue: two syncs of files, a rename, a sync of the folder."""
    _put(f"{folder}/floor.jsonl", line, os.O_APPEND)
    _put(f"{folder}/floor.tmp", data, os.O_TRUNC)
    os.rename(f"{folder}/floor.tmp", f"{folder}/message-queue.yaml")
    fd = os.open(folder, os.O_RDONLY)
    os.fsync(fd)
    os.close(fd)


def _put(path: str, data: bytes | bytearray, flag: int) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | flag, 0o600)
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest[:_BLOCK]) :]
    os.fsync(fd)
    os.close(fd)


if __name__ == "__main__":
    found = read(f"{sys.argv[2]}/message-queue.yaml")
    if sys.argv[1] == "write":
        write(sys.argv[2], found + ENTRY)
