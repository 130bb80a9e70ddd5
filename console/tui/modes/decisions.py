"""Decisions: the ledger of who decided what and how other requests ended, read in a thread of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import partial
from typing import ClassVar

from msgspec.structs import replace
from team_console.console.selection import NOTHING, Mode, Selection
from team_console.console.tui.cache import ScreenCache
from team_console.console.tui.empty_lists import empty_words
from team_console.console.tui.modes.listing import Listing
from team_console.console.tui.modes.pane import Pane
from team_console.console.tui.outcomes import reason_of
from team_console.console.tui.situation import Situation
from team_console.console.tui.textual_fixes import start_worker
from team_console.store.contract.snapshot import Snapshot
from team_console.store.model.safe import counted, safe_line, safe_text
from team_console.store.protocol.kinds import RequestKind
from team_console.store.protocol.parsing import parse_message
from team_console.store.protocol.placed_message import EARLIEST
from team_console.store.views.decisions import (
    DecidedRequest,
    DecisionLedger,
    EndedRequest,
    Proof,
    ledger_of_team,
    sources_stamp,
)
from team_console.store.views.rows import RequestRow
from team_console.store.views.search import Searchable, searchable_request
from team_console.widgets.client_request_documents import answer_blocks
from team_console.widgets.document import Block, Document, Fact, Heading, Lines, Text, fact, one_line
from team_console.widgets.message_documents import content_blocks
from team_console.widgets.message_words import VERDICTS, verdict_word
from team_console.widgets.row_drawing import WORDY, Drawing, age_column, row_lines
from team_console.widgets.signs import REQUESTS, Sign
from team_console.widgets.text import Line, Part, ago, clock_time, safe_name, span

_ARCHIVED, _AUDITED = 20_000, 20_000
"""Messages and audit lines that the console looks back on; the verb reads all of them."""
PROOFS: Mapping[Proof, Sign] = {
    Proof.SIGNED: Sign("✓", "signed", "good"),
    Proof.BY_GRANT: Sign("·", "by a grant", "muted"),
    Proof.RECORDED: Sign("·", "recorded", "muted"),
    Proof.UNVERIFIED: Sign("‼", "unverified", "alert"),
    Proof.NOT_KNOWN: Sign("?", "proof not known", "warn"),
}
"""What vouches for a decision. Only a signature is marked as good: a trail can be written anew by whoever owns it."""
_UNKNOWN: Line = (("not known", "warn"),)
_WORDS_FROM = 40
"""Cells of a row from which on the verdict is told in words, too: in fewer its sign tells it beside the title."""
ClosedRequest = DecidedRequest | EndedRequest
"""A row: a decision, or a request that ended without one."""


class DecisionListing(Listing[ClosedRequest]):
    """Decisions, and requests that ended without one, newest first.

    Attributes:
        ledger: What was read last; None before the first reading.
        failure: Why it could not be read, as safe text; empty where it could.
        is_busy: Whether it is being read.
    """

    MODE: ClassVar[Mode] = Mode.DECISIONS

    def __init__(self, cache: ScreenCache) -> None:
        super().__init__(cache)
        self.ledger: DecisionLedger | None = None
        self.failure, self.is_busy = "", False

    def draw(self, row: ClosedRequest, drawing: Drawing) -> tuple[Line, ...]:
        """Return verdict, agent, kind and what; below them by whom, when, the words and the proof."""
        if isinstance(row, EndedRequest):
            return _ended_lines(row, drawing)
        glyph, tone = VERDICTS.get(row.verdict, ("·", ""))
        proof, kind = PROOFS[row.proof], safe_line(row.kind, 20)
        verdict = verdict_word(row.kind, safe_line(row.verdict, 20))
        what = safe_line(row.title, 300) or f"request {safe_line(row.request_id, 120)}"
        when = clock_time(row.at, drawing.now) if row.at is not None else "when not known"
        words = ((f"“{safe_line(row.words, 300)}”", "muted"),) if row.words else ()
        facts = ((f"by {safe_line(row.by, 64)} {when}", "muted"), *words, (proof.word, proof.tone))
        end = age_column(row.at, drawing)
        if drawing.lines == 1:
            end = ((f"  {proof.glyph}{f' {proof.word}' if drawing.width >= WORDY else ''}", proof.tone), *end)
        of_kind = f"{kind}: " if verdict == row.verdict else ""
        title: Line = ((f"{verdict}{' ' if of_kind else ': '}", tone), (of_kind, "muted"), (what, ""))
        if drawing.width < _WORDS_FROM:
            title = title[-1:]
        return row_lines(drawing, Sign(glyph, verdict, tone), title, end, who=self.who_of(row), facts=facts)

    def who_of(self, row: ClosedRequest) -> str:
        """Return who asked, else who decided."""
        return row.request.asker if isinstance(row, EndedRequest) else row.asked_by or row.by

    @property
    def _known_ledger(self) -> DecisionLedger:
        return self.ledger or DecisionLedger()

    def list_ledger(self) -> None:
        """List what the ledger that was read last has."""
        both: tuple[ClosedRequest, ...] = (*self._known_ledger.decisions, *self._known_ledger.ended)
        self.all = tuple(sorted(both, key=lambda row: row.at or EARLIEST, reverse=True))

    def searchable_of(self, row: ClosedRequest) -> Searchable:
        """Return the searchable fields: who decided what for whom, how, when, with which words and evidence."""
        if isinstance(row, EndedRequest):
            found = searchable_request(row.request, me=self.me)
            return replace(found, texts=(*found.texts, row.how, row.reason))
        return Searchable(
            texts=(row.request_id, row.kind, row.verdict, row.title, row.words, row.proof, *row.evidence, *row.gaps),
            sender=row.asked_by,
            recipients=(row.by,),
            kinds=(row.kind,),
            status=row.verdict,
            at=row.at,
            marks=frozenset({"decided"} | ({"mine"} if self.me in (row.by, row.asked_by) else set())),
        )

    def document_of(self, row: ClosedRequest) -> Document:
        """Return the decision: by whom, on which digest, with which words and evidence, what is not proved, and what
        was asked.
        """
        if isinstance(row, EndedRequest):
            return self.sources.document_of_request(row.request)
        known, shown = (
            (("sha256 ", "muted"), (safe_name(text), "muted")) if text else _UNKNOWN
            for text in (row.request_sha256, row.shown_sha256)
        )
        return Document(
            key=f"decision:{row.key}",
            title=f"{safe_line(row.verdict, 20).capitalize()} · {safe_name(row.by)}",
            headline=safe_line(row.title or f"request {row.request_id}", 400),
            facts=tuple(self._decision_facts(row)),
            more=(fact("id", safe_line(row.request_id, 200)), Fact("request", known), Fact("shown", shown)),
            blocks=tuple(self._decision_blocks(row)),
            source=row.words or row.title,
        )

    def _decision_facts(self, row: DecidedRequest) -> Iterator[Part]:
        """Yield who asked whom, when and how fast it was decided, and what proves it."""
        yield f"{safe_name(row.asked_by) or 'asker not known'} → {safe_name(row.by)}", ""
        yield (safe_line(row.kind, 40), "muted") if row.kind else ("kind not known", "warn")
        yield (ago(row.at, self.now), "muted") if row.at else ("when is not known", "warn")
        if row.after_seconds is not None:
            yield f"after {span(row.after_seconds)}", "muted"
        sign = PROOFS[row.proof]
        line = f", line {row.audit_line} of the audit trail" if row.audit_line is not None else ""
        yield f"{sign.glyph} {sign.word}{line}".removeprefix("· "), sign.tone

    def _decision_blocks(self, row: DecidedRequest) -> Iterator[Block]:
        """Yield the words of a decision, what was shown, what is not proved, and what was asked."""
        request = self._request_of(row)
        content = self.sources.content_of(request.question) if request is not None else None
        answers: tuple[Block, ...] = ()
        if request is not None and request.verdict is not None:
            answers = tuple(answer_blocks(request.question, request.verdict, content))
        if answers and row.kind == RequestKind.QUESTION:
            yield Heading("answer")  # its words are what was chosen
        else:
            yield Heading("note")
            yield Text(safe_text(row.words)) if row.words else one_line("none", "muted")
        yield from answers
        yield Heading("what was shown")
        if row.shown_by:
            yield one_line(safe_line(row.shown_by, 300))
        if row.evidence:
            yield Lines(tuple(((safe_line(piece, 300), ""),) for piece in row.evidence), indent=2)
        elif row.shown_sha256:
            yield one_line("the question alone", "muted")
        elif not row.shown_by:
            yield Lines((_UNKNOWN,))
        gaps = [*row.gaps, *(problem.sentence for problem in self._known_ledger.problems)]
        if gaps:
            yield Heading("not proved")
            yield Lines(tuple((("△ ", "warn"), (safe_line(gap, 500), "")) for gap in gaps), indent=2)
        if request is not None:
            asked = content_blocks(request.question, parse_message(request.question), content)
            if asked and not isinstance(asked[0], Heading):
                yield Heading("what was asked")
            yield from asked
        elif "\n" in row.title.strip():
            yield Heading("what was asked")
            yield Text(safe_text(row.title))

    def _request_of(self, row: ClosedRequest) -> RequestRow | None:
        """Return the request of a row, as far as the view still knows it."""
        return next((item for item in self.requests if item.key == row.key), None)

    def selection_of(self, row: ClosedRequest, chosen: tuple[ClosedRequest, ...]) -> Selection:
        """Return the request that was decided or ended, as far as the view still knows it."""
        request = self._request_of(row)
        if request is None:
            return NOTHING
        return Selection(request=request, message=request.verdict or request.question, messages=(request.question,))

    def title_of(self, shown: int, total: int) -> str:
        """Return the number of decisions, of requests that ended without one, and of decisions without proof."""
        latest = self._known_ledger
        if shown != total:
            words = [super().title_of(shown, total)]
        else:
            words = [super().title_of(len(latest.decisions), len(latest.decisions))]
            if latest.ended:
                words.append(f"{len(latest.ended):,} ended without one")
        odd = sum(row.proof in (Proof.UNVERIFIED, Proof.NOT_KNOWN) for row in latest.decisions)
        if odd:
            words.append(f"{odd:,} not proved")
        return " · ".join(words)

    def notes(self) -> list[str]:
        """Return the work under way, and what makes the ledger incomplete."""
        notes = ["◔ reading"] if self.is_busy else []
        notes += [f"✗ not read again: {self.failure}"] if self.failure else []
        problems = self._known_ledger.problems
        return [*notes, f"△ {counted(len(problems), 'gap')} in the sources"] if problems else notes

    def shown(self) -> tuple[ClosedRequest, ...]:
        """See `Listing`; none before the first reading."""
        return super().shown() if self.ledger is not None else ()

    def empty(self) -> tuple[Line, ...]:
        """See `Listing`; before the first reading that it is under way, or why it failed."""
        if self.ledger is not None:
            return super().empty()
        if self.situation.snapshot is None:
            return empty_words(self.MODE, self.situation)
        if self.failure:
            return ((("✗  ", "alarm"), (f"Not read: {self.failure}", "strong")),)
        return ((("◔  ", "open"), ("Reading archives and audit trail …", "strong")),)


class DecisionsPane(Pane[ClosedRequest]):
    """Decisions and other ends, newest first; enter opens one with its digests, its evidence and what is not proved."""

    LISTING = DecisionListing
    listing: DecisionListing

    def __init__(self, cache: ScreenCache) -> None:
        super().__init__(cache)
        self._read_for: object = None

    def show(self, situation: Situation, now: datetime) -> None:
        """Show what is known, and read the ledger again when anything was decided since."""
        self.listing.situation, self.listing.now = situation, now
        self.listing.list_ledger()
        self._read_if_changed()
        self.fill()

    def tick(self, now: datetime) -> None:
        """Let ages go on; what could not be read is tried again, also where nothing else changes."""
        super().tick(now)
        if self.listing.failure:
            self._read_if_changed()

    def _read_if_changed(self) -> None:
        """Read in a thread, one reading at a time, when what was decided is not what was read."""
        snapshot = self.listing.situation.snapshot
        if snapshot is None or self.listing.is_busy:
            return
        known = sources_stamp(self.listing.requests, snapshot)
        if known != self._read_for:
            self._read_for = known
            self.listing.is_busy = True
            start_worker(self, self._read, snapshot, self.listing.now, group="decisions")

    async def _read(self, snapshot: Snapshot, now: datetime) -> None:
        """Show what was read, or say why it was not; look again for what was decided meanwhile."""
        listing, read = self.listing, partial(ledger_of_team, archived=_ARCHIVED, audited=_AUDITED, now=now)
        try:
            listing.ledger = await asyncio.to_thread(read, self.cache.team, snapshot)
            listing.failure = ""
        except Exception as error:
            listing.failure, self._read_for = reason_of(error), None
        listing.is_busy = False
        if not listing.failure:
            listing.list_ledger()
            self._read_if_changed()
        self.fill()


def _ended_lines(row: EndedRequest, drawing: Drawing) -> tuple[Line, ...]:
    """Return how a request ended, its kind and what it was; below them why, where it has no room behind them."""
    request, sign, how = row.request, REQUESTS[row.request.state], safe_line(row.how, 20)
    title: list[Part] = [(safe_line(request.title, 300), "")]
    if drawing.width >= _WORDS_FROM:
        title = [(f"{how} ", sign.tone), (f"{request.kind}: ", "muted"), *title]
    reason = safe_line(row.reason, 300)
    when = clock_time(row.at, drawing.now) if row.at is not None else "when not known"
    if drawing.lines == 1 and reason:
        title.append((f" · {reason}", "muted"))
    facts: list[Part] = [(when, "muted")]
    if reason:
        facts.append((reason, "muted"))
    mark = Sign(sign.glyph, how, sign.tone)
    return row_lines(drawing, mark, tuple(title), age_column(row.at, drawing), who=request.asker, facts=facts)
