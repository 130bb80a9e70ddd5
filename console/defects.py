"""The log of defects: where an exception nobody expected came from, never what a message said.

The text of an exception and the values of variables may be somebody's message or a token, so neither is written or
shown: only kinds of exceptions and places in the code. No module of the screen is imported here; verbs use it too.
"""

from __future__ import annotations

import os
import platform
import traceback
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any

from msgspec import Struct
from team_console.store.model.home import state_folder

_MOST_BYTES = 256 * 1024
"""Size from which on a log is put aside; one former log is kept."""
_PARTS = 4
"""Parts of a path that are written: enough to find the module, and no name of a user or a folder above."""


class Defect(Struct, frozen=True):
    """One defect.

    Attributes:
        kind: The class of the exception.
        log: The file that holds the traceback; None when it could not be written.
    """

    kind: str
    log: Path | None


class Defects:
    """The defects of one console; each is logged once, however often it comes back."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], Defect] = {}
        self._lock = Lock()

    @property
    def all(self) -> tuple[Defect, ...]:
        """Every defect so far, the first one first."""
        return tuple(self._known.values())

    def record(self, error: BaseException, *, where: str) -> None:
        """Log `error` unless one of the same kind and place is known.

        Args:
            where: What the console was at, such as the name of a mode.
        """
        kind, place = type(error).__name__, place_raised(error)
        with self._lock:
            if (kind, place) not in self._known:
                self._known[kind, place] = Defect(kind, log_defect(error, where=where))


def defect_error(error: BaseException, *, where: str) -> dict[str, Any]:
    """Log a defect of ours, and return the error object that says so without the words of the exception."""
    file = log_defect(error, where=where)
    logged = f"Where it happened is in {file}." if file is not None else "It could not be logged."
    hint = f"This is a defect in team-console; please report it. {logged}"
    what = f"{type(error).__name__} at {place_raised(error)}"
    return {"success": False, "error": "INTERNAL_ERROR", "message": what, "hint": hint}


def log_defect(error: BaseException, *, where: str) -> Path | None:
    """Add the kind of `error` and the places it went through to the log; returns the log, None when it cannot be."""
    path = state_folder() / "log" / "defects.log"
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        _put_aside(path)
        # Whoever owns the folder could put a link there that leads the log elsewhere.
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
        descriptor = os.open(path, flags, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as file:
            os.fchmod(descriptor, 0o600)
            file.write("\n".join(_entry(error, where)) + "\n\n")
    except OSError:
        return None
    return path


def place_raised(error: BaseException) -> str:
    """Return where it was raised: `module.py:line function`."""
    places = list(_places(error.__traceback__))
    return places[-1] if places else "unknown place"


def _entry(error: BaseException, where: str) -> Iterator[str]:
    """Yield the lines of the log on one defect: where it met the program, and each cause with its places."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    yield f"{now} process {os.getpid()} Python {platform.python_version()}{f' in {where}' if where else ''}"
    seen: set[int] = set()
    cause: BaseException | None = error
    words = ""
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        yield f"{words}{type(cause).__module__}.{type(cause).__qualname__}"
        yield from (f"  {place}" for place in _places(cause.__traceback__))
        words, cause = "after ", cause.__cause__ or cause.__context__


def _places(at: TracebackType | None) -> Iterator[str]:
    for frame, line in traceback.walk_tb(at):
        path = "/".join(Path(frame.f_code.co_filename).parts[-_PARTS:]).lstrip("/")
        yield f"{path}:{line} {frame.f_code.co_name}"


def _put_aside(path: Path) -> None:
    with suppress(FileNotFoundError):
        if path.stat(follow_symlinks=False).st_size > _MOST_BYTES:
            path.replace(path.with_suffix(".1.log"))
