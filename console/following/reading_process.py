"""A copy of this process that makes one value on another core, while this one goes on with something else."""

from __future__ import annotations

import copyreg
import os
import pickle
import select
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from types import MappingProxyType
from typing import Any, Generic, TypeVar

ValueT = TypeVar("ValueT")

_LARGEST = 16 << 20
"""Bytes of a value that is handed over; to make a larger one again takes less than to take it apart and together."""
_STEP = 1 << 20
_PATIENCE = 2.0
"""Seconds between two pieces of a value; it was made as a whole before the first of them."""


class ReadingProcess(Generic[ValueT]):
    """The copy, seen from the process that it is a copy of. It only makes the value, and ends with it.

    It begins with all that this process has in memory and with its open files: what is made must rest on no
    connection or lock that two processes would share.
    """

    def __init__(self, pid: int, pipe: int) -> None:
        self._pid, self._pipe = pid, pipe

    def result(self) -> ValueT | None:
        """The value, waited for; None when it could not be made, or not be handed over. Ask once."""
        pieces: list[bytes] = []
        try:
            while self.is_done(_PATIENCE) or not pieces:
                if not (piece := os.read(self._pipe, _STEP)):
                    break
                pieces.append(piece)
            else:
                os.kill(self._pid, signal.SIGKILL)  # its end of the pipe is open, so it is there; somebody stopped it
        finally:
            os.close(self._pipe)
            with suppress(ChildProcessError):  # somebody else waits for all that end
                os.waitpid(self._pid, 0)
        try:
            value: ValueT = pickle.loads(b"".join(pieces))
        except Exception:  # it ended before it had written all, or anything
            return None
        return value

    def is_done(self, seconds: float = 0.0) -> bool:
        """Whether `result` need not be waited for, after so many seconds at most."""
        return bool(select.select([self._pipe], [], [], seconds)[0])


def start(make: Callable[[], ValueT]) -> ReadingProcess[ValueT] | None:
    """Begin to make a value; None where this process cannot be copied, now or at all."""
    if not hasattr(os, "fork") or threading.active_count() > 1:  # of other threads a copy has what they held, not them
        return None
    reading, writing = os.pipe()
    try:
        pid = os.fork()
    except OSError:
        os.close(reading)
        os.close(writing)
        return None
    if pid == 0:
        _make_and_end(make, writing)
    os.close(writing)
    return ReadingProcess(pid, reading)


def _make_and_end(make: Callable[[], Any], pipe: int) -> None:
    """Never returns: what is open here, and would be closed in order at an end, is the other process's."""
    try:
        left = memoryview(pickle.dumps(make(), pickle.HIGHEST_PROTOCOL))
        while len(left) and left.nbytes <= _LARGEST:
            left = left[os.write(pipe, left) :]
    finally:
        os._exit(0)


def _view_of(values: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(values)


copyreg.pickle(MappingProxyType, lambda view: (_view_of, (dict(view),)))
