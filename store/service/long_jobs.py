"""Long jobs in pieces, each a transaction of its own: others write in between, and a kill loses nothing (D38)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from team_console.store.contract.team import Team
from team_console.store.contract.transaction import RefusedRowsError

MOST = 500
"""Messages in one piece."""
_FIRST, _LEAST = 100, 20
_PIECES = 20
"""Pieces at most where each write costs the whole store, so that the time stays linear in what is done."""
_LONGEST = 0.2
"""Seconds that a piece may hold the others up."""
_LET_IN = 0.11
"""Seconds in which nobody is held up after so many seconds of holding: SQLite's own waiting looks every 0.1 s."""
ItemT = TypeVar("ItemT")


class Refused:
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


def in_pieces(team: Team, items: Sequence[ItemT], write: Callable[[Sequence[ItemT]], float], refused: Refused) -> None:
    """Hand the items to `write` in pieces, with room for others in between.

    Args:
        write: Writes them in one transaction, those in `refused` aside, and returns for how many seconds that held
            others up.
    """
    # Where each write costs the whole store, smaller pieces would hold others up as long, and more of them in all.
    least = _LEAST if team.writes_only_changes else max(MOST, len(items) // _PIECES)
    size = max(least, _FIRST)
    start, held = 0, 0.0
    while start < len(items):
        took = _write_in_spite_of_rows(items[start : start + size], write, refused)
        start += size
        fitting = int(size * _LONGEST * 0.7 / max(took, 0.001))
        size = max(least, min(MOST, 2 * size, fitting))
        held += took
        if held >= _LONGEST and start < len(items):
            time.sleep(_LET_IN)
            held = 0.0


def _write_in_spite_of_rows(
    piece: Sequence[ItemT], write: Callable[[Sequence[ItemT]], float], refused: Refused
) -> float:
    """Write a piece; rows that the table refuses are left as they are, and take no others along."""
    while True:
        try:
            return write(piece)
        except RefusedRowsError as error:
            if error.certain and refused.learn(error):
                continue
            if error.certain or len(piece) == 1:
                raise
        # Which of them ended the whole transaction shows when each has its own.
        return max(_write_in_spite_of_rows([item], write, refused) for item in piece)
