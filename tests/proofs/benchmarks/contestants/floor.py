"""The floor: the system calls of a send or a reload and nothing else; no lock, no check, nothing understood."""

from __future__ import annotations

from pathlib import Path

from tests.proofs.benchmarks.contestants.serving import serve
from tests.proofs.benchmarks.data import Letter, letters, write_queue
from tests.proofs.benchmarks.floor import read, write


class Floor:
    """A queue that is held as bytes and written as a whole."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.queue = folder / "message-queue.yaml"

    def fill(self, count: int) -> None:
        """See `Store.fill`."""
        write_queue(self.queue, letters(count))
        self.data = bytearray(self.queue.read_bytes())

    def send(self, toast: Letter) -> None:
        """See `Store.send`: journal, rewrite, rename, folder, each made durable."""
        entry = toast.yaml().encode()
        self.data += entry
        write(str(self.folder), self.data, entry)

    def other(self, toast: Letter) -> None:
        """See `Store.other`."""
        entry = toast.yaml().encode()
        self.data += entry
        with self.queue.open("ab") as file:
            file.write(entry)

    def reload(self) -> int:
        """See `Store.reload`: every byte is read, and entries are counted."""
        return read(str(self.queue)).count(b"\n- ")

    def cold(self) -> int:
        """See `Store.cold`."""
        return self.reload()


if __name__ == "__main__":
    serve(Floor)
