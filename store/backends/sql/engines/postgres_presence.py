"""Presence on a server: one row for each process that is present, renewed again and again, by the server's clock."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress

from team_console.store.backends.sql.engines.connection import Connection
from team_console.store.contract.presence import UNKNOWN, Attendance, Presence, is_presence_name
from team_console.store.model.errors import TeamError

BEAT_SECONDS = 0.5
"""How often a row is renewed."""
LATE_SECONDS = 2.0
"""Age of a row from which it is not known whether its process lives: three beats may be missed."""
GONE_SECONDS = 30.0
"""Age from which it counts as gone: a network or a process that stands still for a while ends no request."""
_FORGET_SECONDS = 3600
_TABLE = "team_console_presence"
_CREATE = f"""
CREATE TABLE IF NOT EXISTS {_TABLE}
(presence TEXT NOT NULL, name TEXT NOT NULL, seen_at TIMESTAMPTZ NOT NULL, PRIMARY KEY (presence, name))
"""
_BEAT = f"""
INSERT INTO {_TABLE} (presence, name, seen_at) VALUES (:presence, :name, clock_timestamp())
ON CONFLICT (presence, name) DO UPDATE SET seen_at = excluded.seen_at
"""
_LEAVE = f"DELETE FROM {_TABLE} WHERE presence = :presence AND name = :name"
_SWEEP = f"DELETE FROM {_TABLE} WHERE seen_at < clock_timestamp() - make_interval(secs => {_FORGET_SECONDS})"
_THERE = f"SELECT to_regclass('{_TABLE}')"
_LOOK = f"""
SELECT name, seen_at > clock_timestamp() - make_interval(secs => {LATE_SECONDS}) FROM {_TABLE}
WHERE presence = :presence AND seen_at > clock_timestamp() - make_interval(secs => {GONE_SECONDS})
"""
_FAILURES = (TeamError, OSError)

Connect = Callable[[], AbstractContextManager[Connection]]


@contextmanager
def announce(connect: Connect, presence: Presence, name: str) -> Iterator[bool]:
    """Be present as long as the block runs; yields whether the first row could be written.

    A console does not wait for the server, so it counts as announced before it is.
    """
    row = {"presence": str(presence), "name": name}
    waits = presence is not Presence.CONSOLE
    if waits and not _begin(connect, row):
        yield False
        return
    over = threading.Event()
    beating = threading.Thread(target=_beat, args=(connect, row, over, not waits), name="presence", daemon=True)
    beating.start()
    try:
        yield True
    finally:
        over.set()
        with suppress(*_FAILURES), connect() as connection:
            connection.change(_LEAVE, row)


def attendance(connect: Connect, presence: Presence) -> Attendance:
    """Who is present; unknown while the server cannot be asked."""
    try:
        with connect() as connection:
            if connection.scalar(_THERE) is None:
                return Attendance()
            rows = connection.rows(_LOOK, {"presence": str(presence)})
    except _FAILURES:
        return UNKNOWN
    known = [(name, is_fresh) for name, is_fresh in rows if is_presence_name(name)]
    return Attendance(
        names=frozenset(name for name, is_fresh in known if is_fresh),
        doubtful=frozenset(name for name, is_fresh in known if not is_fresh),
    )


def _begin(connect: Connect, row: dict[str, str]) -> bool:
    """Make the table where there is none, forget who left long ago, and write the first row."""
    try:
        with connect() as connection:
            if connection.scalar(_THERE) is None:
                connection.run(_CREATE)
            connection.run(_SWEEP)
            connection.change(_BEAT, row)
    except _FAILURES:
        return False
    return True


def _beat(connect: Connect, row: dict[str, str], over: threading.Event, fresh: bool) -> None:
    """Renew the row until it is over; a server that is away is asked again at the next beat."""
    while fresh and not _begin(connect, row) and not over.wait(BEAT_SECONDS):
        pass
    while not over.wait(BEAT_SECONDS):
        with suppress(*_FAILURES), connect() as connection:
            connection.change(_BEAT, row)
