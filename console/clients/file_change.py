"""Change of one file of a client: shown, made whole or not at all, and only to what it was made for."""

from __future__ import annotations

import difflib
import os
import shutil
import stat
from pathlib import Path

from msgspec import Struct
from team_console.store.model.errors import Code, TeamError

_BY_HAND = "--print shows what would stand there; write it by hand."
"""What to do about a file that can be read and not written."""
_LARGEST = 8 << 20
"""Bytes of the largest file that is read."""


class FileChange(Struct, frozen=True):
    """What becomes of one file.

    Attributes:
        home: The folder that the file must not lead out of, whatever links there are.
        before, after: Its text; None for no file.
    """

    path: Path
    home: Path
    before: str | None
    after: str | None

    @property
    def word(self) -> str:
        """`created`, `changed`, `removed` or `unchanged`."""
        if self.before == self.after:
            return "unchanged"
        if self.before is None:
            return "created"
        return "removed" if self.after is None else "changed"

    @property
    def diff(self) -> str:
        """The change as a unified diff; empty for none."""
        old, new = (text.splitlines(keepends=True) if text else [] for text in (self.before, self.after))
        names = ("/dev/null" if self.before is None else str(self.path), str(self.path))
        lines = difflib.unified_diff(old, new, names[0], names[1] if self.after is not None else "/dev/null")
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def read_file(path: Path, home: Path) -> str | None:
    """Return the text of a client's file, None when there is none.

    Raises:
        FileRefused: `NOT_PERMITTED` for a link that leads out of `home`, and for what is no text file of a usual size.
    """
    target = _target(path, home)
    try:
        found = os.stat(target)
        if not stat.S_ISREG(found.st_mode) or found.st_size > _LARGEST:
            raise FileRefused(path, "it is not a plain file of a usual size")
        return target.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise FileRefused(path, "it is not UTF-8") from error
    except OSError as error:
        raise FileRefused(path, error.strerror or str(error)) from error


def write_change(change: FileChange) -> None:
    """Make the change; folders that are missing are made, and empty ones are left.

    Raises:
        FileRefused: `NOT_PERMITTED` when somebody changed the file meanwhile, or it cannot be written.
    """
    target = _target(change.path, change.home)
    if read_file(change.path, change.home) != change.before:
        raise FileRefused(change.path, "somebody changed it at the same time; nothing was written to it", "Try again.")
    try:
        if change.after is None:
            os.unlink(target)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            _replace(target, change.after.encode())
    except OSError as error:
        raise FileRefused(change.path, error.strerror or str(error), _BY_HAND) from error


def _replace(target: Path, data: bytes) -> None:
    """Write beside the file and rename over it: whoever reads it sees the old or the new.

    What a new file cannot be made to have (another owner, a second name) is kept by writing into the old one instead.
    """
    staged = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    old = os.stat(target) if target.exists() else None
    try:
        _write_all(staged, os.O_CREAT | os.O_EXCL, data, mode=0o600 if old else 0o666)
        if old is None or (_take_over(staged, target, old) and old.st_nlink == 1):
            os.replace(staged, target)
            return
        # A crash in the middle of this leaves the new text whole, beside it.
        _write_all(target, os.O_TRUNC, data)
        os.unlink(staged)
    except OSError:
        staged.unlink(missing_ok=True)
        raise


def _take_over(staged: Path, target: Path, old: os.stat_result) -> bool:
    """Give a new file the owner and the rights of the old one; returns whether that could be done."""
    try:
        os.chown(staged, old.st_uid, old.st_gid)
        shutil.copystat(target, staged)  # after the owner, whose change takes bits away
        os.utime(staged)
    except OSError:
        return False
    return True


def _write_all(path: Path, flags: int, data: bytes, mode: int = 0) -> None:
    """Write a file whole, through to the disk; a link in its place is not followed."""
    descriptor = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC | flags, mode)
    with open(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(descriptor)


def _target(path: Path, home: Path) -> Path:
    """Return the real path of the file: a link within the home is followed, a link out of it is not."""
    real, base = Path(os.path.realpath(path)), Path(os.path.realpath(home))
    # guard: client-settings-links
    if not real.is_relative_to(base):
        raise FileRefused(path, f"it is a link that leads out of {home}, and is not followed")
    return real


class FileRefused(TeamError):
    """A file of a client that is left as it is, since it cannot be read, edited or written."""

    def __init__(self, path: Path, why: str, hint: str = "Mend that, then try again.") -> None:
        super().__init__(Code.NOT_PERMITTED, f"{path}: {why}", hint)
