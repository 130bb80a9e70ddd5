"""Deliveries: what is on its way out, what is tried again, and what failed or expired."""

from __future__ import annotations

from typing import Any, ClassVar

from msgspec.structs import replace
from team_console.console.modes.pane import Pane
from team_console.console.selection import Mode, Selection
from team_console.store.model.names import USER
from team_console.store.protocol.verdicts import digest_of
from team_console.store.views.rows import DeliveryRow, DeliveryState, View
from team_console.store.views.search import Searchable, message_found
from team_console.widgets.details import delivery_document
from team_console.widgets.document import Document
from team_console.widgets.row_list import Drawing
from team_console.widgets.rows import delivery_lines


class DeliveriesPane(Pane[DeliveryRow]):
    """The router's queue and the failure desk."""

    MODE: ClassVar[Mode] = Mode.DELIVERIES
    MARKABLE: ClassVar[bool] = True

    def draw(self, row: DeliveryRow, drawing: Drawing) -> Any:
        """A delivery in one line or two."""
        return delivery_lines(row, drawing)

    def key_of(self, row: DeliveryRow) -> str:
        """Its own key."""
        return row.key

    def matter_of(self, row: DeliveryRow) -> object:
        """The message and its state; clocks are no disturbance."""
        return row.message, row.state

    def rows_of(self, view: View) -> tuple[DeliveryRow, ...]:
        """All that a router has to do with, what failed first: letters to the human are read here and on no way."""
        human, waiting = (view.me, USER), (DeliveryState.PENDING, DeliveryState.DUE)
        return tuple(row for row in view.deliveries if row.recipient not in human or row.state not in waiting)

    def found_in(self, row: DeliveryRow) -> Searchable:
        """The message, its state, whom it goes to and what went wrong."""
        found = message_found(row.message)
        return replace(found, texts=(*found.texts, row.state, row.recipient, row.error))

    def document_of(self, row: DeliveryRow) -> Document | None:
        """Its clock and the message."""
        content = self.content_of(row.message)
        token, seal = digest_of(row.message), self.seal_of(row.message)
        return delivery_document(row, now=self.now, content=content, token=token, seal=seal)

    def subject_of(self, row: DeliveryRow | None, marked: tuple[DeliveryRow, ...]) -> Selection:
        """The chosen messages."""
        some = marked or ((row,) if row is not None else ())
        return Selection(
            message=row.message if row is not None else None,
            messages=tuple(delivery.message for delivery in some),
            agents=tuple(dict.fromkeys(delivery.recipient for delivery in some)),
        )

    def title_of(self, shown: int, total: int) -> str:
        """How many failed."""
        failed = sum(row.state is DeliveryState.FAILED for row in self._all)
        words = f"Deliveries · {shown:,}" if shown == total else f"Deliveries · {shown:,} of {total:,}"
        return f"{words} · {failed} failed" if failed else words
