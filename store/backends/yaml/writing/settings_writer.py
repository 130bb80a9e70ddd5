"""The settings file of a YAML team, replaced as a whole while the lock is held, and put back when the commit fails."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from team_console.store.backends.yaml.disk import Disk
from team_console.store.backends.yaml.files import write_new
from team_console.store.backends.yaml.layout import Layout
from team_console.store.backends.yaml.writing.appends import make_folder
from team_console.store.backends.yaml.writing.commit import LockedQueue
from team_console.store.model.errors import Code, TeamError
from team_console.store.settings.settings_file import read_settings

_PUBLIC = 0o644
"""For its owner to write alone: settings that others can write run no command."""


@contextmanager
def replaced_settings(disk: Disk, layout: Layout, text: str | None) -> Iterator[None]:
    """Put `text` in the place of the settings for what happens in the block; an error there puts the old ones back.

    The file is there before the line on the audit trail: a crash between the two leaves whole settings.

    Raises:
        TeamError: `STORE_FAILED`; nothing was changed.
    """
    if text is None:
        yield
        return
    path = layout.config
    before = read_settings(path) if disk.stat(path) is not None else None
    _write(disk, layout, text)
    try:
        yield
    except BaseException:
        with contextlib.suppress(TeamError, OSError):
            if before is not None:
                _write(disk, layout, before)
            else:
                disk.unlink(path)
        raise


def _write(disk: Disk, layout: Layout, text: str) -> None:
    # A link stays a link: what it names is replaced.
    path = Path(os.path.realpath(layout.config))
    staged = path.with_name(layout.stage().name)
    try:
        make_folder(disk, layout, path.parent, mode=_PUBLIC)
        _sweep(disk, layout, path.parent)
        old = disk.stat(path)
        write_new(disk, staged, text.encode(), mode=old.mode if old else _PUBLIC, group=old.group if old else -1)
        disk.rename(staged, path)
        disk.sync_folder(path.parent)
    except OSError as error:
        with contextlib.suppress(OSError):
            if disk.stat(staged) is not None:
                disk.unlink(staged)
        code = Code.READ_ONLY if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS) else Code.STORE_FAILED
        what = f"{error.filename or path}: {error.strerror or error}; the settings were not changed"
        raise TeamError(code, what, "Make the folder writable for you and repeat it.") from error


def _sweep(disk: Disk, layout: Layout, folder: Path) -> None:
    """Remove what a writer that died here left; the lock is held, so nobody writes now."""
    if folder != layout.folder:
        for name in disk.names(folder):
            if name.startswith(layout.staging):
                disk.unlink(folder / name)


def put_back(queue: LockedQueue, text: bytes) -> str:
    """Write `text` as the settings, durable; returns the name under which what was there is kept, "" for nothing.

    Raises:
        TeamError: `STORE_FAILED`, with what was there still in its place or kept under another name.
    """
    disk, path = queue.disk, queue.layout.config
    staged = path.with_name(f"{path.name}.new-{queue.stamp()}")
    try:
        there = disk.stat(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_new(disk, staged, text, mode=there.mode if there is not None else queue.generation.mode & ~0o022)
        aside = path.with_name(f"{path.name}.lost-{queue.stamp()}") if there is not None else None
        if aside is not None:
            disk.rename(path, aside)
        disk.rename(staged, path)
        disk.sync_folder(path.parent)
    except OSError as error:
        why = f"{error.filename or path}: {error.strerror or error}; the settings were not put back"
        raise TeamError(Code.STORE_FAILED, why, "Look into the cause and repeat it.") from error
    return aside.name if aside is not None else ""
