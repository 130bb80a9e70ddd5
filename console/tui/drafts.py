"""Keeps what a human was writing in the state folder until it was sent, thrown away, or is old; its files whole."""

from __future__ import annotations

import fcntl
import hashlib
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from threading import Lock, Thread
from typing import Any

import msgspec
from msgspec import Struct
from team_console.console.clients.session_files import absolute_location
from team_console.store.model.home import state_folder

Draft = Mapping[str, str]

MOST_DAYS = 30
"""Days after which a draft nobody came back to is thrown away, and a file of such drafts with it."""
_DAY = 86_400.0
"""Seconds of a day."""
_LONGEST_WAIT = 2.0
"""Seconds for which another console's turn at the drafts is waited for."""
_ANSWERS = frozenset({"approve", "reject", "answer", "askback", "remarks"})
"""What drafts of answers to requests are for: `approve:REQUEST`."""
_TEXT_DIGEST = "of"
"""Field of a draft of remarks: the digest of the text whose lines they are on."""


class _Kept(Struct):
    """A draft on disk, and when it was kept, in seconds since 1970."""

    kept: float
    typed: dict[str, str]


class Drafts:
    """Drafts of one team and identity by what they are for, in `XDG_STATE_HOME/team-console`.

    A read-only console keeps none. A state folder that cannot be written only costs drafts their life after exit.
    Several consoles of the same human may be open: each changes only what was typed in it.
    """

    def __init__(self, location: str, me: str, *, enabled: bool = True) -> None:
        self._mine: dict[str, dict[str, str]] = {}
        self._unwritten: dict[str, dict[str, str]] = {}
        self._writer: Thread | None = None
        self._lock = Lock()
        self._enabled = enabled
        self._path = state_file("drafts", location, me)

    def get(self, purpose: str) -> Draft:
        """Return the draft for `purpose`; empty when there is none."""
        if purpose in self._mine or not self._enabled:
            return dict(self._mine.get(purpose, {}))
        stored = self._stored().get(purpose)
        return stored.typed if stored is not None else {}

    def of_form(self, purpose: str) -> dict[str, Any]:
        """Return the draft of a form and what keeps it, by the names of the form's arguments."""
        return {"draft": self.get(purpose), "on_draft": partial(self.keep, purpose)}

    def keep(self, purpose: str, draft: Draft) -> None:
        """Keep `draft` for `purpose`; an empty one is thrown away. A thread writes it: who types never waits for it."""
        typed = {name: text for name, text in draft.items() if text}
        if typed == self._mine.get(purpose):
            return
        self._mine[purpose] = typed
        if not self._enabled:
            return
        with self._lock:
            self._unwritten[purpose] = typed
            self._start_writer()

    def remarks(self, request_id: str, digest: str) -> dict[str, str]:
        """Return line number -> remark that was typed on the text with this digest and is still to be sent."""
        kept = dict(self.get(f"remarks:{request_id}"))
        return kept if kept.pop(_TEXT_DIGEST, "") == digest else {}

    def keep_remarks(self, request_id: str, digest: str, typed: Draft) -> None:
        """Keep the remarks that are `typed` on the text with this digest until they are sent."""
        self.keep(f"remarks:{request_id}", {_TEXT_DIGEST: digest, **typed} if any(typed.values()) else {})

    def flush(self) -> None:
        """Wait until all that was kept is on disk, or cannot be written."""
        with self._lock:
            if self._unwritten:
                self._start_writer()
            writer = self._writer
        if writer is not None:
            writer.join()

    def _start_writer(self) -> None:
        if self._writer is None:
            self._writer = Thread(target=self._write_all, name="keeping drafts", daemon=True)
            self._writer.start()

    def purposes(self, beginning: str) -> list[str]:
        """Return the purposes on disk whose names begin so."""
        return [purpose for purpose in self._stored() if purpose.startswith(beginning)] if self._enabled else []

    def requests(self) -> frozenset[str]:
        """Return ids of the requests that an answer was begun to and not sent, by this human and on this machine."""
        kept = {**{purpose: item.typed for purpose, item in self._stored().items()}, **self._mine}
        parted = (purpose.partition(":") for purpose, typed in kept.items() if typed)
        return frozenset(request_id for verb, _, request_id in parted if verb in _ANSWERS)

    def _stored(self) -> dict[str, _Kept]:
        """Return the drafts on disk that are not too old; an unreadable file holds none."""
        try:
            stored = msgspec.json.decode(self._path.read_bytes(), type=dict[str, _Kept])
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return {}
        oldest = time.time() - MOST_DAYS * _DAY
        return {purpose: item for purpose, item in stored.items() if item.kept > oldest}

    def _write_all(self) -> None:
        """Write in the thread all that was kept since the write before, until there is no more."""
        while True:
            with self._lock:
                kept, self._unwritten = self._unwritten, {}
                if not kept:
                    self._writer = None
                    return
            try:
                with _folder_alone(self._path.parent):
                    self._write(kept)
            except OSError:  # a full disk may have room again when the next draft is kept
                with self._lock:
                    self._unwritten = {**kept, **self._unwritten}
                    self._writer = None
                return

    def _write(self, kept: Mapping[str, dict[str, str]]) -> None:
        """Put what was kept into the file of the drafts; without any draft there is no file."""
        drafts = self._stored()
        changed = {purpose: typed for purpose, typed in kept.items() if typed or purpose in drafts}
        for purpose, typed in changed.items():
            drafts.pop(purpose, None)
            if typed:
                drafts[purpose] = _Kept(time.time(), {name: _whole(text) for name, text in typed.items()})
        if changed and not drafts:
            self._path.unlink(missing_ok=True)
        elif changed:
            is_new = not self._path.exists()
            replace_file(self._path, msgspec.json.encode(drafts))
            if is_new:
                _sweep(self._path)


def _whole(text: str) -> str:
    """Return a text that can be written: of half a character, as agents' texts may have, a question mark."""
    return text.encode("utf-8", "replace").decode()


@contextmanager
def _folder_alone(folder: Path) -> Iterator[None]:
    """Have the folder alone: two consoles that read and write at once would each drop what the other kept.

    A console that is stopped in its turn is not waited for.

    Raises:
        OSError: The folder cannot be made or opened.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    held = os.open(folder, os.O_RDONLY)
    try:
        # guard: drafts-kept-in-turn
        _wait_for_turn(held)
        yield
    finally:
        os.close(held)


def _wait_for_turn(folder: int) -> None:
    deadline = time.monotonic() + _LONGEST_WAIT
    while time.monotonic() < deadline:
        with suppress(OSError):  # also where a file system has no such lock
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        time.sleep(0.005)


def _sweep(written: Path) -> None:
    """Throw away files of teams nobody writes to any more, and what a killed console left half written.

    Their age is that beside the file just written: a disk of another machine may have another clock than this one.
    """
    oldest = written.stat().st_mtime - MOST_DAYS * _DAY
    for path in written.parent.iterdir():
        if path.suffix in (".json", ".tmp") and path.stat().st_mtime < oldest:
            path.unlink(missing_ok=True)


def state_file(folder: str, location: str, me: str) -> Path:
    """Return the path of what is kept below `folder` of one team and identity: a name that tells of neither."""
    digest = hashlib.sha256(f"{absolute_location(location)}\0{me}".encode(errors="replace")).hexdigest()[:24]
    return state_folder() / folder / f"{digest}.json"


def replace_file(path: Path, data: bytes) -> None:
    """Put `data` in place of a file, which keeps its mode; a new one is the user's alone.

    Raises:
        OSError: It cannot be written; what was there stays.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    staged = path.with_suffix(f".{os.getpid()}.tmp")
    try:
        with os.fdopen(os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            with suppress(FileNotFoundError):
                os.fchmod(file.fileno(), path.stat().st_mode & 0o777)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        staged.replace(path)
    except OSError:
        with suppress(OSError):
            staged.unlink()
        raise
