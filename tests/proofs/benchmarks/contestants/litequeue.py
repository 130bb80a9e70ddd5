"""litequeue: a queue in one SQLite table, with `synchronous = FULL` so that a sent message survives a power cut."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.proofs.benchmarks.contestants.serving import serve
from tests.proofs.benchmarks.data import Letter, letters


class LiteQueue:
    """It keeps no list of what changed, so reloading reads all rows."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "queue.sqlite"

    def fill(self, count: int) -> None:
        """See `Store.fill`."""
        self.queue = _open(self.path)
        self.writer = _open(self.path)
        with self.queue.transaction():
            for letter in letters(count):
                self.queue.put(json.dumps(letter.record()))

    def send(self, letter: Letter) -> None:
        """See `Store.send`."""
        self.queue.put(json.dumps(letter.record()))

    def other(self, letter: Letter) -> None:
        """See `Store.other`."""
        self.writer.put(json.dumps(letter.record()))

    def reload(self) -> int:
        """See `Store.reload`."""
        return _read(self.queue)

    def cold(self) -> int:
        """See `Store.cold`."""
        return _read(_open(self.path))


def _open(path: Path) -> Any:
    queue = import_module("litequeue").LiteQueue(str(path))
    queue.conn.execute("PRAGMA synchronous = FULL")
    return queue


def _read(queue: Any) -> int:
    rows = queue.conn.execute(f"SELECT data FROM {queue.table}").fetchall()
    return len([json.loads(row[0]) for row in rows])


if __name__ == "__main__":
    serve(LiteQueue)
