"""Judgement of requests: whether each is open, answered, superseded, withdrawn or expired, by whom and why.

The one rule for every face: write actions, compaction, hooks and views ask it. It rests on messages, the settings, what
the audit trail has of the messages, and the time. From top to bottom: what a message claims, the row of a request,
which question a message answers, what stands of one request, what later requests make of it, and the clock.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace
from team_console.store.model.clock import from_text
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message, Status
from team_console.store.model.recorded import RecordedFacts, RecordOrder
from team_console.store.protocol.client_requests import TIMED_OUT, answers_of, expiry_of
from team_console.store.protocol.kinds import (
    FOR_CLIENTS,
    IN_WORDS,
    RESULTS,
    REUSED_IDS,
    UNKNOWN,
    VERDICT_ONLY,
    RequestKind,
)
from team_console.store.protocol.membership import CREATED, created_agent, is_master
from team_console.store.protocol.parsing import (
    COMPLETE,
    DISPATCH,
    EARLIEST,
    Order,
    PlacedMessage,
    dispatched_name,
    parse_message,
    text_of,
)
from team_console.store.protocol.permissions import may_answer
from team_console.store.protocol.titles import message_title, verdict_reason
from team_console.store.protocol.verdicts import (
    NOT_ON_RECORD,
    digest_of,
    given_on,
    is_verdict,
    objection,
    word_of,
    writes_elsewhere,
)
from team_console.store.settings.team_config import TeamConfig

ASKBACK, ASKED_BACK = "request_askback", "askback_response"
"""Kinds by which whoever may answer a request asks back, and by which its asker answers that."""
WITHDRAWN = "request_withdrawn"
"""The kind by which an asker takes back a request."""


def answers(message: Message, kind: RequestKind, request_id: str) -> bool:
    """Return whether `message` claims to answer the request `request_id` of this kind."""
    seen = parse_message(message)
    if seen.kind is UNKNOWN or seen.request_id != request_id or seen.opens is not None or seen.kind.withdraws:
        return False
    if seen.kind.talks:
        # guard: question-back-decides-nothing
        return False
    if kind in FOR_CLIENTS:
        # A client acts on a clear yes or no; on a yes to a question only with what was chosen.
        is_empty = seen.approve and kind is RequestKind.QUESTION and not answers_of(seen.body)
        # guard: answer-of-its-own-kind
        return seen.answers is kind and seen.approve is not None and not is_empty
    if seen.answers is not None:
        return seen.answers is kind and (seen.approve is not None or kind not in VERDICT_ONLY)
    return kind in IN_WORDS or seen.approve is not None


def already_answered(request_id: str, answer: Message, word: str = "answered") -> TeamError:
    """Make the refusal of a second answer, with who gave the first one and when."""
    text = f"{request_id} was already {word} by {answer.sender} at {answer.created}"
    hint = "The first answer stands; send a message if you want to say more."
    by, at = answer.sender, answer.created
    return TeamError(Code.ALREADY_ANSWERED, text, hint, request_id=request_id, answered_by=by, answered_at=at)


# The row of a request.


class RequestState(StrEnum):
    """Where a request stands."""

    OPEN = "open"
    OVERDUE = "overdue"
    APPROVED = "approved"
    REJECTED = "rejected"
    ANSWERED = "answered"
    SUPERSEDED = "superseded"
    WITHDRAWN = "withdrawn"


class Flag(StrEnum):
    """What is odd about a request, or still to come."""

    OVERDUE = "overdue"
    CONTRADICTORY = "contradictory"
    UNAUTHORISED = "unauthorised"
    SUPERSEDED = "superseded"
    ANSWERED_TWICE = "answered twice"
    STILL_ALIVE = "approved but still alive"
    DAMAGED = "record damaged"
    UNVERIFIED = "unverified"
    """An answer that team-console did not write: the audit trail does not have it as one of ours."""
    FOREIGN = "by another program"
    """The same, in the name of somebody who never wrote by team-console here."""
    FORGED = "forged"
    """An answer that is not signed as it must be: it decides nothing."""
    ALTERED = "altered"
    """An answer that says something else than the audit trail; the trail's words count."""
    STOPPING = "asked to stop, waits for its answer"
    """An end that is approved: the agent was asked to stop, and its end is not confirmed yet."""
    REFUSED = "refused to stop"
    """An end that was approved, and the agent refused to stop: it is to be decided again."""


class RequestRow(Struct, frozen=True, eq=False):
    """A request as it stands: what was asked, and everything that was said to it.

    Attributes:
        key: Unique key (`kind:request_id`), safe for selection by id.
        question: The message that asks.
        order: The place of the question in the order of events.
        decided: The place of the verdict, or of the question while there is none.
        title: What is asked, in one line.
        due_at, expires_at: When it becomes overdue, and when it ends by itself; None when it does not.
        answers: Every message that claims to answer it, oldest first; the one that stands is `verdict`.
        verdict: The first valid answer (decision D14); None without one.
        taken_back: The message that withdrew it.
        withdrawn_at: Since when it needs no answer; None when that is unknown or it needs one.
        lapse: Why it needs no answer although nobody took it back; empty where that is not so.
        altered: Ids of answers whose record differs from what the audit trail has; what the trail has decides.
        unverified: Ids of valid answers that the audit trail does not have as written by team-console.
        forged: Id -> why, of answers that decide nothing because they are not signed as they must be.
        supersedes, superseded_by: Request ids of the version before and after it.
        first_asked_at: When the first of its versions was asked that nobody answered; None where it is the first.
        ended: For a stop: whether the agent fell silent after agreeing.
        ending: For an approved end that is not confirmed yet: the stop its agent was asked for.
        refusal: For an end that was approved: what the agent said when it refused to stop.
        talk: What whoever may answer asked back, and what the asker said to that, oldest first.
        is_of_former_life: Whether it is about an agent of that name that another one has followed since (D34).
    """

    key: str
    kind: RequestKind
    question: Message
    state: RequestState
    order: RecordOrder
    decided: RecordOrder
    title: str
    due_at: datetime | None = None
    expires_at: datetime | None = None
    answers: tuple[Message, ...] = ()
    verdict: Message | None = None
    taken_back: Message | None = None
    withdrawn_at: datetime | None = None
    lapse: str = ""
    flags: tuple[Flag, ...] = ()
    altered: tuple[str, ...] = ()
    unverified: tuple[str, ...] = ()
    forged: Mapping[str, str] = {}
    supersedes: str | None = None
    superseded_by: str | None = None
    first_asked_at: datetime | None = None
    ended: bool = False
    ending: RequestRow | None = None
    refusal: Message | None = None
    talk: tuple[Message, ...] = ()
    is_of_former_life: bool = False

    @property
    def request_id(self) -> str:
        """The id an answer must quote (debug, browser, research: the source's own id)."""
        return parse_message(self.question).request_id or self.question.message_id

    @property
    def asker(self) -> str:
        """The asker."""
        return self.question.sender

    @property
    def addressee(self) -> str:
        """The addressee."""
        return self.question.recipients[0]

    @property
    def asked_at(self) -> datetime | None:
        """The time of the question; None when unknown."""
        return self.question.created_at

    @property
    def waits_since(self) -> datetime | None:
        """The time since which an answer is waited for: a new version waits as long as those before it."""
        return self.first_asked_at or self.asked_at

    @property
    def seen_at(self) -> datetime | None:
        """The time at which the addressee read the question."""
        text = self.question.read_by.get(self.addressee)
        return from_text(str(text)) if text else self.question.moment("read_at")

    @property
    def answered_at(self) -> datetime | None:
        """The time of the verdict."""
        return self.verdict.created_at if self.verdict is not None else None

    @property
    def answered_by(self) -> str | None:
        """The author of the verdict."""
        return self.verdict.sender if self.verdict is not None else None

    @property
    def reason(self) -> str:
        """The words of the answer, or why it needs none; empty where nothing was said."""
        said = self.verdict or self.taken_back or self.refusal
        return self.lapse or (verdict_reason(said) if said is not None else "")

    @property
    def asked_back(self) -> Message | None:
        """The newest question back to the asker of an open request; None without one, or once it was answered."""
        last = self.talk[-1] if self.talk and self.is_open else None
        return last if last is not None and last.sender != self.asker else None

    @property
    def outcome(self) -> str:
        """`open` while an answer is wanted, overdue or not; else the state."""
        return str(RequestState.OPEN if self.is_open else self.state)

    @property
    def is_open(self) -> bool:
        """Whether an answer is still wanted."""
        return self.state in (RequestState.OPEN, RequestState.OVERDUE)

    @property
    def is_approved(self) -> bool:
        """Whether the answer that stands is a yes."""
        return self.state is RequestState.APPROVED

    @property
    def stops(self) -> str | None:
        """The agent that should fall silent after a yes."""
        return self.addressee if self.kind is RequestKind.SHUTDOWN else self.ends

    @property
    def ends(self) -> str | None:
        """The agent whose end the Master is asked for."""
        return parse_message(self.question).subject if self.kind is RequestKind.DESTROY else None

    def waiting_seconds(self, now: datetime) -> float:
        """Return how long it has been (or was) open."""
        end = self.answered_at or self.withdrawn_at or now
        return max(0.0, (end - self.waits_since).total_seconds()) if self.waits_since else 0.0

    def __eq__(self, other: object) -> bool:
        """Compare what both say; the places of their messages among others tell nothing."""
        names = [name for name in self.__struct_fields__ if name not in ("order", "decided")]
        return isinstance(other, RequestRow) and all(getattr(self, name) == getattr(other, name) for name in names)

    __hash__ = None  # type: ignore[assignment]


# Every request of some messages.

Thread = str
"""The id that a question has and its answers quote."""
Pool = tuple[RequestKind, str, str]
"""Kind, asker, and the agent type, agent, story or source id that question and answer share."""
Chain = tuple[str, str]
"""What links requests: the kind and its author, or `stop` or `dispatch` and the agent that it is about."""
_STOP, _DISPATCH = "stop", "dispatch"
_BY_SUBJECT = frozenset({RequestKind.CREATE, RequestKind.DESTROY, RequestKind.RESEARCH})
_MOST_TWINS = 64
"""Twins of one id that are judged: nobody asks that often, and each costs a look at the whole thread."""


class Judged(Struct, frozen=True):
    """Every request of some messages, before the clock is looked at.

    Attributes:
        twin_rows: Those that questions under the id of another open: an answer may have been given on just that one.
        twins: Request id -> further questions under an id that another question has.
        orphans: Answers to nothing that is known.
    """

    rows: Sequence[RequestRow]
    twin_rows: Sequence[RequestRow]
    twins: Mapping[Thread, tuple[PlacedMessage, ...]]
    orphans: Sequence[PlacedMessage]


def judge(
    messages: Iterable[Message], config: TeamConfig, recorded: RecordedFacts | None, now: datetime
) -> dict[Message, RequestRow]:
    """Return every request that these messages open, by its question, as it stands `now`.

    Args:
        messages: In stored order, with everything that bears on the requests (`with_bearing`).
        recorded: What the audit trail has of them; None where there is no trail to ask.
    """
    entries = [PlacedMessage.of(message, place) for place, message in enumerate(messages)]
    judged = judge_entries(config, recorded, entries)
    return {row.question: at(row, now) for row in (*judged.rows, *judged.twin_rows)}


def judge_entries(
    config: TeamConfig,
    recorded: RecordedFacts | None,
    entries: Iterable[PlacedMessage],
    spoken: Mapping[str, Order] = MappingProxyType({}),
    arrived: Mapping[str, Order] = MappingProxyType({}),
) -> Judged:
    """Judge every request that these entries open.

    Args:
        spoken, arrived: When agents last said that they are alive, and when their creation was announced, where it
            matters whether one fell silent.
    """
    evidence = _Evidence(config, recorded, entries)
    rows: list[RequestRow] = []
    chains: dict[Chain, list[RequestRow]] = {}
    late: dict[Thread, tuple[PlacedMessage, ...]] = {}
    late_rows: list[RequestRow] = []
    for thread in evidence.threads:
        opening, twin_entries = _first_of_each(sorted(evidence.questions.get(thread, ()), key=evidence.rank))
        for row in evidence.judged(thread, opening):
            chain = _chain(row.kind, row.question)
            (chains.setdefault(chain, []) if chain is not None else rows).append(row)
        if twin_entries:
            late[thread] = tuple(twin_entries)
            named = [(_key(entry, entry.message.message_id), entry) for entry in twin_entries[:_MOST_TWINS]]
            late_rows += evidence.judged(thread, named)
        evidence.orphans += _orphans(evidence.others.get(thread, ()), {question.read.opens for _, question in opening})
    for (link, agent), members in chains.items():
        members.sort(key=lambda row: row.order)
        if link == _STOP:
            rows += evidence.stopped(members, spoken.get(agent), arrived.get(agent))
        elif link == _DISPATCH:
            rows += evidence.dispatched(members, agent)
        else:
            rows += _succession(members)
    stops = [row for row in rows if row.kind is RequestKind.SHUTDOWN]
    return Judged(rows, [evidence.approved(row, stops) for row in late_rows], late, evidence.orphans)


def with_bearing(thread: Sequence[Message], live: Callable[[], Sequence[Message]]) -> Sequence[Message]:
    """Return a thread, with the live messages where some may bear on its requests though they do not quote its id."""
    asked = [message for message in thread if parse_message(message).opens is not None]
    if not any(succession_of(message) or _pool(PlacedMessage.of(message, 0)) for message in asked):
        return thread
    everything = live()
    here = set(map(id, everything))
    return [*(message for message in thread if id(message) not in here), *everything]


def succession_of(message: Message) -> tuple[Chain, RequestKind, str] | None:
    """Return what a question shares with its predecessors and successors; None for any other message."""
    kind = parse_message(message).opens
    chain = _chain(kind, message) if kind is not None else None
    return (chain, kind, message.sender) if chain is not None and kind is not None else None


def thread_of(question: Message) -> Thread:
    """Return the id an answer must quote."""
    return parse_message(question).request_id or question.message_id


def _pool(entry: PlacedMessage) -> Pool | None:
    """Return the pool in which a question waits in order and an answer looks for it; None where ids decide."""
    read, asker = entry.read, entry.message.sender if entry.read.opens is not None else entry.message.recipients[0]
    kind = read.opens or read.answers
    by_subject = kind in _BY_SUBJECT and (read.opens is not None or read.request_id is None)
    shared = read.request_id if kind in REUSED_IDS else read.subject if by_subject else None
    return None if shared is None or kind is None else (kind, "" if kind is RequestKind.DESTROY else asker, shared)


def _chain(kind: RequestKind, question: Message) -> Chain | None:
    """Return the chain a request belongs to, None when it stands alone."""
    read = parse_message(question)
    if kind is RequestKind.PLAN:
        return str(kind), question.sender
    if kind is RequestKind.SHUTDOWN:
        return _STOP, question.recipients[0]
    if read.name == DISPATCH:
        return _DISPATCH, dispatched_name(read)
    return (_STOP, read.subject) if kind is RequestKind.DESTROY and read.subject is not None else None


def _key(question: PlacedMessage, message_id: str = "") -> str:
    """Return the key of a request; with the id of its question where several have the request's id."""
    return ":".join(filter(None, (str(question.read.opens), thread_of(question.message), message_id)))


def _first_of_each(
    asked: Iterable[PlacedMessage],
) -> tuple[list[tuple[str, PlacedMessage]], list[PlacedMessage]]:
    """Return the questions that open a request, each with its key, and those that come too late under their id.

    The first question of its kind opens one; several do for kinds whose ids are used again.
    """
    opening: list[tuple[str, PlacedMessage]] = []
    late: list[PlacedMessage] = []
    seen: dict[RequestKind | None, list[str]] = {}
    for question in asked:
        message_id = question.message.message_id
        same = seen.setdefault(question.read.opens, [])
        if same and (question.read.opens not in REUSED_IDS or message_id in same):
            late.append(question)
            continue
        opening.append((_key(question, message_id if same else ""), question))
        same.append(message_id)
    return opening, late


def _orphans(others: Iterable[PlacedMessage], kinds: set[RequestKind | None]) -> Iterator[PlacedMessage]:
    for entry in others:
        claims = entry.read.answers is not None or (entry.read.approve is not None and not entry.read.kind.withdraws)
        if claims and (entry.read.answers not in kinds if entry.read.answers is not None else not kinds):
            yield entry


# What is known of answers and their questions, and what stands of one request by its own answers and withdrawals.


class _Claim(Struct, frozen=True):
    """A message that claims to answer a request.

    Attributes:
        entry: What was said: by the audit trail where it has the answer, else by the message itself.
        when: Its place in the order of events.
        verified: Whether team-console wrote it, or there is no trail that could tell.
        altered: Whether the message in the store says something else than the trail.
        objection: Why it decides nothing, as the end of a sentence about it; empty when it may decide.
    """

    entry: PlacedMessage
    when: RecordOrder
    verified: bool
    altered: bool
    objection: str

    @property
    def message_id(self) -> str:
        """The id of the message."""
        return self.entry.message.message_id


class _Evidence:
    """Messages that concern requests, with what the settings and the audit trail say of them."""

    def __init__(self, config: TeamConfig, recorded: RecordedFacts | None, entries: Iterable[PlacedMessage]) -> None:
        self.config, self.recorded = config, recorded
        self.questions: dict[Thread | Pool, list[PlacedMessage]] = {}
        self.others: dict[Thread | Pool, list[PlacedMessage]] = {}
        self.reports: dict[str, list[PlacedMessage]] = {}
        self.creations: dict[str, list[PlacedMessage]] = {}
        self.orphans: list[PlacedMessage] = []
        for entry in entries:
            if entry.read.name == CREATED and (created := created_agent(entry.read)) is not None:
                self.creations.setdefault(created, []).append(entry)
            if entry.read.name == COMPLETE:
                self.reports.setdefault(entry.message.sender, []).append(entry)
            asks, pool = entry.read.opens is not None, _pool(entry)
            # An answer that is paired in a pool quotes no id that is one question's.
            for group in (pool, entry.read.request_id if asks or pool is None else None):
                if group is not None:
                    (self.questions if asks else self.others).setdefault(group, []).append(entry)
        self._quotes: dict[tuple[Thread, RequestKind], dict[str, list[PlacedMessage]]] = {}
        self._paired: dict[tuple[Pool, str], list[PlacedMessage]] = {}
        groups = dict.fromkeys((*self.questions, *self.others))
        self.threads = [group for group in groups if isinstance(group, str)]
        for group in groups:
            if not isinstance(group, str):
                self._pair(group)

    def when(self, entry: PlacedMessage) -> RecordOrder:
        """Return the place of a message in the order of events."""
        if self.recorded is None:
            return entry.order[0], 1, 0, entry.order[1]
        return self.recorded.order_of(entry.message.message_id, entry.order)

    def rank(self, question: PlacedMessage) -> tuple[bool, RecordOrder]:
        """The first of several questions has their id; a date is what its writer says it is."""
        message_id = question.message.message_id
        return self.recorded is not None and not self.recorded.is_by_desk(message_id), self.when(question)

    def may_answer(self, answer: Message, question: Message) -> bool:
        """Return whether its writer may decide the question."""
        kind, actor = parse_message(question).opens, answer.sender
        return kind is not None and may_answer(self.config, actor=actor, kind=kind, addressee=question.recipients[0])

    def objection(self, answer: Message, question: Message | None) -> str:
        """Return why an answer decides nothing, whoever may have written it; empty when it may decide."""
        # guard: forged-verdict
        return objection(self.config, answer, question, recorded=self.recorded)

    def decides(self, answer: PlacedMessage, question: PlacedMessage) -> bool:
        """Return whether its writer may decide the question, and it is known to be what that writer said."""
        may = self.may_answer(answer.message, question.message)
        return may and not self.objection(answer.message, question.message)

    def _claim(self, entry: PlacedMessage, question: Message) -> _Claim:
        """Return a message held against the trail."""
        message_id, recorded, altered = entry.message.message_id, self.recorded, False
        if recorded is not None and recorded.differs(entry.message):
            written, altered = recorded.message(message_id), True
            entry = PlacedMessage.of(written, entry.place) if written is not None else entry
        verified = recorded is None or recorded.is_by_desk(message_id)
        return _Claim(entry, self.when(entry), verified, altered, self.objection(entry.message, question))

    def _on_record(self, thread: Thread) -> list[PlacedMessage]:
        """Answers and withdrawals as they were recorded, in the store or not: taken out, edited, archived."""
        recorded = self.recorded
        known = map(recorded.message, recorded.answers_to(thread)) if recorded is not None else ()
        return [PlacedMessage.of(message, float(place)) for place, message in enumerate(known) if message is not None]

    def _quoting(self, question: PlacedMessage) -> list[PlacedMessage]:
        """Return the answers that quote the id of `question`; where several may have used it, those given on just
        this one.
        """
        kind, thread = question.read.opens, thread_of(question.message)
        if kind is None:
            return []
        shared = kind in REUSED_IDS and len(self.questions.get(thread, ())) > 1
        if (thread, kind) not in self._quotes:
            given = self._quotes[thread, kind] = {}
            for entry in self.others.get(thread, ()):
                if answers(entry.message, kind, thread):
                    given.setdefault(given_on(entry.message) if shared else "", []).append(entry)
        return self._quotes[thread, kind].get(digest_of(question.message) if shared else "", [])

    def _pair(self, pool: Pool) -> None:
        """Give each answer of a pool to the oldest question of it that still waits for one (002-c, 002-i).

        Whoever may not answer never closes a question, and an answer that quotes its id closes it too.
        """
        given = self.others.get(pool, ())
        asked = sorted(self.questions.get(pool, ()), key=self.when, reverse=True) if given else []
        questions = {question.message.message_id: question for question in asked}
        closed: dict[str, RecordOrder] = {}
        for key, question in questions.items():
            quoting = self._quoting(question)
            moments = [self.when(entry) for entry in quoting if self.decides(entry, question)]
            if moments:
                closed[key] = min(moments)
        waiting: list[PlacedMessage] = []
        last: PlacedMessage | None = None
        for event in sorted([*questions.values(), *given], key=self.when):
            if event.read.opens is not None:
                waiting.append(event)
                continue
            if closed:
                now = self.when(event)
                still = [question for question in waiting if closed.get(question.message.message_id, now) >= now]
                last = waiting[0] if waiting and not still else last
                waiting = still
            target = waiting[0] if waiting else last
            if target is None:
                self.orphans.append(event)
                continue
            self._paired.setdefault((pool, target.message.message_id), []).append(event)
            if waiting and self.decides(event, target):
                last = waiting.pop(0)

    def judged(self, thread: Thread, named: Iterable[tuple[str, PlacedMessage]]) -> Iterator[RequestRow]:
        """Judge questions of one thread, each with its key, by what was said to it."""
        asked, others, recorded = self.questions.get(thread, ()), self.others.get(thread, ()), self._on_record(thread)
        pools = dict.fromkeys(filter(None, map(_pool, sorted(asked, key=self.rank))))
        several = {digest_of(entry.message) for entry in asked} if len(asked) > 1 else set[str]()
        there = {entry.message.message_id for entry in others}
        absent = [entry for entry in recorded if entry.message.message_id not in there]
        taking_back: dict[str, list[PlacedMessage]] = {}
        # guard: withdrawal-that-left-the-queue
        for entry in (entry for entry in (*others, *absent) if entry.read.kind.withdraws):
            taking_back.setdefault(entry.message.sender, []).append(entry)
        talk = [entry for entry in others if entry.read.kind.talks]
        for key, question in named:
            kind, message = question.read.opens, question.message
            assert kind is not None
            claims = list(self._quoting(question))
            for pool in pools:
                claims += self._paired.get((pool, message.message_id), ())
            if kind not in REUSED_IDS:
                claimed = {entry.message.message_id for entry in claims}
                unclaimed = (entry for entry in recorded if entry.message.message_id not in claimed)
                claims += (entry for entry in unclaimed if answers(entry.message, kind, thread))
            own = taking_back.get(message.sender, ())
            withdrawals = [entry for entry in own if not self.objection(entry.message, message)]
            said = [entry for entry in talk if self._may_talk(entry, question)]
            yield self._row(question, claims, withdrawals=withdrawals, key=key, several=several, talk=said)

    def _may_talk(self, entry: PlacedMessage, question: PlacedMessage) -> bool:
        """Return whether it is a question back by whoever may answer, or the asker's word to one; a forged one is
        neither.
        """
        is_own = entry.message.sender == question.message.sender
        return is_own if entry.read.name == ASKED_BACK else self.decides(entry, question)

    def _row(
        self,
        question: PlacedMessage,
        claiming: Iterable[PlacedMessage],
        *,
        withdrawals: Iterable[PlacedMessage],
        key: str,
        several: set[str],
        talk: Iterable[PlacedMessage],
    ) -> RequestRow:
        """Return the request that `question` opens, with the first valid answer as its verdict (D10, D14, D17).

        Args:
            several: `digest_of` each question under its id, where there are several.
        """
        kind, message, order = question.read.opens, question.message, self.when(question)
        assert kind is not None
        others = several - {digest_of(message)}
        every = sorted((self._claim(entry, message) for entry in claiming), key=lambda claim: claim.when)
        every = [claim for claim in every if not others or given_on(claim.entry.message) not in others]
        distinct: dict[str, _Claim] = {}
        for claim in every:
            # Copies of one answer are one answer, the oldest; what was edited into one is none.
            if not claim.altered or _belonged(claim.entry, kind, thread_of(message)):
                distinct.setdefault(claim.message_id, claim)
        claims = list(distinct.values())
        pending = [claim for claim in claims if claim.objection == NOT_ON_RECORD]
        forged = {claim.message_id: claim.objection for claim in claims if claim.objection and claim not in pending}
        if is_verdict(self.config, message) and (why := self.objection(message, message)):
            forged[message.message_id] = why
        sound = [claim for claim in claims if not claim.objection]
        valid = [claim for claim in sound if self.may_answer(claim.entry.message, message)]
        if kind in IN_WORDS:
            sound = [claim for claim in sound if claim in valid or claim.entry.read.approve is not None]
            claims = [claim for claim in claims if claim in sound or claim.objection]
        end = expiry_of(kind, question.read.body)
        # guard: verdict-in-time
        in_time = valid if end is None else [claim for claim in valid if claim.when[0] < end]
        # The first decides: what is verified before what is not, whatever its date says.
        standing = min(in_time, key=lambda claim: (not claim.verified, claim.when), default=None)
        gone = min(withdrawals, key=self.when, default=None)
        if gone is not None and standing is not None and self.when(gone) < standing.when:
            standing = None
        taken_back = gone if standing is None else None
        unverified = () if kind in RESULTS else tuple(claim.message_id for claim in valid if not claim.verified)
        unverified = (*unverified, *(claim.message_id for claim in pending))
        senders = {claim.message_id: claim.entry.message.sender for claim in valid}
        foreign = [item for item in unverified if item in senders and writes_elsewhere(senders[item], self.recorded)]
        altered = tuple(dict.fromkeys(claim.message_id for claim in every if claim.altered))
        words = {claim.entry.read.approve for claim in valid} - {None}
        odd = (
            (Flag.UNAUTHORISED, len(valid) < len(sound)),
            (Flag.CONTRADICTORY, len(words) > 1),
            (Flag.ANSWERED_TWICE, _is_answered_twice(valid) and kind not in IN_WORDS),
            (Flag.ALTERED, altered),
            (Flag.UNVERIFIED, len(foreign) < len(unverified)),
            (Flag.FOREIGN, foreign and len(foreign) == len(unverified)),
            (Flag.FORGED, forged),
        )
        patience = self.config.overdue_seconds.get(kind, self.config.overdue_seconds.get("default", 900.0))
        return RequestRow(
            key,
            kind,
            message,
            _state(message, kind, standing, taken_back),
            order,
            standing.when if standing is not None else self.when(taken_back) if taken_back is not None else order,
            message_title(message),
            # Patience runs from when the question came, whatever date it bears.
            due_at=min(question.moment, order[0]) + timedelta(seconds=patience) if question.moment else None,
            expires_at=end,
            answers=tuple(claim.entry.message for claim in claims),
            verdict=standing.entry.message if standing is not None else None,
            taken_back=taken_back.message if taken_back is not None else None,
            withdrawn_at=None if standing is not None else _withdrawn_at(message, taken_back),
            flags=tuple(flag for flag, holds in odd if holds),
            altered=altered,
            unverified=unverified,
            forged=forged,
            talk=tuple(entry.message for entry in sorted(talk, key=self.when)),
        )

    # What later requests and messages of its chain make of a request.

    def stopped(self, rows: Sequence[RequestRow], spoke: Order | None, arrived: Order | None) -> list[RequestRow]:
        """Stops of one agent: whoever asks again replaces an open question; each yes is held against later words."""
        rows = [self._in_its_life(row) for row in rows]
        agreed = [row for row in rows if row.state is RequestState.APPROVED]
        # By the date of the verdict, as words of agents are held against it.
        ends = {id(row): (row.answered_at or EARLIEST, row.decided[3]) for row in agreed}
        latest = max(ends.values(), default=None)
        found = {row.key: self.approved(row, rows) for row in rows}
        for kind, asker in {(row.kind, row.asker) for row in rows}:
            same = [row for row in found.values() if (row.kind, row.asker) == (kind, asker)]
            # What was refused is history, and the next one a new matter; a rejected plan is revised.
            found |= {row.key: row for row in _succession(same, RequestState.REJECTED)}
        for before in rows:
            row, end = found[before.key], ends.get(id(before))
            if end is not None:
                # After a yes: silent, or alive all the same; a later creation is another agent.
                back = arrived is not None and arrived > end
                alive = spoke is not None and spoke > end and not back
                flags = (*row.flags, Flag.STILL_ALIVE) if alive and end == latest else row.flags
                row = replace(row, ended=not alive, flags=flags)
            # A slave that reported its batch asks for its own end: nobody waits for that once it has ended.
            is_stop, own = row.kind is RequestKind.SHUTDOWN, row.asker == row.ends
            over = (each for each in agreed if is_stop or (own and each.kind is not RequestKind.SHUTDOWN))
            after = next((each.verdict for each in over if each.decided > row.order), None)
            if row.state is RequestState.OPEN and after is not None:
                row = _over(row, after, f"{row.stops} has ended")
            found[row.key] = row
        return list(found.values())

    def _in_its_life(self, row: RequestRow) -> RequestRow:
        """Return a request about an agent as it stands once another one of that name was created (D34)."""
        lives = (self.when(entry) for entry in self._creations_of(row.stops or ""))
        following = min((begun for begun in lives if begun > row.order), default=None)
        is_answered = row.verdict is not None and following is not None and row.decided < following
        # guard: request-about-one-life
        if following is None or is_answered or row.state is RequestState.WITHDRAWN:
            return row
        lapse = f"another {row.stops} was created since"
        over = replace(row, state=RequestState.WITHDRAWN, verdict=None, withdrawn_at=following[0], lapse=lapse)
        return replace(over, decided=following, is_of_former_life=True)

    def _creations_of(self, agent: str) -> Iterator[PlacedMessage]:
        """Yield every creation of an agent of this name that counts, from the store and from the trail."""
        found = {entry.message.message_id: entry for entry in self.creations.get(agent, ())}
        for message_id in self.recorded.creations_of(agent) if self.recorded is not None else ():
            message = self.recorded.message(message_id) if self.recorded is not None else None
            if message is not None and message_id not in found:
                found[message_id] = PlacedMessage.of(message, 0.0)
        for entry in found.values():
            if is_master(self.config, entry.message.sender) and not self.objection(entry.message, None):
                yield entry

    def dispatched(self, rows: Iterable[RequestRow], agent: str) -> Iterator[RequestRow]:
        """An agent that was asked for with its task, and reports it done, was created: nobody announces it (r3)."""
        told = sorted(self.reports.get(agent, ()), key=self.when)
        for row in rows:
            place = bisect_right(told, row.order, key=self.when)
            is_over = place < len(told) and row.state is RequestState.OPEN
            yield _over(row, told[place].message, f"{told[place].message.sender} did its work") if is_over else row

    def approved(self, row: RequestRow, rows: Iterable[RequestRow]) -> RequestRow:
        """An end is approved from the moment at which its agent was asked to stop, until the agent refuses."""
        orders = [stop for stop in rows if row.kind is RequestKind.DESTROY and self._is_order(stop, row)]
        given = [stop for stop in orders if not self.objection(stop.question, row.question)]
        if not given or (row.state is RequestState.WITHDRAWN and row.decided < given[0].order):
            return row
        flags, ending = row.flags, None
        if row.verdict is None:
            ending = next((stop for stop in orders if stop.is_approved), orders[-1])
            if ending.state is RequestState.REJECTED:
                return replace(row, flags=(*flags, Flag.REFUSED), refusal=ending.verdict)
            order = next((stop for stop in given if stop.state is not RequestState.REJECTED), given[0])
            flags = (*flags, Flag.STOPPING) if ending.verdict is None else flags
        else:
            is_no = parse_message(row.verdict).approve is False
            before = [stop for stop in given if stop.order < row.decided]
            if is_no:
                before = [
                    stop for stop in before if stop.state is not RequestState.REJECTED or stop.decided >= row.decided
                ]
            if not before:
                return row
            order = before[0]
            if is_no:
                kept = (flag for flag in flags if flag is not Flag.CONTRADICTORY)
                flags = (*kept, Flag.CONTRADICTORY, Flag.ANSWERED_TWICE)
        return replace(
            row,
            state=RequestState.APPROVED,
            decided=order.order,
            answers=(order.question, *row.answers),
            verdict=order.question,
            flags=flags,
            ending=ending,
        )

    def _is_order(self, stop: RequestRow, row: RequestRow) -> bool:
        """Return whether a stop was asked for because of the request for an end, by whoever may decide that."""
        if stop.kind is not RequestKind.SHUTDOWN or stop.state is RequestState.WITHDRAWN:
            return False
        quotes = text_of(stop.question.payload.get("in_reply_to")) == row.request_id
        return quotes and not self.objection(stop.question, None) and self.may_answer(stop.question, row.question)


def _is_answered_twice(valid: Sequence[_Claim]) -> bool:
    """Return whether there are two answers; the same one to another recipient is none of its own."""
    said = {word_of(claim.entry.message) for claim in valid}
    return len(valid) > 1 and (len(said) > 1 or len({claim.entry.message.recipients for claim in valid}) < len(valid))


def _belonged(entry: PlacedMessage, kind: RequestKind, thread: Thread) -> bool:
    """Return whether an answer that was edited belonged to this request when it was written."""
    quotes = entry.read.request_id is not None
    return answers(entry.message, kind, thread) if quotes else entry.read.answers is kind


def _state(
    question: Message, kind: RequestKind, standing: _Claim | None, taken_back: PlacedMessage | None
) -> RequestState:
    if standing is None:
        gone = taken_back is not None or question.status == Status.RECALLED
        # guard: withdrawn-not-open
        return RequestState.WITHDRAWN if gone else RequestState.OPEN
    approve = standing.entry.read.approve
    if approve is None or (approve and kind is RequestKind.QUESTION):
        return RequestState.ANSWERED
    return RequestState.APPROVED if approve else RequestState.REJECTED


def _withdrawn_at(question: Message, taken_back: PlacedMessage | None) -> datetime | None:
    if taken_back is not None:
        return taken_back.moment
    return question.moment("recalled_at") if question.status == Status.RECALLED else None


def _over(row: RequestRow, by: Message, why: str) -> RequestRow:
    """Return a request that needs no answer any more because of another message."""
    return replace(row, state=RequestState.WITHDRAWN, withdrawn_at=by.created_at, lapse=why)


def _succession(rows: Sequence[RequestRow], *final: RequestState) -> list[RequestRow]:
    """Link each to the one before that it is a version of; a version that was open is superseded by it.

    What was approved has no further version, what was taken back is none.

    Args:
        final: Further states in which a request is neither replaced nor points to a later one.
    """
    found: list[RequestRow] = []
    newer: RequestRow | None = None
    for place in range(len(rows) - 1, -1, -1):
        row, older = rows[place], rows[place - 1] if place else None
        kept = (RequestState.APPROVED, RequestState.WITHDRAWN, *final)
        is_version = older is not None and older.state not in kept and _is_version_of(row, older)
        may_have_newer = newer is not None and row.state in {RequestState.OPEN, RequestState.REJECTED}.difference(final)
        later = newer.request_id if newer is not None and may_have_newer and _is_version_of(newer, row) else None
        is_over = later is not None and row.state is RequestState.OPEN
        state, flags = (RequestState.SUPERSEDED, (*row.flags, Flag.SUPERSEDED)) if is_over else (row.state, row.flags)
        supersedes = older.request_id if older is not None and is_version else None
        found.append(replace(row, supersedes=supersedes, superseded_by=later, state=state, flags=flags))
        if row.state is not RequestState.WITHDRAWN:
            # guard: superseding-request-kept
            newer = row
    return _with_age_of_versions(found[::-1])


REPLACES = "replaces"
"""Field of a plan: the id of the request that it is a new version of."""


def _is_version_of(row: RequestRow, older: RequestRow) -> bool:
    """Return whether a request is a new version: the one before is open, its title the same, or its asker says so."""
    if row.kind is not RequestKind.PLAN or older.state is RequestState.OPEN:
        return True
    return (
        row.title.casefold() == older.title.casefold()
        or text_of(row.question.payload.get(REPLACES)) == older.request_id
    )


def _with_age_of_versions(rows: Iterable[RequestRow]) -> list[RequestRow]:
    """Let an open version wait since the first one that nobody answered was asked, and be as late as that."""
    found: list[RequestRow] = []
    for row in rows:
        before = found[-1] if found else None
        if (
            before is not None
            and row.is_open
            and row.kind is RequestKind.PLAN  # who asks again to stop gives the agent its time again
            and before.state is RequestState.SUPERSEDED
            and row.supersedes == before.request_id
        ):
            row = replace(row, first_asked_at=before.waits_since, due_at=before.due_at or row.due_at)
        found.append(row)
    return found


def at(row: RequestRow, now: datetime) -> RequestRow:
    """Return a request as it stands `now`: open, overdue when it has waited longer than its kind should, or timed
    out.
    """
    if not row.is_open:
        return row
    # guard: expired-request-closed
    if row.expires_at is not None and now >= row.expires_at:
        end = row.expires_at
        decided = end, *row.order[1:]
        return replace(row, state=RequestState.WITHDRAWN, lapse=TIMED_OUT, withdrawn_at=end, decided=decided)
    if row.due_at is not None and now >= row.due_at:
        return replace(row, state=RequestState.OVERDUE, flags=(*row.flags, Flag.OVERDUE))
    return row
