"""Notices changes of a YAML team: events of its folder, backed by a look at the files twice a second."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

from store.backends.yamlteam.layout import Layout
from store.team import WatchHint, WatchState

POLL_SECONDS = 0.5
"""How often the files are looked at, whatever events say."""
_RETRY_FIRST, _RETRY_MOST = 0.5, 30.0
_Look = tuple[object, ...]


async def watch(layout: Layout) -> AsyncIterator[WatchHint]:
    """See `Team.watch`."""
    import asyncio

    hints: asyncio.Queue[WatchHint] = asyncio.Queue()
    news = _News(layout, hints)
    tasks = [asyncio.create_task(news.follow()), asyncio.create_task(news.poll())]
    try:
        yield news.hint()
        while True:
            hint = await hints.get()
            while not hints.empty():
                hint = hints.get_nowait()
            yield hint
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class _News:
    """Two sources of hints and the state they agree on."""

    def __init__(self, layout: Layout, hints: object) -> None:
        import asyncio

        assert isinstance(hints, asyncio.Queue)
        self._layout = layout
        self._hints: asyncio.Queue[WatchHint] = hints
        self._state = WatchState.POLLING
        self._reason = "starting"
        self._seen = look(layout)
        self._restart = asyncio.Event()

    def hint(self) -> WatchHint:
        """The present state as a hint."""
        return WatchHint(self._state, self._reason)

    async def poll(self) -> None:
        """Look at the files; a folder that became another one restarts the events."""
        import asyncio

        while True:
            await asyncio.sleep(POLL_SECONDS)
            now = look(self._layout)
            if now != self._seen:
                if now[0] != self._seen[0]:
                    self._restart.set()
                self._seen = now
                self._hints.put_nowait(self.hint())

    async def follow(self) -> None:
        """Pass on the folder's events, and try again with growing pauses where there are none to be had."""
        import asyncio

        pause = _RETRY_FIRST
        while True:
            self._restart.clear()
            reason = await self._events()
            if self._state is WatchState.LIVE:
                pause = _RETRY_FIRST
            self._tell(WatchState.POLLING, reason)
            with_change = asyncio.create_task(self._restart.wait())
            await asyncio.wait({with_change}, timeout=pause)
            with_change.cancel()
            pause = min(2 * pause, _RETRY_MOST)

    async def _events(self) -> str:
        """Follow one generation of the folder until it goes; returns why it ended."""
        import asyncio

        folder = self._layout.folder
        if not folder.is_dir():
            return f"{folder} does not exist yet"
        stop = asyncio.Event()
        guard = asyncio.create_task(self._stop_on_restart(stop))
        try:
            from watchfiles import awatch

            events = awatch(folder, recursive=False, watch_filter=None, debounce=50, step=10, stop_event=stop)
            first = asyncio.create_task(self._announce())
            async for changes in events:
                if any(self._concerns(path) for _, path in changes):
                    self._seen = look(self._layout)
                    self._hints.put_nowait(self.hint())
            first.cancel()
            return f"{folder} was replaced"
        except Exception as error:
            return f"no events from the system: {error or type(error).__name__}"
        finally:
            guard.cancel()

    async def _announce(self) -> None:
        """Say LIVE once the watcher had time to fail; what changed before it began is looked for then."""
        import asyncio

        await asyncio.sleep(0.05)
        self._seen = look(self._layout)
        self._tell(WatchState.LIVE, "")

    async def _stop_on_restart(self, stop: object) -> None:
        import asyncio

        assert isinstance(stop, asyncio.Event)
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
