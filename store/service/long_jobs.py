"""Write long jobs in pieces, each a transaction of its own: others write in between, a kill loses nothing (D38)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from team_console.store.contract.transaction import RefusedRowsError, Transaction
from team_console.store.model.message import Message
from team_console.store.service.caller import Caller

MOST_IN_PIECE = 500
"""Messages in one piece."""
_FIRST, _LEAST = 100, 20
_PIECES = 20
"""Pieces at most where each write costs the whole store, so that the time stays linear in what is done."""
_LONGEST = 0.2
"""Seconds that a piece may hold the others up."""
_PAUSE_FOR_OTHERS = 0.11
"""Seconds in which nobody is held up after so many seconds of holding: SQLite's own waiting looks every 0.1 s."""
ResultT = TypeVar("ResultT")


class RefusedRows:
    """What a table refused of a piece, until all of the rest was written.

    Attributes:
        rows: Message id -> why its row stays as it is.
        pushes: Message id -> why its agent's inbox does not take it.
    """

    def __init__(self) -> None:
        self.rows: dict[str, str] = {}
        self.pushes: dict[str, str] = {}

    def learn(self, error: RefusedRowsError) -> bool:
        """Take what the error says; returns whether trying again without those rows is of use."""
        if not error.certain:
            return False
        known = len(self.rows) + len(self.pushes)
        self.rows.update(error.rows)
        self.pushes.update(error.pushes)
        return len(self.rows) + len(self.pushes) > known


def write_in_pieces(
    caller: Caller,
    action: str,
    messages: Sequence[Message],
    write: Callable[[Transaction, Sequence[Message]], ResultT],
    refused: RefusedRows,
) -> Iterator[ResultT]:
    """Write messages in pieces, with room for others in between; yield what `write` returns of each that was written.

    Args:
        write: Writes a piece of them in a transaction, those in `refused` aside.
    """
    # Where each write costs the whole store, smaller pieces would hold others up as long, and more of them in all.
    least = _LEAST if caller.team.writes_only_changes else max(MOST_IN_PIECE, len(messages) // _PIECES)
    size = max(least, _FIRST)
    start, held = 0, 0.0
    while start < len(messages):
        took = 0.0
        for result, seconds in _write_in_spite_of_rows(caller, action, messages[start : start + size], write, refused):
            yield result
            took = max(took, seconds)
        start += size
        fitting = int(size * _LONGEST * 0.7 / max(took, 0.001))
        size = max(least, min(MOST_IN_PIECE, 2 * size, fitting))
        held += took
        if held >= _LONGEST and start < len(messages):
            time.sleep(_PAUSE_FOR_OTHERS)
            held = 0.0


def _write_in_spite_of_rows(
    caller: Caller,
    action: str,
    piece: Sequence[Message],
    write: Callable[[Transaction, Sequence[Message]], ResultT],
    refused: RefusedRows,
) -> Iterator[tuple[ResultT, float]]:
    """Write a piece; rows that the table refuses are left as they are, and take no others along.

    Yields:
        What `write` returns, and for how many seconds that held others up.
    """
    while True:
        try:
            with caller.transaction(action) as tx:
                begun = time.monotonic()
                result = write(tx, piece)
        except RefusedRowsError as error:
            if error.certain and refused.learn(error):
                continue
            if error.certain or len(piece) == 1:
                raise
            break
        yield result, time.monotonic() - begun
        return
    # Which of them ended the whole transaction shows when each has its own.
    for message in piece:
        yield from _write_in_spite_of_rows(caller, action, [message], write, refused)
