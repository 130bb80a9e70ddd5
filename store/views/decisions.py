"""Tell who decided what, when, after how long, on which digest, with which words, evidence and proof."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from datetime import datetime
from enum import StrEnum
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from team_console.store.contract.snapshot import ARCHIVE_LOST, AUDIT_LOST, KEPT_PRIVATE, LOST, Condition, Snapshot
from team_console.store.contract.team import AuditLine, Team
from team_console.store.model.clock import from_text, to_text
from team_console.store.model.errors import Problem
from team_console.store.model.message import Fields, Message, by_id
from team_console.store.model.recorded_facts import RecordedFacts
from team_console.store.model.safe import counted, safe_line, safe_text
from team_console.store.protocol.foreign_fields import text_in, texts_in
from team_console.store.protocol.grants import names_grant
from team_console.store.protocol.keys_on_record import keys_of
from team_console.store.protocol.kinds import RESULTS, RequestKind
from team_console.store.protocol.parsing import parse_message
from team_console.store.protocol.placed_message import EARLIEST, when_created
from team_console.store.protocol.shown_when_decided import (
    REQUEST_DIGEST,
    SHOWN,
    SHOWN_BY,
    Face,
    digest_of,
    given_on,
    shown_in,
)
from team_console.store.protocol.ssh_signature import clean_armour
from team_console.store.protocol.titles import verdict_reason
from team_console.store.protocol.trust import is_signed, objection
from team_console.store.protocol.verdicts import SIGNATURE, VERDICT_NAMESPACE, signed_order_in, statement, word_of
from team_console.store.settings.team_config import TeamConfig
from team_console.store.views.findings import trail_findings
from team_console.store.views.history import HistoryPage, newest_archived, plain_cell
from team_console.store.views.projection import view_of
from team_console.store.views.rows import Flag, RequestRow, RequestState, as_json


class VerdictProof(Struct, frozen=True):
    """One verdict of a human, and what speaks for it.

    Attributes:
        verdict: `approve`, `reject`, `answer` or `shutdown`.
        stands: Whether it is the one that decides.
        trouble: Why it decides nothing, as the end of a sentence; empty when it may decide.
        statement: The text that is signed.
        signature: The armoured signature; empty where there is none that could be read.
        allowed_signers: The human's keys, a line each, as `ssh-keygen` reads them.
    """

    message_id: str
    signer: str
    time: str
    verdict: str
    stands: bool
    trouble: str
    statement: str
    signature: str
    allowed_signers: tuple[str, ...]

    @property
    def command(self) -> str:
        """The shell command that checks the signature; empty where there is nothing to check."""
        if not self.signature or not self.allowed_signers:
            return ""
        files = {
            "statement": self.statement,
            "signature": self.signature,
            "allowed_signers": "\n".join(self.allowed_signers),
        }
        ends = {"statement": "", "signature": "", "allowed_signers": "\\n"}
        made = [f"printf '%s{ends[name]}' {shlex.quote(text)} > \"$d/{name}\"" for name, text in files.items()]
        check = (
            f"ssh-keygen -Y verify -n {VERDICT_NAMESPACE} -I {shlex.quote(self.signer)}"
            ' -f "$d/allowed_signers" -s "$d/signature" < "$d/statement"'
        )
        return " && ".join(["d=$(mktemp -d)", *made, check])


def proofs(row: RequestRow, config: TeamConfig, recorded: RecordedFacts | None = None) -> tuple[VerdictProof, ...]:
    """Return the proofs of what humans said to a request, or of the order that it is; the oldest first."""
    return tuple(
        _verdict_proof(message, row, config, recorded)
        for message in (row.question, *row.answers)
        if config.is_human(message.sender)
        and (parse_message(message).opens is None or message.type == "shutdown_request")
    )


def _verdict_proof(
    message: Message, row: RequestRow, config: TeamConfig, recorded: RecordedFacts | None
) -> VerdictProof:
    """Return the proof of one verdict; of the confirmation of an end the order that it rests on was signed."""
    signed = signed_order_in(message) or message
    on_record = keys_of(config, config.human(message.sender), recorded)
    keys = config.human(message.sender).keys if on_record is None else on_record.known
    return VerdictProof(
        message.message_id,
        message.sender,
        signed.created,
        word_of(signed),
        message is row.verdict,
        objection(config, message, row.question, recorded=recorded),
        statement(config.team_id, signed),
        clean_armour(signed.payload.get(SIGNATURE)),
        tuple(f'{message.sender} namespaces="{VERDICT_NAMESPACE}" {key}' for key in keys),
    )


# Decided requests: who decided what, when, after how long, on which digest, with which words and evidence.


class Proof(StrEnum):
    """What vouches for a decision."""

    SIGNED = "signed"
    """The key of the human who decided."""
    BY_GRANT = "by grant"
    """A grant of the human, of which it is a use: by the audit trail, and by the human's key where the team signs."""
    RECORDED = "recorded"
    """The audit trail, whose chain holds up to and including its line: team-console wrote it."""
    UNVERIFIED = "unverified"
    """Nothing: it stands among the messages, and team-console did not write it."""
    NOT_KNOWN = "not known"
    """What could tell is missing or does not hold."""


class DecidedRequest(Struct, frozen=True):
    """One decision. What is not known is None or empty, and `gaps` says so.

    Attributes:
        key: Unique row key.
        request_id: The request that was decided.
        kind: Of the request, such as `plan`.
        verdict: `approved`, `rejected` or `answered`.
        by: Who decided.
        asked_by: Who asked.
        at: When it was decided, by the message, else by the audit trail.
        after_seconds: From question to decision.
        title: What was asked, one line.
        words: The words of the decision.
        request_sha256: Digest of the question as it stood when it was decided.
        shown_sha256: Digest of everything that was shown to whoever decided.
        evidence: What was shown beside the question, one line a piece.
        shown_by: What showed it, and how much of it, in words.
        message_id: The message that decided.
        audit_line: Its line in the audit trail.
        gaps: What cannot be proved or is not known, as sentences.
    """

    key: str
    request_id: str
    kind: str
    verdict: str
    by: str
    proof: Proof
    asked_by: str = ""
    asked_at: datetime | None = None
    at: datetime | None = None
    after_seconds: float | None = None
    title: str = ""
    words: str = ""
    request_sha256: str = ""
    shown_sha256: str = ""
    evidence: tuple[str, ...] = ()
    shown_by: str = ""
    message_id: str = ""
    audit_line: int | None = None
    gaps: tuple[str, ...] = ()


class EndedRequest(Struct, frozen=True):
    """A request that ended without a decision.

    Attributes:
        key: Unique row key, the one of the request.
        how: `withdrawn`, `superseded`, `ended` where nobody took it back, or `answered` where a result came.
        at: When it ended; None when that is not known.
        reason: Why, in words; empty where nothing tells.
    """

    key: str
    request: RequestRow
    how: str
    at: datetime | None = None
    reason: str = ""


class DecisionLedger(Struct, frozen=True):
    """All decisions, newest first.

    Attributes:
        problems: What keeps the ledger from being whole or proved.
        ended: The requests that ended without a decision, newest first.
    """

    decisions: tuple[DecidedRequest, ...] = ()
    problems: tuple[Problem, ...] = ()
    ended: tuple[EndedRequest, ...] = ()


# Ledger of decisions: a pure function of messages, live and archived, and of the lines of the audit trail.

_DECIDING_ACTIONS = {"approve": "approved", "reject": "rejected", "answer": "answered"}
"""Actions of the audit trail that decide."""
_SOURCE_CODES = LOST | {KEPT_PRIVATE}


def decision_ledger(
    snapshot: Snapshot, past: HistoryPage, audit: Sequence[AuditLine], *, now: datetime | None = None
) -> DecisionLedger:
    """Return every decision that messages or audit trail know of, newest first, each with what proves it; and the
    requests that ended without one.

    A queue that is gone or cannot be read is said, and misses nothing that was decided.

    Args:
        past: Archived messages, newest first.
        audit: Lines of the audit trail, newest first.
        now: When it is judged which requests timed out; by default when the snapshot was taken.
    """
    told = (problem for problem in snapshot.problems if problem.code in _SOURCE_CODES)
    problems = tuple(dict.fromkeys((*told, *past.problems, *_unread_sources(snapshot, past))))
    live = snapshot.messages if snapshot.is_known else ()
    messages = sorted(by_id((*past.messages, *live)).values(), key=when_created, reverse=True)
    # The requests as all messages together tell of them; the queue counts as one more archive.
    empty = replace(snapshot, messages=(), condition=Condition.EMPTY, missing=frozenset(), dropped=(), problems=())
    requests = view_of(empty, me="", now=now or snapshot.now, history=messages, complete=past.complete).requests
    rows = [row for row in requests if _is_decided(row)]
    trail = _Trail(snapshot, audit, {problem.code for problem in problems}, complete=past.complete)
    decisions = [_decision_of(row, snapshot.config, trail) for row in rows]
    questions = {row.request_id: row.question for row in requests}
    decisions += trail.without_messages({answer.message_id for row in rows for answer in row.answers}, questions)
    decisions.sort(key=lambda decision: (decision.at or EARLIEST, decision.audit_line or 0), reverse=True)
    told_by_trail = {decision.request_id for decision in decisions}
    ended = tuple(item for item in _ended_requests(requests) if item.request.request_id not in told_by_trail)
    return DecisionLedger(tuple(decisions), (*problems, *trail_findings(audit)), ended)


def _ended_requests(requests: Iterable[RequestRow]) -> list[EndedRequest]:
    """Return the requests that were withdrawn or superseded, ended by themselves, or got a result, newest first."""
    known = {row.request_id: row for row in requests}
    found = [_ended_request(row, known) for row in known.values() if not _is_decided(row) and not row.is_open]
    return sorted(found, key=lambda item: item.at or EARLIEST, reverse=True)


def _is_decided(row: RequestRow) -> bool:
    return row.verdict is not None and row.kind not in RESULTS


def _ended_request(row: RequestRow, known: Mapping[str, RequestRow]) -> EndedRequest:
    how, at, reason = str(row.state), row.answered_at or row.withdrawn_at, row.reason
    if row.lapse:
        how = "ended"
    elif row.state is RequestState.SUPERSEDED:
        newer = known.get(row.superseded_by or "")
        at = newer.asked_at if newer is not None else None
        reason = f"a newer {'plan' if row.kind is RequestKind.PLAN else 'request'} took its place"
    return EndedRequest(row.key, row, how, at, reason)


class _Trail:
    """The audit trail, asked for decisions and for how far its chain holds."""

    def __init__(self, snapshot: Snapshot, audit: Sequence[AuditLine], codes: Set[str], *, complete: bool) -> None:
        self._config, self.recorded, self._codes, self._complete = snapshot.config, snapshot.recorded, codes, complete
        self.by_message: dict[str, AuditLine] = {}
        """Id of a message that decides -> the line that says so."""
        broken = [line.seq for line in audit if not line.intact]
        oldest = min((line.seq for line in audit), default=0)
        self.broken_at = min(broken, default=None)
        """The first line that does not hold; 0 where it may lie before all that are known."""
        if self.broken_at is not None and self.broken_at == oldest > 1:
            self.broken_at = 0
        for line in audit:
            for message_id in texts_in(line.facts, "ids") if line.action in _DECIDING_ACTIONS else ():
                self.by_message[message_id] = line

    def proof(self, message_id: str) -> tuple[Proof, int | None, str]:
        """Return what the trail proves of a verdict, on which line, and what it does not prove."""
        recorded = self.recorded
        if recorded is None:
            return Proof.NOT_KNOWN, None, "there is no audit trail that could tell who wrote it"
        fact = recorded.get(message_id)
        if fact is None or not fact.by_desk:
            if AUDIT_LOST in self._codes:
                return Proof.NOT_KNOWN, None, "the audit trail was lost, so it cannot tell who wrote it"
            why = "team-console did not write it: the audit trail does not have it as one of ours"
            return Proof.UNVERIFIED, None, why
        if self.broken_at is not None and fact.line >= self.broken_at:
            where = f"from line {self.broken_at} on" if self.broken_at else "somewhere"
            return Proof.NOT_KNOWN, fact.line, f"the chain of the audit trail does not hold {where}"
        return Proof.RECORDED, fact.line, ""

    def without_messages(self, known: set[str], questions: Mapping[str, Message]) -> Iterator[DecidedRequest]:
        """Yield decisions that the trail has, and no message tells of.

        Args:
            questions: Those that are known, by request id.
        """
        for line in {line.seq: line for line in self.by_message.values()}.values():
            ids = list(texts_in(line.facts, "ids"))
            if known.isdisjoint(ids):
                yield self._from_line(line, ids, questions.get(text_in(line.facts, "request_id")))

    def _from_line(self, line: AuditLine, ids: Sequence[str], question: Message | None) -> DecidedRequest:
        """Return the decision that a line of the trail tells of, whose messages are gone."""
        recorded, facts, config = self.recorded, line.facts, self._config
        verdict = next((message for item in ids if recorded and (message := recorded.message(item))), None)
        shown = shown_in(facts)
        request_id, at = text_in(facts, "request_id"), from_text(line.at)
        # What proves it: the trail, unless the verdict had to be signed and is not; then a grant, if it names one.
        proof, _, gap = self.proof(ids[0])
        if verdict is not None:
            trouble = objection(config, verdict, question, recorded=recorded)
        else:
            is_older = recorded is not None and recorded.is_before_signing(ids[0])
            trouble = "" if is_older or not config.must_be_signed(line.actor) else "no signed verdict is on record"
        # Anybody who can write the trail can chain a line to it: what a human must sign, no line can say.
        if trouble:  # guard: line-without-signature
            proof, gap = Proof.UNVERIFIED, f"it decides nothing: {trouble}"
        elif proof is Proof.RECORDED and verdict is not None and names_grant(verdict):
            proof = Proof.BY_GRANT
        # What cannot be proved, or is not known.
        gone = "it was removed" if self._complete else "not all of them were read"
        gone = "archived messages were lost" if ARCHIVE_LOST in self._codes else gone
        gaps = [gap, *([f"the question is in no archive: {gone}"] if question is None else [])]
        gaps += ["its words are not known"] if verdict is None else []
        gaps.append(_unshown_words(shown))
        return DecidedRequest(
            key=f"line:{line.seq}:{request_id}",
            request_id=request_id,
            kind=text_in(facts, "kind"),
            verdict=_DECIDING_ACTIONS[line.action],
            by=line.actor,
            proof=proof if line.intact or proof is Proof.UNVERIFIED else Proof.NOT_KNOWN,
            asked_by=text_in(facts, "asker"),
            at=at,
            words=verdict_reason(verdict) if verdict is not None else "",
            request_sha256=text_in(facts, REQUEST_DIGEST),
            message_id=ids[0],
            audit_line=line.seq,
            gaps=tuple(filter(None, gaps)),
            **shown,
        )


def _decision_of(row: RequestRow, config: TeamConfig, trail: _Trail) -> DecidedRequest:
    """Return the decision of a request by its verdict and by what the trail has of it."""
    verdict = row.verdict
    assert verdict is not None
    proof, number, gap = trail.proof(verdict.message_id)
    if is_signed(config, verdict, row.question, trail.recorded):
        proof = Proof.SIGNED
    elif names_grant(verdict) and proof is Proof.RECORDED:
        proof = Proof.BY_GRANT
    line = trail.by_message.get(verdict.message_id)
    facts = line.facts if line is not None else {}
    digest = text_in(facts, REQUEST_DIGEST) or given_on(verdict)
    shown = shown_in(facts if REQUEST_DIGEST in facts else verdict.payload)
    return DecidedRequest(
        key=row.key,
        request_id=row.request_id,
        kind=str(row.kind),
        verdict=str(row.state),
        by=verdict.sender,
        proof=proof,
        asked_by=row.asker,
        asked_at=row.asked_at,
        at=row.answered_at,
        after_seconds=round(row.waiting_seconds(row.answered_at), 3) if row.asked_at and row.answered_at else None,
        title=row.title,
        words=row.reason,
        request_sha256=digest or digest_of(row.question),
        message_id=verdict.message_id,
        audit_line=number,
        gaps=tuple(filter(None, (gap, *_gaps(row, digest, shown)))),
        **shown,
    )


_UNPROVED_BY_FACE: Mapping[str, str] = {
    Face.CONSOLE: "",
    Face.TITLE: "only its title was shown among others; whether its text was read cannot be proved",
    Face.PRINTED: "it was printed without evidence; whether whoever decided read it cannot be proved",
    Face.HANDED: "a program decided on what it had in hand; whether anybody saw it cannot be proved",
    Face.NAMED: "nothing was shown, it was named by its id; what of it was known before cannot be proved",
}
"""What showed a request -> what that leaves unproved."""
_SHOWN_LINES = re.compile(
    "the console: (?P<said>(?P<all>lines? (?:1-)?(?P<count>[0-9,]+) of (?P=count)(?:; of its evidence all)?$)?.*)"
)
"""The lines that the console counted as painted: `all` of them, or what was `said`."""


def _unshown_words(shown: Fields) -> str:
    """Return what of the shown text cannot be proved; empty when it was all on the screen."""
    by = shown[SHOWN_BY]
    if not by and shown[SHOWN]:
        return ""
    lines = None if by in _UNPROVED_BY_FACE else _SHOWN_LINES.fullmatch(by)
    if lines is not None:
        return "" if lines["all"] else f"of it only this stood on the screen: {lines['said']}"
    return _UNPROVED_BY_FACE.get(by, "what was shown to whoever decided is not known")


def _gaps(row: RequestRow, digest: str, shown: Fields) -> Iterator[str]:
    """Yield the parts of a decision that are unknown or do not fit."""
    if digest and digest != digest_of(row.question):
        yield "the question is not any more what it was when it was decided: its digest is another"
    if not digest:
        yield "the digest is of the question as it stands now; none was kept with the decision"
    yield _unshown_words(shown)
    if Flag.ALTERED in row.flags:
        yield "a message says something else than the audit trail; what the trail says counts here"
    ignored = [answer for answer in row.answers if answer is not row.verdict]
    if ignored:
        word = {True: "yes", False: "no", None: "words"}
        said = (f"{word[parse_message(item).approve]} by {item.sender} at {item.created}" for item in ignored)
        yield f"further answers decide nothing: {', '.join(said)}"


# Reads what the ledger of decisions is made from: archives, audit trail, and the queue where there is one.

ALL_MESSAGES = 10_000_000
MOST_AUDIT_LINES = 100_000
"""Lines of the audit trail, newest first, that decisions without a message are looked for in."""


def ledger_of_team(
    team: Team,
    snapshot: Snapshot,
    *,
    archived: int = ALL_MESSAGES,
    audited: int = MOST_AUDIT_LINES,
    now: datetime | None = None,
) -> DecisionLedger:
    """Return the ledger of a team.

    Args:
        archived: How many archived messages are read, the newest first.
        audited: How many lines of the audit trail are.
        now: See `decision_ledger`.
    """
    return decision_ledger(snapshot, newest_archived(team, limit=archived), team.audit(limit=audited), now=now)


def sources_stamp(rows: Iterable[RequestRow], snapshot: Snapshot) -> object:
    """Return a value that changes with each decision and each end: valid answers, states, and audit lines."""
    answers = ((row, row.verdict.message_id if row.verdict is not None else "") for row in rows)
    closed = tuple((row.key, row.state, row.flags, answer) for row, answer in answers if answer or not row.is_open)
    return closed, len(snapshot.recorded) if snapshot.recorded is not None else -1, snapshot.condition


def _unread_sources(snapshot: Snapshot, past: HistoryPage) -> Iterator[Problem]:
    """Yield the sources that were not read."""
    if not snapshot.is_known:
        how = "is gone" if snapshot.condition is Condition.VANISHED else "cannot be read"
        text = f"the queue {how}; the ledger is made from archives and the audit trail alone"
        hint = "Decisions are in both; open requests are not."
        yield Problem("QUEUE_NOT_READ", "warning", "queue", text, hint)
    if not past.complete and past.more:
        number = len(past.messages)
        text = f"only the newest {number:,} archived messages were read; older decisions stand without their questions"
        yield Problem("OLDER_NOT_SEEN", "notice", "archive", text, "'team-console decisions' reads all of them.")


# Decisions as JSON, as rows of a table for other programs, and as a document to hand on.

DECISION_FIELDS = (
    *("at", "verdict", "by", "kind", "asked_by", "asked_at", "after_seconds", "request_id", "title", "words", "proof"),
    *("request_sha256", "shown_sha256", "evidence", "message_id", "audit_line", "gaps"),
    "shown_by",
)
"""Columns of `decision_row`, and keys of `decision_json`."""
_MARKDOWN_SIGNS = frozenset("\\`*_{}[]()#+-.!|<>~")


def ledger_json(ledger: DecisionLedger) -> dict[str, Any]:
    """Return what `decisions --json` prints."""
    return {
        "decisions": [decision_json(decision) for decision in ledger.decisions],
        "count": len(ledger.decisions),
        "problems": [{**as_json(problem, "hint"), "message": problem.sentence} for problem in ledger.problems],
    }


def decision_json(decision: DecidedRequest) -> dict[str, Any]:
    """Return one decision; what is not known is null."""
    said = as_json(decision, "request_id", "kind", "verdict", "by")
    return {name: said[name] for name in DECISION_FIELDS}


def decision_row(decision: DecidedRequest) -> dict[str, str]:
    """Return one row under `DECISION_FIELDS`; lists are JSON, what is not known is empty."""
    values = decision_json(decision).items()
    flat = ((name, json.dumps(item, ensure_ascii=False) if isinstance(item, list) else item) for name, item in values)
    return {name: plain_cell(value) for name, value in flat}


def markdown(ledger: DecisionLedger, team: str) -> Iterator[str]:
    """Yield lines of a Markdown document: what the ledger cannot say first, then each decision."""
    yield f"# Decisions of {_escaped(team)}"
    yield ""
    yield f"{counted(len(ledger.decisions), 'decision')}, newest first."
    for problem in ledger.problems:
        yield ""
        yield f"> **{_escaped(problem.severity)}**: {_escaped(problem.sentence)}"
    for decision in ledger.decisions:
        yield from _decision_lines(decision)


def _decision_lines(decision: DecidedRequest) -> Iterator[str]:
    """Yield the lines of one decision in Markdown."""
    yield ""
    title = f": {_escaped(decision.title)}" if decision.title else ""
    yield f"## {_escaped(decision.verdict.capitalize())} by {_escaped(decision.by)}{title}"
    yield ""
    for name, value in _fact_lines(decision):
        yield f"- {name}: {value}"
    if decision.words:
        yield ""
        yield from (f"> {_escaped(line)}" for line in safe_text(decision.words).split("\n"))


def _fact_lines(decision: DecidedRequest) -> Iterator[tuple[str, str]]:
    """Yield name and value of each fact of a decision, in Markdown."""
    after = decision.after_seconds
    yield "request", f"{_escaped(decision.request_id)} ({_escaped(decision.kind or 'kind not known')})"
    yield "asked", f"{_time_words(decision.asked_at)} by {_escaped(decision.asked_by or 'not known')}"
    yield "decided", f"{_time_words(decision.at)}{'' if after is None else f', after {after:,.0f} s'}"
    yield "proof", str(decision.proof) + (f", audit line {decision.audit_line}" if decision.audit_line else "")
    yield "digest of the request", _escaped(decision.request_sha256 or "not known")
    yield "digest of what was shown", _escaped(decision.shown_sha256 or "not known")
    yield "shown by", _escaped(decision.shown_by or "not known")
    for piece in decision.evidence:
        yield "evidence", _escaped(piece)
    for gap in decision.gaps:
        yield "not proved", _escaped(gap)


def _time_words(moment: Any) -> str:
    return _escaped(to_text(moment)) if moment is not None else "not known"


def _escaped(text: str) -> str:
    """Return text without any meaning in Markdown: what an agent wrote makes no heading, link or picture."""
    return "".join(f"\\{character}" if character in _MARKDOWN_SIGNS else character for character in safe_line(text))
