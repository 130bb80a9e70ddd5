"""Rows of the lists, one renderer a kind."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from msgspec import Struct
from team_console.store.attachments import attachment_of
from team_console.store.model.clock import from_text
from team_console.store.model.errors import Problem
from team_console.store.model.message import Message, Status
from team_console.store.model.safe import counted, safe_line
from team_console.store.protocol.client_requests import permission_of, questions_of
from team_console.store.protocol.kinds import RequestKind
from team_console.store.protocol.parsing import parse_message
from team_console.store.protocol.titles import message_title, reason_of
from team_console.store.views.decisions import Decision, Proof
from team_console.store.views.needs import need_of
from team_console.store.views.rows import (
    ActionItem,
    AgentState,
    Batch,
    DeliveryRow,
    DeliveryState,
    Flag,
    Lifecycle,
    Need,
    RequestRow,
    RequestState,
    RosterRow,
    Step,
    StoryState,
)
from team_console.widgets.row_list import Drawing, age_column
from team_console.widgets.signs import (
    DELIVERIES,
    NEEDS,
    REQUESTS,
    SEVERITIES,
    STORIES,
    Sign,
    priority_sign,
    status_sign,
)
from team_console.widgets.text import (
    DONE,
    FAILED,
    OPEN,
    RUNNING,
    Line,
    Part,
    age,
    clock_time,
    crop,
    pad,
    progress_bar,
    span,
    spread,
    width_of,
)

_TAG = 10
"""Cells of the word for a kind."""
_WORDY = 84
"""Cells from which on that word has a column."""
_QUIET = frozenset({Need.MESSAGE})
"""Needs that nothing is to be decided about."""


def _row(
    drawing: Drawing, sign: Sign, title: Line, end: Line, *, word: str = "", who: str = "", facts: Sequence[Part] = ()
) -> tuple[Line, ...]:
    """Sign, kind, who and title on one line; on two the title has the first to itself, and facts stand below.

    Args:
        word: The kind in a word; empty where all rows are of one kind.
        who: The agent, as the store has the name.
    """
    head: Line = ((f"{sign.glyph} ", sign.tone),)
    has_column = bool(word) and drawing.width >= _WORDY and drawing.shows("kind")
    if has_column:
        head = (*head, (pad(word, _TAG) + " ", sign.tone))
    if drawing.lines == 1:
        name: Line = ((drawing.name(who) + "  ", ""),) if who and drawing.shows("agent") else ()
        return (spread((*head, *name, *title), end, drawing.width),)
    named: list[Part] = [(word, sign.tone)] if word and not has_column else []
    named += [(safe_line(who, 64), "")] if who else []
    below: list[Part] = []
    for part in (*named, *facts):
        below += [(" · ", "muted"), part] if below else [part]
    return spread((*head, *title), end, drawing.width), ((" " * width_of(head), ""), *below)


def attention_lines(item: ActionItem, drawing: Drawing, earlier: Sequence[RequestRow] = ()) -> tuple[Line, ...]:
    """What waits, by how much it is late, and what there is to decide.

    Args:
        earlier: The versions before a plan, newest first.
    """
    sign, late = NEEDS[item.need], lateness(item, drawing)
    title: Line = ((safe_line(item.title, 400), "" if item.need in _QUIET else "strong"),)
    end = age_column(item.since, drawing, tone=late, sign=" " if late == "muted" else "◷")
    request = item.request
    if late != "muted" and drawing.width >= _WORDY and request is not None and request.due_at is not None:
        end = ((f"  late {span((drawing.now - request.due_at).total_seconds())}", late), *end)
    facts = [(fact, "muted") for fact in _facts(item, earlier)]
    return _row(drawing, sign, title, end, word=sign.word, who=item.who, facts=facts)


def lateness(item: ActionItem, drawing: Drawing) -> str:
    """The tone of its age: amber once it is late, red when it waits twice as long as it should."""
    request = item.request
    if request is None or request.due_at is None or request.asked_at is None or not request.is_open:
        return "muted"
    late = (drawing.now - request.due_at).total_seconds()
    if late <= 0:
        return "muted"
    return "alarm" if late >= (request.due_at - request.asked_at).total_seconds() else "alert"


def _facts(item: ActionItem, earlier: Sequence[RequestRow]) -> Iterator[str]:
    """What there is to decide, in a few words, and why it ranks where it does, as safe text."""
    if item.answerable and item.message is not None:
        yield from _size(item.need, item.message)
    if item.request is not None and earlier:
        added, taken = _difference(earlier[0].question.content, item.request.question.content)
        yield f"v{len(earlier) + 1}, +{added} −{taken}"
    # The first line and the name say the two former, and every request of a human is of high priority.
    said = ("overdue", f"blocks {item.who}", "high priority" if item.request is not None else "")
    yield from (safe_line(why, 200) for why in item.why.split(" · ") if why and why not in said)


def _size(need: Need, message: Message) -> Iterator[str]:
    if need is Need.PLAN and attachment_of(message) is None:
        yield counted(len(message.content.splitlines()), "line")
    elif need is Need.QUESTION and (number := sum(len(item.options) for item in questions_of(message.payload))):
        yield counted(number, "option")
    elif need is Need.PERMIT and permission_of(message.payload).suggestions:
        yield "can be allowed always"


@lru_cache(maxsize=64)
def _difference(before: str, after: str) -> tuple[int, int]:
    """How many lines a text has that the one before had not, and the other way round."""
    old, new = Counter(before.splitlines()), Counter(after.splitlines())
    return (new - old).total(), (old - new).total()


# A request in the ledger: what is asked, by whom of whom, where it stands and since when.

_ODD = frozenset(
    {Flag.CONTRADICTORY, Flag.UNAUTHORISED, Flag.ANSWERED_TWICE, Flag.STILL_ALIVE, Flag.DAMAGED, Flag.FORGED}
)


def request_lines(row: RequestRow, drawing: Drawing) -> tuple[Line, ...]:
    """The same for any request: what is decided says so, what is odd about it stands at the end."""
    state, word = REQUESTS[row.state], kind_word(row.kind)
    sign = Sign(NEEDS[need_of(row.kind)].glyph, word, NEEDS[need_of(row.kind)].tone) if row.is_open else state
    odd = [str(flag) for flag in row.flags if flag in _ODD]
    is_late = row.state is RequestState.OVERDUE
    since = age_column(
        row.answered_at or row.asked_at,
        drawing,
        tone="alert" if is_late else "muted",
        sign="◷" if is_late else " ",
    )
    end: Line = (((" ‼", "alert"),) if odd else ()) + since
    title: Line = ((safe_line(row.title, 400), "strong" if row.is_open else "muted"),)
    if drawing.lines == 1 and drawing.width < _WORDY and drawing.shows("kind"):
        title = ((f"{word} ", "muted"), *title)
    facts: list[Part] = [(f"→ {safe_line(row.addressee, 64)}", "muted")]
    if row.is_open:
        facts += [] if row.seen_at else [("not picked up", "muted")]
    else:
        by = f" by {safe_line(row.answered_by, 64)}" if row.answered_by else ""
        said = f": {safe_line(row.reason, 120)}" if row.reason else ""
        facts.append((f"{verdict_word(row.kind, row.state)}{by}{said}", state.tone))
    facts += [(f"‼ {', '.join(odd)}", "alert")] if odd else []
    return _row(drawing, sign, title, end, word=word, who=row.asker, facts=facts)


def kind_word(kind: RequestKind) -> str:
    """The kind of a request in a word, as the lists say it."""
    need = need_of(kind)
    return NEEDS[need].word if need is not Need.MESSAGE else str(kind).upper()


def verdict_word(kind: object, state: object) -> str:
    """What was decided: a question is answered, an agent agrees or refuses to stop, else approved or rejected."""
    if kind in (RequestKind.QUESTION, RequestKind.CLARIFICATION) and state == RequestState.APPROVED:
        return "answered"
    if kind == RequestKind.SHUTDOWN and state in (RequestState.APPROVED, RequestState.REJECTED):
        return "agreed to stop" if state == RequestState.APPROVED else "refused to stop"
    return str(state)


# A decision in the ledger: what was decided, by whom, on what, and what proves it.

PROOFS: Mapping[Proof, Sign] = {
    Proof.SIGNED: Sign("✓", "signed", "good"),
    Proof.RECORDED: Sign("·", "recorded", "muted"),
    Proof.UNVERIFIED: Sign("‼", "unverified", "alert"),
    Proof.NOT_KNOWN: Sign("?", "proof not known", "warn"),
}
"""What vouches for a decision. Only a signature is marked as good: a trail can be written anew by whoever owns it."""
_VERDICTS = {"approved": ("✓", "good"), "rejected": ("✗", "bad")}


def decision_lines(decision: Decision, drawing: Drawing) -> tuple[Line, ...]:
    """Verdict, agent, kind and what; below them by whom, when, the words and the proof."""
    glyph, tone = _VERDICTS.get(decision.verdict, ("·", ""))
    proof = PROOFS[decision.proof]
    verdict = verdict_word(decision.kind, safe_line(decision.verdict, 20))
    what = safe_line(decision.title, 300) or f"request {safe_line(decision.request_id, 120)}"
    title: Line = ((f"{verdict} ", tone), (f"{safe_line(decision.kind, 20)}: ", "muted"), (what, ""))
    end = age_column(decision.at, drawing)
    when = clock_time(decision.at, drawing.now) if decision.at is not None else "when not known"
    facts: list[Part] = [(f"by {safe_line(decision.by, 64)} {when}", "muted"), (proof.word, proof.tone)]
    if decision.words:
        facts.insert(1, (f"“{safe_line(decision.words, 300)}”", "muted"))
    if drawing.lines == 1:
        word = f" {proof.word}" if drawing.width >= _WORDY else ""
        end = ((f"  {proof.glyph}{word}", proof.tone), *end)
    return _row(drawing, Sign(glyph, verdict, tone), title, end, who=decision.asked_by or decision.by, facts=facts)


def finding_lines(problem: Problem, drawing: Drawing) -> tuple[Line, ...]:
    """What is the matter, and below it the next step."""
    sign = SEVERITIES.get(problem.severity, Sign("·", safe_line(problem.severity, 10)))
    below = safe_line(problem.hint or problem.place, 200)
    return _row(drawing, sign, ((safe_line(problem.message, 400), ""),), (), facts=[(below, "muted")])


# A message in a list: whether it was read, how urgent it is, the other side, the summary, its age.

_WHEN = 8
_MINUTE, _SECONDS = 16, 19
"""Characters of a moment to its minute and to its seconds."""
_MESSAGES_VERDICT = re.compile(r"\w+(?: (?:approved|rejected)|已批准|被拒绝)(?:: |：|\Z)")
"""What the summary of a verdict begins with, which its own words say already."""
_PLAIN = frozenset({"message", "broadcast"})
_MANY = 3
"""Recipients from which on their number is told, since their names have no room."""


def inbox_lines(message: Message, drawing: Drawing, *, asked: str = "", other: str = "") -> tuple[Line, ...]:
    """A message as its recipient sees it: who wrote it and what about; unread ones stand out.

    Args:
        asked: The title of the request that it decides, safe text.
        other: Whom to name in place of its sender.
    """
    unread = message.status != Status.READ
    status, priority = status_sign(message), priority_sign(message)
    # While it is unread both signs have the ink of what is more urgent: one look tells.
    urgent = next((tone for tone in ("bad", "warn") if tone in (status.tone, priority.tone)), "") if unread else ""
    sign = Sign(f"{status.glyph}{priority.glyph}", "", urgent or status.tone)
    title = decision_words(message, asked) or ((title_of(message), "strong" if unread else "muted"),)
    facts = [(kind_name(message), "muted")] if kind_name(message) else []
    end = age_column(message.created_at, drawing)
    return _row(drawing, sign, title, end, who=other or message.sender, facts=facts)


def history_lines(message: Message, drawing: Drawing, *, asked: str = "") -> tuple[Line, ...]:
    """A message of the past: when, what, from whom to whom; `asked` is the title of the request that it decides."""
    to = ", ".join(message.recipients) if len(message.recipients) < _MANY else f"{len(message.recipients)} agents"
    status, size = status_sign(message), min(44, max(16, drawing.width // 4))
    # Only what went wrong stands out here.
    tone = "muted" if status.tone == "open" else status.tone
    moment = message.created_at
    when = f"{moment.astimezone():%H:%M:%S}" if moment is not None else "–"
    time: Line = ((pad(when, _WHEN) + "  ", "muted"),) if drawing.shows("time") else ()
    if drawing.lines > 1:
        what = decision_words(message, asked) or ((title_of(message), ""),)
        named = f"{safe_line(message.sender, 64)} → {safe_line(to, 400)}"
        kind = f" · {kind_name(message)}" if drawing.shows("kind") and kind_name(message) else ""
        indent = " " * (width_of(time) + 2)
        return (*time, (f"{status.glyph} ", tone), *what), ((indent, ""), (named + kind, "muted"))
    # One column of both names: where one is short, the other is seen whole.
    sender = crop(safe_line(message.sender, 64), max(size // 2, size - 3 - width_of(((to, ""),))))
    parties: Line = ((pad(f"{sender} → {safe_line(to, 200)}", size), ""),)
    room = drawing.width - size - 15
    what = decision_words(message, asked) or summary_parts(message, "", room, kind=drawing.shows("kind"))
    return ((*time, (status.glyph + " ", tone), *parties, ("  ", ""), *what),)


def day_of(message: Message) -> str:
    """The local date of a message, as `2026-02-24`; the key of the heading it stands below."""
    text = message.created
    return _local_day(text[:_MINUTE], text[_SECONDS:].lstrip(".0123456789"))


@lru_cache(maxsize=4096)
def _local_day(minute: str, zone: str) -> str:
    """Remembered per minute: every message of a long history is asked at each showing."""
    moment = from_text(f"{minute}:00{zone}")
    return f"{moment.astimezone():%Y-%m-%d}" if moment is not None else ""


def day_line(below: tuple[Message, ...], drawing: Drawing) -> Line:
    """The heading of a day, with its distance from today where that has a name."""
    day = below[0].created_at
    if day is None:
        return (("at an unknown time", "muted"),)
    local, today = day.astimezone().date(), drawing.now.astimezone().date()
    near = {0: "today", 1: "yesterday"}.get((today - local).days, "")
    words = f"── {near + ' · ' if near else ''}{local:%A %Y-%m-%d} "
    return (words, "muted"), ("─" * (drawing.width - len(words)), "faint")


def decision_words(message: Message, asked: str = "") -> Line:
    """What a verdict decided, in words: why, else on what it is; empty for every other message."""
    read = parse_message(message)
    if read.answers is None or read.approve is None:
        return ()
    state = RequestState.APPROVED if read.approve else RequestState.REJECTED
    glyph, tone = _VERDICTS[str(state)]
    verdict = verdict_word(read.answers, state)
    title = _MESSAGES_VERDICT.sub("", title_of(message))
    said = reason_of(message) or asked or (title if title != read.name else "")
    kind = f" {read.answers}" if verdict == str(state) else ""
    return (f"{glyph} {verdict}", tone), (kind, "muted"), (f": {safe_line(said, 300)}" if said else "", "")


def summary_parts(message: Message, tone: str, room: int, *, kind: bool = True) -> Line:
    """The summary, and behind it the kind where it says something more and has room as a whole."""
    name, title = kind_name(message), title_of(message)
    behind: Line = ((f"  {name}", "muted"),) if kind and name and name not in title else ()
    line: Line = ((title, tone), *behind)
    return line if width_of(line) <= room else line[:1]


def kind_name(message: Message) -> str:
    """The kind in plain words, as safe text; empty for a plain message or broadcast."""
    name = message.type if message.type not in _PLAIN else parse_message(message).name
    return "" if name in _PLAIN else safe_line(name, 48).replace("_", " ").lower()


def title_of(message: Message) -> str:
    """What it is about, as safe text; the same in every mode."""
    return safe_line(message_title(message), 400)


# A message on its way out: state, recipient, what it is, tries made, and the error or the next try.


def delivery_lines(row: DeliveryRow, drawing: Drawing) -> tuple[Line, ...]:
    """State, recipient and what it is; below them the tries, what follows and the error."""
    sign, is_bad = DELIVERIES[row.state], row.state is DeliveryState.FAILED
    title: Line = ((title_of(row.message), "strong" if is_bad else ""),)
    facts: list[Part] = []
    if row.attempts and row.state is not DeliveryState.DELIVERED:
        facts.append((f"{row.attempts} of {row.max_attempts} tries", "muted"))
    if row.next_attempt_at is not None:
        wait = (row.next_attempt_at - drawing.now).total_seconds()
        facts.append((f"next in {span(wait)}" if wait > 0 else "next try is due", "muted"))
    facts += [(safe_line(row.error, 160), "bad" if is_bad else "warn")] if row.error else []
    facts += [(kind_name(row.message), "muted")] if kind_name(row.message) else []
    end = age_column(row.message.created_at, drawing)
    if drawing.lines == 1 and facts and row.state is not DeliveryState.DELIVERED:
        end = ((f"  {facts[0][0]}", facts[0][1]), *end) if drawing.width >= _WORDY else end
    return _row(drawing, sign, title, end, word=sign.word.upper(), who=row.recipient, facts=facts)


# An agent in the roster: its state, and what waits in its inbox.

_SAID = {AgentState.WAITING: "waits for the answer to ", AgentState.UNKNOWN: "has not written yet"}
"""What a reason begins with that the word for the state says already."""
_ROSTER_WITH_STATE = 34
"""Cells from which on the word for the state has a column."""
_ROSTER_STATE = 13
_LEAST_NAME = 8


def roster_lines(row: RosterRow, drawing: Drawing, sign: Sign) -> tuple[Line, ...]:
    """One line with name, state where it has room, and unread count; a second one with state and reason."""
    end: Line = (("         ", ""),)
    if row.unread:
        end = ((f" {row.unread:>3,}", "strong"), (f" {age(row.oldest_unread, drawing.now):>4}", "muted"))
    mark = " look-alike" if row.looks_like else " no name" if not row.is_addressable else " stranger"
    stranger: Line = ((mark, "warn"),) if row.stranger or mark != " stranger" else ()
    style = "strong" if row.unread else ""
    if drawing.lines > 1:
        name = ((f"{sign.glyph} ", sign.tone), (safe_line(row.name, 64), style))
        below: Line = (("  ", ""), *state_parts(row, sign))
        return spread(name, stranger, drawing.width), spread(below, end if row.unread else (), drawing.width)
    has_word = drawing.width >= _ROSTER_WITH_STATE
    state: Line = ((f" {pad(sign.word, _ROSTER_STATE)}", sign.tone),) if has_word else ()
    size = max(_LEAST_NAME, drawing.width - 2 - width_of((*end, *state, *stranger)))
    name = ((f"{sign.glyph} ", sign.tone), (pad(safe_line(row.name, 64), size), style))
    return (spread((*name, *stranger, *state), end, drawing.width),)


def state_parts(row: RosterRow, sign: Sign) -> Line:
    """The word for its state, and of the reason what that word does not say."""
    reason = safe_line(row.reason, 120).removeprefix(_SAID.get(row.state, ""))
    if sign.word.startswith("waits for"):
        reason = reason.partition(" waits for ")[0]
    more = [text for text in (reason, f"{row.dropped} in drop/" if row.dropped else "") if text]
    return ((sign.word, sign.tone), ("".join(f" · {text}" for text in more), "muted"))


# Batches in the sprint list, and below each the agents at work on it with the step they are at.

STEPS = 11
_LEAST, _MOST = 8, 24
"""Cells of a bar."""
_WITH_BAR = 70
"""Cells from which on the steps of an agent have a bar, too."""
_STROKES = (
    (StoryState.DONE, DONE),
    (StoryState.FAILED, FAILED),
    (StoryState.RUNNING, RUNNING),
    (StoryState.OPEN, OPEN),
)


class SessionRow(Struct, frozen=True):
    """The head above the batches of one session, where there are several."""

    session_id: str
    batches: tuple[Batch, ...]

    def count(self, state: StoryState) -> int:
        """How many stories are in `state`."""
        return sum(batch.count(state) for batch in self.batches)

    @property
    def total(self) -> int:
        """How many stories it has."""
        return sum(len(batch.stories) for batch in self.batches)


SprintRow = SessionRow | Batch | Lifecycle


def sprint_lines(row: SprintRow, drawing: Drawing) -> tuple[Line, ...]:
    """A session with its stories counted, a batch with its progress, or an agent with the step it is at."""
    if isinstance(row, SessionRow):
        return _session(row, drawing)
    return _batch(row, drawing) if isinstance(row, Batch) else _life(row, drawing)


def _session(row: SessionRow, drawing: Drawing) -> tuple[Line, ...]:
    failed = row.count(StoryState.FAILED)
    end: Line = ((f"  {failed} failed ", "bad"),) if failed else ()
    stories = f"  {row.count(StoryState.DONE)}/{row.total}"
    first = spread(
        (("session ", "muted"), (safe_line(row.session_id, 64), "strong"), (stories, "")), end, drawing.width
    )
    return (first,) if drawing.lines == 1 else (first, ((f"  {counted(len(row.batches), 'batch')}", "muted"),))


def progress(batch: Batch, width: int) -> Line:
    """A bar of `width` cells: done, failed, running, open, each in its own stroke."""
    return progress_bar(width, [(stroke, batch.count(state)) for state, stroke in _STROKES], len(batch.stories))


def last_step(life: Lifecycle) -> Step | None:
    """The highest step that was seen; None before the first."""
    seen = [step for step in life.steps if step.at is not None]
    return max(seen, key=lambda step: step.number, default=None)


def trouble_of(life: Lifecycle) -> str:
    """What departs from the order of steps, in words; empty when nothing does."""
    words = (("missing", life.missing), ("out of order", life.out_of_order), ("twice", life.doubled))
    return ", ".join(f"{_named(steps)} {word}" for word, steps in words if steps)


def _named(steps: Sequence[int]) -> str:
    """`step 3`, `steps 3 and 4`, `steps 1, 3 and 4`."""
    *before, last = map(str, steps)
    return f"steps {', '.join(before)} and {last}" if before else f"step {last}"


def _widths(drawing: Drawing) -> tuple[int, int]:
    """Cells of a name and of a bar; the same for batches and agents, so that bars stand below each other."""
    return max(10, min(26, drawing.width // 3 - 1)), max(_LEAST, min(_MOST, drawing.width // 7))


def _batch(batch: Batch, drawing: Drawing) -> tuple[Line, ...]:
    name, bar = _widths(drawing)
    done, total, failed = batch.count(StoryState.DONE), len(batch.stories), batch.count(StoryState.FAILED)
    label = f"{safe_line(batch.batch_id, 24)} · {safe_line(batch.slave, 64) or 'no agent yet'}"
    sign: Part = ("✗ ", "bad") if failed else ("✓ ", "good") if batch.complete else ("▣ ", "muted")
    head: Line = (sign, (pad(label, name + 2) + "  ", ""), *progress(batch, bar), (f" {done}/{total}", ""))
    words = f"{failed} failed " if failed else "complete " if batch.complete else ""
    end: Line = ((f"  {words}", "bad" if failed else "good"),) if words else ()
    stories = _stories(batch, drawing.width - width_of((*head, *end)) - 2)
    first = spread((*head, ("  ", ""), *stories), end, drawing.width)
    return (first,) if drawing.lines == 1 else (first, (("  ", ""), *_stories(batch, drawing.width)))


def _stories(batch: Batch, room: int) -> Line:
    """Each story with its sign, those that failed first; closer to each other where there is little room."""
    rank = {StoryState.FAILED: 0, StoryState.RUNNING: 1}
    stories = sorted(batch.stories, key=lambda story: rank.get(story.state, 2))
    named = [
        (f"{safe_line(story.key, 16)} {STORIES[story.state].glyph}", STORIES[story.state].tone) for story in stories
    ]
    apart = "  " if width_of(tuple(named)) + 2 * len(named) <= room else " "
    return tuple((f"{apart if order else ''}{text}", tone) for order, (text, tone) in enumerate(named))


def _life(life: Lifecycle, drawing: Drawing) -> tuple[Line, ...]:
    name, bar = _widths(drawing)
    step, trouble = last_step(life), trouble_of(life)
    number = step.number if step is not None else 0
    sign: Part = ("‼ ", "warn") if trouble else ("■ ", "faint") if life.ended else ("● ", "good")
    tone = "muted" if life.ended else ""
    stroke = FAILED if life.missing else DONE if life.ended else RUNNING
    head: Line = (("  ", ""), sign, (pad(safe_line(life.agent, 64), name) + "  ", tone))
    if drawing.width >= _WITH_BAR:
        head = (*head, *progress_bar(bar, ((stroke, number),), STEPS), (" ", ""))
    words = f"step {number} of {STEPS}" + (f": {safe_line(step.title, 60)}" if step is not None else "")
    end = age_column(step.at, drawing) if step is not None else ()
    told: Line = ((trouble, "warn"), (f" · {words}", "muted")) if trouble else ((words, tone or "muted"),)
    first = spread((*head, *told), end, drawing.width)
    if drawing.lines == 1:
        return (first,)
    return first, ((f"    for {safe_line(life.slave, 64) or 'nobody known'}", "muted"),)
