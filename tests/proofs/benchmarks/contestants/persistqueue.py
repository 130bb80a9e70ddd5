"""persist-queue: its queue with acknowledgement on SQLite, which syncs every commit (WAL, `synchronous = FULL`)."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from tests.proofs.benchmarks.contestants.serving import serve
from tests.proofs.benchmarks.data import Letter, letters


class PersistQueue:
    """It keeps no list of what changed, so reloading reads all rows."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "persist-queue"

    def fill(self, count: int) -> None:
        """See `Store.fill`."""
        self.queue = _open(self.path)
        connection = self.queue._putter
        rows = [(self.queue._serializer.dumps(letter.record()), 0.0) for letter in letters(count)]
        connection.executemany(self.queue._sql_insert, rows)
        connection.commit()
        self.writer = _open(self.path)

    def send(self, letter: Letter) -> None:
        """See `Store.send`."""
        self.queue.put(letter.record())

    def other(self, letter: Letter) -> None:
        """See `Store.other`."""
        self.writer.put(letter.record())

    def reload(self) -> int:
        """See `Store.reload`."""
        return len(self.queue.queue())

    def cold(self) -> int:
        """See `Store.cold`."""
        return len(_open(self.path).queue())


def _open(path: Path) -> Any:
    queue = import_module("persistqueue").SQLiteAckQueue(str(path), multithreading=True)
    queue._putter.execute("PRAGMA synchronous = FULL")
    return queue


if __name__ == "__main__":
    serve(PersistQueue)
