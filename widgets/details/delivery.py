"""A message on its way out: its tries, its clock and its errors, then the message itself."""

from __future__ import annotations

from datetime import datetime

from team_console.store.model.safe import safe_line
from team_console.store.protocol.team_signature import Seal
from team_console.store.views.rows import DeliveryRow, DeliveryState
from team_console.widgets.details.document import Block, Document, Lines
from team_console.widgets.details.message import message_document
from team_console.widgets.text.ages import ago, clock_time, span
from team_console.widgets.text.cells import Line
from team_console.widgets.text.glyphs import DELIVERIES


def delivery_document(
    row: DeliveryRow, *, now: datetime, content: str | None = None, token: str = "", seal: Seal | None = None
) -> Document:
    """What there is to know of a delivery; parameters as for `message_document`."""
    base = message_document(row.message, now=now, content=content, token=token, seal=seal)
    return Document(
        key=f"delivery:{row.key}",
        title=f"To {safe_line(row.recipient, 64)}",
        headline=base.headline,
        facts=(*_facts(row, now), *base.facts),
        more=base.more,
        blocks=(*_error(row), *base.blocks),
        token=token,
        source=base.source,
    )


def _facts(row: DeliveryRow, now: datetime) -> Line:
    sign = DELIVERIES[row.state]
    facts = [(f"{sign.glyph} {sign.word}", sign.tone)]
    if row.attempts:
        facts.append((f"{row.attempts} of {row.max_attempts} tries", ""))
    if row.next_attempt_at is not None:
        left = (row.next_attempt_at - now).total_seconds()
        when = f"{clock_time(row.next_attempt_at, now)}, in {span(left)}" if left > 0 else "is due"
        facts.append((f"next try {when}", "muted"))
    if row.expires_at is not None:
        left = (row.expires_at - now).total_seconds()
        words = f"expires in {span(left)}" if left > 0 else f"expired {ago(row.expires_at, now)}"
        facts.append((words, "muted" if left > 0 else "warn"))
    return tuple(facts)


def _error(row: DeliveryRow) -> tuple[Block, ...]:
    """What the last try failed with, where the message does not say it."""
    if not row.error or row.error == row.message.envelope("error_message"):
        return ()
    tone = "bad" if row.state is DeliveryState.FAILED else "warn"
    return (Lines((((safe_line(row.error, 400), tone),),)),)
