"""Health: the store, its lock and its watch, and every departure from a protocol."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, ClassVar

from console.panes.pane import ListPane
from console.situation import Situation, notice_of, pulse_of
from console.subject import Mode
from store.clock import from_text
from store.safe import safe_line, safe_text
from store.team import Condition, Problem, WatchState
from store.views.rows import View
from widgets.ages import ago, clock_time
from widgets.cells import Line, pad
from widgets.document import Block, Document, Fact, Lines, Text
from widgets.faces.findings import finding_lines
from widgets.row_list import Drawing
from widgets.signs import SEVERITIES


@dataclass(frozen=True, slots=True)
class Vital:
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


class HealthPane(ListPane[Vital | Problem]):
    """What is known of the store first, then the findings, errors first."""

    MODE: ClassVar[Mode] = Mode.HEALTH

    def draw(self, row: Vital | Problem, drawing: Drawing) -> Any:
        """A fact or a finding in one line or two."""
        if isinstance(row, Problem):
            return finding_lines(row, drawing)
        line: Line = ((f"{row.glyph} ", row.tone), (pad(row.name, 10), "strong"), (row.text, ""))
        return (line,) if drawing.lines == 1 else (line, (("  ", ""), (row.more.partition("\n")[0], "muted")))

    def key_of(self, row: Vital | Problem) -> str:
        """The name of a fact; code and place of a finding."""
        return f"vital:{row.name}" if isinstance(row, Vital) else f"{row.code}:{row.place}:{row.message}"

    def matter_of(self, row: Vital | Problem) -> object:
        """Which one it is."""
        return self.key_of(row)

    def show(self, situation: Situation, now: datetime) -> None:
        """Facts are known even when nothing could be read."""
        self.situation, self.now = situation, now
        view = situation.sight.view if situation.sight else None
        findings = view.findings if view is not None else ()
        unseen = situation.snapshot.problems if situation.snapshot and view is None else ()
        self._all = (*self._vitals(), *(self._shortened(one) for one in findings or unseen))
        self._fill()

    def rows_of(self, view: View) -> tuple[Vital | Problem, ...]:
        """Facts and findings."""
        return self._all

    def _shortened(self, one: Problem) -> Problem:
        short = self.situation.short
        return replace(one, place=short(one.place), message=short(one.message))

    def words_of(self, row: Vital | Problem) -> str:
        """All its words."""
        if isinstance(row, Vital):
            return f"{row.name} {row.text} {row.more}"
        return f"{row.code} {row.severity} {row.place} {row.message} {row.hint}"

    def document_of(self, row: Vital | Problem) -> Document | None:
        """What it means and what to do."""
        if isinstance(row, Vital):
            blocks: tuple[Block, ...] = (Lines((((f"{row.glyph} ", row.tone), (row.text, "")),)), Text(row.more))
            return Document(key=self.key_of(row), title=row.name.capitalize(), blocks=blocks, source=row.text)
        return finding_document(row, key=self.key_of(row))

    def subject_of(self, row: Vital | Problem | None, marked: tuple[Vital | Problem, ...]) -> Mapping[str, Any]:
        """Nothing can be decided here."""
        return {}

    def title_of(self, shown: int, total: int) -> str:
        """How many errors, warnings and notices."""
        problems = [row for row in self._all if isinstance(row, Problem)]
        counts = [(word, sum(one.severity == word for one in problems)) for word in ("error", "warning", "notice")]
        words = ", ".join(f"{number} {word}{'s' * (number != 1)}" for word, number in counts if number)
        return f"Health · {words or 'no findings'}"

    def _vitals(self) -> tuple[Vital, ...]:
        found = [self._queue(), self._lock(), self._watch()]
        snapshot = self.situation.snapshot
        if snapshot is not None:
            for warning in snapshot.config.warnings:
                found.append(Vital("settings", "▲", "warn", safe_line(warning, 300)))
        return tuple(found)

    def _queue(self) -> Vital:
        snapshot, place = self.situation.snapshot, safe_line(self.shelf.team.location, 300)
        if snapshot is None:
            return Vital("queue", "◔", "accent", "is being read", place)
        notice = notice_of(self.situation, self.now)
        if snapshot.condition not in (Condition.OK, Condition.EMPTY):
            text = safe_line(notice.text, 300) if notice else str(snapshot.condition)
            return Vital("queue", "✗", "bad", f"{snapshot.condition}: {text}", place)
        changed = f" · changed {ago(snapshot.changed_at, self.now)}" if self._was(snapshot.changed_at) else ""
        number = f"{len(snapshot.messages):,} messages"
        kind = self.shelf.team.capabilities.name
        return Vital(
            "queue",
            "✓",
            "good",
            f"{number}{changed}",
            f"{place}\n\nKept as {kind}. Revision {safe_line(snapshot.revision, 80)}.",
        )

    def _was(self, moment: datetime | None) -> bool:
        """Whether the moment is known and not in the future, as it is for a clock that was set back."""
        return moment is not None and moment <= self.now

    def _lock(self) -> Vital:
        holder = self.situation.snapshot.holder if self.situation.snapshot else None
        if holder is None:
            return Vital("lock", "✓", "good", "is free", "Whoever writes holds it for a moment; reading needs none.")
        alive = {True: "alive", False: "dead", None: "not known whether alive"}[holder.alive]
        since = clock_time(from_text(holder.since), self.now)
        host = f" on {safe_line(holder.host, 64)}" if holder.host else ""
        text = f"held by process {holder.pid}{host} since {since}, {alive}"
        return Vital("lock", "⚿", "warn", text, f"It does: {safe_line(holder.action, 80) or 'not said'}")

    def _watch(self) -> Vital:
        watch, pulse = self.situation.watch, pulse_of(self.situation, self.now)
        well = watch.state is WatchState.LIVE
        more = safe_text(watch.reason) or ("The system tells of every change." if well else "")
        return Vital("watch", pulse.glyph, pulse.tone, f"{pulse.word} · {watch.state}", more)


def finding_document(problem: Problem, *, key: str) -> Document:
    """What a finding says, where, and the next step."""
    sign = SEVERITIES.get(problem.severity, SEVERITIES["notice"])
    blocks: list[Block] = [
        Fact("finding", ((f"{sign.glyph} {safe_line(problem.code, 64)}", sign.tone), (f" · {sign.word}", "muted"))),
        Fact("place", ((safe_line(problem.place, 400), ""),)),
        Text(safe_text(problem.message)),
    ]
    if problem.hint:
        blocks.append(Lines(((("→ ", "accent"), (safe_line(problem.hint, 600), "")),), indent=2))
    return Document(
        key=f"finding:{key}",
        title="Finding",
        blocks=tuple(blocks),
        source=f"{problem.code} {problem.place}: {problem.message}",
    )
