"""The documents of a message and of a conversation: who wrote it to whom, where it is on its way, all that it says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from team_console.store.model.clock import from_text
from team_console.store.model.errors import Problem
from team_console.store.model.message import Message, Priority, Status, without
from team_console.store.model.names import USER
from team_console.store.model.safe import safe_line, safe_text
from team_console.store.protocol.client_requests import FURTHER, WHY, rest_of_input, why_in
from team_console.store.protocol.kinds import UNKNOWN, Family, RequestKind
from team_console.store.protocol.message_seal import Seal
from team_console.store.protocol.parsing import ParsedMessage, parse_message
from team_console.store.protocol.shown_when_decided import EVIDENCE, REQUEST_DIGEST, SHOWN, SHOWN_BY, Seen
from team_console.store.protocol.titles import title_of
from team_console.store.protocol.tool_input import structure
from team_console.store.views.conversation import Thread, Turn, turns_of
from team_console.store.views.deliveries import Delivery
from team_console.store.views.rows import RequestRow
from team_console.widgets.client_request_documents import (
    further_input,
    origin_facts,
    permission_blocks,
    question_blocks,
    source_of,
)
from team_console.widgets.document import Block, Document, Fact, Heading, Lines, Text, TextForm, fact, one_line
from team_console.widgets.signs import KIND_NAMES, REQUESTS, priority_sign, severity_sign, sign_of_copy, status_sign
from team_console.widgets.text import Line, Part, ago, cell_len, clock_time, pad, safe_name, short_ago

CLIENT_FIELDS = frozenset({"client", "session", "directory", "modes", "expires", "asker"})
"""Fields of a client's request that are told as facts, and the mark of the process that waits for the answer."""
_SHOWN_ELSEWHERE = frozenset({"content", "summary", "request_id", "in_reply_to", "approve", "attachment"})
"""Fields of the payload that have a place of their own in the document."""
_WHOLE_TITLE = 200
"""Characters of a summary of one line that the title says whole (`titles.title_of`)."""
_ON_RECORD = frozenset({REQUEST_DIGEST, SHOWN, SHOWN_BY, EVIDENCE})
"""Fields of a verdict that say what was shown; they are told on demand."""
_LONGEST_ON_RECORD = 2_000
"""Characters of what a verdict says of what was shown."""
_FIELDS_OF_PROSE = ("issue", "question", "message", "topic", "context_summary")
"""Fields that are read as a text below a heading, in their order; all others are details."""
_LONGEST_ERROR = 2_000
"""Characters shown of what the last try failed with: a failure is judged by all its words."""


def message_document(
    message: Message,
    *,
    now: datetime,
    reader: str = "",
    content: str | None = None,
    token: str = "",
    problems: tuple[Problem, ...] = (),
    seal: Seal | None = None,
    seen: Seen | None = None,
    above: tuple[Block, ...] = (),
    below: tuple[Block, ...] = (),
) -> Document:
    """Return the document of `message`.

    Args:
        reader: Who looks at it; it goes without saying that this reader has not picked it up yet.
        content: The whole content when the stored one is only its beginning.
        token: What an answer must quote.
        problems: Where it departs from its protocol, as far as findings know.
        seal: What its signature tells, None when the team has no key.
        seen: All that is shown of the request that it asks, `above` and `below` included.
        above, below: Evidence above and below its text.
    """
    read = parse_message(message)
    more = [
        fact("written", ago(message.created_at, now)),
        fact("kind", safe_name(read.name)),
        fact("id", safe_line(message.message_id, 120)),
    ]
    if read.request_id and read.request_id != message.message_id:
        more.append(fact("request", safe_line(read.request_id, 200)))
    if read.answers is not None:
        more += _record_facts(message)
    return Document(
        key=f"message:{message.message_id}",
        title=f"{safe_line(kind_words(read), 60)} · {safe_name(message.sender)}",
        headline=safe_line(title_of(read), 400),
        facts=tuple(_head_facts(message, now, seal, reader)),
        more=tuple(more),
        blocks=(
            *above,
            *content_blocks(message, read, content),
            *below,
            *_problem_blocks(problems or read.frame_problems),
        ),
        token=token,
        seen=seen,
        source=content if content is not None else message.content or source_of(message) or structure(message.payload),
    )


def _record_facts(message: Message) -> Iterator[Fact]:
    """Yield what a verdict says of what was shown."""
    for key, told in message.payload.items():
        if key in _ON_RECORD:
            words = "; ".join(map(str, told)) if isinstance(told, list) else str(told)
            yield fact(key.replace("_", " "), safe_line(words or "nothing", _LONGEST_ON_RECORD))


def kind_words(read: ParsedMessage) -> str:
    """Return the kind as a title has it: `Plan`, `Shutdown request`; of another program's `claude:idle_notification`
    `Idle notification`; an unknown name, as `task_assignment`, as it is.
    """
    if read.name in KIND_NAMES:
        return KIND_NAMES[read.name].capitalize()
    program, _, name = read.name.rpartition(":")
    is_known = name.isupper() or read.kind is not UNKNOWN or program
    return name.replace("_", " ").capitalize() if is_known else name


def _head_facts(message: Message, now: datetime, seal: Seal | None, reader: str) -> Iterator[Part]:
    """Yield the sender and recipients, the age, the delivery state, and what is out of the ordinary."""
    names = [safe_name(recipient) for recipient in message.recipients[:8]]
    others = len(message.recipients) - len(names)
    yield f"{safe_name(message.sender)} → {', '.join(names)}{f' and {others} more' if others > 0 else ''}", ""
    yield short_ago(message.created_at, now), "muted"
    yield from seal_facts(message, seal)
    is_unread_mail_of_reader = message.status == Status.PENDING and {reader, USER} & {*message.recipients}
    if not is_unread_mail_of_reader:
        yield from ((text.strip(" ·"), tone) for text, tone in state_line(message, now))
    if message.priority != Priority.MEDIUM:
        yield priority_sign(message).part


def state_line(message: Message, now: datetime) -> Line:
    """Return the delivery state in the word that is known to be true (decision D15)."""
    parts: list[Part] = [status_sign(message).part]
    moment = from_text(str(message.envelope(f"{message.status}_at") or ""))
    if message.status in (Status.READ, Status.DELIVERED, Status.RECALLED) and moment is not None:
        parts.append((f" {clock_time(moment, now)}", "muted"))
    if message.read_by:
        parts.append((f" · read by {', '.join(map(safe_name, list(message.read_by)[:6]))}", "muted"))
    error = message.envelope("error_message")
    if error and message.status in (Status.FAILED, Status.RETRY):
        parts.append((f" · {safe_line(error, _LONGEST_ERROR)}", "bad"))
    return tuple(parts)


def sprint_body(read: ParsedMessage) -> Text | None:
    """Return the fields of a sprint message that carries them as JSON; None for every other message."""
    if read.kind.family is not Family.SPRINT or read.carried is None:
        return None
    return Text(structure(without(read.body, ("msg_type",))), TextForm.STRUCTURED)


def content_blocks(message: Message, read: ParsedMessage, content: str | None = None) -> tuple[Block, ...]:
    """Return summary, content and the rest of the payload; what a client asks for as what it is.

    Nothing is told that the title says whole already.

    Args:
        content: The whole content when the stored one is only its beginning.
    """
    if read.opens is RequestKind.PERMISSION:
        return permission_blocks(message)
    blocks: list[Block] = list(origin_facts(message)) if read.opens is not None else []
    if read.opens is RequestKind.QUESTION:
        return (*blocks, *question_blocks(message))
    title, body = safe_line(title_of(read), 400), sprint_body(read)
    text = message.content if content is None else content
    if body is not None:
        text = ""
    blocks += _summary_blocks(message, text)
    if body is not None:
        blocks.append(body)
    elif text and safe_text(text.strip()) != title:
        blocks.append(Text(safe_text(text), is_asked=read.opens is not None))
    blocks += _blocks_of_other_fields(message, read, title)
    if content is None:
        blocks += _cut_block(message)
    if not blocks and not text and title == safe_line(read.name):
        blocks.append(one_line("This message has no content.", "muted"))
    return tuple(blocks)


def _summary_blocks(message: Message, text: str) -> Iterator[Block]:
    """Yield the summary, unless the title says it whole or the `text` of the message is the same."""
    summary = message.payload.get("summary")
    if not isinstance(summary, str) or summary.strip() == text.strip():
        return
    if len(summary) > _WHOLE_TITLE or "\n" in summary.strip():
        yield Lines(tuple(((line, ""),) for line in safe_text(summary.strip()).split("\n")))


def _blocks_of_other_fields(message: Message, read: ParsedMessage, title: str) -> Iterator[Block]:
    """Yield the fields of the payload that nothing else shows: further input of a plan, prose, and last details."""
    rest = _fields_not_shown(message, read)
    if read.opens is RequestKind.PLAN and (further := rest_of_input(message.payload)):
        del rest[FURTHER]
        yield from further_input(further)
    for key in _FIELDS_OF_PROSE:
        if isinstance(value := rest.get(key), str) and value.strip():
            if safe_text(value.strip()) != title:
                yield Heading(key.replace("_", " "))
                yield Text(safe_text(value))
            del rest[key]
    if rest:
        yield Heading("details")
        yield Text(structure(rest), TextForm.STRUCTURED)


def _cut_block(message: Message) -> Iterator[Block]:
    """Yield where the whole content is, of a message that holds only its beginning."""
    attachment = message.payload.get("attachment")
    if isinstance(attachment, Mapping):
        place, size = safe_line(attachment.get("path", ""), 200), safe_line(attachment.get("bytes", "?"), 20)
        words = f"Only the beginning is shown; the whole of it ({size} bytes) is in {place}."
        yield Lines(((("✂ ", "warn"), (words, "warn")),), is_cut=True)


def _fields_not_shown(message: Message, read: ParsedMessage) -> dict[str, Any]:
    """Return the fields of the payload that no other block shows, by their names; what is approved comes first."""
    hidden = _SHOWN_ELSEWHERE
    if message.type == "plan_approval_request":
        hidden |= CLIENT_FIELDS
    if read.opens is not None and why_in(message.payload) is not None:
        hidden |= {WHY}
    if read.answers is not None:
        hidden |= _ON_RECORD
    rest = without(message.payload, hidden)
    approve = message.payload.get("approve")
    return {"approve": approve, **rest} if isinstance(approve, bool) else rest


def _problem_blocks(problems: tuple[Problem, ...]) -> tuple[Block, ...]:
    """Return the section of problems, when there are any."""
    lines: list[Line] = []
    for problem in problems:
        sign = severity_sign(problem)
        lines.append(((f"{sign.glyph} {safe_line(problem.code)} ", sign.tone), (safe_line(problem.message), "")))
    return (Heading("what is wrong with it"), Lines(tuple(lines), indent=2)) if lines else ()


def seal_facts(message: Message, seal: Seal | None) -> Line:
    """Return the state of the signature in words, as far as it could be checked; empty for an unsigned message of a
    team without a key.
    """
    if seal is None:
        return (("signed, not checked here", "muted"),) if message.envelope("signature") else ()
    return {
        Seal.SIGNED: (("✓ signed", "good"),),
        Seal.UNSIGNED: (("△ unsigned", "warn"),),
        Seal.BROKEN: (("‼ its signature is broken", "alarm"),),
    }[seal]


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
