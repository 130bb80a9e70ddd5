"""Says honestly what the screen shows: pulse, banner and the words of an empty list (decision D16)."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct

from console.feed import Sight
from console.subject import Mode
from store.clock import from_text
from store.safe import safe_line
from store.team import Condition, LockHolder, Problem, Snapshot, WatchHint, WatchState
from widgets import status_line as pulses
from widgets.ages import clock_time, span
from widgets.banner import Notice, NoticeKind
from widgets.cells import Line
from widgets.status_line import Pulse

_HELD_LONG = 2.0
"""Seconds after which a held lock is worth a banner."""
_SILENT = 45.0
"""Seconds without a look at the store after which what is shown counts as stale."""


_LIVE = WatchHint(WatchState.LIVE)


class Situation(Struct, frozen=True):
    """All that is known about how true the screen is.

    Attributes:
        sight: The last reading, None before the first.
        watch: How changes are noticed.
        progress: Records read and records in all while a long reading goes on.
        failure: What kept the store from being read at all, as a sentence.
        looked_at: When the store was last looked at.
        good_at: When what is shown was read.
        root: The team's folder, empty when it has none.
        had_settings: Whether an earlier reading found settings that name the members.
    """

    sight: Sight | None = None
    watch: WatchHint = _LIVE
    progress: tuple[int, int] | None = None
    failure: str = ""
    looked_at: datetime | None = None
    good_at: datetime | None = None
    root: str = ""
    had_settings: bool = False

    def short(self, text: str) -> str:
        """`text` with paths inside the team's folder written from there on; the folder stands in the status line."""
        return text.replace(self.root + "/", "") if self.root else text

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


def pulse_of(situation: Situation, now: datetime) -> Pulse:
    """The word at the right end of the status line."""
    snapshot = situation.snapshot
    if snapshot is None or not situation.is_read:
        return pulses.STALE if situation.failure else pulses.READING
    if snapshot.condition is Condition.UNREADABLE:
        return _aged(pulses.UNREADABLE, situation, now)
    if snapshot.condition is Condition.VANISHED:
        return _aged(pulses.VANISHED, situation, now)
    if situation.failure or situation.watch.state is WatchState.STALLED or _is_silent(situation, now):
        return _aged(pulses.STALE, situation, now)
    if _long_holder(snapshot, now):
        return pulses.LOCKED
    if _doubts_queue(snapshot) or snapshot.is_rolled_back or _lost_settings(situation):
        return pulses.DOUBT
    return pulses.POLLING if situation.watch.state is WatchState.POLLING else pulses.LIVE


def notice_of(situation: Situation, now: datetime) -> Notice | None:
    """The banner, None when there is nothing to say."""
    snapshot = situation.snapshot
    if snapshot is None or not situation.is_read:
        return _reading(situation)
    if snapshot.condition is Condition.UNREADABLE:
        return Notice(
            NoticeKind.UNREADABLE,
            _where(situation),
            _meanwhile(situation, now, "Nothing is written until it is repaired."),
        )
    if snapshot.condition is Condition.VANISHED:
        hint = _meanwhile(situation, now, "Archives or the audit trail show that there was a queue.")
        return Notice(NoticeKind.VANISHED, "the queue is gone", hint)
    if snapshot.doubt is not None and _doubts_queue(snapshot):
        return Notice(NoticeKind.DOUBT, "the queue as it stands holds no message", _doubted(snapshot.doubt))
    if snapshot.doubt is not None and snapshot.is_rolled_back:
        return Notice(NoticeKind.DOUBT, safe_line(snapshot.doubt.message, 300), safe_line(snapshot.doubt.hint, 300))
    if situation.failure:
        return Notice(NoticeKind.STALE, situation.failure, _meanwhile(situation, now, "It is tried again by itself."))
    if situation.watch.state is WatchState.STALLED:
        reason = safe_line(situation.watch.reason, 160) or "changes are not noticed at the moment"
        return Notice(NoticeKind.STALE, reason, _meanwhile(situation, now, "^l looks now."))
    if _is_silent(situation, now):
        return Notice(
            NoticeKind.STALE, "the store was not looked at for a while", _meanwhile(situation, now, "^l looks now.")
        )
    holder = _long_holder(snapshot, now)
    if holder is not None:
        return Notice(
            NoticeKind.LOCKED, _held(holder, now), "Reading goes on; what you write waits up to 2 s for the lock."
        )
    if lost := _lost_settings(situation):
        return Notice(NoticeKind.SETTINGS, lost, "Until then it is not known who leads and who belongs to the team.")
    if situation.obstacle:
        return Notice(NoticeKind.READ_ONLY, situation.obstacle, "You can look and cannot answer; ^l looks again.")
    if situation.watch.state is WatchState.POLLING:
        return Notice(
            NoticeKind.POLLING, safe_line(situation.watch.reason, 160) or "changes are looked for now and then"
        )
    return None


def no_writing(situation: Situation, *, read_only: bool, can_write: bool, why: str) -> str | None:
    """Why nothing can be written now; None when it can."""
    if read_only:
        return "the team is open read-only"
    if not can_write:
        return why or "this kind of team cannot be written"
    if situation.obstacle:
        return situation.obstacle
    snapshot = situation.snapshot
    if snapshot is None or not situation.is_read:
        return "the team is still being read"
    if snapshot.condition is Condition.UNREADABLE:
        return "the queue cannot be read, so nothing is written to it"
    return None


def empty_words(mode: Mode, situation: Situation, *, query: str = "", snoozed: int = 0) -> tuple[Line, ...]:
    """Why a list has no rows. It never says that there is nothing when that is not known."""
    snapshot = situation.snapshot
    if snapshot is None:
        if situation.failure:
            return _words("◌", "Not read yet", situation.failure, tone="alert")
        return _words("◔", "Reading the team …", "", tone="accent")
    if situation.sight is not None and situation.sight.view is None:
        if snapshot.condition is Condition.VANISHED:
            return _words("∅", "The queue is gone", "It is not known what waits.", tone="alarm")
        return _words("✗", "The queue cannot be read", f"It is not known what waits. {_where(situation)}", tone="alarm")
    if not situation.is_read:
        return _words("◔", "Reading the team …", "Nothing among the newest messages so far.", tone="accent")
    if query:
        return _words("∕", f"Nothing here holds “{query}”", "esc takes the filter away.")
    if snapshot.condition is Condition.EMPTY and snapshot.doubt is None and mode not in (Mode.HISTORY, Mode.HEALTH):
        return _words("○", "The queue is empty", "No agent has written anything yet; it will show here at once.")
    if mode is Mode.NEEDS and snoozed:
        return _words("✓", "Nothing else waits for you", f"{snoozed} snoozed; Z shows them again.", tone="good")
    if snapshot.doubt is not None and mode not in (Mode.HISTORY, Mode.HEALTH):
        return _words("≈", "Nothing here in the queue as it stands", _doubted(snapshot.doubt), tone="warn")
    title, text, tone = _NOTHING[mode]
    return _words("✓" if tone == "good" else "○", title, text, tone=tone)


def _doubts_queue(snapshot: Snapshot) -> bool:
    return snapshot.condition is Condition.EMPTY and snapshot.doubt is not None


def _lost_settings(situation: Situation) -> str:
    """What is the matter with the settings and where; empty when they are well."""
    snapshot = situation.snapshot
    problems = snapshot.problems if snapshot is not None else ()
    for problem in problems:
        if problem.code == "BAD_CONFIG":
            return safe_line(situation.short(f"{problem.message}. {problem.hint}"), 300)
    if situation.had_settings and snapshot is not None and not snapshot.config.declared:
        return "the settings named the members before and do so no more. Restore the file."
    return ""


def _doubted(doubt: Problem) -> str:
    return safe_line(f"It is not sure that this is all: {doubt.message}. {doubt.hint}", 300)


_NOTHING: dict[Mode, tuple[str, str, str]] = {
    Mode.NEEDS: ("Nothing waits for you", "Plans, questions and failures will show here by themselves.", "good"),
    Mode.INBOXES: ("No messages in this inbox", "Read messages move on into history.", ""),
    Mode.REQUESTS: ("No requests yet", "Plans, shutdowns and other requests of the team show here.", ""),
    Mode.DELIVERIES: ("Nothing is on its way", "Everything written was delivered or read.", "good"),
    Mode.SPRINT: ("No sprint yet", "Batches and temporary agents show here once a plan is ready.", ""),
    Mode.HISTORY: ("Nothing was found in queue and archives", "What agents have read is kept there.", ""),
    Mode.HEALTH: ("No findings", "Every message keeps to its protocol.", "good"),
}


def _words(glyph: str, title: str, text: str, *, tone: str = "muted") -> tuple[Line, ...]:
    head: Line = ((f"{glyph}  ", tone), (title, "strong"))
    return (head, (), ((text, "muted"),)) if text else (head,)


def _reading(situation: Situation) -> Notice | None:
    if situation.failure:
        return Notice(NoticeKind.STALE, situation.failure, "It is tried again by itself.")
    shown = ""
    if situation.sight is not None:
        shown = f"Shown are the newest {len(situation.sight.snapshot.messages):,}; keys that write wait for the rest."
    if situation.progress is None:
        return Notice(NoticeKind.READING, "the team", shown) if shown else None
    done, total = situation.progress
    part = done / total if total else None
    return Notice(NoticeKind.READING, f"{done:,} of {total:,}" if total else f"{done:,}", shown, done=part)


def _where(situation: Situation) -> str:
    problems = situation.snapshot.problems if situation.snapshot else ()
    for problem in problems:
        if problem.severity == "error":
            return safe_line(situation.short(problem.sentence), 300)
    return "the queue cannot be read"


def _meanwhile(situation: Situation, now: datetime, first: str) -> str:
    if situation.good_at is None or situation.sight is None or situation.sight.view is None:
        return first
    when, old = clock_time(situation.good_at, now), span((now - situation.good_at).total_seconds())
    return f"{first} Shown is what was read {when}, {old} ago."


def _aged(pulse: Pulse, situation: Situation, now: datetime) -> Pulse:
    if situation.good_at is None:
        return pulse
    old = span((now - situation.good_at).total_seconds())
    return Pulse(pulse.glyph, pulse.word, pulse.tone, f"shown is {old} old")


def _is_silent(situation: Situation, now: datetime) -> bool:
    return situation.looked_at is not None and (now - situation.looked_at).total_seconds() > _SILENT


def _long_holder(snapshot: Snapshot, now: datetime) -> LockHolder | None:
    holder = snapshot.holder
    if holder is None:
        return None
    since = from_text(holder.since)
    held = (now - since).total_seconds() if since else 0.0
    return holder if held >= _HELD_LONG else None


def _held(holder: LockHolder, now: datetime) -> str:
    who = f"process {holder.pid}" if holder.pid is not None else "another process"
    where = f" on {safe_line(holder.host, 64)}" if holder.host else ""
    action = f" ({safe_line(holder.action, 40)})" if holder.action else ""
    since = clock_time(from_text(holder.since), now)
    alive = {True: "it is alive", False: "it is dead", None: "not known whether it is alive"}[holder.alive]
    return f"by {who}{where}{action} since {since}; {alive}"
