"""Tell who is present by a folder: one file for each process, locked by it, so that the lock ends with it.

A file appears under its name only once it is locked, so an unlocked one is that of a process which is gone. The lock
is the kernel's: it does not depend on process numbers, which mean nothing to a process in another container.
"""

from __future__ import annotations

import fcntl
import os
import threading
import time
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path

from msgspec import Struct
from team_console.store.backends.locked_files import SAFE, is_locked, open_file, open_folder
from team_console.store.backends.session_notes import SessionNotes, make_shared_folder
from team_console.store.contract.team import UNKNOWN_ATTENDANCE, Attendance, Presence, Team, is_presence_name
from team_console.store.model.errors import Problem
from team_console.store.model.message import Message

_MOMENT = 60.0
"""Seconds after which a file that was never locked was left behind by a process killed while it made it."""
_LOOK = 0.5
"""Seconds between two looks of a console at its own file; whoever waits for the human bears with 1.5 without."""
_LONGEST_LOOK = 1.0
"""Seconds for which leaving waits for such a look, as in a file system that does not answer."""


class PresenceFolder(Struct, frozen=True):
    """The folder `path` of one team; made by the first process that is present."""

    path: Path

    @contextmanager
    def announce(self, presence: Presence, name: str, *, mode: int) -> Iterator[bool]:
        """Be present under `name` as long as the block runs; yields whether that could be announced.

        A console is open for days: its file comes again where a `git clean`, or a team that is made anew, took it.

        Args:
            mode: Permissions of the file, as of the team's other files.
        """
        file = f"{presence}-{name}"
        held, over = self._make_locked_file(file, mode), threading.Event()

        def keep() -> None:
            """Make it again whenever it is gone, at the second look, so as to be in no removal's way."""
            nonlocal held
            was_lost = False
            while not over.wait(_LOOK):
                is_lost = _is_lost(self.path / file, held)
                if is_lost and was_lost:
                    _close(held)
                    held = self._make_locked_file(file, mode)
                was_lost = is_lost

        keeping = threading.Thread(target=keep, name="presence", daemon=True)
        if presence is Presence.CONSOLE:
            keeping.start()
        try:
            yield held is not None
        finally:
            over.set()
            if presence is Presence.CONSOLE:
                keeping.join(_LONGEST_LOOK)
            if held is not None:
                with suppress(OSError):
                    os.unlink(self.path / file)
            _close(held)

    def attendance(self, presence: Presence) -> Attendance:
        """Return who is present; writes nothing and never waits."""
        try:
            with _descriptor_of(self.path) as folder:
                return _attendance_in(folder, presence)
        except (FileNotFoundError, NotADirectoryError):
            return Attendance()
        except OSError:
            return UNKNOWN_ATTENDANCE

    def problems(self) -> tuple[Problem, ...]:
        """Return the finding that something else stands in its place, so that nobody can be seen."""
        # guard: hidden-consoles-told
        if not os.path.lexists(self.path) or self.path.is_dir():
            return ()
        text = f"{self.path} cannot be used: not a folder; whoever has a console open is not seen, and is not asked"
        return (Problem("UNUSABLE_FILE", "error", str(self.path), text, f"Look at what is there: ls -ld {self.path}"),)

    def sweep(self) -> None:
        """Take away the files of processes that were killed."""
        with suppress(OSError), _descriptor_of(self.path) as folder:
            _sweep(folder)

    def _make_locked_file(self, file: str, mode: int) -> int | None:
        """Return a descriptor that holds the lock on the new file; None where that cannot be had."""
        try:
            with suppress(FileExistsError):
                make_shared_folder(self.path, mode)
            with _descriptor_of(self.path) as folder:
                _sweep(folder)
                return _new_locked_file(folder, file, mode)
        except OSError:
            return None


class PresentInFolder(Team):
    """A team whose processes are present in a folder beside its messages, with the notes of sessions of clients.

    Attributes:
        presence: That folder.
    """

    presence: PresenceFolder
    _notes: SessionNotes

    def keep_presence_in(self, path: Path) -> None:
        """Use the folder `path`, which need not be there."""
        self.presence, self._notes = PresenceFolder(path), SessionNotes(path)

    @abstractmethod
    def mode_beside(self) -> int | None:
        """Return the permissions of the team's files; None where there is no team."""

    def announce(self, presence: Presence, name: str) -> AbstractContextManager[bool]:
        """See `Team.announce`: a locked file."""
        mode = None if self.read_only else self.mode_beside()
        return nullcontext(False) if mode is None else self.presence.announce(presence, name, mode=mode)

    def attendance(self, presence: Presence) -> Attendance:
        """See `Team.attendance`: who holds a locked file."""
        return self.presence.attendance(presence)

    def session_notes(self) -> tuple[Message, ...]:
        """See `Team.session_notes`."""
        return self._notes.look()


@contextmanager
def _descriptor_of(path: Path) -> Iterator[int]:
    """Open a folder for what happens in the block; yields its descriptor."""
    folder = open_folder(path)
    try:
        yield folder
    finally:
        os.close(folder)


def _is_lost(path: Path, held: int | None) -> bool:
    """Return whether the file at `path` is not the one whose lock is held."""
    try:
        return held is None or not os.path.samestat(os.lstat(path), os.fstat(held))
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False


def _close(held: int | None) -> None:
    """Close a descriptor, which gives up its lock; do nothing without one."""
    if held is not None:
        os.close(held)


def _new_locked_file(folder: int, file: str, mode: int) -> int:
    """Return a new file that is locked before anybody can see it under its name."""
    hidden = f".{file}"
    held = os.open(hidden, os.O_RDWR | os.O_CREAT | os.O_EXCL | SAFE, 0o600, dir_fd=folder)
    try:
        os.fchmod(held, mode & 0o664 | 0o600)
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.rename(hidden, file, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        os.close(held)
        with suppress(OSError):
            os.unlink(hidden, dir_fd=folder)
        raise
    return held


def _attendance_in(folder: int, presence: Presence) -> Attendance:
    """Return whose files in the folder are locked, and whose cannot be looked at."""
    names, doubtful = set(), set()
    for file in os.listdir(folder):
        kind, _, name = file.partition("-")
        if kind != presence or not is_presence_name(name):
            continue
        # A hook that is stopped with its client goes on with it; whoever has stopped a console answers nobody.
        lives = is_locked(folder, file, awake=presence is Presence.CONSOLE)
        if lives is None:
            doubtful.add(name)
        elif lives:
            names.add(name)
    return Attendance(frozenset(names), frozenset(doubtful))


def _sweep(folder: int) -> None:
    """Take away the files of processes that were killed."""
    for file in os.listdir(folder):
        kind, _, name = file.removeprefix(".").partition("-")
        if kind in tuple(Presence) and is_presence_name(name):
            with suppress(OSError):
                _sweep_file(folder, file)


def _sweep_file(folder: int, file: str) -> None:
    """Unlink a file that nobody holds; a hidden one only when it is old, because a new one is not locked yet."""
    found = open_file(file, folder=folder)
    try:
        if not file.startswith(".") or time.time() - os.fstat(found).st_mtime > _MOMENT:
            fcntl.flock(found, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.unlink(file, dir_fd=folder)
    finally:
        os.close(found)
