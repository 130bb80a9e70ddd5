"""Rows of the lists, one renderer a kind."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from msgspec import Struct
from team_console.store.model.clock import from_text
from team_console.store.model.errors import Problem
from team_console.store.model.message import Message, Status
from team_console.store.model.safe import counted, safe_line
from team_console.store.protocol.parsing import parse_message
from team_console.store.views.decisions import Decision, Proof
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
from team_console.store.views.titles import message_title, reason_of
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
    pad,
    pad_name,
    progress_bar,
    span,
    spread,
    width_of,
)

_TAG = 8
_WORDY = 84
"""Cells from which on the word of the sign has room beside the title."""
_INDENT = ("  ", "")
_QUIET = frozenset({Need.MESSAGE})
"""Needs that nothing is to be decided about."""


def attention_lines(item: ActionItem, drawing: Drawing) -> tuple[Line, ...]:
    """Sign, who and title on one line; on two the title has the first to itself."""
    sign = NEEDS[item.need]
    mark: Line = ((f"{sign.glyph} ", sign.tone),)
    title: Line = ((safe_line(item.title, 400), "" if item.need in _QUIET else "strong"),)
    if drawing.lines == 2:
        return spread((*mark, *title), _age(item, drawing), drawing.width), (_INDENT, *_below(item))
    word: Line = ((pad(sign.word, _TAG) + " ", sign.tone),) if _has_word(drawing) else ()
    who: Line = ()
    if drawing.shows("agent"):
        who = ((drawing.name(item.who, drawing.name_width()) + "  ", ""),)
    return (spread((*mark, *word, *who, *title), _age(item, drawing), drawing.width),)


def _has_word(drawing: Drawing) -> bool:
    return drawing.width >= _WORDY and drawing.shows("kind")


def lateness(item: ActionItem, drawing: Drawing) -> str:
    """The tone of its age: amber once it is late, red when it waits twice as long as it should."""
    request = item.request
    if request is None or request.due_at is None or request.asked_at is None or not request.is_open:
        return "muted"
    late = (drawing.now - request.due_at).total_seconds()
    if late <= 0:
        return "muted"
    return "alarm" if late >= (request.due_at - request.asked_at).total_seconds() else "alert"


def _age(item: ActionItem, drawing: Drawing) -> Line:
    tone = lateness(item, drawing)
    return age_column(item.since, drawing, tone=tone, sign=" " if tone == "muted" else "◷")


def _below(item: ActionItem) -> Line:
    sign, why = NEEDS[item.need], safe_line(item.why, 200)
    return (
        (sign.word, sign.tone),
        (" · ", "muted"),
        (safe_line(item.who, 64), ""),
        (f" · {why}" if why else "", "muted"),
    )


# A decision in the ledger: what was decided, by whom, on what, and what proves it.

PROOFS: Mapping[Proof, Sign] = {
    Proof.SIGNED: Sign("✓", "signed", "good"),
    Proof.RECORDED: Sign("·", "recorded", "muted"),
    Proof.UNVERIFIED: Sign("‼", "unverified", "alert"),
    Proof.NOT_KNOWN: Sign("?", "proof not known", "warn"),
}
"""What vouches for a decision. Only a signature is marked as good: a trail can be written anew by whoever owns it."""
_VERDICTS = {"approved": ("✓ ", "good"), "rejected": ("✗ ", "bad")}
_VERDICT, _KIND = 9, 13
_WITH_WORDS = 90
"""Cells from which on verdict, kind and proof have their words beside the title; before that their signs."""


def decision_lines(decision: Decision, drawing: Drawing) -> tuple[Line, ...]:
    """Verdict, who, kind and what on one line; the words and the proof on the second."""
    verdict = safe_line(decision.verdict, _VERDICT)
    glyph, tone = _VERDICTS.get(decision.verdict, ("· ", ""))
    sign = PROOFS[decision.proof]
    word = f"{pad(verdict, _VERDICT)} " if drawing.lines == 2 or drawing.width >= _WITH_WORDS else ""
    head: Line = ((glyph, tone), (word, tone), (drawing.name(decision.by, drawing.name_width()), ""), ("  ", ""))
    what = safe_line(decision.title, 300) or f"request {safe_line(decision.request_id, 120)}"
    when = clock_time(decision.at, drawing.now) if decision.at is not None else "when not known"
    kind: Line = ((pad(safe_line(decision.kind, _KIND), _KIND), "muted"), (" ", ""))
    proof: Line = ((f"  {sign.glyph} {sign.word}", sign.tone),)
    since = age_column(decision.at, drawing)
    if drawing.lines == 1 and drawing.width >= _WITH_WORDS:
        return (spread((*head, *kind, (what, "")), (*proof, *since), drawing.width),)
    if drawing.lines == 1:
        return (spread((*head, (what, "")), ((f"  {sign.glyph}", sign.tone), *since), drawing.width),)
    words = safe_line(decision.words, 300)
    below: Line = (("  ", ""), (f"{when} ", "muted"), *kind, (f"“{words}”" if words else "no words", "muted"))
    return spread((*head, (what, "")), proof, drawing.width), below


# A finding in the health list: how bad, which code, where, what.

_WITH_CODE = 84
"""Cells from which on the code has room beside the sentence."""


def finding_lines(problem: Problem, drawing: Drawing) -> tuple[Line, ...]:
    """Severity and sentence, below them code and place; on one line the code where there is room."""
    sign = SEVERITIES.get(problem.severity, Sign("·", safe_line(problem.severity, 10)))
    mark: Line = ((f"{sign.glyph} ", sign.tone),)
    code, message = safe_line(problem.code, 32), safe_line(problem.message, 400)
    if drawing.lines == 1:
        named: Line = ((f"{code} ", sign.tone),) if drawing.width >= _WITH_CODE else ()
        return ((*mark, *named, (message, "")),)
    return (*mark, (message, "")), (("  ", ""), (code, sign.tone), (f" · {safe_line(problem.place, 200)}", "muted"))


# A message in a list: whether it was read, how urgent it is, the other side, the summary, its age.

_WHEN = 8
_MINUTE, _SECONDS = 16, 19
"""Characters of a moment to its minute and to its seconds."""
_MESSAGES_VERDICT = re.compile(r"\w+(?: (?:approved|rejected)|已批准|被拒绝)(?:: |：|\Z)")
"""What the summary of a verdict begins with, which its own words say already."""
_PLAIN = frozenset({"message", "broadcast"})
_MANY = 3
"""Recipients from which on their number is told, since their names have no room."""
_BROAD = 100
"""Cells of a row of the past from which on there is room for whole names beside whole titles."""


def inbox_lines(message: Message, drawing: Drawing, *, asked: str = "") -> tuple[Line, ...]:
    """A message as its recipient sees it: who wrote it and what about; unread ones stand out.

    Args:
        asked: The title of the request that it decides, safe text.
    """
    unread = message.status != Status.READ
    signs = _signs(message, unread=unread)
    sender = safe_line(message.sender, 64)
    if drawing.lines == 2:
        text: Line = ((title_of(message), "strong" if unread else "muted"),)
        kind = kind_name(message)
        below: Line = (("   ", ""), (sender, "" if unread else "muted"), (f" · {kind}" if kind else "", "muted"))
        return spread((*signs, *text), _messages_age(message, drawing), drawing.width), below
    who, tone = drawing.name_width(), "strong" if unread else "muted"
    name: Line = ((drawing.name(message.sender, who) + "  ", tone),) if drawing.shows("agent") else ()
    room = drawing.width - who - 10
    what = decision_words(message, asked) or summary_parts(message, tone, room, kind=drawing.shows("kind"))
    head = (*signs, *name, *what)
    return (spread(head, _messages_age(message, drawing), drawing.width),)


def _signs(message: Message, *, unread: bool) -> Line:
    """State and priority. While it is unread both have the ink of what is more urgent: one look tells, and one ink."""
    status, priority = status_sign(message), priority_sign(message)
    urgent = next((tone for tone in ("bad", "warn") if tone in (status.tone, priority.tone)), "") if unread else ""
    return (status.glyph, urgent or status.tone), (priority.glyph + " ", urgent or priority.tone)


def history_lines(message: Message, drawing: Drawing, *, asked: str = "") -> tuple[Line, ...]:
    """A message of the past: when, from whom to whom, what; `asked` is the title of the request that it decides.

    Where there is little room, names have their short forms, which leaves the title whole, and rows are of one ink:
    there a switch to this list is nearly all of the screen, on what is often a slow line.
    """
    is_narrow = drawing.width < _BROAD
    name, quiet = (9, "") if is_narrow else (min(20, drawing.width // 6), "muted")
    to = ", ".join(message.recipients) if len(message.recipients) < _MANY else f"{len(message.recipients)} agents"
    status = status_sign(message)
    time: Line = ((pad(_when(message), _WHEN) + "  ", quiet),) if drawing.shows("time") else ()
    parties: Line = ((drawing.name(message.sender, name), ""), (" → ", ""), (drawing.name(to, name), ""))
    decided = decision_words(message, asked)
    what = decided or summary_parts(message, "", drawing.width - 2 * name - 18, kind=drawing.shows("kind"))
    # Only what went wrong stands out here: each ink of a row costs a slow line more than a word does.
    tone = quiet if status.tone == "open" else status.tone
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
    if drawing.width < _BROAD:
        return ((f"{words}──", "muted"),)
    return (words, "muted"), ("─" * (drawing.width - len(words)), "faint")


def decision_words(message: Message, asked: str = "") -> Line:
    """What a verdict decided, in words: why, else on what it is; empty for every other message."""
    read = parse_message(message)
    if read.answers is None or read.approve is None:
        return ()
    word, tone = ("✓ approved", "good") if read.approve else ("✗ rejected", "bad")
    title = _MESSAGES_VERDICT.sub("", title_of(message))
    said = reason_of(message) or asked or (title if title != read.name else "")
    return (word, tone), (f" {read.answers}", "muted"), (f": {safe_line(said, 300)}" if said else "", "")


def _when(message: Message) -> str:
    """The local time; the day stands in the heading above."""
    moment = message.created_at
    return f"{moment.astimezone():%H:%M:%S}" if moment is not None else "–"


def summary_parts(message: Message, tone: str, room: int, *, kind: bool = True) -> Line:
    """The summary, and behind it the kind where it says something more and has room as a whole."""
    name, title = kind_name(message), title_of(message)
    behind: Line = ((f"  {name}", "muted"),) if kind and name and name not in title else ()
    line: Line = ((title, tone), *behind)
    return line if width_of(line) <= room else line[:1]


def kind_name(message: Message) -> str:
    """The kind, as safe text; empty for a plain message or broadcast."""
    name = message.type if message.type not in _PLAIN else parse_message(message).name
    return "" if name in _PLAIN else safe_line(name, 48)


def title_of(message: Message) -> str:
    """What it is about, as safe text; the same in every mode."""
    return safe_line(message_title(message), 400)


def _messages_age(message: Message, drawing: Drawing) -> Line:
    return age_column(message.created_at, drawing)


# A message on its way out: state, recipient, what it is, tries made, and the error or the next try.

_STATE = 9
_WITH_STATE = 50
"""Cells from which on the word for the state has room beside the title."""


def delivery_lines(row: DeliveryRow, drawing: Drawing) -> tuple[Line, ...]:
    """State, recipient and what it is; with two lines the recipient stands below, beside the tries and what follows."""
    sign = DELIVERIES[row.state]
    tone = "strong" if row.state is DeliveryState.FAILED else ""
    when = age_column(row.message.created_at, drawing)
    recipient = safe_line(row.recipient, 64)
    is_wordy = drawing.lines == 2 or (drawing.width >= _WITH_STATE and drawing.shows("state"))
    state: Line = ((f"{sign.glyph} {pad(sign.word, _STATE) + ' ' if is_wordy else ''}", sign.tone),)
    if drawing.lines == 2:
        return spread((*state, (title_of(row.message), tone)), when, drawing.width), _deliveries_below(
            row, recipient, drawing
        )
    size = drawing.name_width(5)
    who: Line = ((drawing.name(row.recipient, size) + "  ", ""),) if drawing.shows("agent") else ()
    what = summary_parts(row.message, tone, drawing.width - size - 22, kind=drawing.shows("kind"))
    return (spread((*state, *who, *what), (*_tries(row), *when), drawing.width),)


def _tries(row: DeliveryRow) -> Line:
    return ((f"  ↻{row.attempts}/{row.max_attempts}", "muted"),) if row.attempts else ()


def _deliveries_below(row: DeliveryRow, recipient: str, drawing: Drawing) -> Line:
    tries = f" · {row.attempts} of {row.max_attempts} tries" if row.attempts else ""
    nexts = ""
    if row.next_attempt_at is not None:
        wait = (row.next_attempt_at - drawing.now).total_seconds()
        nexts = f" · next in {span(wait)}" if wait > 0 else " · next try is due"
    error = f" · {safe_line(row.error, 160)}" if row.error else ""
    kind = kind_name(row.message)
    tone = "bad" if row.state is DeliveryState.FAILED else "warn"
    return (
        (" " * (_STATE + 3), ""),
        ("→ ", "faint"),
        (recipient, ""),
        (tries + nexts, "muted"),
        (error, tone),
        (f" · {kind}" if kind else "", "muted"),
    )


# A request in the ledger: what is asked, by whom of whom, where it stands and since when.

_REQUESTS_STATE, _REQUESTS_KIND = 10, 13
_REQUESTS_WITH_STATE, _WITH_KIND = 50, 90
"""Cells from which on the word for the state has room beside the title, and the kind has a column of its own."""
_ODD = frozenset(
    {Flag.CONTRADICTORY, Flag.UNAUTHORISED, Flag.ANSWERED_TWICE, Flag.STILL_ALIVE, Flag.DAMAGED, Flag.FORGED}
)


def request_lines(row: RequestRow, drawing: Drawing) -> tuple[Line, ...]:
    """State, kind, asker and title on one line; on two the title has the first to itself."""
    sign = REQUESTS[row.state]
    tone = "strong" if row.is_open else "muted"
    title: Line = ((safe_line(row.title, 400), tone),)
    if drawing.lines == 2:
        state: Line = ((f"{sign.glyph} {pad(sign.word, _REQUESTS_STATE)} ", sign.tone),)
        return spread((*state, *title), _since(row, drawing), drawing.width), _requests_below(row)
    if drawing.width < _WITH_KIND and drawing.shows("kind"):
        title = ((f"{row.kind} ", "muted"), *title)
    end = (*_odd(row, short=True), *_since(row, drawing))
    return (spread((*_state(row, drawing), *_kind(row, drawing), *_asker(row, drawing), *title), end, drawing.width),)


def _state(row: RequestRow, drawing: Drawing) -> Line:
    sign = REQUESTS[row.state]
    word = (
        f"{pad(sign.word, _REQUESTS_STATE)} "
        if drawing.width >= _REQUESTS_WITH_STATE and drawing.shows("state")
        else ""
    )
    return ((f"{sign.glyph} {word}", sign.tone),)


def _kind(row: RequestRow, drawing: Drawing) -> Line:
    if drawing.width < _WITH_KIND or not drawing.shows("kind"):
        return ()
    return ((pad(str(row.kind), _REQUESTS_KIND) + " ", "muted"),)


def _asker(row: RequestRow, drawing: Drawing) -> Line:
    if not drawing.shows("agent"):
        return ()
    return ((drawing.name(row.asker, drawing.name_width(5)) + "  ", "" if row.is_open else "muted"),)


def _since(row: RequestRow, drawing: Drawing) -> Line:
    is_late = row.state is RequestState.OVERDUE
    since = row.answered_at or row.asked_at
    return age_column(since, drawing, tone="alert" if is_late else "muted", sign="◷" if is_late else " ")


def _requests_below(row: RequestRow) -> Line:
    parties = f" · {safe_line(row.asker, 64)} → {safe_line(row.addressee, 64)}"
    kind: Line = ((" " * (_REQUESTS_STATE + 3), ""), (str(row.kind), "muted"), (parties, "muted"))
    if row.is_open:
        seen = "" if row.seen_at else " · not read yet"
        return (*kind, *_odd(row), (seen, "muted"))
    reason = f" · {safe_line(row.reason, 120)}" if row.reason else ""
    return (*kind, *_odd(row), (reason, "muted"))


def _odd(row: RequestRow, *, short: bool = False) -> Line:
    odd = [str(flag) for flag in row.flags if flag in _ODD]
    if not odd:
        return ()
    return ((" ‼", "alert"),) if short else ((" ‼ " + ", ".join(odd), "alert"),)


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
    has_word = drawing.lines == 1 and drawing.width >= _ROSTER_WITH_STATE
    state: Line = ((f" {pad(sign.word, _ROSTER_STATE)}", sign.tone),) if has_word else ()
    room = drawing.width - 2 - width_of((*end, *state))
    size = max(_LEAST_NAME, room - width_of(stranger))
    name: Line = ((sign.glyph + " ", sign.tone), (drawing.name(row.name, size), "strong" if row.unread else ""))
    first = spread((*name, *stranger, *state), end, drawing.width)
    return (first,) if drawing.lines == 1 else (first, (("  ", ""), *state_parts(row, sign)))


def state_parts(row: RosterRow, sign: Sign) -> Line:
    """The word for its state, and of the reason what that word does not say."""
    reason = safe_line(row.reason, 120).removeprefix(_SAID.get(row.state, ""))
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
    head: Line = (sign, (pad_name(label, name + 2) + "  ", ""), *progress(batch, bar), (f" {done}/{total}", ""))
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
    head: Line = (("  ", ""), sign, (drawing.name(life.agent, name) + "  ", tone))
    if drawing.width >= _WITH_BAR:
        head = (*head, *progress_bar(bar, ((stroke, number),), STEPS), (" ", ""))
    words = f"step {number} of {STEPS}" + (f": {safe_line(step.title, 60)}" if step is not None else "")
    end = age_column(step.at, drawing) if step is not None else ()
    told: Line = ((trouble, "warn"), (f" · {words}", "muted")) if trouble else ((words, tone or "muted"),)
    first = spread((*head, *told), end, drawing.width)
    if drawing.lines == 1:
        return (first,)
    return first, ((f"    for {safe_line(life.slave, 64) or 'nobody known'}", "muted"),)
