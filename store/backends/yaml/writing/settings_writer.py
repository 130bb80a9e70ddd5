"""The settings file of a YAML team, replaced as a whole while the lock is held, and put back when the commit fails."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from team_console.store.backends.yaml.files import FORBIDDEN, write_new
from team_console.store.backends.yaml.writing.appends import make_folder
from team_console.store.backends.yaml.writing.locked_team import LockedTeam
from team_console.store.model.errors import Code, TeamError
from team_console.store.settings.settings_file import read_settings

_PUBLIC = 0o644
"""For its owner to write alone: settings that others can write run no command."""


@contextmanager
def replaced_settings(team: LockedTeam, text: str | None) -> Iterator[None]:
    """Put `text` in the place of the settings for what happens in the block; an error there puts the old ones back.

    The file is there before the line on the audit trail: a crash between the two leaves whole settings.

    Raises:
        TeamError: `STORE_FAILED`; nothing was changed.
    """
    if text is None:
        yield
        return
    path = team.layout.config
    before = read_settings(path) if team.disk.stat(path) is not None else None
    _write(team, text)
    try:
        yield
    except BaseException:
        with contextlib.suppress(TeamError, OSError):
            if before is not None:
                _write(team, before)
            else:
                team.disk.unlink(path)
        raise


def _write(team: LockedTeam, text: str) -> None:
    # A link stays a link: what it names is replaced.
    disk, path = team.disk, Path(os.path.realpath(team.layout.config))
    staged = path.with_name(team.layout.stage().name)
    try:
        make_folder(team, path.parent, mode=_PUBLIC)
        _sweep(team, path.parent)
        old = disk.stat(path)
        write_new(disk, staged, text.encode(), mode=old.mode if old else _PUBLIC, group=old.group if old else -1)
        disk.rename_durably(staged, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            if disk.stat(staged) is not None:
                disk.unlink(staged)
        code = Code.READ_ONLY if error.errno in FORBIDDEN else Code.STORE_FAILED
        what = f"{error.filename or path}: {error.strerror or error}; the settings were not changed"
        raise TeamError(code, what, "Make the folder writable for you and repeat it.") from error


def _sweep(team: LockedTeam, folder: Path) -> None:
    """Remove what a writer that died here left; the lock is held, so nobody writes now."""
    if folder != team.layout.folder:
        for name in team.disk.names(folder):
            if name.startswith(team.layout.staging):
                team.disk.unlink(folder / name)


def put_back(team: LockedTeam, text: bytes, *, mode: int) -> str:
    """Write `text` as the settings, durable; returns the name under which what was there is kept, "" for nothing.

    Args:
        mode: Permission bits where nothing is there.

    Raises:
        TeamError: `STORE_FAILED`, with what was there still in its place or kept under another name.
    """
    disk, path = team.disk, team.layout.config
    staged = path.with_name(f"{path.name}.new-{team.stamp()}")
    try:
        there = disk.stat(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        # The rights of a link say nothing of a file: everybody has all of them.
        old = there if there is not None and there.kind == "file" else None
        write_new(disk, staged, text, mode=old.mode if old is not None else mode & ~0o022)
        aside = path.with_name(f"{path.name}.lost-{team.stamp()}") if there is not None else None
        if aside is not None:
            disk.rename(path, aside)
        disk.rename_durably(staged, path)
    except OSError as error:
        why = f"{error.filename or path}: {error.strerror or error}; the settings were not put back"
        raise TeamError(Code.STORE_FAILED, why, "Look into the cause and repeat it.") from error
    return aside.name if aside is not None else ""
