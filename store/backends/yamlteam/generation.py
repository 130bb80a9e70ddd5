"""Reads one generation of the queue, patient with a writer that is in the middle of rewriting it in place."""

from __future__ import annotations

import time
from pathlib import Path

from msgspec import Struct

from store.backends.yamlteam.codec import CodecError, QueueText
from store.backends.yamlteam.disk import Disk, Mark, Stat
from store.backends.yamlteam.files import LARGEST_FILE, PRIVATE, refuse_large
from store.errors import Code, TeamError

PATIENCE = 0.25
"""Seconds a file that looks half written is read again before it counts as damaged (cases 15, 30)."""
_PAUSE = 0.01


class Generation(Struct, frozen=True):
    """The queue as it was at one moment.

    Attributes:
        text: Its entries; an empty queue when there is no file.
        stat: What the file was, None when there is none.
    """

    text: QueueText
    stat: Stat | None

    @property
    def mark(self) -> Mark | None:
        """What tells it from other generations."""
        return self.stat.mark if self.stat else None

    @property
    def mode(self) -> int:
        """Permission bits for the next generation."""
        return self.stat.mode if self.stat else PRIVATE


def load(disk: Disk, path: Path, known: Generation | None, *, patience: float = PATIENCE) -> Generation:
    """The present generation; `known` itself when that is still the present one.

    Raises:
        TeamError: `STORE_UNREADABLE` with line and column; nothing may be written then.
    """
    deadline = time.monotonic() + patience
    while True:
        try:
            return _load_once(disk, path, known)
        except CodecError as error:
            if time.monotonic() >= deadline:
                raise unreadable(path, error) from None
        except OSError as error:
            raise TeamError(
                Code.STORE_UNREADABLE,
                f"{path} cannot be read: {error.strerror or error}",
                "Check what is at that path and its permissions.",
                path=str(path),
            ) from error
        time.sleep(_PAUSE)


def unreadable(path: Path, error: CodecError) -> TeamError:
    """The error for a queue that cannot be understood, with the way back."""
    way_back = f"mv {path.name} {path.name}.bad && cp {path.name}.prev {path.name}"
    return TeamError(
        Code.STORE_UNREADABLE,
        f"{path}: {error.message}",
        f"{error.hint} The generation before is in {path.name}.prev; to go back to it: {way_back}",
        path=str(path),
        line=error.line,
        column=error.column,
    )


def _load_once(disk: Disk, path: Path, known: Generation | None) -> Generation:
    found = disk.stat(path)
    if found is None:
        return known if known is not None and known.stat is None else Generation(QueueText.empty(), None)
    if known is not None and known.mark == found.mark:
        return known if known.stat == found else Generation(known.text, found)
    refuse_large(path, found, LARGEST_FILE)
    data, found = disk.read(path)
    return Generation(QueueText.parse(data, known.text if known else None), found)
