"""Notices changes of a YAML team: events of its folders, backed by a look at the files now and then."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import errno
import os
import struct
from collections.abc import AsyncIterator, Iterable
from pathlib import Path

from msgspec import Struct
from team_console.store.backends.yaml.layout import Layout, archive_part
from team_console.store.contract.team import STARTING, WatchHint, WatchState

_HEAD = struct.Struct("iIII")
_CLOSE_WRITE, _MOVED_FROM, _MOVED_TO, _DELETE = 0x8, 0x40, 0x80, 0x200
_DELETE_SELF, _MOVE_SELF, _UNMOUNT, _OVERFLOW, _IGNORED = 0x400, 0x800, 0x2000, 0x4000, 0x8000
_ONLY_FOLDERS = 0x01000000
_WANTED = _CLOSE_WRITE | _MOVED_FROM | _MOVED_TO | _DELETE | _DELETE_SELF | _MOVE_SELF | _ONLY_FOLDERS
"""What ends a change. Its steps (a file is made, bytes are written) would wake us several times before there is
anything to see, and a file that is half written is better not looked at. The look now and then finds what never ends.
"""
_ENDS = _DELETE_SELF | _MOVE_SELF | _UNMOUNT | _IGNORED
_BUFFER = 1 << 16
_LARGEST = _HEAD.size + 256
"""Bytes of an event at most: where so many are free in the buffer, no event is left."""


class Changed(Struct):
    """What changed in the folders.

    Attributes:
        names: The names in them that changed; an empty one when more happened than could be told.
        is_end: A folder itself is gone or was moved, so that nothing more will be told of it.
    """

    names: set[str]
    is_end: bool = False

    def add(self, more: Changed) -> None:
        """Take what changed later too."""
        self.names |= more.names
        self.is_end |= more.is_end


def is_available() -> bool:
    """Whether this system has it."""
    return os.uname().sysname == "Linux"


class FolderChanges:
    """Follows some folders, not those in them, from when it is made until it is closed."""

    def __init__(self, folders: Iterable[Path]) -> None:
        """Begin. Raises `OSError` when a folder is missing or the system's limit is reached."""
        self._libc = ctypes.CDLL(None, use_errno=True)
        self.fd = self._checked(self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC), "inotify")
        try:
            for folder in folders:
                self._checked(self._libc.inotify_add_watch(self.fd, os.fsencode(folder), _WANTED), str(folder))
        except OSError:
            self.close()
            raise

    def read(self) -> Changed:
        """What changed since the last call; does not wait."""
        names: set[bytes] = set()
        happened = 0
        while True:
            try:
                data = os.read(self.fd, _BUFFER)
            except BlockingIOError:
                data = b""
            happened |= _collect(data, names)
            if len(data) < _BUFFER - _LARGEST:
                return Changed({os.fsdecode(name) for name in names}, bool(happened & _ENDS))

    def close(self) -> None:
        """Follow nothing any more."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

    @staticmethod
    def _checked(result: int, what: str) -> int:
        if result < 0:
            number = ctypes.get_errno() or errno.EIO
            raise OSError(number, os.strerror(number), what)
        return result


def _collect(data: bytes, names: set[bytes]) -> int:
    """Add the names of these events, of which a write makes a dozen for few names; returns all their kinds."""
    place = happened = 0
    while place + _HEAD.size <= len(data):
        _, mask, _, length = _HEAD.unpack_from(data, place)
        place += _HEAD.size
        names.add(b"" if mask & _OVERFLOW else data[place : place + length].rstrip(b"\0"))
        place += length
        happened |= mask
    return happened


POLL_SECONDS = 0.5
"""How often the files are looked at where there are no events."""
POLL_SECONDS_LIVE = 1.0
"""How often they are looked at although there are events: a change made on another machine is told to none of ours."""
_GATHER = 0.005
"""Seconds for which events are let pile up: a write makes several, and each would wake whoever waits. The last of them,
with which it gives back its lock, comes two or three milliseconds after the first."""
_BEGUN = 0.1
"""Seconds for which a write that only touched lock and ledger is waited for, so that it wakes us once."""
_STEP = 15
"""Milliseconds between two looks for events where the kernel does not wake us (anywhere but on Linux)."""
_RETRY_FIRST, _RETRY_MOST = 0.5, 30.0
_OURS = (asyncio.CancelledError, GeneratorExit, KeyboardInterrupt, SystemExit)
_Look = tuple[object, ...]


async def watch(layout: Layout) -> AsyncIterator[WatchHint]:
    """See `Team.watch`."""
    hints: asyncio.Queue[WatchHint] = asyncio.Queue()
    news = _News(layout, hints)
    following, polling = asyncio.create_task(news.follow()), asyncio.create_task(news.poll())
    try:
        yield news.hint()
        while True:
            hint = await hints.get()
            while not hints.empty():
                later = hints.get_nowait()
                hint = WatchHint(later.state, later.reason, hint.beside and later.beside)
            yield hint
    finally:
        polling.cancel()
        news.close()
        if not news.is_stepping:
            following.cancel()  # else it would end its pause first, and whoever found something waits for that
        await asyncio.gather(following, polling, return_exceptions=True)


class _News:
    """Two sources of hints and the state they agree on.

    Attributes:
        is_stepping: Events come from the library that looks for them in steps, in which a cancellation can be lost.
    """

    def __init__(self, layout: Layout, hints: asyncio.Queue[WatchHint]) -> None:
        self._layout = layout
        self._hints = hints
        self._state = WatchState.POLLING
        self._reason = STARTING
        self._seen = look(layout)
        self._restart = asyncio.Event()
        self._was_there = False
        self._closed = False
        self.is_stepping = False
        self._beside = {path.name for path in (layout.lock, layout.audit, layout.prev, layout.archives)}

    def hint(self) -> WatchHint:
        """The present state as a hint."""
        return WatchHint(self._state, self._reason)

    def close(self) -> None:
        """Let `follow` end by itself: a cancellation that meets an arriving event is lost inside the library."""
        self._closed = True
        self._restart.set()

    async def poll(self) -> None:
        """Look at the files, whatever events say."""
        while True:
            await asyncio.sleep(POLL_SECONDS if self._state is not WatchState.LIVE else POLL_SECONDS_LIVE)
            if self._look_again():
                self._hints.put_nowait(self.hint())

    def _look_again(self) -> bool:
        """Whether anything is another than at the last look; another folder restarts the events."""
        now, before = look(self._layout), self._seen
        self._seen = now
        if now[0] != before[0]:
            self._restart.set()
        return now != before

    async def follow(self) -> None:
        """Pass on the folder's events, and try again with growing pauses where there are none to be had."""
        pause = _RETRY_FIRST
        while not self._closed:
            self._restart.clear()
            reason = await self._events()
            if self._state is WatchState.LIVE:
                pause = _RETRY_FIRST
            self._tell(*self._without_events(reason))
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._restart.wait()
            pause = min(2 * pause, _RETRY_MOST)

    async def _events(self) -> str:
        """Follow one generation of the folder until it goes; returns why it ended."""
        folder = self._layout.folder
        if not folder.is_dir():
            return f"{folder} does not exist"
        self._was_there = True
        folders = [folder, *(path for path in (self._layout.drop, self._layout.archives) if path.is_dir())]
        try:
            if is_available():
                return await self._kernel_events(folders)
            return await self._stepped_events(folders)
        except _OURS:
            raise
        except BaseException as error:  # a panic of the watcher is no Exception
            return f"no events from the system: {error or type(error).__name__}"

    async def _kernel_events(self, folders: list[Path]) -> str:
        """Wait for the kernel: nothing runs while nothing changes."""
        loop = asyncio.get_running_loop()
        changes = FolderChanges(folders)
        woken = asyncio.Event()
        restart = asyncio.create_task(self._set_on_restart(woken))
        try:
            self._look_again()
            self._tell(WatchState.LIVE, "")
            while not self._restart.is_set():
                loop.add_reader(changes.fd, _wake_later, loop, changes.fd, woken)
                await woken.wait()
                woken.clear()
                seen = await self._gathered(changes)
                self._pass_on(seen)
                if seen.is_end:
                    break
            return f"{folders[0]} was replaced"
        finally:
            restart.cancel()
            loop.remove_reader(changes.fd)
            changes.close()

    def _pass_on(self, seen: Changed) -> None:
        """Tell of a change, and whether messages may be among it."""
        names = {name for name in seen.names if not name.startswith(self._layout.staging)}
        if names and not seen.is_end:
            self._look_again()
            self._hints.put_nowait(WatchHint(self._state, self._reason, names <= self._beside))

    async def _gathered(self, changes: FolderChanges) -> Changed:
        """What changed by now, or in a longer while when a write has only begun beside the queue."""
        loop = asyncio.get_running_loop()
        end = loop.time() + _BEGUN - _GATHER
        seen = changes.read()
        while self._has_only_begun(seen) and (left := end - loop.time()) > 0:
            await _wait_to_read(changes.fd, left)
            await asyncio.sleep(min(_GATHER, max(0.0, end - loop.time())))
            seen.add(changes.read())
        return seen

    def _has_only_begun(self, seen: Changed) -> bool:
        """Whether a write took the lock, or gave it back, and nothing else shows what it wrote."""
        if self._layout.lock.name not in seen.names or seen.is_end:
            return False
        staging = self._layout.staging
        return all(name in self._beside or name.startswith(staging) or archive_part(name) for name in seen.names)

    async def _set_on_restart(self, woken: asyncio.Event) -> None:
        await self._restart.wait()
        woken.set()

    async def _stepped_events(self, folders: list[Path]) -> str:
        """Ask a library that looks for events in steps."""
        stop, self.is_stepping = asyncio.Event(), True
        helpers = asyncio.create_task(self._set_on_restart(stop)), asyncio.create_task(self._announce())
        try:
            from watchfiles import awatch  # costs start time where it is not needed

            events = awatch(*folders, recursive=False, watch_filter=None, debounce=50, step=_STEP, stop_event=stop)
            async for changes in events:
                if any(self._concerns(Path(path)) for _, path in changes):
                    self._look_again()
                    self._hints.put_nowait(self.hint())
            return f"{folders[0]} was replaced"
        finally:
            self.is_stepping = False
            for helper in helpers:
                helper.cancel()

    def _without_events(self, reason: str) -> tuple[WatchState, str]:
        """A folder that was there and is gone stalls us; anything else leaves the look twice a second."""
        gone = self._was_there and not self._layout.folder.is_dir()
        return (WatchState.STALLED, f"{self._layout.folder} is gone") if gone else (WatchState.POLLING, reason)

    async def _announce(self) -> None:
        """Say LIVE once the watcher had time to fail; what changed before it began is looked for then."""
        await asyncio.sleep(0.05)
        self._look_again()
        self._tell(WatchState.LIVE, "")

    def _concerns(self, path: Path) -> bool:
        """Whether a change of `path` can show on a screen; staging files come and go with every write."""
        return not path.name.startswith(self._layout.staging)

    def _tell(self, state: WatchState, reason: str) -> None:
        if (state, reason) != (self._state, self._reason):
            self._state, self._reason = state, reason
            self._hints.put_nowait(self.hint())


def _wake_later(loop: asyncio.AbstractEventLoop, fd: int, woken: asyncio.Event) -> None:
    """Events have begun to come: wake once they had time to pile up."""
    loop.remove_reader(fd)
    loop.call_later(_GATHER, woken.set)


async def _wait_to_read(fd: int, seconds: float) -> None:
    """Sleep until there is something to read, or so many seconds have passed."""
    loop = asyncio.get_running_loop()
    woken = loop.create_future()
    late = loop.call_later(seconds, _set, woken)
    loop.add_reader(fd, _set, woken)
    try:
        await woken
    finally:
        loop.remove_reader(fd)
        late.cancel()


def _set(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


def look(layout: Layout) -> _Look:
    """What folders, queue, settings, lock, archives and `drop/` are at the moment; compare for equality only."""
    folder, drop, archives = map(_file, (layout.folder, layout.drop, layout.archives))
    folders = tuple([found and found[:2] for found in (folder, drop, archives)])
    files = (layout.queue, layout.config, layout.lock, *_paths_in(layout.archives))
    return folders, *map(_file, files), drop, archives


def _paths_in(folder: Path) -> list[Path]:
    try:
        return sorted(folder / name for name in os.listdir(folder))
    except OSError:
        return []


def _file(path: Path) -> tuple[int, ...] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns  # the last: other rights
