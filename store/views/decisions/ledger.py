"""Ledger of decisions: a pure function of messages, live and archived, and of the lines of the audit trail.

A request is judged by the same views as everything else: what does not count on the screen does not count here. The
live queue adds nothing that archives and audit trail do not have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from msgspec import Struct
from team_console.store.contract.team import ARCHIVE_LOST, AUDIT_LOST, AuditLine, Condition, Snapshot
from team_console.store.model.clock import from_text
from team_console.store.model.message import Message
from team_console.store.model.problem import Problem
from team_console.store.model.recorded import RecordedFacts
from team_console.store.protocol.entries import EARLIEST
from team_console.store.protocol.foreign_fields import text_in, texts_in
from team_console.store.protocol.kinds.kind import RequestKind
from team_console.store.protocol.reading import reading
from team_console.store.protocol.seen import REQUEST, Face, Shown, digest_of, given_on, shown_in
from team_console.store.settings.team_config import TeamConfig
from team_console.store.views.board import view_of
from team_console.store.views.decisions.decision import Decision, DecisionLedger, Proof
from team_console.store.views.findings.audit_chain import trail_findings
from team_console.store.views.rows import Flag, RequestRow
from team_console.store.views.titles import reason_of

_WORK = frozenset({RequestKind.DEBUG, RequestKind.BROWSER, RequestKind.RESEARCH})
"""Kinds whose answers are results of agents' work, not decisions."""
_VERDICTS = {"approve": "approved", "reject": "rejected", "answer": "answered"}
"""Actions of the audit trail that decide."""
Signature = Callable[[Message, Message], Proof | None]
"""What the signature of a verdict proves of it, from question and verdict; None where it has none."""


class Sources(Struct, frozen=True):
    """What a ledger is made from.

    Attributes:
        messages: Live and archived, each id once, newest first.
        audit: Lines of the audit trail, newest first.
        recorded: What the trail knows of requests and answers; None where there is no trail to ask.
        complete: Whether `messages` are all there are.
        problems: What is wrong with the sources, as far as their readers found out.
        signature: Looks at the signature of a verdict.
    """

    messages: Sequence[Message]
    audit: Sequence[AuditLine]
    recorded: RecordedFacts | None
    config: TeamConfig
    now: datetime
    complete: bool = True
    problems: tuple[Problem, ...] = ()
    signature: Signature | None = None


def decision_ledger(sources: Sources) -> DecisionLedger:
    """Every decision that messages or audit trail know of, newest first, each with what proves it."""
    trail = _Trail(sources)
    rows = [row for row in _requests(sources) if row.verdict is not None and row.kind not in _WORK]
    decisions = [_decided(row, sources, trail) for row in rows]
    known = {answer.message_id for row in rows for answer in row.answers}
    decisions += trail.without_messages(known)
    decisions.sort(key=lambda decision: (decision.at or EARLIEST, decision.audit_line or 0), reverse=True)
    return DecisionLedger(tuple(decisions), (*sources.problems, *trail_findings(sources.audit)))


class _Trail:
    """The audit trail, asked for decisions and for how far its chain holds."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._by_message: dict[str, AuditLine] = {}
        broken = [line.seq for line in sources.audit if not line.intact]
        oldest = min((line.seq for line in sources.audit), default=0)
        self.broken_at = min(broken, default=None)
        """The first line that does not hold; 0 where it may lie before all that are known."""
        if self.broken_at is not None and self.broken_at == oldest > 1:
            self.broken_at = 0
        self.is_lost = any(problem.code == AUDIT_LOST for problem in sources.problems)
        for line in sources.audit:
            for message_id in texts_in(line.facts, "ids") if line.action in _VERDICTS else ():
                self._by_message[message_id] = line

    def line_of(self, message_id: str) -> AuditLine | None:
        """The line that says who decided so."""
        return self._by_message.get(message_id)

    def proof(self, message_id: str) -> tuple[Proof, int | None, str]:
        """What the trail proves of a verdict, on which line, and what it does not prove."""
        recorded = self._sources.recorded
        if recorded is None:
            return Proof.NOT_KNOWN, None, "there is no audit trail that could tell who wrote it"
        fact = recorded.get(message_id)
        if fact is None or not fact.by_desk:
            if self.is_lost:
                return Proof.NOT_KNOWN, None, "the audit trail was lost, so it cannot tell who wrote it"
            return Proof.UNVERIFIED, None, "no desk wrote it: the audit trail does not have it as one of ours"
        if self.broken_at is not None and fact.line >= self.broken_at:
            where = f"from line {self.broken_at} on" if self.broken_at else "somewhere"
            return Proof.NOT_KNOWN, fact.line, f"the chain of the audit trail does not hold {where}"
        return Proof.RECORDED, fact.line, ""

    def without_messages(self, known: set[str]) -> Iterator[Decision]:
        """Decisions that the trail has, and no message tells of."""
        lines = {line.seq: line for line in self._by_message.values()}
        for line in lines.values():
            ids = list(texts_in(line.facts, "ids"))
            if known.isdisjoint(ids):
                yield self._from_line(line, ids)

    def _from_line(self, line: AuditLine, ids: Sequence[str]) -> Decision:
        recorded, facts = self._sources.recorded, line.facts
        verdict = next((message for item in ids if recorded and (message := recorded.message(item))), None)
        proof, _, gap = self.proof(ids[0])
        shown = shown_in(facts)
        request_id, at = text_in(facts, "request_id"), from_text(line.at)
        gaps = [gap, f"the question is in no archive: {self._why_gone()}"]
        gaps += ["its words are not known"] if verdict is None else []
        gaps.append(_not_shown(shown))
        return Decision(
            key=f"line:{line.seq}:{request_id}",
            request_id=request_id,
            kind=text_in(facts, "kind"),
            verdict=_VERDICTS[line.action],
            by=line.actor,
            proof=Proof.NOT_KNOWN if proof is Proof.RECORDED and not line.intact else proof,
            asked_by=text_in(facts, "asker"),
            at=at,
            words=reason_of(verdict) if verdict is not None else "",
            request_sha256=text_in(facts, REQUEST),
            shown_sha256=shown.sha256,
            evidence=shown.evidence,
            shown_by=shown.by,
            message_id=ids[0],
            audit_line=line.seq,
            gaps=tuple(filter(None, gaps)),
        )

    def _why_gone(self) -> str:
        if any(problem.code == ARCHIVE_LOST for problem in self._sources.problems):
            return "archived messages were lost"
        return "it was removed" if self._sources.complete else "not all of them were read"


def _requests(sources: Sources) -> tuple[RequestRow, ...]:
    """The requests as all messages together tell of them; the queue counts as one more archive."""
    empty = Snapshot("", sources.now, None, sources.config, condition=Condition.EMPTY, recorded=sources.recorded)
    messages, complete = sources.messages, sources.complete
    return view_of(empty, me="", now=sources.now, history=messages, bodies=False, complete=complete).requests


def _decided(row: RequestRow, sources: Sources, trail: _Trail) -> Decision:
    verdict = row.verdict
    assert verdict is not None
    proof, number, gap = trail.proof(verdict.message_id)
    signed = sources.signature(row.question, verdict) if sources.signature is not None else None
    if signed is not None:
        proof = signed
    line = trail.line_of(verdict.message_id)
    facts = line.facts if line is not None else {}
    digest = text_in(facts, REQUEST) or given_on(verdict)
    shown = shown_in(facts if REQUEST in facts else verdict.payload)
    return Decision(
        key=row.key,
        request_id=row.request_id,
        kind=str(row.kind),
        verdict=str(row.state),
        by=verdict.sender,
        proof=proof,
        asked_by=row.asker,
        asked_at=row.asked_at,
        at=row.answered_at,
        after_seconds=row.waiting_seconds(row.answered_at) if row.asked_at and row.answered_at else None,
        title=row.title,
        words=row.reason,
        request_sha256=digest or digest_of(row.question),
        shown_sha256=shown.sha256,
        evidence=shown.evidence,
        shown_by=shown.by,
        message_id=verdict.message_id,
        audit_line=number,
        gaps=tuple(filter(None, (gap, *_gaps(row, digest, shown)))),
    )


_UNSHOWN: Mapping[str, str] = {
    Face.CONSOLE: "",
    Face.TITLE: "only its title was shown among others; whether its text was read cannot be proved",
    Face.PRINTED: "it was printed without evidence; whether whoever decided read it cannot be proved",
    Face.HANDED: "a program decided on what it had in hand; whether anybody saw it cannot be proved",
    Face.NAMED: "nothing was shown, it was named by its id; what of it was known before cannot be proved",
}
"""What showed a request -> what that leaves unproved."""


def _not_shown(shown: Shown) -> str:
    """What cannot be proved of what was shown; empty when it was all on the screen."""
    nothing = "" if shown.sha256 and not shown.by else "what was shown to whoever decided is not known"
    return _UNSHOWN.get(shown.by, nothing)


def _gaps(row: RequestRow, digest: str, shown: Shown) -> Iterator[str]:
    """What of a decision is not known or does not fit."""
    if digest and digest != digest_of(row.question):
        yield "the question is not any more what it was when it was decided: its digest is another"
    if not digest:
        yield "the digest is of the question as it stands now; none was kept with the decision"
    yield _not_shown(shown)
    if Flag.ALTERED in row.flags:
        yield "a message says something else than the audit trail; what the trail says counts here"
    ignored = [answer for answer in row.answers if answer is not row.verdict]
    if ignored:
        yield f"further answers decide nothing: {', '.join(_claimed(ignored))}"


def _claimed(answers: Iterable[Message]) -> Iterator[str]:
    for answer in answers:
        word = {True: "yes", False: "no", None: "words"}[reading(answer).approve]
        yield f"{word} by {answer.sender} at {answer.created}"
