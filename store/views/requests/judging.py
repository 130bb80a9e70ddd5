"""Judgement of one request: which answer stands, whether it was taken back, and what is odd about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from datetime import datetime, timedelta

from msgspec import Struct
from team_console.store.model.clock import from_text
from team_console.store.model.message import Message, Status
from team_console.store.model.recorded import RecordOrder
from team_console.store.protocol.client_requests import expiry_of
from team_console.store.protocol.entries import Entry
from team_console.store.protocol.kinds.kind import RequestKind
from team_console.store.protocol.relations.answering import REUSED_IDS, answers
from team_console.store.protocol.seen import digest_of, given_on
from team_console.store.protocol.verdicts.recognition import is_verdict
from team_console.store.settings.team_config import TeamConfig
from team_console.store.views.requests.evidence import Claim, Evidence, Quotes
from team_console.store.views.requests.grouping import thread_of
from team_console.store.views.requests.pairing import Pairing
from team_console.store.views.rows import Flag, RequestRow, RequestState
from team_console.store.views.titles import reason_of, title_of

_TALK = frozenset({RequestKind.ESCALATION, RequestKind.CLARIFICATION})
"""Kinds whose answers are ordinary messages, so that saying more is no second answer."""
_WORK = frozenset({RequestKind.DEBUG, RequestKind.BROWSER, RequestKind.RESEARCH})
"""Kinds whose answers are results of agents' work, not decisions that somebody could forge."""


class Case(Struct, frozen=True, eq=False):
    """A question, judged by itself.

    Attributes:
        row: As it is shown, with the state it has before any clock is looked at.
        order: The place of the question in the order of events.
        verdict: The answer that stands.
        decided: The place of the verdict, or of the question while there is none.
        stops: The agent that should fall silent after a yes.
    """

    question: Entry
    row: RequestRow
    order: RecordOrder
    decided: RecordOrder
    verdict: Entry | None = None
    stops: str | None = None

    @property
    def announcement(self) -> Entry | None:
        """The message that announced the agent, of a creation that was granted."""
        return self.verdict if self.row.kind is RequestKind.CREATE else None


class Judgement(Struct, frozen=True):
    """Everything under one request id.

    Attributes:
        cases: One for each kind of question; several for kinds whose ids are used again.
        twins: Further questions under the id of another; they open nothing.
        orphans: Answers to nothing that is known.
    """

    cases: tuple[Case, ...] = ()
    twins: tuple[Entry, ...] = ()
    orphans: tuple[Entry, ...] = ()


def judge_thread(
    evidence: Evidence, questions: Sequence[Entry], others: Sequence[Entry], pairings: Sequence[Pairing]
) -> Judgement:
    """The requests of one thread.

    Args:
        questions: All that have the id; the first of its kind opens the request, one we wrote before any other.
        others: Messages that quote the id.
        pairings: Of the pools of these questions.
    """
    asked = sorted(questions, key=evidence.rank)
    opening, twins = _first_of_each(asked)
    several = frozenset(digest_of(entry.message) for entry in asked) if len(asked) > 1 else frozenset()
    cases, quotes = [], Quotes(asked, others, evidence)
    taking_back = [entry for entry in others if entry.read.kind is not None and entry.read.kind.withdraws]
    for key, question in opening:
        paired = (answer for pairing in pairings for answer in pairing.answers.get(question.message.message_id, ()))
        claims = [*quotes.of(question), *paired]
        gone = evidence.withdrawals(question, taking_back, others)
        cases.append(judge(evidence, question, claims, withdrawals=gone, key=key, several=several))
    return Judgement(tuple(cases), tuple(twins), tuple(_orphans(others, {case.row.kind for case in cases})))


class _Answers(Struct, frozen=True):
    """What was said to a question.

    Attributes:
        claims: Everything that claims to answer it, oldest first.
        sound: Those of them that are what their writer said, as far as can be known.
        valid: Those of the sound ones whose writer may.
        standing: The one that decides.
        taken_back: What withdrew the question before anything decided it.
        altered, unverified: Ids of messages that differ from the trail, and of valid ones no desk wrote.
        forged: Id -> why, of answers that are not known to be what their writer said, and decide nothing.
    """

    claims: Sequence[Claim]
    sound: Sequence[Claim]
    valid: Sequence[Claim]
    standing: Claim | None
    taken_back: Entry | None
    altered: tuple[str, ...]
    unverified: tuple[str, ...]
    forged: Mapping[str, str]


def judge(
    evidence: Evidence,
    question: Entry,
    claiming: Sequence[Entry],
    *,
    withdrawals: Sequence[Entry] = (),
    key: str,
    several: Set[str] = frozenset(),
) -> Case:
    """The request that `question` opens, with the first valid answer as its verdict (D10, D14, D17).

    Args:
        several: `digest_of` each question under its id, where there are several.
    """
    said, order = _weigh(evidence, question, claiming, withdrawals, several), evidence.when(question)
    decided = order
    if said.standing is not None:
        decided = said.standing.when
    elif said.taken_back is not None:
        decided = evidence.when(said.taken_back)
    verdict = said.standing.entry if said.standing is not None else None
    row = _row(evidence.config, question, said, verdict, key=key, since=order[0])
    return Case(question, row, order, decided, verdict, _stops(question, row.kind, verdict))


def _weigh(
    evidence: Evidence, question: Entry, claiming: Sequence[Entry], withdrawals: Sequence[Entry], several: Set[str]
) -> _Answers:
    kind = question.read.opens
    every = [evidence.claim(entry, question) for entry in (*claiming, *evidence.absent(question, claiming))]
    if several:
        others = several - {digest_of(question.message)}
        every = [claim for claim in every if given_on(claim.entry.message) not in others]
    every.sort(key=lambda claim: claim.when)
    claims = _distinct(question, every)
    forged = {claim.message_id: claim.objection for claim in claims if claim.objection}
    if is_verdict(evidence.config, question.message) and (why := evidence.objection(question, question)):
        forged[question.message.message_id] = why
    sound = [claim for claim in claims if not claim.objection]
    valid = [claim for claim in sound if evidence.may_answer(claim.entry, question)]
    if kind in _TALK:
        sound = [claim for claim in sound if claim in valid or claim.entry.read.approve is not None]
        claims = [claim for claim in claims if claim in sound or claim.objection]
    end = expiry_of(kind, question.read.body)
    in_time = valid if end is None else [claim for claim in valid if claim.when[0] < end]
    standing = min(in_time, key=lambda claim: claim.rank, default=None)
    gone = min(withdrawals, key=evidence.when, default=None)
    if gone is not None and standing is not None and evidence.when(gone) < standing.when:
        standing = None
    return _Answers(
        claims,
        sound,
        valid,
        standing,
        gone if standing is None else None,
        altered=tuple(dict.fromkeys(claim.message_id for claim in every if claim.altered)),
        unverified=() if kind in _WORK else tuple(claim.message_id for claim in valid if not claim.verified),
        forged=forged,
    )


def _row(
    config: TeamConfig, question: Entry, said: _Answers, verdict: Entry | None, *, key: str, since: datetime
) -> RequestRow:
    """The row; its patience runs from when the question came, whatever date it bears."""
    message, kind = question.message, question.read.opens
    assert kind is not None
    asked_at = question.moment
    return RequestRow(
        request_id=thread_of(question),
        key=key,
        kind=kind,
        asker=message.sender,
        addressee=message.recipients[0],
        title=title_of(question.read),
        question=message,
        state=_state(message, kind, verdict, said.taken_back),
        asked_at=asked_at,
        due_at=min(asked_at, since) + _patience(config, kind) if asked_at else None,
        seen_at=_seen_at(message, message.recipients[0]),
        answers=tuple(claim.entry.message for claim in said.claims),
        verdict=verdict.message if verdict else None,
        answered_at=verdict.moment if verdict else None,
        answered_by=verdict.message.sender if verdict else None,
        withdrawn_at=None if verdict else _withdrawn_at(message, said.taken_back),
        expires_at=expiry_of(kind, question.read.body),
        reason=_reason(verdict or said.taken_back),
        flags=tuple(_flags(kind, said)),
        altered=said.altered,
        unverified=said.unverified,
        forged=said.forged,
    )


def _first_of_each(asked: Iterable[Entry]) -> tuple[list[tuple[str, Entry]], list[Entry]]:
    """The questions that open a request, each with its row key, and those that come too late under their id."""
    opening: list[tuple[str, Entry]] = []
    twins: list[Entry] = []
    seen: dict[RequestKind | None, list[str]] = {}
    for question in asked:
        kind, message_id = question.read.opens, question.message.message_id
        same = seen.setdefault(kind, [])
        if same and (kind not in REUSED_IDS or message_id in same):
            twins.append(question)
            continue
        opening.append((f"{kind}:{thread_of(question)}" + (f":{message_id}" if same else ""), question))
        same.append(message_id)
    return opening, twins


def _orphans(others: Iterable[Entry], kinds: set[RequestKind]) -> Iterable[Entry]:
    for entry in others:
        if entry.read.answers is None and (entry.read.approve is None or _is_withdrawal(entry)):
            continue
        if not any(entry.read.answers in (None, kind) for kind in kinds):
            yield entry


def _is_withdrawal(entry: Entry) -> bool:
    return entry.read.kind is not None and entry.read.kind.withdraws


def _distinct(question: Entry, claims: Iterable[Claim]) -> list[Claim]:
    """Each message id once, its oldest copy: copies of one answer are one answer. What was edited into one is none."""
    kind, thread = question.read.opens, thread_of(question)
    distinct: dict[str, Claim] = {}
    for claim in claims:
        if not claim.altered or (kind is not None and _fits(claim.entry, kind, thread)):
            distinct.setdefault(claim.message_id, claim)
    return list(distinct.values())


def _fits(entry: Entry, kind: RequestKind, thread: str) -> bool:
    """Whether an answer that was edited belonged to this request when it was written."""
    if entry.read.request_id is None:
        return entry.read.answers is kind
    return answers(entry.message, kind, thread)


def _patience(config: TeamConfig, kind: RequestKind) -> timedelta:
    seconds = config.overdue_seconds
    return timedelta(seconds=seconds.get(kind, seconds.get("default", 900.0)))


def _state(question: Message, kind: RequestKind, verdict: Entry | None, taken_back: Entry | None) -> RequestState:
    if verdict is None:
        gone = taken_back is not None or question.status == Status.RECALLED
        return RequestState.WITHDRAWN if gone else RequestState.OPEN
    approve = verdict.read.approve
    if approve is None or (approve and kind is RequestKind.QUESTION):
        return RequestState.ANSWERED
    return RequestState.APPROVED if approve else RequestState.REJECTED


def _withdrawn_at(question: Message, taken_back: Entry | None) -> datetime | None:
    if taken_back is not None:
        return taken_back.moment
    value = question.envelope("recalled_at") if question.status == Status.RECALLED else None
    return from_text(value) if isinstance(value, str) else None


def _reason(entry: Entry | None) -> str:
    return reason_of(entry.message) if entry is not None else ""


def _seen_at(question: Message, addressee: str) -> datetime | None:
    value = question.read_by.get(addressee) or question.envelope("read_at")
    return from_text(value) if isinstance(value, str) else None


def _flags(kind: RequestKind, said: _Answers) -> Iterable[Flag]:
    if len(said.valid) < len(said.sound):
        yield Flag.UNAUTHORISED
    words = {claim.entry.read.approve for claim in said.valid if claim.entry.read.approve is not None}
    if len(words) > 1:
        yield Flag.CONTRADICTORY
    if len(said.valid) > 1 and kind not in _TALK:
        yield Flag.ANSWERED_TWICE
    if said.altered:
        yield Flag.ALTERED
    if said.unverified:
        yield Flag.UNVERIFIED
    if said.forged:
        yield Flag.FORGED


def _stops(question: Entry, kind: RequestKind, verdict: Entry | None) -> str | None:
    if verdict is None or verdict.read.approve is not True:
        return None
    if kind is RequestKind.SHUTDOWN:
        return question.message.recipients[0]
    return question.read.subject if kind is RequestKind.DESTROY else None
