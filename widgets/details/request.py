"""A request to decide on: what is asked, its clock, who answered, and how the same plan fared before."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from team_console.store.model.message import Message
from team_console.store.model.names import USER
from team_console.store.model.safe import safe_line, safe_text
from team_console.store.protocol.kinds import RequestKind
from team_console.store.protocol.parsing import reading
from team_console.store.protocol.seen import Seen
from team_console.store.protocol.team_signature import Seal
from team_console.store.views.rows import AttentionItem, Flag, RequestRow, RequestState
from team_console.widgets.details.client_request import answer_blocks, source_of
from team_console.widgets.details.document import Block, Document, Fact, Heading, Lines, Text
from team_console.widgets.details.message import content_blocks, seal_line
from team_console.widgets.text.ages import ago, clock_time, span
from team_console.widgets.text.cells import Line, Part
from team_console.widgets.text.glyphs import REQUESTS

_MEANINGS = {
    Flag.OVERDUE: "nobody answered in time",
    Flag.CONTRADICTORY: "answers contradict each other; the first one stands",
    Flag.UNAUTHORISED: "somebody answered who may not; that answer decides nothing",
    Flag.SUPERSEDED: "a newer request of the same author took its place",
    Flag.ANSWERED_TWICE: "answered more than once; the first answer stands",
    Flag.STILL_ALIVE: "it agreed to stop and still writes",
    Flag.DAMAGED: "its record in the queue is damaged; shown is what was read before, and it cannot be answered",
    Flag.UNVERIFIED: "an answer was not written by team-console; ask whoever it names before you act on it",
    Flag.FORGED: "an answer is forged or broken: it is not signed as it must be, and decides nothing",
    Flag.STOPPING: "the agent was asked to stop; AGENT_DESTROYED follows its answer, or the end of its time",
    Flag.REFUSED: "the agent was asked to stop and refused; decide again",
    Flag.ALTERED: "an answer was changed after it was written; what the audit trail says of it counts",
}
_EARLIER = 8
_JUST = 10.0
"""Seconds for which a question counts as just asked."""


def request_document(
    row: RequestRow,
    *,
    now: datetime,
    earlier: tuple[RequestRow, ...] = (),
    content: str | None = None,
    token: str = "",
    item: AttentionItem | None = None,
    seal: Seal | None = None,
    me: str = "",
    seen: Seen | None = None,
    above: tuple[Block, ...] = (),
    below: tuple[Block, ...] = (),
) -> Document:
    """What there is to read of a request.

    Args:
        earlier: Former plans of the same author, newest first.
        content: The whole content when the stored one is only its beginning.
        token: What an answer must quote.
        item: Why it stands in the list of what waits, when it does.
        seal: What the signature of the question tells, None when the team has no key.
        me: Who looks at it; it goes without saying that this reader has not read it yet.
        seen: All that is shown, `above` and `below` included.
        above, below: Evidence above and below the text.
    """
    read = reading(row.question)
    return Document(
        key=f"request:{row.key}",
        title=f"{str(row.kind).capitalize()} · {safe_line(row.asker, 64)}",
        headline=safe_line(row.title, 400),
        facts=_facts(row, now, item, seal, me),
        more=_more(row, now, item),
        blocks=(
            *_notes(row),
            *above,
            *content_blocks(row.question, read, content),
            *below,
            *_answers(row, now, content),
            *_history(row, earlier, now),
        ),
        token=token,
        seen=seen,
        source=content if content is not None else row.question.content or source_of(row.question) or row.title,
    )


def earlier_plans(row: RequestRow, requests: tuple[RequestRow, ...]) -> tuple[RequestRow, ...]:
    """The plans that `row` came after, newest first: the chain of `supersedes`, else the author's answered ones."""
    by_id: Mapping[str, RequestRow] = {request.request_id: request for request in requests if request.kind is row.kind}
    chain: list[RequestRow] = []
    step = by_id.get(row.supersedes) if row.supersedes else None
    while step is not None and step not in chain and len(chain) < _EARLIER:
        chain.append(step)
        step = by_id.get(step.supersedes) if step.supersedes else None
    return tuple(chain)


def _facts(row: RequestRow, now: datetime, item: AttentionItem | None, seal: Seal | None, me: str = "") -> Line:
    """Who asks whom, how long it waits and what it holds up."""
    sign = REQUESTS[row.state]
    addressee = "you" if me and row.addressee in (me, USER) else safe_line(row.addressee, 64)
    facts: list[Part] = [(f"{safe_line(row.asker, 64)} → {addressee}", ""), _waited(row, now)]
    if not row.is_open:
        facts.insert(1, (f"{sign.glyph} {sign.word}", sign.tone))
    facts += [(text.strip(" ·"), tone) for text, tone in seal_line(row.question, seal)]
    facts += _clocks(row, now)
    if row.is_open:
        facts += [(text, tone) for text, tone in _seen(row, now, me)]
    if row.state is RequestState.WITHDRAWN and row.reason:
        facts.append((safe_line(row.reason, 200), ""))
    blocked = [safe_line(name, 64) for name in item.blocks[:12] if name != row.asker] if item is not None else []
    if blocked:
        facts.append((f"blocks {', '.join(blocked)}", "warn"))
    return tuple(facts)


def _waited(row: RequestRow, now: datetime) -> Part:
    waited = span(row.waiting_seconds(now))
    if not row.is_open:
        return f"took {waited}", "muted"
    return ("just asked" if row.waiting_seconds(now) < _JUST else f"waits for {waited}"), "muted"


def _clocks(row: RequestRow, now: datetime) -> list[Part]:
    """When an open request is due and when it ends by itself; twice as late as allowed is worse than late."""
    clocks: list[Part] = []
    if row.is_open and row.due_at is not None:
        left = (row.due_at - now).total_seconds()
        allowed = (row.due_at - row.asked_at).total_seconds() if row.asked_at is not None else 0.0
        late = "alarm" if -left >= allowed else "alert"
        clocks.append((f"due in {span(left)}", "muted") if left > 0 else (f"◷ overdue for {span(-left)}", late))
    if row.is_open and row.expires_at is not None:
        clocks.append((f"ends in {span((row.expires_at - now).total_seconds())}", "warn"))
    return clocks


def _more(row: RequestRow, now: datetime, item: AttentionItem | None) -> tuple[Fact, ...]:
    """What is asked for rarely: the exact moment, the id, and why it stands where it stands."""
    sign = REQUESTS[row.state]
    facts = [
        Fact("asked", ((ago(row.asked_at, now), "muted"),)),
        Fact("state", ((f"{sign.glyph} {sign.word}", sign.tone),)),
        Fact("id", ((safe_line(row.request_id, 200), "muted"),)),
    ]
    if item is not None and item.why:
        facts.append(Fact("rank", ((safe_line(item.why, 300), "muted"),)))
    return tuple(facts)


def _notes(row: RequestRow) -> tuple[Block, ...]:
    """What is odd about it."""
    flags = [flag for flag in row.flags if flag is not Flag.OVERDUE]
    lines: list[Line] = [((f"‼ {flag}: ", "alert"), (_MEANINGS[flag], "")) for flag in flags]
    return (Lines(tuple(lines), indent=2),) if lines else ()


def _seen(row: RequestRow, now: datetime, me: str) -> Line:
    if row.seen_at is None and row.addressee in (me, USER):
        return ()
    if row.seen_at is None:
        return ((f"not read by {safe_line(row.addressee, 64)} yet", "muted"),)
    return ((f"read {clock_time(row.seen_at, now)}", "muted"),)


def _answers(row: RequestRow, now: datetime, content: str | None) -> tuple[Block, ...]:
    if not row.answers:
        return ()
    blocks: list[Block] = [Heading("answers" if len(row.answers) > 1 else "answer")]
    for answer in row.answers:
        blocks.append(Lines((_answer_line(answer, row, now),), indent=2))
        if answer.content:
            blocks.append(Text(safe_text(answer.content)))
        blocks += answer_blocks(row.question, answer, content)
    return tuple(blocks)


def _answer_line(message: Message, row: RequestRow, now: datetime) -> Line:
    approve = reading(message).approve
    yes = ("✓ answered", "good") if row.kind is RequestKind.QUESTION else ("✓ approved", "good")
    word, tone = {True: yes, False: ("✗ rejected", "bad"), None: ("✓ answered", "good")}[approve]
    stands = message is row.verdict
    if not stands:
        tone = "muted"
    who = f" by {safe_line(message.sender, 64)} {clock_time(message.created_at, now)}"
    return (
        (word, tone),
        (who, "" if stands else "muted"),
        (" · forged" if message.message_id in row.forged else "", "alert"),
        ("" if stands else " · decides nothing", "warn"),
    )


def _history(row: RequestRow, earlier: tuple[RequestRow, ...], now: datetime) -> tuple[Block, ...]:
    lines: list[Line] = []
    if row.superseded_by:
        lines.append((("↷ a newer plan took its place: ", "warn"), (safe_line(row.superseded_by, 200), "")))
    for request in earlier:
        sign = REQUESTS[request.state]
        lines.append(
            (
                (f"{sign.glyph} {sign.word} ", sign.tone),
                (f"{clock_time(request.answered_at or request.asked_at, now)} ", "muted"),
                (safe_line(request.reason or request.title, 300), ""),
            )
        )
    return (Heading("history of this plan"), Lines(tuple(lines), indent=2)) if lines else ()
