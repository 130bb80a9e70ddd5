"""Notices changes of a YAML team: events of its folder, backed by a look at the files twice a second."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from pathlib import Path

from store.backends.yamlteam.layout import Layout
from store.team import STARTING, WatchHint, WatchState

POLL_SECONDS = 0.5
"""How often the files are looked at, whatever events say."""
_STEP = 15
"""Milliseconds between two looks of the watcher for events: sooner costs an idle processor, later every change."""
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
                hint = hints.get_nowait()
            yield hint
    finally:
        polling.cancel()
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

    def hint(self) -> WatchHint:
        """The present state as a hint."""
        return WatchHint(self._state, self._reason)

    def close(self) -> None:
        """Let `follow` end by itself: a cancellation that meets an arriving event is lost inside the watcher."""
        self._closed = True
        self._restart.set()

    async def poll(self) -> None:
        """Look at the files, whatever events say."""
        while True:
            await asyncio.sleep(POLL_SECONDS)
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
        stop = asyncio.Event()
        helpers = asyncio.create_task(self._stop_on_restart(stop)), asyncio.create_task(self._announce())
        try:
            from watchfiles import awatch

            events = awatch(folder, recursive=False, watch_filter=None, debounce=50, step=_STEP, stop_event=stop)
            async for changes in events:
                if any(self._concerns(path) for _, path in changes):
                    self._look_again()
                    self._hints.put_nowait(self.hint())
            return f"{folder} was replaced"
        except _OURS:
            raise
        except BaseException as error:  # a panic of the watcher is no Exception
            return f"no events from the system: {error or type(error).__name__}"
        finally:
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

    async def _stop_on_restart(self, stop: asyncio.Event) -> None:
        await self._restart.wait()
        stop.set()

    def _concerns(self, path: str) -> bool:
        """Whether a change of `path` can show on a screen; staging files come and go with every write."""
        return not Path(path).name.startswith(self._layout.staging)

    def _tell(self, state: WatchState, reason: str) -> None:
        if (state, reason) != (self._state, self._reason):
            self._state, self._reason = state, reason
            self._hints.put_nowait(self.hint())


def look(layout: Layout) -> _Look:
    """What the folder, the queue and the settings are at the moment; compare for equality only."""
    return _folder(layout.folder), _file(layout.queue), _file(layout.config), _file(layout.archives)


def _folder(path: Path) -> object:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _file(path: Path) -> object:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
