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
_LONGEST = 0.2
"""Seconds that a piece may hold the others up."""
_LET_IN = 0.11
"""Seconds in which nobody is held up after so many seconds of holding: SQLite's own waiting looks every 0.1 s."""
ItemT = TypeVar("ItemT")


def in_pieces(team: Team, items: Sequence[ItemT], write: Callable[[Sequence[ItemT]], float]) -> None:
    """Hand the items to `write` in pieces; a team of which each write costs the whole gets them at once.

    Args:
        write: Writes them in one transaction and returns for how many seconds that held others up.
    """
    size = _FIRST if team.writes_in_pieces else len(items)
    start, held = 0, 0.0
    while start < len(items):
        took = write(items[start : start + size])
        start += size
        if team.writes_in_pieces:
            fitting = int(size * _LONGEST * 0.7 / max(took, 0.001))
            size = max(_LEAST, min(MOST, 2 * size, fitting))
            held += took
            if held >= _LONGEST and start < len(items):
                time.sleep(_LET_IN)
                held = 0.0


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
