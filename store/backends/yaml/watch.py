"""Watch a YAML team for changes: events of its folders from watchfiles, and a look at the files now and then."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from pathlib import Path

from team_console.store.backends.yaml.disk import Disk
from team_console.store.backends.yaml.layout import Layout
from team_console.store.contract.team import STARTING, WatchHint, WatchState

# guard: polled-beside-events
POLL_SECONDS = 0.5
"""How often the files are looked at where there are no events."""
POLL_SECONDS_LIVE = 1.0
"""How often they are looked at although there are events: a change made on another machine is told to none of ours."""
_STEP = 20
"""Milliseconds between two looks of watchfiles for events, 0.2 % of a core; a change is told after one quiet step."""
_DEBOUNCE = 50
"""Milliseconds for which events are gathered at most: the writes of a busy team are told one by one or together."""
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
        # watchfiles loses a cancellation that meets an arriving event, so `follow` is let end by itself.
        news.close()
        await asyncio.gather(following, polling, return_exceptions=True)


class _News:
    """Two sources of hints and the state they agree on."""

    def __init__(self, layout: Layout, hints: asyncio.Queue[WatchHint]) -> None:
        self._layout = layout
        self._hints = hints
        self._state = WatchState.POLLING
        self._reason = STARTING
        self._seen = look(layout)
        self._restart = asyncio.Event()
        self._was_there = False
        self._closed = False
        self._beside = {path.name for path in (layout.lock, layout.audit, layout.prev, layout.archives)}

    def hint(self) -> WatchHint:
        """Give the present state as a hint."""
        return WatchHint(self._state, self._reason)

    def close(self) -> None:
        """Let `follow` end."""
        self._closed = True
        self._restart.set()

    async def poll(self) -> None:
        """Look at the files, whatever events say."""
        while True:
            await asyncio.sleep(POLL_SECONDS if self._state is not WatchState.LIVE else POLL_SECONDS_LIVE)
            if self._look_again():
                self._hints.put_nowait(self.hint())

    def _look_again(self) -> bool:
        """Compare the files with the last look; other folders restart the events."""
        now, before = look(self._layout), self._seen
        self._seen = now
        if now[0] != before[0]:
            self._restart.set()
        return now != before

    async def follow(self) -> None:
        """Pass on the events of the folders, and try again with growing pauses where there are none to be had."""
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
        """Follow the folders that are there now until one is another; returns why it ended."""
        folder = self._layout.folder
        if not folder.is_dir():
            return f"{folder} does not exist"
        self._was_there = True
        folders = [folder, *(path for path in (self._layout.drop, self._layout.archives) if path.is_dir())]
        announcing = asyncio.create_task(self._announce())
        try:
            from watchfiles import awatch  # 70 ms, which no verb but a waiting one needs

            events = awatch(
                *folders,
                recursive=False,
                watch_filter=lambda _, path: self._concerns(path),
                debounce=_DEBOUNCE,
                step=_STEP,
                stop_event=self._restart,
            )
            async for changes in events:
                self._look_again()
                names = {os.path.basename(path) for _, path in changes}
                self._hints.put_nowait(WatchHint(self._state, self._reason, names <= self._beside))
            return f"{folder} was replaced"
        except _OURS:
            raise
        except BaseException as error:  # a panic of the watcher is no Exception
            return f"no events from the system: {error or type(error).__name__}"
        finally:
            announcing.cancel()

    def _concerns(self, path: str) -> bool:
        """Decide whether a change of `path` can show on a screen; staging files come and go with every write."""
        return not os.path.basename(path).startswith(self._layout.staging)

    def _without_events(self, reason: str) -> tuple[WatchState, str]:
        """Tell a folder that was there and is gone (stalled) from one that is looked at twice a second."""
        gone = self._was_there and not self._layout.folder.is_dir()
        return (WatchState.STALLED, f"{self._layout.folder} is gone") if gone else (WatchState.POLLING, reason)

    async def _announce(self) -> None:
        """Say LIVE once the watcher had time to fail; what changed before it began is looked for then."""
        await asyncio.sleep(0.05)
        if self._look_again():
            self._hints.put_nowait(self.hint())
        self._tell(WatchState.LIVE, "")

    def _tell(self, state: WatchState, reason: str) -> None:
        if (state, reason) != (self._state, self._reason):
            self._state, self._reason = state, reason
            self._hints.put_nowait(self.hint())


def look(layout: Layout) -> _Look:
    """Take in what folders, queue, settings, lock, archives and `drop/` are now; compare for equality only."""
    folder, drop, archives = map(_file, (layout.folder, layout.drop, layout.archives))
    folders = tuple([found and found[:2] for found in (folder, drop, archives)])
    files = (layout.queue, layout.config, layout.lock, *_paths_in(layout.archives))
    return folders, *map(_file, files), drop, archives


def _paths_in(folder: Path) -> list[Path]:
    try:
        return [folder / name for name in Disk().names(folder)]
    except OSError:
        return []


def _file(path: Path) -> tuple[int, ...] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns  # the last: other rights
