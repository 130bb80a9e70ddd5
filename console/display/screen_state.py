"""Says honestly what the screen shows: pulse, banner and the words of an empty list (decision D16)."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct
from team_console.console.display.first_steps import command_for
from team_console.console.following.feed import ReadResult
from team_console.console.input.subject import Mode
from team_console.store.contract.team import Snapshot, WatchHint, WatchState
from team_console.store.model.clock import from_text
from team_console.store.model.names import USER
from team_console.store.model.safe import safe_line
from team_console.store.views.rows import View
from team_console.store.views.truth import Looks, Reason, State, Truth, holder_words, judge
from team_console.widgets.bars import status_line as pulses
from team_console.widgets.bars.banner import Notice, NoticeKind
from team_console.widgets.bars.status_line import Pulse
from team_console.widgets.text.ages import clock_time, span
from team_console.widgets.text.cells import Line

_LIVE = WatchHint(WatchState.LIVE)


class ScreenState(Struct, frozen=True):
    """All that is known about how true the screen is.

    Attributes:
        sight: The last reading, None before the first.
        watch: How changes are noticed.
        progress: Records read and records in all while a long reading goes on.
        failure: What kept the store from being read at all, as a sentence.
        looked_at: When the store was last looked at.
        good_at: When what is shown was read.
        root: The team's folder, empty when it has none.
    """

    sight: ReadResult | None = None
    watch: WatchHint = _LIVE
    progress: tuple[int, int] | None = None
    failure: str = ""
    looked_at: datetime | None = None
    good_at: datetime | None = None
    root: str = ""

    def short(self, text: str) -> str:
        """`text` with paths inside the team's folder written from there on; the folder stands in the status line."""
        return text.replace(self.root + "/", "") if self.root else text

    @property
    def view(self) -> View | None:
        """What is shown, as plain rows; None before the first reading and while the queue cannot be read."""
        return self.sight.view if self.sight else None

    @property
    def is_read(self) -> bool:
        """Whether a whole reading was there, not only a glimpse of the newest messages."""
        return self.sight is not None and not self.sight.is_glimpse

    @property
    def obstacle(self) -> str:
        """Why permissions forbid to write, safe text; empty when they do not."""
        return safe_line(self.sight.obstacle, 300) if self.sight else ""

    @property
    def snapshot(self) -> Snapshot | None:
        """The last snapshot."""
        return self.sight.snapshot if self.sight else None


def shows_the_same(state: ScreenState, other: ScreenState) -> bool:
    """Whether both look the same but for ages: a look that found nothing new needs no painting."""
    if state.sight is None or other.sight is None or state.view is None or other.view is None:
        return False
    mine, others = state.sight, other.sight
    around = (state.watch, state.progress, state.failure, mine.fresh, mine.obstacle)
    if around != (other.watch, other.progress, other.failure, others.fresh, others.obstacle):
        return False
    return _alike(mine.snapshot, others.snapshot, _PASSING) and _alike(state.view, other.view, _PASSING)


_PASSING = frozenset({"now", "taken_at", "changed_at", "snapshot"})
"""Fields of views and snapshots that tell of the look itself, or change only with the revision."""


def _alike(shown: Struct, next_shown: Struct, but: frozenset[str]) -> bool:
    names = (name for name in shown.__struct_fields__ if name not in but)
    pairs = ((getattr(shown, name), getattr(next_shown, name)) for name in names)
    return all(before is after or before == after for before, after in pairs)


def truth_of(situation: ScreenState, now: datetime) -> Truth:
    """How true the screen is; it is judged where the verbs judge it, too."""
    looks = Looks(situation.watch, situation.failure, situation.looked_at)
    return judge(situation.snapshot, now, looks)


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
    """The word at the right end of the status line."""
    truth = truth_of(situation, now)
    pulse = _PULSES.get(truth.state, pulses.LIVE)
    return _aged(pulse, situation, now) if truth.state in _OLD else pulse


def notice_of(situation: ScreenState, now: datetime) -> Notice | None:
    """The banner, None when there is nothing to say: the worst of what is the matter, and what it means here."""
    truth = truth_of(situation, now)
    reason = truth.reasons[0] if truth.reasons else None
    if situation.obstacle and (reason is None or reason.state is State.POLLING):
        return Notice(NoticeKind.READ_ONLY, situation.obstacle, "You can look and cannot answer; ^l looks again.")
    if reason is None:
        return None
    if not situation.is_read:
        return _reading(situation)
    text = safe_line(situation.short(reason.text), 300)
    if reason.state is State.LOCKED and truth.holder is not None:
        text = safe_line(holder_words(truth.holder, clock_time(from_text(truth.holder.since), now)), 300)
    return Notice(NoticeKind(reason.state), text, _hint(situation, reason, now))


def _hint(situation: ScreenState, reason: Reason, now: datetime) -> str:
    """The next step, or what is shown meanwhile."""
    match reason.state:
        case State.UNREADABLE:
            return _meanwhile(situation, now, "Nothing is written until it is repaired.")
        case State.VANISHED:
            return _meanwhile(situation, now, "Archives or the audit trail show that there was a queue.")
        case State.STALE:
            return _meanwhile(situation, now, "It is tried again." if situation.failure else "^l looks now.")
        case State.LOCKED:
            return "Reading goes on; what you write waits up to 2 s for the lock."
        case State.DOUBT if situation.snapshot is not None and not situation.snapshot.messages:
            return safe_line(f"It is not sure that this is all. {situation.short(reason.hint)}", 300)
    return safe_line(situation.short(reason.hint), 300)


def no_writing(situation: ScreenState, *, read_only: bool) -> str | None:
    """Why nothing can be written now; None when it can."""
    if read_only:
        return "the team is open read-only"
    if situation.obstacle:
        return situation.obstacle
    snapshot = situation.snapshot
    if snapshot is None or not situation.is_read:
        return "the team is still being read"
    if judge(snapshot, snapshot.taken_at).state is State.UNREADABLE:
        return "the queue cannot be read, so nothing is written to it"
    return None


_NOT_OF_QUEUE = frozenset({Mode.HISTORY, Mode.HEALTH, Mode.DECISIONS})
"""Modes whose rows are not those of the queue alone."""


def empty_words(mode: Mode, situation: ScreenState, *, query: str = "", snoozed: int = 0) -> tuple[Line, ...]:
    """Why a list has no rows. It never says that there is nothing when that is not known."""
    snapshot = situation.snapshot
    if snapshot is None:
        if situation.failure:
            return _words("◌", "Not read yet", situation.failure, tone="alert")
        return _words("◔", "Reading the team …", "", tone="open")
    truth = judge(snapshot, snapshot.taken_at)
    doubt = truth.reason(State.DOUBT)
    if situation.sight is not None and situation.sight.view is None:
        if truth.state is State.VANISHED:
            return _words("∅", "The queue is gone", "It is not known what waits.", tone="alarm")
        where = safe_line(situation.short(truth.reasons[0].text), 300) if truth.reasons else ""
        return _words("✗", "The queue cannot be read", f"It is not known what waits. {where}", tone="alarm")
    if not situation.is_read:
        return _words("◔", "Reading the team …", "Nothing among the newest messages so far.", tone="open")
    if query:
        return _words("∕", f"Nothing here holds “{query}”", "esc takes the filter away.")
    if situation.sight is not None and not situation.sight.fresh:
        return _words("✗", "It cannot be read now", _AS_LAST_READ if mode is not Mode.HISTORY else "", tone="alarm")
    if truth.is_empty and doubt is None and mode not in _NOT_OF_QUEUE:
        title, text, _ = _NOTHING[mode]
        text = f"{text} The queue is empty: no agent has written anything yet."
        return (*_words("○", title, text), *first_step_lines(mode, situation))
    if mode is Mode.NEEDS and snoozed:
        return _words("✓", "Nothing else waits for you", f"{snoozed} snoozed; Z shows them again.", tone="good")
    if doubt is not None and mode not in _NOT_OF_QUEUE:
        return _words("≈", "Nothing here in the queue as it stands", _doubted(doubt), tone="warn")
    title, text, tone = _NOTHING[mode]
    return (*_words("✓" if tone == "good" else "○", title, text, tone=tone), *first_step_lines(mode, situation))


def first_step(mode: Mode, situation: ScreenState, *, inbox: str = "") -> str:
    """The command that would put something into an empty list: into that `inbox`, else for the first agent there is."""
    view = situation.view
    me = view.me if view is not None else ""
    agents = (
        [row.name for row in view.roster if row.name not in (me, USER) and row.is_addressable]
        if view is not None
        else []
    )
    human = inbox if inbox in (me, USER) else ""
    agent = inbox if inbox and not human else next(iter(agents), None)
    return command_for(mode, situation.root, me=me, agent=agent, human=human)


def first_step_lines(mode: Mode, situation: ScreenState, *, inbox: str = "") -> tuple[Line, ...]:
    """The command that would put something there, and the key that copies it; none where there is none."""
    command = safe_line(first_step(mode, situation, inbox=inbox), 300)
    return ((), (("Y copies  ", "muted"), (command, "code"))) if command else ()


def has_command(empty: tuple[Line, ...]) -> bool:
    """Whether the words of an empty list offer a command."""
    return any(tone == "code" for line in empty for _, tone in line)


_AS_LAST_READ = "Nothing stood here when the team was last read."


def _doubted(reason: Reason) -> str:
    return safe_line(f"It is not sure that this is all: {reason.sentence}", 300)


_NOTHING: dict[Mode, tuple[str, str, str]] = {
    Mode.NEEDS: ("Nothing waits for you", "Plans, questions and failures of agents show here by themselves.", "good"),
    Mode.INBOXES: ("No messages in this inbox", "What an agent has not read yet waits here; then it moves on.", ""),
    Mode.REQUESTS: ("No requests yet", "What agents asked, of whom, and what was answered.", ""),
    Mode.DELIVERIES: ("Nothing is on its way", "Messages wait here until their agent has got them.", "good"),
    Mode.SPRINT: ("No sprint yet", "Batches of stories and the agents that work on them.", ""),
    Mode.HISTORY: ("Nothing was found in queue and archives", "All that was ever said, newest first.", ""),
    Mode.HEALTH: ("No findings", "The store, its lock, and what departs from the protocols.", "good"),
    Mode.DECISIONS: ("No decisions yet", "Who decided what, and what proves it.", ""),
}


def _words(glyph: str, title: str, text: str, *, tone: str = "muted") -> tuple[Line, ...]:
    head: Line = ((f"{glyph}  ", tone), (title, "strong"))
    return (head, (), ((text, "muted"),)) if text else (head,)


def _reading(situation: ScreenState) -> Notice | None:
    if situation.failure:
        return Notice(NoticeKind.STALE, situation.failure, "It is tried again by itself.")
    shown = ""
    if situation.sight is not None:
        number = len(situation.sight.snapshot.messages)
        shown = f"Shown are {number:,} of them, the newest and yours; keys that write wait for the rest."
    if situation.progress is None:
        return Notice(NoticeKind.READING, "the team", shown) if shown else None
    done, total = situation.progress
    part = done / total if total else None
    return Notice(NoticeKind.READING, f"{done:,} of {total:,}" if total else f"{done:,}", shown, done=part)


def _meanwhile(situation: ScreenState, now: datetime, first: str) -> str:
    if situation.good_at is None or situation.sight is None or situation.sight.view is None:
        return first
    when, old = clock_time(situation.good_at, now), span((now - situation.good_at).total_seconds())
    return f"{first} Shown is what was read {when}, {old} ago."


def _aged(pulse: Pulse, situation: ScreenState, now: datetime) -> Pulse:
    if situation.good_at is None:
        return pulse
    old = span((now - situation.good_at).total_seconds())
    return Pulse(pulse.glyph, pulse.word, pulse.tone, f"shown is {old} old")
