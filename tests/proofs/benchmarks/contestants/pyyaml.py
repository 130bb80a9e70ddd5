"""What agents do by hand: load the whole file with PyYAML's C loader, dump the whole file, rename it into place."""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path
from typing import Any

import yaml

from tests.proofs.benchmarks.contestants.serving import serve
from tests.proofs.benchmarks.data import Letter, letters, write_queue

LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
DUMPER: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class WholeFile:
    """Lock, load, append, dump, and the same three syncs as team-console: ledger, queue and folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.queue = folder / "message-queue.yaml"

    def fill(self, count: int) -> None:
        """See `Store.fill`."""
        write_queue(self.queue, letters(count))

    def send(self, letter: Letter) -> None:
        """See `Store.send`."""
        with (self.folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            state = self._load()
            state["messages"].append(letter.record())
            with (self.folder / "audit.jsonl").open("a") as ledger:
                ledger.write(json.dumps(letter.record()) + "\n")
                ledger.flush()
                os.fsync(ledger.fileno())
            staged = self.folder / "staged"
            with staged.open("wb") as file:
                yaml.dump(state, file, DUMPER, allow_unicode=True, sort_keys=False, encoding="utf-8")
                file.flush()
                os.fsync(file.fileno())
            staged.rename(self.queue)
            _sync_folder(self.folder)

    def other(self, letter: Letter) -> None:
        """See `Store.other`; a plain append costs this contestant nothing and changes the file all the same."""
        with self.queue.open("a", encoding="utf-8") as file:
            file.write(letter.yaml())

    def reload(self) -> int:
        """See `Store.reload`."""
        return len(self._load()["messages"])

    def cold(self) -> int:
        """See `Store.cold`."""
        return self.reload()

    def _load(self) -> dict[str, list[dict[str, Any]]]:
        with self.queue.open("rb") as file:
            state: dict[str, list[dict[str, Any]]] = yaml.load(file, LOADER)
        return state


def _sync_folder(folder: Path) -> None:
    number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    os.fsync(number)
    os.close(number)


if __name__ == "__main__":
    serve(WholeFile)
