"""The bars around the list and what they say: head with tabs, banner, seconds left to undo, keys."""

from __future__ import annotations

from datetime import datetime
from time import monotonic

from msgspec.structs import replace
from team_console.console.actions import BY_ID, FOOTER_END, FOOTER_WHILE_READING, actions_in, shown_key
from team_console.console.selection import PLACES, Mode
from team_console.console.tui.pending_decisions import PendingDecisions
from team_console.console.tui.screen_protocols import MainScreenProtocol
from team_console.console.tui.situation import Situation, store_status, troubles_of
from team_console.store.contract.snapshot import Snapshot
from team_console.store.model.clock import from_text
from team_console.store.model.message import Status
from team_console.store.model.safe import safe_line
from team_console.store.views.needs import count_to_do
from team_console.store.views.rows import StoryState, View
from team_console.store.views.status import Reason, State, holder_words
from team_console.widgets import bars
from team_console.widgets.bars import Banner, Head, HeadFacts, KeyBar, KeyHint, Notice, Pulse, Tab, UndoBar
from team_console.widgets.text import clock_time, span
from textual.timer import Timer

_KEYS_OF_SEARCH = (KeyHint("enter", "keep the words"), KeyHint("esc", "end the search"))
"""Keys while words to filter by, or to look for in what is read, are typed: all others are letters."""


class ScreenBars:
    """The bars around the list.

    Attributes:
        busy: What is going on, for the head; empty for nothing.
    """

    def __init__(self, screen: MainScreenProtocol, pending: PendingDecisions) -> None:
        self._screen, self._pending = screen, pending
        self.head, self.banner = Head(id="head"), Banner(id="banner")
        self.undo, self.keys = UndoBar(id="grace"), KeyBar(id="keys")
        self.busy = ""
        self._places: frozenset[Mode] = frozenset()
        self._counting: Timer | None = None

    def show(self) -> None:
        """Show head and banner as they are now."""
        screen = self._screen
        situation, now, mode = screen.situation, screen.now, screen.lists.mode
        view = situation.view
        me = safe_line(screen.caller.actor, 40)
        self._places |= places_with_something(view) | {mode.place}
        facts = HeadFacts(
            safe_line(situation.snapshot.config.name if situation.snapshot else "team-console", 40),
            "" if screen.read_only else me,
            pulse_of(situation, now),
            screen.cannot_write,
            self._position_words(),
            self.busy,
        )
        watched = me if screen.read_only else ""
        tabs = tuple(_tab(mode, view, watched) for mode in PLACES if mode in self._places)
        self.head.show(tabs, str(mode.place), facts)
        self.banner.show(notice_of(situation, now))

    def _position_words(self) -> str:
        """Return the position among the things to read; empty in a list."""
        pane = self._screen.lists.front
        here, number = pane.chosen_from.position if pane.is_reading else (0, 0)
        return f"{here:,} of {number:,}" if number else ""

    def show_keys(self) -> None:
        """Show the keys that do something to what is chosen; none while something in front has its own."""
        screen = self._screen
        if not screen.is_mounted:
            return
        is_filtering = screen.lists.front.search.takes_keys
        self.keys.display = screen.is_in_front or is_filtering  # a form has keys of its own, and the row
        if not screen.is_in_front or is_filtering:
            self.keys.show(_KEYS_OF_SEARCH)
            return
        context = screen.context()
        here = (action for action in actions_in(context.mode, read_only=screen.cannot_write) if action.footer)
        if context.is_reading:
            here = (BY_ID[name] for name in FOOTER_WHILE_READING if not (screen.cannot_write and BY_ID[name].writes))
        usable = (action for action in here if shown_key(action) and action.disabled(context) is None)
        hints = tuple(KeyHint(shown_key(action), action.label_on(context)) for action in usable)
        hints = (KeyHint("space", "page"), *hints) if context.is_reading else hints
        names = ("back", "help") if context.is_reading else FOOTER_END
        self.keys.show(hints, tuple(KeyHint(shown_key(BY_ID[name]), BY_ID[name].label) for name in names))

    def count_down(self) -> None:
        """Show the pending decisions and the seconds left, again each second while one is pending."""
        last = self._pending.last
        if last is None:
            self.undo.show("", 0)
            if self._counting is not None:
                self._counting.stop()
                self._counting = None
            return
        more = len(self._pending) - len(last.pending.writes)
        self.undo.show(safe_line(last.pending.words, 200), max(0, round(last.due - monotonic())), more=more)
        if self._counting is None:
            self._counting = self.undo.set_interval(1.0, self.count_down)


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


def _tab(mode: Mode, view: View | None, watched: str) -> Tab:
    """Return the tab of a place; without a view it carries no count, because none is known.

    Args:
        watched: Whose place this is when somebody else looks on, safe text.
    """
    count, tone = _count_on_tab(mode, view) if view is not None else ("", "muted")
    label = f"Needs {watched}" if watched and mode is Mode.NEEDS else mode.label
    return Tab(str(mode), mode.key, label, count, tone)


def _count_on_tab(mode: Mode, view: View) -> tuple[str, str]:
    """Return how much there is to do in a place, and how urgent that is; mail that others have not read is no work."""
    match mode:
        case Mode.NEEDS:
            return _count_words(count_to_do(view.attention)), "warn"
        case Mode.DELIVERIES:
            return _count_words(len(view.failed)), "bad"
        case Mode.SPRINT:
            latest = view.batches[-1].session_id if view.batches else ""
            stories = [story for batch in view.batches if batch.session_id == latest for story in batch.stories]
            done = sum(story.state is StoryState.DONE for story in stories)
            return (f"{done:,}/{len(stories):,}", "muted") if done < len(stories) else ("", "muted")
        case Mode.HEALTH:
            troubles = troubles_of(view)
            errors = sum(problem.severity == "error" for problem in troubles)
            return (_count_words(errors), "bad") if errors else (_count_words(len(troubles)), "warn")
        case _:
            return "", "muted"


def _count_words(count: int) -> str:
    return f"{count:,}" if count else ""


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


def pulse_of(situation: Situation, now: datetime) -> Pulse:
    """Return the mark at the right end of the head."""
    status = store_status(situation, now)
    pulse = _PULSES.get(status.state, bars.LIVE)
    return _with_age(pulse, situation, now) if status.state in _SHOWS_FORMER else pulse


def _with_age(pulse: Pulse, situation: Situation, now: datetime) -> Pulse:
    if situation.shown_read_at is None:
        return pulse
    old = f"{span((now - situation.shown_read_at).total_seconds())} old"
    return replace(pulse, word=old) if pulse is bars.STALE else replace(pulse, detail=old)


def notice_of(situation: Situation, now: datetime) -> Notice | None:
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


def _reading_notice(situation: Situation) -> Notice | None:
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


def _next_step(situation: Situation, reason: Reason, now: datetime) -> str:
    """Return the next step, or what is shown meanwhile."""
    old = {
        State.UNREADABLE: "Nothing is written until it can be read again.",
        State.VANISHED: safe_line(situation.with_short_paths(reason.hint), 300),
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


def _with_age_of_shown(situation: Situation, now: datetime, first: str) -> str:
    if situation.shown_read_at is None or situation.view is None:
        return first
    when, old = clock_time(situation.shown_read_at, now), span((now - situation.shown_read_at).total_seconds())
    return f"{first} Shown is what was read {when}, {old} ago.".lstrip()
