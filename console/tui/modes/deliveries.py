"""Deliveries: what is on its way out, what is tried again, and what failed or expired."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import ClassVar

from msgspec.structs import replace
from team_console.console.selection import Mode, Selection
from team_console.console.tui.modes.listing import Listing
from team_console.console.tui.modes.pane import Pane
from team_console.store.model.safe import safe_line
from team_console.store.protocol.shown_when_decided import digest_of
from team_console.store.views.rows import DeliveryRow, DeliveryState, View
from team_console.store.views.search import Searchable, searchable_message
from team_console.widgets.document import Document, one_line
from team_console.widgets.message_documents import message_document
from team_console.widgets.message_words import message_kind_words, row_title
from team_console.widgets.row_drawing import WORDY, Drawing, age_column, row_lines
from team_console.widgets.signs import DELIVERIES, status_sign
from team_console.widgets.text import Line, Part, ago, clock_time, safe_name, span


class DeliveryListing(Listing[DeliveryRow]):
    """The router's queue and the failure desk."""

    MODE: ClassVar[Mode] = Mode.DELIVERIES
    MARKABLE: ClassVar[bool] = True

    def draw(self, row: DeliveryRow, drawing: Drawing) -> tuple[Line, ...]:
        """Return state, recipient and what it is; below them the tries, what follows and the error."""
        sign, tone = DELIVERIES[row.state], _tone(row)
        facts: list[Part] = []
        if row.attempts and row.state is not DeliveryState.DELIVERED:
            facts.append((f"{row.attempts} of {row.max_attempts} tries", "muted"))
        if row.next_attempt_at is not None:
            wait = (row.next_attempt_at - drawing.now).total_seconds()
            facts.append((f"next in {span(wait)}" if wait > 0 else "next try is due", "muted"))
        further = ((safe_line(row.error, 160), tone), (message_kind_words(row.message), "muted"))
        facts += [part for part in further if part[0]]
        end = age_column(row.message.created_at, drawing)
        if drawing.lines == 1 and facts and row.state is not DeliveryState.DELIVERED and drawing.width >= WORDY:
            end = ((f"  {facts[0][0]}", facts[0][1]), *end)
        title: Line = ((row_title(row.message), "strong" if row.state is DeliveryState.FAILED else ""),)
        return row_lines(drawing, sign, title, end, word=sign.word.upper(), who=row.recipient, facts=facts)

    def who_of(self, row: DeliveryRow) -> str:
        """Return whom it goes to."""
        return row.recipient

    def basis_of(self, row: DeliveryRow) -> object:
        """Return the message and its state; clocks are no disturbance."""
        return row.message, row.state

    def rows_of(self, view: View) -> tuple[DeliveryRow, ...]:
        """Return what failed, expired, is tried again or was handed over; mail that waits for pick-up, or was taken
        back, is no row.
        """
        others = (DeliveryState.PENDING, DeliveryState.DUE, DeliveryState.RECALLED)
        return tuple(row for row in view.deliveries if row.state not in others)

    def searchable_of(self, row: DeliveryRow) -> Searchable:
        """Return the message, its state, whom it goes to and what went wrong."""
        found = searchable_message(row.message)
        return replace(found, texts=(*found.texts, row.state, row.recipient, row.error))

    def document_of(self, row: DeliveryRow) -> Document:
        """Return its clock, what the last try failed with where the message does not say it, and the message."""
        message = row.message
        content, seal = self.sources.content_of(message), self.sources.seal_of(message)
        base = message_document(message, now=self.now, content=content, token=digest_of(message), seal=seal)
        is_said = not row.error or row.error == message.envelope("error_message")
        error = () if is_said else (one_line(safe_line(row.error, 400), _tone(row)),)
        return replace(
            base,
            key=f"delivery:{row.key}",
            title=f"To {safe_name(row.recipient)}",
            facts=(*_delivery_facts(row, self.now), *self._message_facts(row, base)),
            blocks=(*error, *base.blocks),
        )

    @staticmethod
    def _message_facts(row: DeliveryRow, base: Document) -> tuple[Part, ...]:
        """Return what the message says of itself, without the state that the delivery has named already."""
        named = status_sign(row.message).part if row.state in (DeliveryState.FAILED, DeliveryState.RETRY) else None
        return tuple(fact for fact in base.facts if fact != named)

    def selection_of(self, row: DeliveryRow, chosen: tuple[DeliveryRow, ...]) -> Selection:
        """Return the chosen messages."""
        return Selection(
            message=row.message,
            messages=tuple(delivery.message for delivery in chosen),
            agents=tuple(dict.fromkeys(delivery.recipient for delivery in chosen)),
        )

    def title_of(self, shown: int, total: int) -> str:
        """Return the number of failures."""
        failed = sum(row.state is DeliveryState.FAILED for row in self.all)
        return f"{super().title_of(shown, total)}{f' · {failed} failed' if failed else ''}"


class DeliveriesPane(Pane[DeliveryRow]):
    """Messages on their way; enter opens one beside the list."""

    LISTING = DeliveryListing


def _tone(row: DeliveryRow) -> str:
    """Return the tone of what went wrong."""
    return "bad" if row.state is DeliveryState.FAILED else "warn"


def _delivery_facts(row: DeliveryRow, now: datetime) -> Iterator[Part]:
    """Yield state, tries, next try and end of a delivery."""
    yield DELIVERIES[row.state].part
    if row.attempts:
        yield f"{row.attempts} of {row.max_attempts} tries", ""
    if row.next_attempt_at is not None:
        left = (row.next_attempt_at - now).total_seconds()
        when = f"{clock_time(row.next_attempt_at, now)}, in {span(left)}" if left > 0 else "is due"
        yield f"next try {when}", "muted"
    if row.expires_at is not None:
        left = (row.expires_at - now).total_seconds()
        yield (f"expires in {span(left)}", "muted") if left > 0 else (f"expired {ago(row.expires_at, now)}", "warn")
