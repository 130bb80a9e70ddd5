"""Notices changes in PostgreSQL: LISTEN for what team-console commits, a glance every second for what others do."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any

from psycopg import AsyncConnection, Error
from psycopg.conninfo import make_conninfo
from team_console.store.backends.redact import cover
from team_console.store.backends.sql.tables import MESSAGES
from team_console.store.contract.team import WatchHint, WatchState

CHANNEL = "team_console"
_GLANCE_SECONDS = 1.0
_ANSWER_SECONDS = 5.0
_FIRST_PAUSE, _LONGEST_PAUSE = 0.25, 5.0
_LOST = ("08", "57P01", "57P02", "57P03", "28", "3D", "53300")
_GLANCE = f"SELECT count(*), max(xmin::text::bigint), sum(xmin::text::bigint) FROM {MESSAGES}"


async def watch(options: Mapping[str, Any], *, passwords: Iterable[str] = ()) -> AsyncIterator[WatchHint]:
    """Yield a hint at once, after every change, when the server is lost (STALLED, with the reason) and found again.

    `options` are those of a psycopg connection; no reason shows one of the `passwords`. Ends only when it is closed.
    """
    pause = _FIRST_PAUSE
    while True:
        try:
            async for hint in _listen(options):
                pause = _FIRST_PAUSE
                yield hint
        except Exception as error:
            if not _is_passing(error):
                raise
            reason = cover(" ".join(str(error).split()), passwords) or type(error).__name__
            what = "no connection to the server" if is_lost(getattr(error, "sqlstate", None)) else "the server refuses"
            yield WatchHint(WatchState.STALLED, f"{what}: {reason}")
            await asyncio.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)


async def _listen(options: Mapping[str, Any]) -> AsyncIterator[WatchHint]:
    conninfo = make_conninfo("", **options)
    async with asyncio.timeout(2 * _ANSWER_SECONDS):
        connection = await AsyncConnection.connect(conninfo, autocommit=True)
    try:
        await connection.execute(f"LISTEN {CHANNEL}")
        seen = await _glance(connection)
        yield WatchHint(WatchState.LIVE)
        while True:
            notified = False
            async for _ in connection.notifies(timeout=_GLANCE_SECONDS, stop_after=1):
                notified = True
            now = await _glance(connection)
            if notified or now != seen:
                yield WatchHint(WatchState.LIVE)
            seen = now
    finally:
        await connection.close()


async def _glance(connection: AsyncConnection[Any]) -> object:
    """Also tells whether the server still answers: a connection cut without a word looks like silence."""
    asking = asyncio.ensure_future(connection.execute(_GLANCE))
    answered, _ = await asyncio.wait({asking}, timeout=_ANSWER_SECONDS)
    if not answered:
        # Cancelled on an open connection, the driver would wait for the server to say that it stopped.
        connection.pgconn.finish()
        asking.cancel()
        raise TimeoutError(f"no answer within {_ANSWER_SECONDS:g} s")
    return await (await asking).fetchone()


def is_lost(state: str | None) -> bool:
    """Whether an error with this SQLSTATE says that the server is not there for us; without one nobody answered."""
    return state is None or state.startswith(_LOST)


def _is_passing(error: Exception) -> bool:
    return isinstance(error, (Error, OSError, TimeoutError))
