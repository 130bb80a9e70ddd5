"""Notices changes of a SQLite file: a look at the file and its log a few times a second."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from team_console.store.backends.sql.engines.sqlite_file import Files, Version
from team_console.store.contract.team import WatchHint, WatchState

LOOK_SECONDS = 0.05


async def watch(files: Files) -> AsyncIterator[WatchHint]:
    """Yield a hint at once, after every change, and once more when a change is no longer fresh."""
    seen: Version | None = None
    unsure = False
    while True:
        now = files.version()
        if now != seen or (unsure and now.is_stable):
            unsure = not now.is_stable
            seen = now
            yield WatchHint(WatchState.LIVE)
        await asyncio.sleep(LOOK_SECONDS)
