"""How current the screen is: the mark at the right end of the head, and the banner (decision D16)."""

from __future__ import annotations

from datetime import datetime

from msgspec.structs import replace
from team_console.console.tui.screen_state import ScreenState, store_status
from team_console.store.contract.snapshot import Snapshot
from team_console.store.model.clock import from_text
from team_console.store.model.safe import safe_line
from team_console.store.views.status import Reason, State, holder_words
from team_console.widgets import bars
from team_console.widgets.ages import clock_time, span
from team_console.widgets.bars import Notice, Pulse

_PULSES = {
    State.READING: bars.READING,
    State.UNREADABLE: bars.UNREADABLE,
    State.VANISHED: bars.VANISHED,
    State.STALE: bars.STALE,
    State.DOUBT: bars.DOUBT,
    State.LOCKED: bars.LOCKED,
    State.SETTINGS: bars.SETTINGS,
    State.POLLING: bars.POLLING,
}
_SHOWS_FORMER = frozenset({State.UNREADABLE, State.VANISHED, State.STALE})
"""States in which what is shown is what was read before."""


def pulse_of(situation: ScreenState, now: datetime) -> Pulse:
    """Return the mark at the right end of the head."""
    status = store_status(situation, now)
    pulse = _PULSES.get(status.state, bars.LIVE)
    return _with_age(pulse, situation, now) if status.state in _SHOWS_FORMER else pulse


def _with_age(pulse: Pulse, situation: ScreenState, now: datetime) -> Pulse:
    if situation.shown_read_at is None:
        return pulse
    old = f"{span((now - situation.shown_read_at).total_seconds())} old"
    return replace(pulse, word=old) if pulse is bars.STALE else replace(pulse, detail=old)


def notice_of(situation: ScreenState, now: datetime) -> Notice | None:
    """Return the banner, None when there is nothing to say: the worst of what is the matter, and what it means here."""
    status = store_status(situation, now)
    reason = status.reasons[0] if status.reasons else None
    if situation.obstacle and (reason is None or reason.state is State.POLLING):
        return Notice(bars.READ_ONLY, situation.obstacle, "Read-only: you cannot answer here. ^l checks again.")
    if reason is None:
        return None
    if not situation.is_read:
        return _reading_notice(situation)
    place = _place_in_settings(reason, situation.snapshot)
    text = safe_line(situation.with_short_paths(f"{place}: {reason.text}" if place else reason.text), 300)
    if reason.state is State.LOCKED and status.holder is not None:
        text = safe_line(holder_words(status.holder, clock_time(from_text(status.holder.since), now)), 300)
    return Notice(_PULSES.get(reason.state, bars.FOREIGN), text, _next_step(situation, reason, now))


def _reading_notice(situation: ScreenState) -> Notice | None:
    if situation.failure:
        return Notice(bars.STALE, situation.failure, "It is tried again by itself.")
    if situation.progress is None:
        return None
    done, total = situation.progress
    part = done / total if total else None
    return Notice(bars.READING, f"{done:,} of {total:,}" if total else f"{done:,}", "", done=part)


def _place_in_settings(reason: Reason, snapshot: Snapshot | None) -> str:
    """Return file and line of what is wrong with the settings; empty for another reason."""
    problems = snapshot.problems if snapshot is not None and reason.state is State.SETTINGS else ()
    return next((problem.place for problem in problems if problem.message == reason.text), "")


def _next_step(situation: ScreenState, reason: Reason, now: datetime) -> str:
    """Return the next step, or what is shown meanwhile."""
    old = {
        State.UNREADABLE: "Nothing is written until it can be read again.",
        State.VANISHED: "Archives or the audit trail show that there was a queue.",
        State.STALE: "It is tried again." if situation.failure else "^l looks now.",
    }.get(reason.state)
    if old is not None:
        return _with_age_of_shown(situation, now, old)
    if reason.state is State.LOCKED:
        return "Reading goes on; what you write waits up to 2 s for the lock."
    if reason.state is State.SETTINGS and situation.snapshot is not None and situation.snapshot.config.lost:
        return "Those before are used, and nothing is decided until this is mended; 4 says how."
    hint = situation.with_short_paths(reason.hint)
    if reason.state is State.DOUBT and situation.snapshot is not None and not situation.snapshot.messages:
        hint = f"This list may be incomplete. {hint}"
    return safe_line(hint, 300)


def _with_age_of_shown(situation: ScreenState, now: datetime, first: str) -> str:
    if situation.shown_read_at is None or situation.view is None:
        return first
    when, old = clock_time(situation.shown_read_at, now), span((now - situation.shown_read_at).total_seconds())
    return f"{first} Shown is what was read {when}, {old} ago."
