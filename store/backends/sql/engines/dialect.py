"""What SQLite and PostgreSQL do differently; everything else in this package is one code path for both."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from enum import Enum
from pathlib import Path
from typing import Any

from msgspec import Struct
from team_console.store.backends.sql.engines.connection import Connection
from team_console.store.backends.sql.shape import Shape
from team_console.store.contract.presence import Attendance, Presence
from team_console.store.contract.team import LockHolder, WatchHint
from team_console.store.model.errors import TeamError
from team_console.store.model.problem import Problem

Progress = Callable[[int, int], bool]
LEFT_ALONE: list[Connection] = []
"""Connections of the process that this one was forked from. They are its own: closed here, they would end there."""


class Mode(Enum):
    """How much of the team a transaction keeps for itself."""

    READ = "read"
    CLAIM = "claim"
    """Rows only; several at once where the database can keep them apart."""
    WRITE = "write"


class Fetched(Struct, frozen=True):
    """Rows as texts.

    Attributes:
        rows: All rows in stored order, or those that may have changed since `watermark` of the fetch before.
        complete: Which of the two.
        count: How many rows there are.
        watermark: To be handed in with the next fetch.
    """

    rows: Sequence[Any]
    complete: bool
    count: int
    watermark: object | None = None


class Dialect(ABC):
    """One database and how to work with it."""

    location: str
    """Without a password."""
    root: Path | None
    inbox_folder: Path
    """Where messages go whose agent's own inbox table takes none."""
    read_only: bool
    generation: int
    """Grows when the location leads to another database than before."""
    error: type[Exception]
    """The class of all errors of the driver."""

    def __init__(self, *, keeps: int = 2) -> None:
        """So many connections stay open for the next who asks: one to write, one to look meanwhile."""
        self.generation = 0
        self._keeps = keeps
        self._kept: list[Connection] = []
        self._pid = os.getpid()

    @abstractmethod
    def open(self) -> Connection:
        """A new connection that begins no transactions by itself."""

    @contextmanager
    def connect(self) -> Iterator[Connection]:
        """A connection for this thread alone, given back without an open transaction.

        Raises:
            TeamError: Whatever the database says, in the words of `translate`.
        """
        if self._pid != os.getpid():
            LEFT_ALONE.extend(self._kept)
            self._kept, self._pid = [], os.getpid()
        kept = self._kept
        try:
            connection = self._take(kept)
            try:
                yield connection
            finally:
                self.roll_back(connection)
                if kept is self._kept and len(kept) < self._keeps and connection.is_idle:
                    kept.append(connection)
                else:
                    connection.close()
        except self.error as error:
            raise self.translate(error) from error

    def _take(self, kept: list[Connection]) -> Connection:
        while kept:
            with suppress(IndexError):  # another thread was faster
                connection = kept.pop()
                if connection.answers():
                    return connection
                connection.close()
        return self.open()

    def roll_back(self, connection: Connection) -> None:
        """End whatever is open on the connection; one that is broken is not used again."""
        if not connection.is_idle:
            with suppress(self.error):
                connection.run("ROLLBACK")

    def close(self) -> None:
        """Close all connections; one that is in use closes when its user is done."""
        kept, self._kept = self._kept, []
        for connection in kept if self._pid == os.getpid() else ():
            connection.close()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection inside a read transaction: everything read on it is of one moment."""
        with self.connect() as connection:
            self.begin(connection, Mode.READ, wait=0.0, label="")
            yield connection

    def mark(self, connection: Connection) -> object | None:
        """A value that is the same as long as nothing in the database changed; None when there is no such thing."""
        return None

    def prepare(self, connection: Connection) -> None:
        """Make a database that is known to be a team ready for writing; outside of a transaction."""
        return None

    @abstractmethod
    def begin(self, connection: Connection, mode: Mode, *, wait: float, label: str) -> None:
        """Begin a transaction, waiting at most `wait` seconds; `label` says to others what it is for.

        Raises:
            TeamError: `STORE_LOCKED` with the holder.
        """

    @abstractmethod
    def commit(self, connection: Connection) -> None:
        """Make the transaction durable.

        Raises:
            TeamError: `STORE_FAILED`; the message says whether the outcome is known.
        """

    @abstractmethod
    def fetch(
        self, connection: Connection, shape: Shape, *, since: object | None, progress: Progress | None
    ) -> Fetched:
        """The rows, or those changed since the watermark `since`."""

    @abstractmethod
    def by_age(self, moment: str) -> str:
        """What to order by for oldest first, `moment` being a column."""

    @abstractmethod
    def keeping(self, table: str, *, skip: bool = False) -> str:
        """The end of a select that keeps its rows of `table` for this transaction.

        It leaves out (`skip`) or awaits rows that others keep.
        """

    @abstractmethod
    def announce(self, connection: Connection) -> None:
        """Tell watchers about the change being committed."""

    @abstractmethod
    def holder(self) -> LockHolder | None:
        """Who holds the write lock now; never raises."""

    @abstractmethod
    def translate(self, error: Exception) -> TeamError:
        """The user's error for what the database said."""

    @abstractmethod
    def watch(self) -> AsyncIterator[WatchHint]:
        """As `Team.watch`."""

    @abstractmethod
    def present(self, presence: Presence, name: str) -> AbstractContextManager[bool]:
        """As `Team.announce`."""

    @abstractmethod
    def attendance(self, presence: Presence) -> Attendance:
        """As `Team.attendance`."""

    def places(self) -> Mapping[str, str]:
        """As `Team.places`."""
        return {}

    def problems(self) -> tuple[Problem, ...]:
        """What is odd about the place the database is at."""
        return ()
