"""Commit whose answer may be lost: whether it was done is looked up on the audit trail, never guessed or repeated."""

from __future__ import annotations

import time
from collections.abc import Sequence

from msgspec import Struct
from team_console.store.backends.sql.engines.connection import Connection
from team_console.store.backends.sql.engines.dialect import Dialect, Mode
from team_console.store.backends.sql.tables import AUDIT, STATE, numbers
from team_console.store.contract.team import OUTCOME_UNKNOWN
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.words import first_of

_PAUSE = 0.1
"""Seconds from one try to ask the server to the next."""
_NAMED = 5


class Written(Struct, frozen=True):
    """What a transaction leaves on record when it is done.

    Attributes:
        seq, hash: Its last line on the audit trail, which no other transaction writes.
        ids: The messages that it adds.
    """

    seq: int
    hash: str
    ids: Sequence[str] = ()


def commit(dialect: Dialect, connection: Connection, written: Written, *, wait: float) -> None:
    """Commit; if the connection to a server is lost over it, ask the server on another for at most `wait` seconds.

    Raises:
        TeamError: `STORE_FAILED`: nothing was changed, or nobody can tell (`OUTCOME_UNKNOWN`, with the `ids`).
    """
    try:
        dialect.commit(connection)
    except TeamError as error:
        if not error.facts.get(OUTCOME_UNKNOWN) or dialect.root is not None:
            raise
        if not _is_done(dialect, written, error, wait):
            text = f"{dialect.location}: the connection was lost before the commit; nothing was changed"
            raise TeamError(Code.STORE_FAILED, text, "Try again.") from error


def _is_done(dialect: Dialect, written: Written, error: TeamError, wait: float) -> bool:
    end = time.monotonic() + wait
    while True:
        try:
            return _is_on_record(dialect, written)
        except TeamError:
            if time.monotonic() >= end:
                raise _with_ids(error, written.ids) from error.__cause__
            time.sleep(_PAUSE)


def _is_on_record(dialect: Dialect, written: Written) -> bool:
    """The server may still be at it: whoever commits holds the row of the numbers, which is waited for."""
    with dialect.connect() as connection:
        dialect.begin(connection, Mode.CLAIM, wait=1.0, label="look for a commit")
        numbers(connection, dialect.keeping(STATE))
        found = connection.scalar(f"SELECT hash FROM {AUDIT} WHERE seq = :seq", {"seq": written.seq})
        return bool(found == written.hash)


def _with_ids(error: TeamError, ids: Sequence[str]) -> TeamError:
    """The same error, with what was to be added."""
    if not ids:
        return error
    facts = {**error.facts, "ids": list(ids)}
    hint = f"Look for it once the server is back: team-console show {ids[0]}"
    return TeamError(error.code, f"{error.message}; it was to write {first_of(ids, _NAMED)}", hint, **facts)
