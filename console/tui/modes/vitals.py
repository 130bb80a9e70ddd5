"""Vital facts about the store: its queue, its lock, its watch, its audit trail and its settings, each in a line."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct
from team_console.console.tui.screen_state import ScreenState, store_status
from team_console.store.contract.snapshot import FOREIGN_TEAM, KEPT_PRIVATE, Snapshot
from team_console.store.contract.team import AuditLine, Team, WatchState
from team_console.store.model.clock import from_text
from team_console.store.model.safe import counted, safe_line, safe_text
from team_console.store.views.findings import trail_findings
from team_console.store.views.status import State, holder_words
from team_console.widgets.ages import ago, clock_time
from team_console.widgets.bars import LIVE, POLLING, STALE
from team_console.widgets.text import cell_len, pad

_WATCH_WORDS = {
    WatchState.LIVE: (LIVE, "told by the system"),
    WatchState.POLLING: (POLLING, "looked for now and then"),
    WatchState.STALLED: (STALE, "not noticed"),
}
_BACKEND_WORDS = {"yaml": "Kept in files of YAML.", "sql": "Kept in a database."}
SETTINGS = "settings"
"""The name of the fact about the settings: of several each has its text in its key."""
_AUDIT_LINES = 100
"""Lines of the audit trail that are checked and shown."""


class Vital(Struct, frozen=True):
    """One fact about the store.

    Attributes:
        name: What it is about.
        glyph, tone: Whether it is well.
        text: Safe text, one line.
        more: Safe text for the detail.
    """

    name: str
    glyph: str
    tone: str
    text: str
    more: str = ""


def vitals_of(situation: ScreenState, team: Team, audit: Vital | None, now: datetime) -> tuple[Vital, ...]:
    """Return the facts on queue, lock, watch, audit trail and settings.

    Args:
        audit: What `audit_vital` found last; None before that.
    """
    found = [_queue_vital(situation, team, now), _lock_vital(situation, now), _watch_vital(situation)]
    found += [audit] if audit is not None else []
    lost = store_status(situation, now).reason(State.SETTINGS)
    if lost is not None:
        text = safe_line(situation.with_short_paths(lost.text), 300)
        found.append(Vital(SETTINGS, "▲", "bad", text, safe_line(lost.hint, 300)))
    snapshot = situation.snapshot
    if snapshot is not None:
        for warning in snapshot.config.warnings:
            found.append(Vital(SETTINGS, "▲", "warn", safe_line(warning, 300)))
    return tuple(found)


def _missing_audit(snapshot: Snapshot | None) -> Vital:
    """Return what is known where no line of the trail could be read: it is lost, or nobody ever wrote."""
    more = "Every write action of team-console leaves a line. Restore the file if there was one."
    codes = {problem.code for problem in snapshot.problems} if snapshot is not None else set()
    if FOREIGN_TEAM in codes:
        return Vital("audit", "○", "muted", "another program keeps this team, and no record of it")
    if KEPT_PRIVATE in codes:
        return Vital("audit", "○", "muted", "is kept private by the user who runs the team")
    if snapshot is not None and snapshot.messages:
        return Vital("audit", "△", "warn", "no line is on record, though there are messages", more)
    return Vital("audit", "○", "muted", "nothing is on record", more)


def _queue_vital(situation: ScreenState, team: Team, now: datetime) -> Vital:
    """Return what is known of the queue: read, in doubt, or why not."""
    snapshot, place = situation.snapshot, safe_line(team.location, 300)
    if snapshot is None:
        return Vital("queue", "◔", "open", "is being read", place)
    reason = store_status(situation, now).reason(State.UNREADABLE, State.VANISHED, State.DOUBT)
    if reason is not None:
        glyph, tone, word = "✗", "bad", str(reason.state)
        if reason.state is State.DOUBT:
            glyph, tone, word = "△", "warn", "in doubt"
        text = safe_line(f"{word}: {situation.with_short_paths(reason.text)}", 300)
        return Vital("queue", glyph, tone, text, f"{safe_line(reason.hint, 300)}\n\n{place}".strip())
    at, changed = snapshot.changed_at, ""
    if at is not None and at <= now:  # later than now it is where a clock was set back
        changed = f" · changed {ago(at, now)}"
    number = counted(len(snapshot.messages), "message")
    kept = _BACKEND_WORDS.get(team.kind, "Kept by another program.")
    return Vital("queue", "✓", "good", f"{number}{changed}", f"{place}\n\n{kept}")


def _lock_vital(situation: ScreenState, now: datetime) -> Vital:
    status = store_status(situation, now)
    if status.holder is None:
        return Vital("lock", "✓", "good", "is free", "Whoever writes holds it for a moment; reading needs none.")
    words = holder_words(status.holder, clock_time(from_text(status.holder.since), now))
    blocks = status.reason(State.LOCKED) is not None
    more = "It is held longer than a write takes." if blocks else "Whoever writes holds it for a moment."
    return Vital("lock", "⊠" if blocks else "◔", "warn" if blocks else "open", safe_line(f"held {words}"), more)


def _watch_vital(situation: ScreenState) -> Vital:
    watch = situation.watch
    pulse, how = _WATCH_WORDS[watch.state]
    more = safe_text(watch.reason) or "The console reads the team again as soon as it changes."
    return Vital("watch", pulse.glyph, pulse.tone, f"changes are {how}", more)


def audit_vital(team: Team, snapshot: Snapshot | None, now: datetime) -> Vital:
    """Return what is known of the end of the audit trail: intact, wrong, or lost; runs in a thread.

    Raises:
        TeamError: It cannot be read.
    """
    lines = team.audit(limit=_AUDIT_LINES)
    if not lines:
        return _missing_audit(snapshot)
    problem = next(trail_findings(lines), None)
    if problem is not None and problem.severity != "notice":
        glyph, tone = ("✗", "bad") if problem.severity == "error" else ("△", "warn")
        return Vital("audit", glyph, tone, safe_line(problem.message, 300), safe_line(problem.hint, 300))
    last = lines[0]
    words = f"intact to line {last.seq} · last {safe_line(last.action, 40)} by {safe_line(last.actor, 64)}"
    head = "Every write action leaves a line; the newest come first."
    return Vital("audit", "✓", "good", words, "\n".join([head, "", *_audit_rows(lines, now)]))


def _audit_rows(lines: list[AuditLine], now: datetime) -> list[str]:
    """Return a line each of the audit trail: number, time, action, who."""
    times = [clock_time(from_text(line.at), now) for line in lines]
    actions = [safe_line(line.action, 24) for line in lines]
    wide, long = max(map(len, times)), max(map(cell_len, actions))
    return [
        f"{line.seq:>6}  {time:>{wide}}  {pad(action, long)}  {safe_line(line.actor, 64)}"
        for line, time, action in zip(lines, times, actions, strict=True)
    ]
