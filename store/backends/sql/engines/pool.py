"""Connections that wait to be used again, in one process: the latest first, so that the others can be forgotten."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from team_console.store.backends.sql.engines.connection import Connection
from team_console.store.model.errors import Code, TeamError

_MOST = 45
"""So many connections are in use at once; who wants one more waits."""
_PATIENCE_SECONDS = 30.0
LEFT_ALONE: list[Connection] = []
"""Connections of the process that this one was forked from. They are its own: closed here, they would end there."""


class Pool:
    """Opens connections where none is free; safe to use from several threads and after a fork."""

    def __init__(self, open_connection: Callable[[], Connection], *, kept: int) -> None:
        """At most `kept` connections wait; with 0 each is closed after its use."""
        self._open = open_connection
        self._kept = kept
        self._begin([])

    def _begin(self, left_alone: list[Connection]) -> None:
        LEFT_ALONE.extend(left_alone)
        self._free: list[Connection] = []
        self._guard = threading.Lock()
        self._turns = threading.BoundedSemaphore(_MOST)
        self._closings = 0
        self._pid = os.getpid()

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """A connection for this thread alone; given back it is kept unless it is broken or still in a transaction.

        Raises:
            TeamError: `STORE_FAILED` when too many are in use for too long.
        """
        self._follow_fork()
        turns, closings = self._turns, self._closings
        if not turns.acquire(timeout=_PATIENCE_SECONDS):
            text = f"all {_MOST} connections to the database are in use"
            raise TeamError(Code.STORE_FAILED, text, "Try again; nothing was changed.")
        try:
            connection = self._take()
            try:
                yield connection
            finally:
                self._give_back(connection, closings)
        finally:
            turns.release()

    def close(self) -> None:
        """Close all connections; one that is in use closes when its user is done."""
        self._follow_fork()
        with self._guard:
            self._closings += 1
            free, self._free = self._free, []
        for connection in free:
            connection.close()

    def _follow_fork(self) -> None:
        if self._pid != os.getpid():
            self._begin(self._free)

    def _take(self) -> Connection:
        while True:
            with self._guard:
                connection = self._free.pop() if self._free else None
            if connection is None:
                return self._open()
            if connection.answers():
                return connection
            connection.close()

    def _give_back(self, connection: Connection, closings: int) -> None:
        with self._guard:
            is_kept = closings == self._closings and len(self._free) < self._kept and connection.is_idle
            if is_kept:
                self._free.append(connection)
        if not is_kept:
            connection.close()
