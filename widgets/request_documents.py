"""The document of a request: what is asked, its clock, its versions, remarks on lines, and how others fared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import takewhile

from team_console.store.model.clock import is_real_time
from team_console.store.model.message import Message
from team_console.store.model.names import USER
from team_console.store.model.safe import fenced, safe_line, safe_text
from team_console.store.protocol.client_requests import why_in, why_lines
from team_console.store.protocol.kinds import RequestKind
from team_console.store.protocol.message_seal import Seal
from team_console.store.protocol.parsing import parse_message
from team_console.store.protocol.remarks import PlacedRemark, Remark, place_remarks, remarks_in
from team_console.store.protocol.shown_when_decided import Seen, digest_of, seen_of
from team_console.store.views.alike import decided_before, outcome_of
from team_console.store.views.conversation import versions_of
from team_console.store.views.proposals import lines_to_remark
from team_console.store.views.rows import ActionItem, Flag, RequestRow, RequestState
from team_console.widgets.client_request_documents import answer_blocks, source_of
from team_console.widgets.document import Block, Document, Heading, Lines, Remarked, Text, fact
from team_console.widgets.message_documents import content_blocks, seal_facts, sprint_body
from team_console.widgets.signs import REQUESTS
from team_console.widgets.text import Line, Part, ago, clock_time, safe_name, span

_MEANINGS: Mapping[Flag, str] = {
    Flag.OVERDUE: "nobody answered in time",
    Flag.CONTRADICTORY: "answers contradict each other; the first one stands",
    Flag.UNAUTHORISED: "somebody answered who may not; that answer decides nothing",
    Flag.SUPERSEDED: "a newer request of the same author took its place",
    Flag.ANSWERED_TWICE: "answered more than once; the first answer stands",
    Flag.STILL_ALIVE: "it agreed to stop and still writes",
    Flag.DAMAGED: "its record in the queue is damaged; shown is what was read before, and it cannot be answered",
    Flag.UNVERIFIED: "an answer was not written by team-console; ask whoever it names before you act on it",
    Flag.FOREIGN: "an answer was written by another program",
    Flag.FORGED: "an answer is forged or broken: it is not signed as it must be, and decides nothing",
    Flag.STOPPING: "the agent was asked to stop; AGENT_DESTROYED follows its answer, or the end of its time",
    Flag.REFUSED: "the agent was asked to stop and refused; decide again",
    Flag.ALTERED: "an answer was changed after it was written; what the audit trail says of it counts",
}
_JUST = 10.0
"""Seconds for which a question counts as just asked."""


def request_document(
    row: RequestRow,
    *,
    now: datetime,
    requests: tuple[RequestRow, ...] = (),
    me: str = "",
    item: ActionItem | None = None,
    content: str | None = None,
    seal: Seal | None = None,
    seen: Seen | None = None,
    above: tuple[Block, ...] = (),
    below: tuple[Block, ...] = (),
) -> Document:
    """Return the document of a request.

    Args:
        requests: All that are known, for what was decided on the same before.
        me: Who looks at it; it goes without saying that this reader has not read it yet.
        item: Why it stands in the list of what waits, when it does.
        content: The whole content when the stored one is only its beginning.
        seal: What the signature of the question tells, None when the team has no key.
        seen: All that is shown of it, `above` and `below` included; None where nothing is shown but the question.
        above, below: Evidence above and below its text.
    """
    more = [
        fact("asked", ago(row.asked_at, now)),
        fact("state", *REQUESTS[row.state].part),
        fact("id", safe_line(row.question.message_id, 120)),
    ]
    if row.request_id != row.question.message_id:
        more.append(fact("request", safe_line(row.request_id, 200)))
    if item is not None and item.why:
        more.append(fact("why here", safe_line(item.why, 300)))
    return Document(
        key=f"request:{row.key}",
        title=f"{str(row.kind).capitalize()} · {safe_name(row.asker)}",
        headline=safe_line(row.title, 400),
        facts=tuple(_request_facts(row, now, item, seal, me, earlier_plans(row, requests))),
        more=tuple(more),
        blocks=(
            *_section_blocks("", _flag_lines(row)),
            *above,
            *content_blocks(row.question, parse_message(row.question), content),
            *below,
            *_more_blocks(row, requests, now, content),
        ),
        token=digest_of(row.question),
        seen=seen or seen_of(row.question),
        source=content if content is not None else row.question.content or source_of(row.question) or row.title,
    )


def _flag_lines(row: RequestRow) -> Iterator[Line]:
    """Yield what is odd about a request; that it is overdue tells the clock."""
    for flag in row.flags:
        if flag in _MEANINGS and flag is not Flag.OVERDUE:
            yield (f"‼ {flag}: ", "alert"), (_MEANINGS[flag], "")


def _section_blocks(
    heading: str, lines: Iterable[Line], indent: int = 2, *, is_evidence: bool = False
) -> Iterator[Block]:
    """Yield lines below their heading, if there are any."""
    if made := tuple(lines):
        if heading:
            yield Heading(heading, is_evidence)
        yield Lines(made, indent=indent, is_evidence=is_evidence)


def _more_blocks(
    row: RequestRow, requests: tuple[RequestRow, ...], now: datetime, content: str | None
) -> Iterator[Block]:
    """Yield why it was asked, the talk about it, its answer, and earlier decisions on the same.

    Those come from the archives, some time after the request: they are beside it and change no number of its lines.
    """
    earlier = earlier_plans(row, requests)
    if row.is_open and not earlier and (other := _asked_before(row, requests)) is not None:
        words = f"asked before: {REQUESTS[other.state].word}, {safe_line(other.title, 300)}"
        yield Lines((((words, "muted"),),), is_evidence=True)
    if (why := why_in(row.question.payload)) is not None:
        yield Heading("why it asks")
        yield Lines(tuple(((line, ""),) for line in why_lines(why)))
    yield from _section_blocks("asked back", _talk_lines(row, now), 0)
    if row.is_open:
        before = (other for other in decided_before(row, requests) if other not in earlier)
        decided = [_decided_line(other, requests, now) for other in before]
        yield from _section_blocks("decided on the same before", decided, is_evidence=True)
    yield from _blocks_of_answers(row, now, content)
    versions: list[Line] = []
    if row.superseded_by:
        versions.append((("↷ a newer plan took its place: ", "warn"), (safe_line(row.superseded_by, 200), "")))
    versions += _version_lines(earlier[:SHOWN_VERSIONS], now)
    yield from _section_blocks("history of this plan", versions)


def _blocks_of_answers(row: RequestRow, now: datetime, content: str | None) -> Iterator[Block]:
    """Yield each answer to a request: its verdict, its words, and what else it decides."""
    if row.answers:
        yield Heading("answers" if len(row.answers) > 1 else "answer")
    for answer in row.answers:
        yield Lines((_answer_line(answer, row, now),), indent=2)
        if (body := sprint_body(parse_message(answer))) is not None:
            yield body
        elif answer.content:
            yield Text(safe_text(answer.content))
        yield from answer_blocks(row.question, answer, content)


def _talk_lines(row: RequestRow, now: datetime) -> Iterator[Line]:
    """Yield the questions back and the asker's answers."""
    for message in row.talk:
        yield ((f"{safe_name(message.sender)}, {ago(message.created_at, now)}", "muted"),)
        yield from (((line, ""),) for line in fenced(message.content))


def _decided_line(row: RequestRow, requests: tuple[RequestRow, ...], now: datetime) -> Line:
    """Return the decision, its time, its words and its effect."""
    who = f" by {safe_name(row.answered_by)} {ago(row.answered_at, now)}" if row.answered_by else ""
    words = f": {safe_line(row.reason, 300)}" if row.reason else ""
    outcome = outcome_of(row, requests)
    came = f" · then {safe_line(outcome, 40)}" if outcome else ""
    return REQUESTS[row.state].part, (f"{who}{words}{came}", ""), (f"  {safe_line(row.title, 200)}", "muted")


def _version_lines(earlier: Iterable[RequestRow], now: datetime) -> Iterator[Line]:
    """Yield each former version with its state, and the reason of its verdict, else its title."""
    for row in earlier:
        sign, when = REQUESTS[row.state], clock_time(row.answered_at or row.asked_at, now)
        words = safe_line(row.reason or row.title, 300)
        yield (f"{sign.glyph} {sign.word} ", sign.tone), (f"{when} ", "muted"), (words, "")


def _answer_line(message: Message, row: RequestRow, now: datetime) -> Line:
    """Return an answer in a line: its verdict, who gave it when, and whether it decides."""
    is_yes = parse_message(message).approve
    if is_yes is None or (is_yes and row.kind is RequestKind.QUESTION):
        word, tone = "✓ answered", "good"
    elif is_yes:
        word, tone = "✓ approved", "good"
    else:
        word, tone = "✗ rejected", "bad"
    stands = message is row.verdict
    return (
        (word, tone if stands else "muted"),
        (f" by {safe_name(message.sender)} {clock_time(message.created_at, now)}", "" if stands else "muted"),
        (" · forged" if message.message_id in row.forged else "", "alert"),
        ("" if stands else " · decides nothing", "warn"),
    )


def _request_facts(
    row: RequestRow,
    now: datetime,
    item: ActionItem | None,
    seal: Seal | None,
    me: str,
    earlier: Sequence[RequestRow],
) -> Iterator[Part]:
    """Yield who asks whom, how long it waits, when it is due or expires, and what it blocks."""
    is_mine, waited = row.addressee in (me, USER), row.waiting_seconds(now)
    yield f"{safe_name(row.asker)} → {'you' if me and is_mine else safe_name(row.addressee)}", ""
    if not row.is_open:
        yield REQUESTS[row.state].part
        yield f"took {span(waited)}", "muted"
    else:
        if not is_real_time(row.waits_since):
            yield "asked at an unknown time", "muted"
        else:
            yield "just asked" if waited < _JUST else f"waits for {span(waited)}", "muted"
        if earlier:
            yield version_words(row, earlier), "strong"
    yield from seal_facts(row.question, seal)
    if row.is_open:
        if (late := late_by(row, now)) is not None:
            yield f"◷ overdue for {span(late)}", late_tone(row, late)
        elif row.due_at is not None:
            yield f"due in {span((row.due_at - now).total_seconds())}", "muted"
        if row.talk:
            word = "asked back" if row.asked_back is not None else "answered back"
            yield f"{word} {span((now - (row.talk[-1].created_at or now)).total_seconds())} ago", "strong"
        if row.expires_at is not None:
            yield f"ends in {span((row.expires_at - now).total_seconds())}", "warn"
        if row.seen_at is not None:
            yield f"read {clock_time(row.seen_at, now)}", "muted"
        elif not is_mine:
            yield f"not read by {safe_name(row.addressee)} yet", "muted"
    if row.state is RequestState.WITHDRAWN and row.reason:
        yield safe_line(row.reason, 200), ""
    if blocked := [safe_name(name) for name in item.blocks[:12] if name != row.asker] if item is not None else []:
        yield f"blocks {', '.join(blocked)}", "warn"


def late_by(request: RequestRow | None, now: datetime) -> float | None:
    """Return by how many seconds an open request is late; None for one that is not."""
    if request is None or request.due_at is None or not request.is_open:
        return None
    late = (now - request.due_at).total_seconds()
    return late if late >= 0 else None


def late_tone(request: RequestRow | None, late: float) -> str:
    """Return the tone of a request that is `late` by so many seconds: red when it waits twice as long as it should."""
    if request is None or request.due_at is None:
        return "alert"
    since = request.waits_since
    allowed = (request.due_at - since).total_seconds() if since is not None else 0.0
    return "alarm" if late >= allowed else "alert"


def _asked_before(row: RequestRow, requests: Iterable[RequestRow]) -> RequestRow | None:
    """Return the plan of the same author that was decided last before an unrelated one."""
    if row.kind is not RequestKind.PLAN:
        return None
    before = [
        other
        for other in requests
        if other.kind is row.kind and other.asker == row.asker and not other.is_open and other.order < row.order
    ]
    return max(before, key=lambda other: other.order, default=None)


def version_words(row: RequestRow, earlier: Sequence[RequestRow]) -> str:
    """Return which version a plan is, and how many lines it has more and fewer than the one before."""
    return f"version {len(earlier) + 1}, {_lines_words(earlier[0], row)}"


def newer_words(row: RequestRow, newest: RequestRow, requests: Iterable[RequestRow]) -> str:
    """Return which version took the place of a plan, and how many lines it has more and fewer than that."""
    return f"version {len(earlier_plans(newest, requests)) + 1} is here: {_lines_words(row, newest)}"


def _lines_words(before: RequestRow, after: RequestRow) -> str:
    """Return the number of lines that came and went, as `+3 −1`."""
    added, taken = lines_changed(before.question.content, after.question.content)
    return f"+{added} −{taken}"


@lru_cache(maxsize=64)
def lines_changed(before: str, after: str) -> tuple[int, int]:
    """Return the number of lines that only the new text has, and that only the old one has."""
    old, new = Counter(before.splitlines()), Counter(after.splitlines())
    return (new - old).total(), (old - new).total()


SHOWN_VERSIONS = 8
"""Former versions whose remarks and verdicts are shown."""
_LONGEST_REMARK = 2000
"""Characters of a remark."""


def remarks_on(
    row: RequestRow,
    earlier: Sequence[RequestRow],
    content: str | None,
    *,
    typed: Mapping[str, str],
) -> tuple[Remarked, ...]:
    """Return remarks on lines of a request: those sent with what was said to it and its versions, and those `typed`.

    Args:
        earlier: Former plans of the same author, newest first.
        content: The whole content when the stored one is only its beginning.
        typed: Line number -> remark that is still to be sent.
    """
    found = []
    for sent in sent_remarks(row, earlier, content):
        where = "" if sent.now == sent.remark.line else f"{sent.words} · “{sent.remark.quote}” · "
        words = safe_line(f"{where}{sent.remark.text}", _LONGEST_REMARK)
        found.append(Remarked(sent.now or 0, words))
    for line, text in typed.items():
        if line.isdecimal():
            found.append(Remarked(int(line), safe_line(text, _LONGEST_REMARK)))
    return tuple(found)


def sent_remarks(row: RequestRow, earlier: Sequence[RequestRow], content: str | None) -> list[PlacedRemark]:
    """Return the remarks that were sent, oldest first, held against the text of this version."""
    remarks: list[Remark] = []
    for version in (*reversed(earlier[:SHOWN_VERSIONS]), row):
        for message in (*version.talk, version.verdict):
            if message is not None:
                remarks += remarks_in(message.payload)
    return place_remarks(remarks, lines_to_remark(row.question, content)) if remarks else []


def newest_version(row: RequestRow, requests: Iterable[RequestRow]) -> RequestRow | None:
    """Return the last of those that took the place of `row`, one after the other; None where that was taken back."""
    chain = versions_of((other for other in requests if other.kind is row.kind), row.request_id)
    newest = chain[-1] if chain else row
    is_another = newest.request_id != row.request_id and newest.state is not RequestState.WITHDRAWN
    return newest if is_another else None


def earlier_plans(row: RequestRow, requests: Iterable[RequestRow]) -> tuple[RequestRow, ...]:
    """Return the versions of the same that `row` came after, newest first."""
    if not row.supersedes:  # nearly all of them: among thousands looking takes milliseconds, at each key
        return ()
    chain = versions_of((other for other in requests if other.kind is row.kind), row.request_id)
    earlier = list(takewhile(lambda version: version.request_id != row.request_id, chain))
    return tuple(reversed(earlier))
