"""A conversation to read: each thing said with who said it to whom, what became of it, and its deliveries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime

from team_console.store.model.clock import from_text
from team_console.store.model.message import Status
from team_console.store.model.safe import safe_line
from team_console.store.protocol.parsing import reading
from team_console.store.views.conversation import Conversation, Delivery, Turn
from team_console.store.views.titles import title_of
from team_console.widgets.details.document import Block, Document, Heading, Lines
from team_console.widgets.details.message import content_blocks, kind_words
from team_console.widgets.text.ages import clock_time
from team_console.widgets.text.cells import Line, Part
from team_console.widgets.text.glyphs import REQUESTS, STATUSES, Sign

_NAME = 20


def conversation_document(
    conversation: Conversation, *, now: datetime, contents: Mapping[str, str] | None = None
) -> Document:
    """What there is to read of a conversation; `contents` are whole texts stored beside the queue, by message id."""
    first = conversation.turns[0].message
    topic = safe_line(title_of(reading(first)), 400)
    blocks = [block for turn in conversation.turns for block in _turn(turn, topic, now, contents or {})]
    if not conversation.is_whole:
        blocks.append(Lines(((("△ more belongs to it than is shown here", "warn"),),)))
    return Document(
        key=f"conversation:{conversation.word}",
        title="Conversation",
        headline=topic,
        blocks=tuple(blocks),
        source="\n\n".join(turn.message.content for turn in conversation.turns),
    )


def _turn(turn: Turn, topic: str, now: datetime, contents: Mapping[str, str]) -> Iterator[Block]:
    """One thing that was said; its title only where it is another than that of the whole."""
    message, read = turn.message, reading(turn.message)
    names = dict.fromkeys(delivery.recipient for delivery in turn.deliveries)
    to = f"{len(names)} agents" if len(names) > 1 else safe_line(next(iter(names), "nobody"), 64)
    which = f" {turn.version} of {turn.versions}" if turn.version else ""
    kind = f"{safe_line(kind_words(read), 40)}{' · version' if which else ''}{which}"
    yield Heading(f"{clock_time(message.created_at, now)} · {safe_line(message.sender, 64)} → {to} · {kind}")
    facts = tuple(_facts(turn, now))
    if facts:
        yield Lines(facts, indent=2)
    title, said = safe_line(title_of(read), 400), content_blocks(message, read, contents.get(message.message_id))
    if title != topic or not said:
        yield Lines((((title, "strong"),),))
    yield from said
    yield Lines(tuple(_delivery(delivery, now) for delivery in turn.deliveries), indent=2)


def _facts(turn: Turn, now: datetime) -> Iterator[Line]:
    """What became of the request it opens, and what its answer said."""
    row, approve = turn.request, reading(turn.message).approve
    if row is not None:
        sign = REQUESTS[row.state]
        who = f" by {safe_line(row.answered_by, 64)} {clock_time(row.answered_at, now)}" if row.answered_by else ""
        reason = f": {safe_line(row.reason, 300)}" if row.reason else ""
        yield (f"{sign.glyph} {sign.word}", sign.tone), (f"{who}{reason}", "")
    elif approve is not None:
        yield (("✓ approved", "good"),) if approve else (("✗ rejected", "bad"),)
    if not turn.is_live:
        yield (("in the archive", "muted"),)


def _delivery(delivery: Delivery, now: datetime) -> Line:
    """Where one copy is, when it got there, and what was tried."""
    try:
        sign = STATUSES[Status(delivery.status)]
    except (KeyError, ValueError):
        sign = Sign("?", safe_line(delivery.status, 24), "warn")
    parts: list[Part] = [
        (f"{sign.glyph} ", sign.tone),
        (f"{safe_line(delivery.recipient, 64):<{_NAME}} ", ""),
        (sign.word, sign.tone),
    ]
    if (at := from_text(delivery.at)) is not None:
        parts.append((f" {clock_time(at, now)}", "muted"))
    if delivery.tries:
        parts.append((f" · {delivery.tries} of {delivery.most_tries} tries", "muted"))
    if (upcoming := from_text(delivery.next_try)) is not None:
        parts.append((f" · next {clock_time(upcoming, now)}", "warn"))
    if delivery.error:
        parts.append((f" · {safe_line(delivery.error, 200)}", "bad"))
    return tuple(parts)
