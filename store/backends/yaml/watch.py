"""Watch a YAML team for changes: events of its folders from watchfiles, and a look at the files now and then."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING

from team_console.store.backends.session_notes import files_of_notes
from team_console.store.backends.yaml.layout import Layout
from team_console.store.contract.team import STARTING, WatchHint, WatchState

if TYPE_CHECKING:
    from watchfiles.main import FileChange

POLL_SECONDS = 0.5
"""How often the files are looked at where there are no events."""
# guard: polled-beside-events
POLL_SECONDS_LIVE = 1.0
"""How often they are looked at although there are events: a change made on another machine is told to none of ours."""
_SETTLING = 0.05
"""Seconds in which watchfiles fails, if it does; after them it counts as following."""
_STEP = 30
"""Milliseconds between two looks of watchfiles for events, 0.15 % of a core; a change is told at the second of them."""
_RETRY_FIRST, _RETRY_MOST = 0.5, 30.0
"""Seconds until events are asked for again where there are none: at first, and at most."""


async def watch(layout: Layout) -> AsyncIterator[WatchHint]:
    """See `Team.watch`."""
    written_with_queue = {path.name for path in (layout.lock, layout.audit, layout.prev, layout.archives)}
    hint, was_there = WatchHint(WatchState.POLLING, STARTING), False
    marks, notes = team_marks(layout), _note_marks(layout)
    events = _Events(layout)
    retry, pause = 0.0, _RETRY_FIRST
    try:
        yield hint
        while True:
            if not events.is_following and time.monotonic() >= retry:
                was_there = was_there or layout.folder.is_dir()
                events.begin()
                retry, pause = time.monotonic() + pause, min(2 * pause, _RETRY_MOST)
            patience = POLL_SECONDS_LIVE if hint.state is WatchState.LIVE else _SETTLING
            names = await events.wait(patience if events.is_following else POLL_SECONDS)
            marks_before, notes_before = marks, notes
            marks, notes = team_marks(layout), _note_marks(layout)
            if marks[0] != marks_before[0]:  # watchfiles goes on following a folder that was moved away
                await events.end(f"{layout.folder} was replaced")
                retry = 0.0
            if events.is_following:
                state, reason, pause = WatchState.LIVE, "", _RETRY_FIRST
            elif was_there and not layout.folder.is_dir():
                state, reason = WatchState.STALLED, f"{layout.folder} is gone"
            else:
                state, reason = WatchState.POLLING, events.failure
            is_same_state = (state, reason) == (hint.state, hint.reason)
            has_changed = bool(names - written_with_queue) or (marks != marks_before and not names) or not is_same_state
            if has_changed or names or notes != notes_before:
                hint = WatchHint(state, reason, not has_changed, notes != notes_before)
                yield hint
    finally:
        await events.end("")


class _Events:
    """The events of the folders of a team that are there now, until one of them is another.

    Attributes:
        failure: Why there are none.
    """

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._stop = asyncio.Event()
        self._next: asyncio.Future[set[FileChange]] | None = None
        self._source: AsyncGenerator[set[FileChange], None] | None = None
        self.failure = STARTING

    @property
    def is_following(self) -> bool:
        """Whether a change would be told."""
        return self._next is not None

    def begin(self) -> None:
        """Follow the folders that are there now."""
        layout = self._layout
        if not layout.folder.is_dir():
            self.failure = f"{layout.folder} does not exist"
            return
        from watchfiles import awatch  # 70 ms, which no verb but a waiting one needs

        self._stop = asyncio.Event()
        self._source = awatch(
            *(path for path in (layout.folder, layout.drop) if path.is_dir()),
            recursive=False,
            # Staging files come and go with every write.
            watch_filter=lambda _, path: not os.path.basename(path).startswith(layout.staging),
            debounce=_STEP,
            step=_STEP,
            rust_timeout=0,  # it is told when to stop: all that its return every five seconds does is begin again
            stop_event=self._stop,
        )
        self._next = asyncio.ensure_future(anext(self._source))

    async def wait(self, seconds: float) -> set[str]:
        """Wait for a change; gives the names of the files, none after so many seconds or when events ended."""
        if self._next is None or self._source is None:
            await asyncio.sleep(seconds)
            return set()
        # Not by a timeout around it: watchfiles loses a cancellation that meets an arriving event.
        await asyncio.wait({self._next}, timeout=seconds)
        if not self._next.done():
            return set()
        ended, self._next = self._next, None
        try:
            changes = ended.result()
        except StopAsyncIteration:
            self.failure = f"{self._layout.folder} was replaced"
        except (asyncio.CancelledError, GeneratorExit, KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # a panic of the watcher is no Exception
            self.failure = f"no events from the system: {error or type(error).__name__}"
        else:
            self._next = asyncio.ensure_future(anext(self._source))
            return {os.path.basename(path) for _, path in changes}
        return set()

    async def end(self, failure: str) -> None:
        """Stop following."""
        self._stop.set()
        if self._next is not None:
            await asyncio.gather(self._next, return_exceptions=True)
            self._next, self.failure = None, failure


def team_marks(layout: Layout) -> tuple[object, ...]:
    """Return what folders, queue, settings, lock and `drop/` are now, the folders first; compare for equality only."""
    folder, drop = map(_stat_facts, (layout.folder, layout.drop))
    folders = tuple([found and found[:2] for found in (folder, drop)])
    return folders, *map(_stat_facts, (layout.queue, layout.config, layout.lock)), drop


def _note_marks(layout: Layout) -> frozenset[tuple[str, int, int]]:
    """Return which notes sessions of clients have now; looked at now and then, since nobody waits for one."""
    return frozenset(mark for mark, _ in files_of_notes(str(layout.presence)))


def _stat_facts(path: Path) -> tuple[int, ...] | None:
    """Return what changes with a file; None where there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns  # the last: other rights
