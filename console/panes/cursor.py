"""Cursor of a list: when the thing under it is drawn, and what is looked for before it is needed."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from time import monotonic
from typing import Any

from team_console.console.panes.beside import beside, is_ready
from team_console.console.panes.pane import Pane
from team_console.console.terminal.compositor import paint_now
from team_console.store.views.rows import RequestRow
from team_console.widgets.rows.row_list import RowList
from textual.timer import Timer

_REST = 0.04
"""Seconds a cursor that is moved by a held key must rest before the thing under it is drawn."""
_APART = 0.1
"""Seconds between two moves from which on no key is held down: what is ready is drawn at once."""
_AROUND = 0.15
"""Seconds after which what stands beside the rows around the cursor is looked for, since one of them is next."""


class Cursor:
    """Has the thing under the cursor drawn: at once where that takes little, or, so that a held key draws rows only,
    when the cursor rests.

    Args:
        rows: The list; asked anew each time, since a pane gets its widgets later.
        request_of: The request of a row, None for one without.
        draw: Draws the thing under the cursor.
    """

    def __init__(
        self,
        pane: Pane,
        rows: Callable[[], RowList[Any]],
        request_of: Callable[[Any], RequestRow | None],
        draw: Callable[[], None],
    ) -> None:
        self._pane, self._rows, self._request_of, self._draw = pane, rows, request_of, draw
        self._resting: Timer | None = None
        self._moved_at, self._is_held = -inf, False
        self._around: Timer | None = None
        self._looked_around: str | None = None

    @property
    def is_moving(self) -> bool:
        """Whether what it is on is not drawn yet because it may go on."""
        return self._resting is not None

    def moved(self) -> None:
        """The user moved it."""
        moment = monotonic()
        self._is_held, self._moved_at = moment - self._moved_at < _APART, moment
        if self._resting is not None:
            self._resting.stop()
        else:
            self._prepare()
        self._resting = self._pane.set_timer(_REST, self._draw)
        self._pane.call_after_refresh(self._draw_if_ready)
        paint_now(self._pane.screen)

    def stop(self) -> None:
        """What it is on is drawn now: wait no longer."""
        if self._resting is not None:
            self._resting.stop()
            self._resting = None

    def more_is_known(self) -> None:
        """What stands beside a row came in: draw it if it was waited for, and ask for what it makes possible."""
        self._looked_around = None
        if self._resting is not None:
            self._prepare()
            self._draw_if_ready()

    def look_around(self) -> None:
        """Have what stands beside the rows around it looked for, once it has stayed where it is."""
        key = self._rows().cursor_key
        if key != self._looked_around:
            if self._around is not None:
                self._around.stop()
            self._looked_around, self._around = key, self._pane.set_timer(_AROUND, self._prepare_around)

    def _prepare(self) -> None:
        """Have what stands beside the row under it looked for, before the row is drawn."""
        row = self._rows().cursor_row
        if row is not None and (request := self._request_of(row)) is not None:
            beside(self._pane, request)

    def _draw_if_ready(self) -> None:
        """Draw without waiting for a rest what would be drawn once and for all."""
        row = self._rows().cursor_row
        if self._resting is None or self._is_held or row is None:
            return
        request = self._request_of(row)
        if request is None or is_ready(self._pane, request):
            self._draw()

    def _prepare_around(self) -> None:
        rows = self._rows()
        place, _ = rows.position
        for row in (*rows.rows[max(0, place - 2) : max(0, place - 1)], *rows.rows[place : place + 1]):
            request = self._request_of(row)
            if request is not None and not is_ready(self._pane, request):
                beside(self._pane, request)


class DrawnFrom:
    """What the thing under a cursor was last drawn from: its row, and what else its document tells.

    Attributes:
        row: The row, None before the first and where there is none.
    """

    def __init__(self) -> None:
        self.row: object = None
        self._others: tuple[object, ...] = ()

    def note(self, row: object, others: tuple[object, ...]) -> None:
        """It is drawn from these now."""
        self.row, self._others = row, others

    def is_still(self, row: object, others: tuple[object, ...]) -> bool:
        """Whether only its age can be another than what is drawn; equal rows are one row from then on."""
        if row is None or row != self.row or others != self._others:
            return False
        self.row = row
        return True
