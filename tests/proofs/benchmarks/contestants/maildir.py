"""`mailbox.Maildir` of the standard library: one file per message, synced, and its folder synced after the link."""

from __future__ import annotations

import mailbox
import os
from pathlib import Path

from tests.proofs.benchmarks.contestants.serving import serve
from tests.proofs.benchmarks.data import Letter, letters, write_maildir


class Maildir:
    """Adds through the library; reloading reads only files not seen before, which is what a Maildir is good at."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "Maildir"
        self.known: dict[str, mailbox.MaildirMessage] = {}

    def fill(self, count: int) -> None:
        """See `Store.fill`."""
        write_maildir(self.path, letters(count))
        self.box = mailbox.Maildir(str(self.path), create=False)
        self.writer = mailbox.Maildir(str(self.path), create=False)
        self.reload()

    def send(self, letter: Letter) -> None:
        """See `Store.send`."""
        self.box.add(letter.mail())
        number = os.open(self.path / "new", os.O_RDONLY | os.O_DIRECTORY)
        os.fsync(number)
        os.close(number)

    def other(self, letter: Letter) -> None:
        """See `Store.other`."""
        self.writer.add(letter.mail())

    def reload(self) -> int:
        """See `Store.reload`."""
        keys = self.box.keys()
        self.known = {key: self.known.get(key) or self.box.get_message(key) for key in keys}
        return len(self.known)

    def cold(self) -> int:
        """See `Store.cold`."""
        self.known = {}
        self.box = mailbox.Maildir(str(self.path), create=False)
        return self.reload()


if __name__ == "__main__":
    serve(Maildir)
