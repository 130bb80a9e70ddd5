"""Words of the console: states, tabs, titles and toasts."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace
from team_console.console.preferences import Sort, properties_of
from team_console.console.selection import PLACES, Mode
from team_console.console.tui.reader import ReadResult
from team_console.store.contract.team import Snapshot, WatchHint, WatchState
from team_console.store.model.clock import from_text
from team_console.store.model.errors import Problem, TeamError
from team_console.store.model.message import Message, Status
from team_console.store.model.names import USER, is_name
from team_console.store.model.safe import first_of, safe_line, safe_text
from team_console.store.protocol.kinds import RequestKind
from team_console.store.protocol.parsing import parse_message
from team_console.store.service.caller import Receipt
from team_console.store.views.digest import Digest, DigestGroup, group_head, happening_line
from team_console.store.views.needs import to_do
from team_console.store.views.rows import (
    ActionItem,
    AgentState,
    DeliveryRow,
    RequestRow,
    RequestState,
    RosterRow,
    StoryState,
    View,
)
from team_console.store.views.status import Looks, Reason, State, StoreStatus, assess, holder_words
from team_console.widgets import bars as pulses
from team_console.widgets.bars import Notice, Pulse, Tab
from team_console.widgets.document import CANNOT_BE_SHOWN, Document, Lines
from team_console.widgets.form import UNSURE, Stopped
from team_console.widgets.request_documents import newer_words, newest_version
from team_console.widgets.signs import REQUESTS
from team_console.widgets.text import Line, clock_time, pad, span

GONE = "✗ it is gone from the queue"
NO_LONGER = "✓ it no longer waits here"


def row_now(asked: RequestRow, view: View | None) -> RequestRow | None:
    """Return the request as it stands in `view`; None when it is not there."""
    rows = view.requests if view is not None else ()
    return next((row for row in rows if row.key == asked.key), None)


def asked_title(view: View | None, message: Message) -> str:
    """Return the title of the request that `message` decides, safe text; empty for others and for an agent that
    stops.
    """
    read = parse_message(message)
    if view is None or read.request_id is None or read.answers in (None, RequestKind.SHUTDOWN):
        return ""
    return safe_line(next((row.title for row in view.requests if row.request_id == read.request_id), ""), 300)


def request_outcome(asked: RequestRow, view: View | None, now: datetime) -> str:
    """Return the outcome of a request that was open, as safe text; empty while it is open or nothing is known."""
    if view is None or not view.snapshot.is_known:
        return ""
    row = row_now(asked, view)
    if row is None:
        return GONE
    if row.is_open:
        return ""
    is_superseded_plan = row.state is RequestState.SUPERSEDED and row.kind is RequestKind.PLAN
    if is_superseded_plan and (newest := newest_version(row, view.requests)) is not None:
        return newer_words(row, newest, view.requests)
    sign = REQUESTS[row.state]
    when = f" {clock_time(row.withdrawn_at, now)}" if row.withdrawn_at is not None else ""
    return f"{sign.glyph} {sign.word}{when}{_why(row, now)}"


def _why(row: RequestRow, now: datetime) -> str:
    if row.state is RequestState.SUPERSEDED:
        return f": a newer {'plan' if row.kind is RequestKind.PLAN else 'request'} took its place"
    if row.state is RequestState.WITHDRAWN:
        return f": {safe_line(row.reason, 200)}" if row.reason else ""
    return f" by {safe_line(row.answered_by or 'somebody', 64)} {clock_time(row.answered_at, now)}"


# The first step, in every empty list: let an agent ask here, or start the one that can.


def first_step(situation: ScreenState, agent: str = "") -> str:
    """Return the command with which an agent joins, or with which one that joined is started, ready for a shell; empty
    where a name in it is not what can be shown of it.

    Args:
        agent: Who is to join; else one that has joined from the present folder, else the first agent there is.
    """
    agent, root = _first_agent(situation, agent), situation.root
    if situation.is_passing:
        return ""
    if program := _starts(situation).get(agent):
        return program
    if safe_line(root) != root or not is_name(agent):
        return ""
    place = f"-t {shlex.quote(root)} " if root else ""
    return f"team-console {place}join {shlex.quote(agent)} --for claude"


def first_step_lines(situation: ScreenState, agent: str = "") -> tuple[Line, ...]:
    """Return what lets an agent ask here, and the key that copies it; none where there is none."""
    command = safe_line(first_step(situation, agent), 300)
    if not command or _is_anybody_running(situation, agent):
        return ()
    copies: Line = (("Y copies  ", "muted"), (command, "code"))
    agent = _first_agent(situation, agent)
    if agent in _starts(situation):
        words = f"{safe_line(agent, 64)} has joined. Start it in this folder; its requests appear here:"
        return (), ((words, "muted"),), copies
    then = "Then start claude in this folder: its requests appear here."
    return (), (("Let your Claude Code ask here:", "muted"),), copies, ((then, "muted"),)


def _starts(situation: ScreenState) -> Mapping[str, str]:
    return situation.reading.around.starts if situation.reading is not None else {}


def _is_anybody_running(situation: ScreenState, agent: str) -> bool:
    """Return whether `agent` was heard of and is not gone; without a name whether any agent was."""
    view = situation.view
    if view is None:
        return False
    seats = {view.me, view.snapshot.config.lead, USER}
    known = (row for row in view.roster if row.is_addressable)
    running = {row.name for row in known if row.state not in (AgentState.UNKNOWN, AgentState.STOPPED)} - seats
    return agent in running if agent else bool(running)


def _first_agent(situation: ScreenState, agent: str) -> str:
    view = situation.view
    seats = {view.me, view.snapshot.config.lead, USER} if view is not None else {USER}
    names = [row.name for row in situation.roster if row.is_addressable]
    joined = [name for name in names if name in _starts(situation)]
    return next((name for name in (agent, *joined, *names, "helper") if name and name not in seats), "helper")


def no_team_lines() -> tuple[Line, ...]:
    """Return what the console says in a folder without a team: the command that makes one, and the one that shows
    one at work.
    """
    demo = (), (("See how it works first:", "muted"),), (("          ", "muted"), ("team-console demo", "code"))
    return *_words("○", "No team is here yet", ""), *first_step_lines(ScreenState()), *demo


# Says honestly what the screen shows: pulse, banner and the words of an empty list (decision D16).

_LIVE = WatchHint(WatchState.LIVE)


class ScreenState(Struct, frozen=True):
    """All that is known about how true the screen is.

    Attributes:
        reading: The last reading, None before the first.
        watch: How changes are noticed.
        progress: Records read and records in all while a long reading goes on.
        failure: What kept the store from being read at all, as a sentence.
        looked_at: When the store was last looked at.
        good_at: When what is shown was read.
        root: The team's folder, empty when it has none.
        is_passing: Whether the team is gone when the console is left, so that nobody is to join it.
    """

    reading: ReadResult | None = None
    watch: WatchHint = _LIVE
    progress: tuple[int, int] | None = None
    failure: str = ""
    looked_at: datetime | None = None
    good_at: datetime | None = None
    root: str = ""
    is_passing: bool = False

    def short(self, text: str) -> str:
        """`text` with paths inside the team's folder written from there on; the folder is named in Health."""
        return text.replace(self.root + "/", "") if self.root else text

    @property
    def view(self) -> View | None:
        """The view on the screen, as plain rows; None before the first reading and while the queue cannot be read."""
        return self.reading.view if self.reading else None

    @property
    def roster(self) -> tuple[RosterRow, ...]:
        """Every agent that is known."""
        return self.view.roster if self.view is not None else ()

    @property
    def requests(self) -> tuple[RequestRow, ...]:
        """Every request that is known."""
        return self.view.requests if self.view is not None else ()

    @property
    def is_read(self) -> bool:
        """Whether a reading was there."""
        return self.reading is not None

    @property
    def obstacle(self) -> str:
        """The reason why permissions forbid to write, as safe text; empty when they do not."""
        return safe_line(self.reading.obstacle, 300) if self.reading else ""

    @property
    def snapshot(self) -> Snapshot | None:
        """The last snapshot."""
        return self.reading.snapshot if self.reading else None


def shows_the_same(state: ScreenState, other: ScreenState) -> bool:
    """Return whether both look the same but for ages: a look that found nothing new needs no painting."""
    if state.reading is None or other.reading is None or state.view is None or other.view is None:
        return False
    mine, others = state.reading, other.reading
    around = (state.watch, state.progress, state.failure, mine.fresh, mine.obstacle, mine.around)
    if around != (other.watch, other.progress, other.failure, others.fresh, others.obstacle, others.around):
        return False
    return _alike(mine.snapshot, others.snapshot) and _alike(state.view, other.view)


_PASSING = frozenset({"now", "taken_at", "changed_at", "snapshot"})
"""Fields of views and snapshots that tell of the look itself, or change only with the revision."""


def _alike(shown: Struct, next_shown: Struct) -> bool:
    names = (name for name in shown.__struct_fields__ if name not in _PASSING)
    pairs = ((getattr(shown, name), getattr(next_shown, name)) for name in names)
    return all(before is after or before == after for before, after in pairs)


def truth_of(situation: ScreenState, now: datetime) -> StoreStatus:
    """Return the status of the store, by the judgement that the verbs use."""
    looks = Looks(situation.watch, situation.failure, situation.looked_at)
    return assess(situation.snapshot, now, looks)


_PULSES = {
    State.READING: pulses.READING,
    State.UNREADABLE: pulses.UNREADABLE,
    State.VANISHED: pulses.VANISHED,
    State.STALE: pulses.STALE,
    State.DOUBT: pulses.DOUBT,
    State.LOCKED: pulses.LOCKED,
    State.SETTINGS: pulses.SETTINGS,
    State.POLLING: pulses.POLLING,
}
_OLD = frozenset({State.UNREADABLE, State.VANISHED, State.STALE})
"""States in which what is shown is what was read before."""


def pulse_of(situation: ScreenState, now: datetime) -> Pulse:
    """Return the mark at the right end of the head."""
    truth = truth_of(situation, now)
    pulse = _PULSES.get(truth.state, pulses.LIVE)
    return _aged(pulse, situation, now) if truth.state in _OLD else pulse


def notice_of(situation: ScreenState, now: datetime) -> Notice | None:
    """Return the banner, None when there is nothing to say: the worst of what is the matter, and what it means here."""
    truth = truth_of(situation, now)
    reason = truth.reasons[0] if truth.reasons else None
    if situation.obstacle and (reason is None or reason.state is State.POLLING):
        return Notice(pulses.READ_ONLY, situation.obstacle, "Read-only: you cannot answer here. ^l checks again.")
    if reason is None:
        return None
    if not situation.is_read:
        return _reading(situation)
    place = _place_in_settings(reason, situation.snapshot)
    text = safe_line(situation.short(f"{place}: {reason.text}" if place else reason.text), 300)
    if reason.state is State.LOCKED and truth.holder is not None:
        text = safe_line(holder_words(truth.holder, clock_time(from_text(truth.holder.since), now)), 300)
    return Notice(_PULSES.get(reason.state, pulses.FOREIGN), text, _hint(situation, reason, now))


def _place_in_settings(reason: Reason, snapshot: Snapshot | None) -> str:
    """Return file and line of what is wrong with the settings; empty for another reason."""
    problems = snapshot.problems if snapshot is not None and reason.state is State.SETTINGS else ()
    return next((problem.place for problem in problems if problem.message == reason.text), "")


def _hint(situation: ScreenState, reason: Reason, now: datetime) -> str:
    """Return the next step, or what is shown meanwhile."""
    old = {
        State.UNREADABLE: "Nothing is written until it can be read again.",
        State.VANISHED: "Archives or the audit trail show that there was a queue.",
        State.STALE: "It is tried again." if situation.failure else "^l looks now.",
    }.get(reason.state)
    if old is not None:
        return _meanwhile(situation, now, old)
    if reason.state is State.LOCKED:
        return "Reading goes on; what you write waits up to 2 s for the lock."
    if reason.state is State.SETTINGS and situation.snapshot is not None and situation.snapshot.config.lost:
        return "Those before are used, and nothing is decided until this is mended; 4 says how."
    hint = situation.short(reason.hint)
    if reason.state is State.DOUBT and situation.snapshot is not None and not situation.snapshot.messages:
        hint = f"This list may be incomplete. {hint}"
    return safe_line(hint, 300)


def no_writing(situation: ScreenState, *, read_only: bool) -> str | None:
    """Return why nothing can be written now; None when it can."""
    if read_only:
        return "the team is open read-only"
    if situation.obstacle:
        return situation.obstacle
    snapshot = situation.snapshot
    if snapshot is None:
        return "the team is still being read"
    if assess(snapshot, snapshot.taken_at).state is State.UNREADABLE:
        return "the queue cannot be read, so nothing is written to it"
    return None


_NOT_OF_QUEUE = frozenset({Mode.HISTORY, Mode.HEALTH, Mode.DECISIONS})
"""Modes whose rows are not those of the queue alone."""


def empty_words(mode: Mode, situation: ScreenState, *, query: str = "", snoozed: int = 0) -> tuple[Line, ...]:
    """Return why a list has no rows; it never claims that there is nothing when that is not known."""
    snapshot = situation.snapshot
    if snapshot is None:
        if situation.failure:
            return _words("◌", "Not read yet", situation.failure, tone="alert")
        return _words("◔", "Reading the team …", "", tone="open")
    truth = assess(snapshot, snapshot.taken_at)
    doubt = truth.reason(State.DOUBT)
    if situation.reading is not None and situation.reading.view is None:
        if truth.state is State.VANISHED:
            return _words("∅", "The queue is gone", "It is not known what waits.", tone="alarm")
        where = safe_line(situation.short(truth.reasons[0].text), 300) if truth.reasons else ""
        return _words("✗", "The queue cannot be read", f"It is not known what waits. {where}", tone="alarm")
    if query:
        return _words("∕", f"Nothing here holds “{query}”", "esc takes the filter away.")
    if situation.reading is not None and not situation.reading.fresh:
        return _words("✗", "It cannot be read now", _AS_LAST_READ if mode is not Mode.HISTORY else "", tone="alarm")
    if truth.is_empty and doubt is None and mode not in _NOT_OF_QUEUE:
        title, text, _ = _NOTHING[mode]
        text = f"{text} The queue is empty: no agent has written anything yet."
        return (*_words("○", title, text), *first_step_lines(situation))
    if mode is Mode.NEEDS and snoozed:
        return _words("✓", "Nothing else waits for you", f"{snoozed} snoozed; :wake shows them again.", tone="good")
    if doubt is not None and mode not in _NOT_OF_QUEUE:
        text = safe_line(f"This list may be incomplete: {doubt.sentence}", 300)
        return _words("≈", "Nothing here in the queue as it stands", text, tone="warn")
    title, text, tone = _NOTHING[mode]
    return (*_words("✓" if tone == "good" else "○", title, text, tone=tone), *first_step_lines(situation))


def is_sure(situation: ScreenState) -> bool:
    """Return whether a list without rows has none because there are none, and not because of what could not be read."""
    reading, snapshot = situation.reading, situation.snapshot
    if snapshot is None or reading is None or reading.view is None or not reading.fresh:
        return False
    return assess(snapshot, snapshot.taken_at).reason(State.DOUBT) is None


def has_command(empty: tuple[Line, ...]) -> bool:
    """Return whether the words of an empty list offer a command."""
    return any(tone == "code" for line in empty for _, tone in line)


_AS_LAST_READ = "Nothing stood here when the team was last read."


_NOTHING: dict[Mode, tuple[str, str, str]] = {
    Mode.NEEDS: ("Nothing waits for you", "Plans, questions and failures of agents show here by themselves.", "good"),
    Mode.AGENTS: ("No messages in this inbox", "What an agent has not read yet waits here; then it moves on.", ""),
    Mode.REQUESTS: ("No request is open", "What agents ask, of whom. What was decided is in History.", ""),
    Mode.DELIVERIES: ("Nothing went wrong", "Messages that failed, or are tried again, show here.", "good"),
    Mode.SPRINT: ("No sprint yet", "Batches of stories and the agents that work on them.", ""),
    Mode.HISTORY: ("Nothing was found in queue and archives", "All that was ever said, newest first.", ""),
    Mode.HEALTH: ("No findings", "The store, its lock, and what is wrong with messages.", "good"),
    Mode.DECISIONS: ("No decisions yet", "Who decided what, what proves it, and how other requests ended.", ""),
}


def _words(glyph: str, title: str, text: str, *, tone: str = "muted") -> tuple[Line, ...]:
    head: Line = ((f"{glyph}  ", tone), (title, "strong"))
    return (head, (), ((text, "muted"),)) if text else (head,)


def _reading(situation: ScreenState) -> Notice | None:
    if situation.failure:
        return Notice(pulses.STALE, situation.failure, "It is tried again by itself.")
    if situation.progress is None:
        return None
    done, total = situation.progress
    part = done / total if total else None
    return Notice(pulses.READING, f"{done:,} of {total:,}" if total else f"{done:,}", "", done=part)


def _meanwhile(situation: ScreenState, now: datetime, first: str) -> str:
    if situation.good_at is None or situation.reading is None or situation.reading.view is None:
        return first
    when, old = clock_time(situation.good_at, now), span((now - situation.good_at).total_seconds())
    return f"{first} Shown is what was read {when}, {old} ago."


def _aged(pulse: Pulse, situation: ScreenState, now: datetime) -> Pulse:
    if situation.good_at is None:
        return pulse
    old = f"{span((now - situation.good_at).total_seconds())} old"
    return replace(pulse, word=old) if pulse is pulses.STALE else replace(pulse, detail=old)


# Words on the frame of a pane: a decision not yet written, what cannot be shown.

BROKEN: tuple[Line, ...] = (((CANNOT_BE_SHOWN, "alarm"),), (), (("It is a defect of the console.", "muted"),))
BROKEN_DOCUMENT = Document(key="broken", title="", blocks=(Lines(BROKEN),))


DRAFT = "draft"
"""Said of a request that an answer was begun to and not sent, in place of what was decided."""


def pending_words(decided: str) -> str:
    """Return the mark of a row with a pending decision or a draft."""
    return "✎ draft" if decided == DRAFT else f"◔ {decided}, not sent yet"


def with_pending(document: Document, decided: str) -> Document:
    """Return the document of such a thing, which says it first."""
    how = "a and r go on with what you began" if decided == DRAFT else "U undo, W write now"
    return with_banner(document, f"{pending_words(decided)} · {how}")


def with_banner(document: Document, outcome: str) -> Document:
    """Return the document of a request that waits no more while it is read, which says so above its text."""
    return replace(document, banner=" · ".join(filter(None, (outcome, document.banner))))


# What the tab of each place says: its key, its name, and how much there is to do.


def places_with_something(view: View | None) -> frozenset[Mode]:
    """Return the places that have something to show; the first three always have."""
    found = set(PLACES[:3])
    if view is not None:
        if troubles_of(view):
            found.add(Mode.HEALTH)
        if view.batches or view.lifecycles:
            found.add(Mode.SPRINT)
        # Only what a router delivers: messages to the human are on no way.
        routed = (Status.FAILED, Status.RETRY, Status.EXPIRED, Status.DELIVERED)
        if any(view.counts.get(status) for status in routed):
            found.add(Mode.DELIVERIES)
    return frozenset(found)


def tabs_of(view: View | None, places: Collection[Mode], *, watched: str) -> tuple[Tab, ...]:
    """Return the tabs of these places. Without a view they carry no counts, because none are known.

    Args:
        watched: Whose place this is when somebody else looks on, safe text.
    """
    return tuple(_tab(mode, view, watched) for mode in PLACES if mode in places)


def _tab(mode: Mode, view: View | None, watched: str) -> Tab:
    count, tone = _count(mode, view) if view is not None else ("", "muted")
    label = f"Needs {watched}" if watched and mode is Mode.NEEDS else mode.label
    return Tab(str(mode), mode.key, label, count, tone)


def _count(mode: Mode, view: View) -> tuple[str, str]:
    """Return how much there is to do in a place, and how urgent that is; mail that others have not read is no work."""
    match mode:
        case Mode.NEEDS:
            return _number(to_do(view.attention)), "warn"
        case Mode.DELIVERIES:
            return _number(len(view.failed)), "bad"
        case Mode.SPRINT:
            latest = view.batches[-1].session_id if view.batches else ""
            stories = [story for batch in view.batches if batch.session_id == latest for story in batch.stories]
            done = sum(story.state is StoryState.DONE for story in stories)
            return (f"{done:,}/{len(stories):,}", "muted") if done < len(stories) else ("", "muted")
        case Mode.HEALTH:
            troubles = troubles_of(view)
            errors = sum(problem.severity == "error" for problem in troubles)
            return (_number(errors), "bad") if errors else (_number(len(troubles)), "warn")
        case _:
            return "", "muted"


def findings_elsewhere(view: View) -> tuple[Problem, ...]:
    """Return the findings that place 1 does not show already: what waits for the human is no trouble of the team."""
    shown = {key for item in view.attention for key in _ids_of(item)}
    return tuple(problem for problem in view.findings if problem.place.partition(" ")[0] not in shown)


def troubles_of(view: View) -> tuple[Problem, ...]:
    """Errors and warnings of the team."""
    return tuple(problem for problem in findings_elsewhere(view) if problem.severity != "notice")


def _ids_of(item: ActionItem) -> Iterator[str]:
    if item.request is not None:
        yield from (item.request.request_id, item.request.question.message_id)
    if item.message is not None:
        yield item.message.message_id


def _number(count: int) -> str:
    return f"{count:,}" if count else ""


# What happened since the human left, as the lines of a card: a line for each kind of thing.

_HALF_A_MINUTE = 30
"""Seconds by which a span is rounded: twelve hours are not eleven when the clock has gone on since."""
_HEAD = 21
"""Cells of the words before the things of a kind."""


def digest_title(since: datetime, now: datetime, *, has_left: bool) -> str:
    """Return the title of the card; `has_left` when it is known that the human left at `since`."""
    away = span((now - since).total_seconds() + _HALF_A_MINUTE)
    begins = f"Since you left at {clock_time(since, now)}" if has_left else f"Since {clock_time(since, now)}"
    return f"{begins} ({away})"


def digest_lines(found: Digest) -> tuple[Line, ...]:
    """Return the lines of the card, each of one kind of thing; the last says what waits now."""
    lines: list[Line] = []
    for group in DigestGroup:
        items = found.of(group)
        if items:
            things = " · ".join(safe_line(happening_line(item), 200) for item in reversed(items))
            lines.append(((pad(group_head(group, len(items)), _HEAD) + " ", _TONES.get(group, "")), (things, "muted")))
    if not lines:
        lines.append((("Nothing that is on record happened.", "muted"),))
    waits = f"{found.waiting:,} wait for you" if found.waiting > 1 else "1 waits for you"
    waits = waits if found.waiting else "nothing waits for you"
    lines.append(((waits, "strong"), ("   . shows all · esc back", "muted")))
    return tuple(lines)


_TONES = {
    DigestGroup.ASKED: "open",
    DigestGroup.DENIED: "warn",
    DigestGroup.FAILED: "bad",
    DigestGroup.REFUSED: "warn",
    DigestGroup.DONE: "good",
}


# The wording of toasts: what was done, in the words of what is known (written, never delivered), and what failed.

_HEADING = re.compile(r"^[ \t]*#{1,6}[ \t]+", re.MULTILINE)
"""The signs of a heading, which say nothing where all stands in one line."""


def receipt_words(what: str, *receipts: Receipt) -> str:
    """Return the toast for receipts: what was done, to whom, warnings and repairs.

    Args:
        what: A past participle, such as `sent` or `asked to stop`; it begins the sentence.
    """
    messages = [message for receipt in receipts for message in receipt.messages]
    names = list(dict.fromkeys(name for message in messages for name in message.recipients))
    head = what[:1].upper() + what[1:]
    if all(receipt.repeated for receipt in receipts) and receipts:
        head = f"✓ {head}: it was there already, nothing was written"
    elif not messages:
        head = f"✓ {head}"
    elif what == "sent":
        head = f"✓ Sent to {names_listed(names)}"
    else:
        head = f"✓ {head} · written for {names_listed(names)}"
    notes = [note for receipt in receipts for note in receipt.told]
    follows = [safe_line(note, 300) for receipt in receipts for note in receipt.notes]
    return "\n".join([head, *dict.fromkeys(follows), *(f"△ {safe_line(note, 300)}" for note in dict.fromkeys(notes))])


def in_quotes(text: str) -> str:
    """Return the first words of what is answered, as safe text in quotation marks."""
    line = safe_line(" ".join(_HEADING.sub("", text).split()), 160)
    return f"“{line}”" if line else ""


def names_listed(names: Iterable[str], most: int = 6) -> str:
    """Return names in a sentence, the many cut short; safe text."""
    return first_of([safe_line(name, 64) for name in names], most)


def error_text(error: BaseException) -> str:
    """Return the error and the next step, as safe text; of an unexpected error only its kind, never its words."""
    if not isinstance(error, TeamError):
        return f"✗ Unexpected: {reason_of(error)}. {UNSURE}"
    if isinstance(error, Stopped):
        return f"✗ {safe_line(error.message, 300)}"
    hint = f"\n{safe_text(error.hint)}" if error.hint else ""
    return f"✗ {error.code}: {safe_text(error.message)}{hint}"


def reason_of(error: BaseException) -> str:
    """Return the error in one safe line.

    Words of foreign exceptions may quote messages and tokens (a database driver quotes the values it was given), so
    only their kind is told, and of a system error what the system says.
    """
    if isinstance(error, TeamError):
        return safe_line(error.message, 300)
    if isinstance(error, OSError) and error.strerror:
        place = f": {error.filename}" if isinstance(error.filename, str) else ""
        return safe_line(f"{error.strerror}{place}", 300)
    return type(error).__name__


# Sorts rows by what the user wants; the order of the view stays where rows are equal.

RowT = TypeVar("RowT")

_NEVER = datetime.max.replace(tzinfo=UTC)


def sorted_rows(rows: tuple[RowT, ...], name: str) -> tuple[RowT, ...]:
    """Return the rows by `name`, oldest first; as they are for an empty name."""
    key = _KEYS.get(name)
    return tuple(sorted(rows, key=key)) if key is not None else rows


def _message(row: Any) -> Message:
    if isinstance(row, RequestRow):
        return row.question
    return row.message if isinstance(row, DeliveryRow) else row


def _agent(row: Any) -> str:
    return row.recipient if isinstance(row, DeliveryRow) else _message(row).sender


def _state(row: Any) -> str:
    return str(row.state) if isinstance(row, RequestRow | DeliveryRow) else _message(row).status


_KEYS: Mapping[str, Callable[[Any], Any]] = {
    "age": lambda row: _message(row).created_at or _NEVER,
    "agent": lambda row: _agent(row).casefold(),
    "kind": lambda row: str(row.kind) if isinstance(row, RequestRow) else _message(row).type,
    "state": _state,
}


def next_sort(mode: str, present: str) -> str | None:
    """Return the column after `present`: at the end none, which is ""; None where there is no choice."""
    shape = properties_of(Sort).get(mode)
    if shape is None:
        return None
    names = shape["enum"]
    return names[(names.index(present) + 1) % len(names)] if present in names else ""
