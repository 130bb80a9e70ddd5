"""A conversation to read: each thing said with who said it to whom, what became of it, and its deliveries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from team_console.store.model.clock import from_text
from team_console.store.model.safe import safe_line
from team_console.store.protocol.parsing import parse_message
from team_console.store.protocol.titles import title_of
from team_console.store.views.conversation import Thread, Turn, turns_of
from team_console.store.views.deliveries import Delivery
from team_console.store.views.rows import RequestRow
from team_console.widgets.ages import clock_time
from team_console.widgets.document import (
    Block,
    Document,
    Heading,
    Lines,
    one_line,
)
from team_console.widgets.message_documents import content_blocks, kind_words
from team_console.widgets.signs import (
    REQUESTS,
    sign_of_copy,
)
from team_console.widgets.text import Line, Part, cell_len, pad, safe_name

_LONGEST_NAME = 32
"""Cells of a name beside a delivery at most."""


def conversation_document(thread: Thread, rows: Sequence[RequestRow], *, now: datetime) -> Document:
    """Return the document of a conversation, with what became of the requests among `rows`."""
    turns = tuple(turns_of(thread, rows))
    topic = safe_line(title_of(parse_message(turns[0].message)), 400)
    blocks = [block for turn in turns for block in _turn_blocks(turn, topic, now)]
    if not thread.is_whole:
        blocks.append(one_line("△ more belongs to it than is shown here", "warn"))
    return Document(
        key=f"conversation:{thread.request_id or thread.message.message_id}",
        title="Conversation",
        headline=topic,
        blocks=tuple(blocks),
        source="\n\n".join(turn.message.content for turn in turns),
    )


def _turn_blocks(turn: Turn, topic: str, now: datetime) -> Iterator[Block]:
    """Yield one thing that was said; its title only where it is another than the `topic` of the whole."""
    message, read = turn.message, parse_message(turn.message)
    names = dict.fromkeys(delivery.recipient for delivery in turn.deliveries)
    to = f"{len(names)} agents" if len(names) > 1 else safe_line(next(iter(names), "nobody"), 64)
    version = f" · version {turn.version} of {turn.versions}" if turn.version else ""
    kind = f"{safe_line(kind_words(read), 40)}{version}"
    yield Heading(f"{clock_time(message.created_at, now)} · {safe_name(message.sender)} → {to} · {kind}")
    if state := tuple(_state_lines(turn, read.approve, now)):
        yield Lines(state, indent=2)
    title, told = safe_line(title_of(read), 400), content_blocks(message, read)
    if title != topic or not told:
        yield one_line(title, "strong")
    yield from told
    yield delivery_lines(turn.deliveries, now)


def _state_lines(turn: Turn, approve: bool | None, now: datetime) -> Iterator[Line]:
    """Yield what became of a request, or what an answer decided, and that a message is archived."""
    if (row := turn.request) is not None:
        who = f" by {safe_name(row.answered_by)} {clock_time(row.answered_at, now)}" if row.answered_by else ""
        reason = f": {safe_line(row.reason, 300)}" if row.reason else ""
        yield REQUESTS[row.state].part, (f"{who}{reason}", "")
    elif approve is not None:
        yield (("✓ approved", "good"),) if approve else (("✗ rejected", "bad"),)
    if not turn.is_live:
        yield (("in the archive", "muted"),)


def delivery_lines(deliveries: Iterable[Delivery], now: datetime) -> Lines:
    """Return a line for each copy of a message: where it is, and what was tried."""
    copies = tuple(deliveries)
    width = min(_LONGEST_NAME, max((cell_len(safe_name(copy.recipient)) for copy in copies), default=0))
    return Lines(tuple(tuple(_delivery_parts(copy, width, now)) for copy in copies), indent=2)


def _delivery_parts(delivery: Delivery, width: int, now: datetime) -> Iterator[Part]:
    """Yield the place of one copy, its time of arrival, and the tries made."""
    sign = sign_of_copy(delivery.status, (delivery.recipient,))
    yield sign.mark
    yield f"{pad(safe_name(delivery.recipient), width)}  ", ""
    yield sign.word, sign.tone
    if (at := from_text(delivery.at)) is not None:
        yield f" {clock_time(at, now)}", "muted"
    if delivery.tries:
        yield f" · {delivery.tries} of {delivery.most_tries} tries", "muted"
    if (upcoming := from_text(delivery.next_try)) is not None:
        yield f" · next {clock_time(upcoming, now)}", "warn"
    if delivery.error:
        yield f" · {safe_line(delivery.error, 200)}", "bad"
