"""Health: the facts about the store, its lock and its watch, and what departs from a protocol outside of place 1."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import ClassVar

from msgspec import Struct
from msgspec.structs import replace
from team_console.console.selection import NOTHING, Mode, Selection
from team_console.console.tui.cache import ScreenCache
from team_console.console.tui.modes.listing import Listing
from team_console.console.tui.modes.pane import Pane
from team_console.console.tui.outcomes import reason_of
from team_console.console.tui.situation import Situation, findings_elsewhere, store_status
from team_console.console.tui.textual_fixes import start_worker
from team_console.store.contract.snapshot import FOREIGN_TEAM, KEPT_PRIVATE, Snapshot
from team_console.store.contract.team import AuditLine, Team, WatchState
from team_console.store.model.clock import from_text
from team_console.store.model.errors import Problem
from team_console.store.model.safe import counted, safe_line, safe_text
from team_console.store.views.findings import trail_findings
from team_console.store.views.rows import RequestRow
from team_console.store.views.search import Searchable, searchable_texts
from team_console.store.views.status import State, holder_words
from team_console.widgets.bars import LIVE, POLLING, STALE
from team_console.widgets.document import Block, Document, Lines, Text, TextForm, fact
from team_console.widgets.row_drawing import Drawing, row_lines
from team_console.widgets.signs import severity_sign
from team_console.widgets.text import Line, ago, cell_len, clock_time, pad

_FOLDED_FROM = 3
"""Findings of one kind from which on they are one row."""
_MOST_LISTED = 50
"""Findings of a group that its detail lists."""


class FindingGroup(Struct, frozen=True):
    """Findings of one kind, shown as one row with their number until it is opened."""

    severity: str
    code: str
    problems: tuple[Problem, ...]

    @property
    def key(self) -> str:
        """The key of the row in the list."""
        return f"group:{self.severity}:{self.code}"


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


Row = Vital | FindingGroup | Problem
_TROUBLE, _STORE, _NOTICES = "TROUBLE", "THE STORE", "TO KNOW"


class HealthListing(Listing[Row]):
    """What is known of the store first, then the findings, errors first.

    Attributes:
        audit: What is known of the audit trail; None before it was looked at.
    """

    MODE: ClassVar[Mode] = Mode.HEALTH

    def __init__(self, cache: ScreenCache) -> None:
        super().__init__(cache)
        self.audit: Vital | None = None
        self._findings: tuple[Problem, ...] = ()
        self._unfolded: set[str] = set()

    def draw(self, row: Row, drawing: Drawing) -> tuple[Line, ...]:
        """Return a fact or a finding in one line or two; below it the next step."""
        if isinstance(row, Problem):
            below = safe_line(row.hint or row.place, 200)
            title: Line = ((safe_line(row.message, 400), ""),)
            return row_lines(drawing, severity_sign(row), title, (), facts=[(below, "muted")])
        if isinstance(row, FindingGroup):
            problem = row.problems[0]
            number = f"{len(row.problems):,} × "
            line: Line = (severity_sign(problem).mark, (number, "strong"), (safe_line(problem.message, 300), ""))
            is_open = row.key in self._unfolded
            keys = "enter folds them away" if is_open else "and others of this kind · enter shows each"
            return (line, (("  ", ""), (keys, "muted")))[: drawing.lines]
        line = ((f"{row.glyph} ", row.tone), (pad(row.name, 10), "muted"), (row.text, ""))
        return (line, (("  ", ""), (row.more.partition("\n")[0], "muted")))[: drawing.lines]

    def group_of(self, row: Row) -> str:
        """Return the heading of a row: problems, notices, the store itself."""
        if isinstance(row, Vital):
            return _STORE
        return _NOTICES if row.severity == "notice" else _TROUBLE

    def heading(self, below: tuple[Row, ...], drawing: Drawing) -> Line:
        """Return the group, and how many findings it has."""
        return ((f" {_STORE}", "muted"),) if isinstance(below[0], Vital) else super().heading(below, drawing)

    def key_of(self, row: Row) -> str:
        """Return the name of a fact, of several on the settings with what each says; code and place of a finding."""
        if isinstance(row, FindingGroup):
            return row.key
        if isinstance(row, Vital) and row.name == SETTINGS:
            return f"vital:{row.name}:{row.text}"
        return f"vital:{row.name}" if isinstance(row, Vital) else f"{row.code}:{row.place}:{row.message}"

    def basis_of(self, row: Row) -> object:
        """Return the finding's identity."""
        return self.key_of(row)

    def list_findings(self) -> None:
        """List the facts and findings of the situation."""
        view, snapshot = self.situation.view, self.situation.snapshot
        findings = findings_elsewhere(view) if view is not None else ()
        unseen = snapshot.problems if snapshot and view is None else ()
        self._findings = tuple(self._with_short_paths(problem) for problem in findings or unseen)
        self.all = self._in_order(self._folded_findings())

    def renew_facts(self) -> None:
        """Say the facts anew, since they tell how long ago."""
        self.all = self._in_order(row for row in self.all if not isinstance(row, Vital))

    def fold(self, group: FindingGroup) -> None:
        """Fold findings of one kind out or away."""
        self._unfolded ^= {group.key}

    def _in_order(self, findings: Iterable[Row]) -> tuple[Row, ...]:
        """Return the rows with problems first and notices last."""
        order = (_TROUBLE, _STORE, _NOTICES)
        return tuple(
            sorted(
                (*vitals_of(self.situation, self.cache.team, self.audit, self.now), *findings),
                key=lambda row: order.index(self.group_of(row)),
            )
        )

    def _folded_findings(self) -> Iterator[Row]:
        """Yield the findings, those of one kind as one row where they are many; an opened one has them below it."""
        groups: dict[tuple[str, str], list[Problem]] = {}
        for problem in self._findings:
            groups.setdefault((problem.severity, problem.code), []).append(problem)
        for (severity, code), problems in groups.items():
            group = FindingGroup(severity, code, tuple(problems))
            if len(problems) < _FOLDED_FROM:
                yield from problems
                continue
            yield group
            if group.key in self._unfolded:
                yield from problems

    def shown(self) -> tuple[Row, ...]:
        """Return the rows that are shown; a filter looks at every finding, folded away or not."""
        if not self.query_text:
            return self.all
        folded = self.all
        self.all = self._in_order(self._findings)
        shown = super().shown()
        self.all = folded
        return shown

    def request_about(self, problem: Problem) -> RequestRow | None:
        """Return the request that a finding is about; None for none."""
        place = problem.place.partition(" ")[0]
        return next((row for row in self.requests if place in (row.question.message_id, row.request_id)), None)

    def _with_short_paths(self, problem: Problem) -> Problem:
        short = self.situation.with_short_paths
        return replace(problem, place=short(problem.place), message=short(problem.message))

    def searchable_of(self, row: Row) -> Searchable:
        """Return all its words."""
        if isinstance(row, Vital):
            return searchable_texts(row.name, row.text, row.more)
        if isinstance(row, FindingGroup):
            return searchable_texts(row.code, row.severity)
        return searchable_texts(row.code, row.severity, row.place, row.message, row.hint)

    def document_of(self, row: Row) -> Document:
        """Return the meaning of the finding and its remedy; its code and place stand behind `ids`."""
        if isinstance(row, Vital):
            blocks: tuple[Block, ...] = (
                Lines((((f"{row.glyph} ", row.tone), (row.text, "")),)),
                Text(row.more, TextForm.SOURCE),
            )
            return Document(key=self.key_of(row), title=row.name.capitalize(), blocks=blocks, source=row.text)
        if isinstance(row, FindingGroup):
            lines: list[Line] = [((safe_line(problem.sentence, 400), ""),) for problem in row.problems[:_MOST_LISTED]]
            if (left := len(row.problems) - _MOST_LISTED) > 0:
                lines.append(((f"and {left:,} more", "muted"),))
            return Document(
                key=row.key,
                title=f"{len(row.problems):,} of one kind",
                blocks=(Lines(tuple(lines)),),
                more=(fact("code", safe_line(row.code, 64), ""),),
                source="\n".join(problem.sentence for problem in row.problems),
            )
        steps: list[Block] = []
        if row.hint:
            steps.append(Lines(((("→ ", "open"), (safe_line(row.hint, 600), "")),), indent=2))
        if self.request_about(row) is not None:
            steps.append(Lines(((("enter", "key"), (" goes to the request", "muted")),)))
        return Document(
            key=f"finding:{self.key_of(row)}",
            title=severity_sign(row).word.capitalize(),
            headline=safe_line(row.message, 600),
            blocks=tuple(steps),
            more=(fact("code", safe_line(row.code, 64), ""), fact("place", safe_line(row.place, 400), "")),
            source=f"{row.code} {row.place}: {row.message}",
        )

    def selection_of(self, row: Row, chosen: tuple[Row, ...]) -> Selection:
        """Return nothing: nothing can be decided here."""
        return NOTHING

    def title_of(self, shown: int, total: int) -> str:
        """Return the number of errors, warnings and notices."""
        counts = Counter(problem.severity for problem in self._findings)
        words = ", ".join(counted(counts[word], word) for word in ("error", "warning", "notice") if counts[word])
        ill = any(isinstance(row, Vital) and row.tone in ("bad", "warn") for row in self.all)
        return f"Health · {words or ('look at the store' if ill else 'all is well')}"


class HealthPane(Pane[Row]):
    """The health of the store; enter folds findings, goes to the request one is about, or opens its text."""

    LISTING = HealthListing
    listing: HealthListing

    def __init__(self, cache: ScreenCache) -> None:
        super().__init__(cache)
        self._audited_revision, self._looks = "", 0
        self._is_audit_unread = False

    def show(self, situation: Situation, now: datetime) -> None:
        """Show the facts, which are known even when nothing could be read, and the findings."""
        self.listing.situation, self.listing.now = situation, now
        self._check_audit_once()
        self.listing.list_findings()
        self.fill()
        self.rows.begin_at_top()  # findings come later than facts, and stand above them

    def tick(self, now: datetime) -> None:
        """Say the facts anew, since they tell how long ago; what could not be read of the trail is tried again."""
        self.listing.now = now
        if self._is_audit_unread:
            self._is_audit_unread = False
            self._check_audit()
        self.listing.renew_facts()
        self.fill()

    def open(self) -> None:
        """Fold findings of one kind out or away; of one finding go to the request it is about, else into its text."""
        row = self.rows.cursor_row
        if isinstance(row, FindingGroup):
            self.listing.fold(row)
            self.show(self.listing.situation, self.listing.now)
        elif not self._goes_to_request():
            super().open()

    def action_read_on(self) -> None:
        """See `Pane`; also from within the text of a finding enter goes to the request that it is about."""
        if not self._goes_to_request():
            super().action_read_on()

    def _goes_to_request(self) -> bool:
        """Go to the request that the finding under the cursor is about; False where it is about none."""
        row = self.rows.cursor_row
        request = self.listing.request_about(row) if isinstance(row, Problem) else None
        if request is not None:
            self.post_message(self.GoTo(Mode.REQUESTS if request.is_open else Mode.DECISIONS, request.key))
        return request is not None

    def focus_first(self) -> None:
        """Go to the facts; archives are looked at anew, since nothing else tells what became of them meanwhile."""
        super().focus_first()
        self.app.look(archives=True)  # type: ignore[attr-defined]

    def _check_audit_once(self) -> None:
        """Check the end of the audit trail in a thread, once for each state of the store."""
        revision = self.listing.situation.snapshot.revision if self.listing.situation.snapshot else ""
        if revision and revision != self._audited_revision:
            self._audited_revision = revision
            self._check_audit()

    def _check_audit(self) -> None:
        """Look at the end of the audit trail; of several looks the last one counts."""
        self._looks += 1
        start_worker(self, self._show_audit, self._looks, group="audit")

    async def _show_audit(self, look: int) -> None:
        try:
            listing = self.listing
            snapshot, now = listing.situation.snapshot, listing.now
            audit, is_unread = await asyncio.to_thread(audit_vital, self.cache.team, snapshot, now), False
        except Exception as error:
            audit, is_unread = Vital("audit", "✗", "bad", f"cannot be read: {reason_of(error)}"), True
        if look == self._looks:
            self.listing.audit, self._is_audit_unread = audit, is_unread
            self.show(self.listing.situation, self.listing.now)


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


def vitals_of(situation: Situation, team: Team, audit: Vital | None, now: datetime) -> tuple[Vital, ...]:
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


def _queue_vital(situation: Situation, team: Team, now: datetime) -> Vital:
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


def _lock_vital(situation: Situation, now: datetime) -> Vital:
    status = store_status(situation, now)
    if status.holder is None:
        return Vital("lock", "✓", "good", "is free", "Whoever writes holds it for a moment; reading needs none.")
    words = holder_words(status.holder, clock_time(from_text(status.holder.since), now))
    blocks = status.reason(State.LOCKED) is not None
    more = "It is held longer than a write takes." if blocks else "Whoever writes holds it for a moment."
    return Vital("lock", "⊠" if blocks else "◔", "warn" if blocks else "open", safe_line(f"held {words}"), more)


def _watch_vital(situation: Situation) -> Vital:
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
