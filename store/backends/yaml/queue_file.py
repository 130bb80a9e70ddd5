"""The queue as a file: one generation of it, read with patience for a writer that rewrites it in place."""

from __future__ import annotations

import time
import zlib
from pathlib import Path
from shlex import quote

from msgspec import Struct
from team_console.store.backends.yaml.audit_trail import AuditTrail
from team_console.store.backends.yaml.disk import PRIVATE, Disk, FileVersion, Stat, shared_mode
from team_console.store.backends.yaml.lock import ReleaseMark, not_readable
from team_console.store.backends.yaml.own_form import TextError
from team_console.store.backends.yaml.queue import QueueText
from team_console.store.contract.team import Progress
from team_console.store.model.errors import Code, TeamError

PATIENCE = 0.25
"""Seconds a file that looks half written is read again before it counts as damaged (cases 15, 30)."""
_PAUSE = 0.01
_TRAIL = "audit.jsonl"


class QueueFile(Struct, frozen=True):
    """The queue as it was at one moment.

    Attributes:
        text: Its entries; an empty queue when there is no file.
        stat: What the file was, None when there is none.
    """

    text: QueueText
    stat: Stat | None

    @property
    def mark(self) -> FileVersion | None:
        """The version of the file, to tell it from others."""
        return self.stat.mark if self.stat else None

    @property
    def mode(self) -> int:
        """Permission bits for the next generation."""
        return self.stat.mode if self.stat else PRIVATE

    @property
    def mode_beside(self) -> int:
        """Permission bits of new files other than the queue."""
        return shared_mode(self.stat)


def load_queue(
    disk: Disk,
    path: Path,
    known: QueueFile | None,
    *,
    progress: Progress | None = None,
    released: ReleaseMark | None = None,
) -> QueueFile:
    """Return the present generation; `known` itself when that is still the present one.

    Args:
        progress: As in `QueueText.parse`.
        released: How the last holder of the lock left it.

    Raises:
        TeamError: `STORE_UNREADABLE` with line and column; nothing may be written then.
    """
    # guard: half-file-waited-out
    deadline = time.monotonic() + PATIENCE
    try:
        while True:
            try:
                return _load_once(disk, path, known, progress, released)
            except TextError as error:
                if time.monotonic() >= deadline:
                    return _blank_queue(disk, path, error)
            time.sleep(_PAUSE)
    except OSError as error:
        raise not_readable(path, error) from error


def _blank_queue(disk: Disk, path: Path, error: TextError) -> QueueFile:
    """Return an empty or comment-only file as an empty queue, unless there was more in it.

    The trail and `.prev` know what was; only a line that was itself built upon this very file proves nothing.

    Raises:
        TeamError: There is more in it, or was; with what there is to go back to.
    """
    data, found = disk.read(path)
    trail = disk.stat(path.with_name(_TRAIL))
    is_recorded = trail is not None and trail.size > 0
    has_previous = disk.stat(path.with_name(f"{path.name}.prev")) is not None
    if QueueText.is_blank(data) and not has_previous:
        line = AuditTrail(disk, path.with_name(_TRAIL)).tip().line
        if not is_recorded or (line is not None and line.base == found.mark):
            return QueueFile(QueueText.blank_file(data), found)
    aside, back = f"mv {quote(str(path))} {quote(f'{path}.bad')}", ""
    if has_previous:
        command = f"{aside} && cp {quote(f'{path}.prev')} {quote(str(path))}"
        back = f" The generation before is in {path.name}.prev; to go back to it: {command}"
    elif is_recorded:
        back = f" The audit trail {_TRAIL} has its messages; for the next write to put them back: {aside}"
    error_hint = f"{error.hint} Nothing is written to it before."
    if back:
        error_hint += " What other programs wrote since our last write is nowhere else: keep the file."
    raise TeamError(
        Code.STORE_UNREADABLE,
        f"{path}: {error.message}",
        f"{error_hint}{back}",
        path=str(path),
        line=error.line,
        column=error.column,
    ) from None


def _load_once(
    disk: Disk, path: Path, known: QueueFile | None, progress: Progress | None, released: ReleaseMark | None
) -> QueueFile:
    """Return the present generation, read without patience."""
    found = disk.stat(path)
    if found is None:
        return known if known is not None and known.stat is None else QueueFile(QueueText.empty(), None)
    if known is not None and known.mark == found.mark:
        return known if known.stat == found else QueueFile(known.text, found)
    data, found = disk.read(path)
    before = known.text if known is not None and known.stat is not None else None  # an empty one to begin with
    # The CRC, too: another program may write as many bytes within one tick of the clock.
    # guard: only-our-own-text-unread
    if before is None and released is not None and released.queue == found.mark and released.listed == zlib.crc32(data):
        return QueueFile(QueueText.lazy(data), found)
    return QueueFile(QueueText.parse(data, before, progress).with_unique_ids(), found)
