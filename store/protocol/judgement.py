"""Judgement of requests: whether each is open, answered, superseded, withdrawn or expired, by whom and why.

The one rule for every face: write actions, compaction, hooks and views ask it. It rests on messages, the settings, what
the audit trail has of the messages, and the time. From top to bottom: what a message claims, which question it answers,
what stands of one request, what other requests of its chain make of it, and the clock.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from datetime import datetime, timedelta
from enum import StrEnum

from msgspec import Struct, field
from msgspec.structs import replace
from team_console.store.model.clock import from_text
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message, Status
from team_console.store.model.recorded import RecordedFacts, RecordOrder
from team_console.store.protocol.client_requests import TIMED_OUT, answers_of, expiry_of
from team_console.store.protocol.kinds import FOR_CLIENTS, IN_WORDS, RESULTS, REUSED_IDS, VERDICT_ONLY, RequestKind
from team_console.store.protocol.parsing import (
    COMPLETE,
    DISPATCH,
    Order,
    ParsedMessage,
    PlacedMessage,
    dispatched_name,
    parse_message,
    text_of,
)
from team_console.store.protocol.permissions import may_answer
from team_console.store.protocol.verdicts import digest_of, given_on, is_verdict, objection
from team_console.store.settings.team_config import TeamConfig

ASKBACK, ASKED_BACK = "request_askback", "askback_response"
"""Kinds by which whoever may answer a request asks back, and by which its asker answers that."""
WITHDRAWN = "request_withdrawn"
"""The kind by which an asker takes back a request."""


def answers(message: Message, kind: RequestKind, request_id: str) -> bool:
    """Whether `message` claims to answer the request `request_id` of this kind."""
    seen = parse_message(message)
    if seen.kind is None or seen.request_id != request_id or seen.opens is not None or seen.kind.withdraws:
        return False
    if seen.kind.talks:
        # guard: question-back-decides-nothing
        return False
    if kind in FOR_CLIENTS:
        # guard: answer-of-its-own-kind
        return seen.answers is kind and _decides(seen)
    if seen.answers is not None:
        return seen.answers is kind and (seen.approve is not None or kind not in VERDICT_ONLY)
    return kind in IN_WORDS or seen.approve is not None


def _decides(seen: ParsedMessage) -> bool:
    """Whether a client can act on this answer: a clear yes or no, and for a question what was chosen."""
    if seen.answers is RequestKind.QUESTION and seen.approve:
        return bool(answers_of(seen.body))
    return seen.approve is not None


def withdraws(message: Message, question: Message, request_id: str) -> bool:
    """Whether `message` takes back the request: only its asker can."""
    seen = parse_message(message)
    return (
        seen.kind is not None
        and seen.kind.withdraws
        and seen.request_id == request_id
        and message.sender == question.sender
    )


def already_answered(
    request_id: str,
    answer: Message,
    word: str = "answered",
    hint: str = "The first answer stands; send a message if you want to say more.",
) -> TeamError:
    """The refusal of a second answer, with who gave the first one and when."""
    text = f"{request_id} was already {word} by {answer.sender} at {answer.created}"
    by, at = answer.sender, answer.created
    return TeamError(Code.ALREADY_ANSWERED, text, hint, request_id=request_id, answered_by=by, answered_at=at)


# Judgement of requests: whether each is open, answered, superseded, withdrawn or expired, by whom and why.

Thread = str
"""The id that a question has and its answers quote."""
Pool = tuple[RequestKind, str, str]
"""Kind, asker, and the agent type, agent, story or source id that question and answer share."""
Group = Thread | Pool
Chain = tuple[str, str]
"""What links requests: the kind and its author, or `stop` or `dispatch` and the agent that it is about."""
_STOP, _DISPATCH = "stop", "dispatch"
_BY_SUBJECT = frozenset({RequestKind.CREATE, RequestKind.DESTROY, RequestKind.RESEARCH})


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
    """An answer that no desk wrote: it stands in the store and not on the audit trail as one of ours."""
    FORGED = "forged"
    """An answer that is not signed as it must be: it decides nothing."""
    ALTERED = "altered"
    """An answer that says something else than the audit trail; the trail's words count."""
    STOPPING = "asked to stop, waits for its answer"
    """An end that is approved: the agent was asked to stop, and its end is not confirmed yet."""
    REFUSED = "refused to stop"
    """An end that was approved, and the agent refused to stop: it is to be decided again."""


class Claim(Struct, frozen=True):
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
    verified: bool = True
    altered: bool = False
    objection: str = ""

    @property
    def message_id(self) -> str:
        """The id of the message."""
        return self.entry.message.message_id

    @property
    def rank(self) -> tuple[bool, RecordOrder]:
        """The first decides: what is verified before what is not, whatever its date says."""
        return not self.verified, self.when


class Case(Struct, frozen=True, eq=False):
    """A question, judged.

    Attributes:
        key: Unique key (`kind:request_id`).
        state: Before the chain is looked at and the clock, by the question and its answers alone.
        order: The place of the question in the order of events.
        decided: The place of the verdict, or of the question while there is none.
        due_at, expires_at: When it becomes overdue, and when it ends by itself; None when it does not.
        claims: Every message that claims to answer it, oldest first.
        verdict: The answer that stands.
        taken_back: The message that withdrew it.
        withdrawn_at, reason: Since when it needs no answer, and why.
        altered, unverified: Ids of messages that differ from the trail, and of valid ones no desk wrote.
        forged: Id -> why, of answers that are not known to be what their writer said, and decide nothing.
        supersedes: The request id of the earlier one of its chain that it replaces.
        superseded_by: The later question of its chain.
        ended: For a stop: whether the agent fell silent after agreeing.
        ending: For an approved end that is not confirmed yet: the stop its agent was asked for.
        refusal: For an end that was approved: what the agent said when it refused to stop.
        talk: What whoever may answer asked back, and what the asker said to that, oldest first.
    """

    question: PlacedMessage
    kind: RequestKind
    key: str
    state: RequestState
    order: RecordOrder
    decided: RecordOrder
    due_at: datetime | None = None
    expires_at: datetime | None = None
    claims: tuple[Claim, ...] = ()
    verdict: PlacedMessage | None = None
    taken_back: PlacedMessage | None = None
    withdrawn_at: datetime | None = None
    reason: str = ""
    flags: tuple[Flag, ...] = ()
    altered: tuple[str, ...] = ()
    unverified: tuple[str, ...] = ()
    forged: Mapping[str, str] = field(default_factory=dict)
    supersedes: str | None = None
    superseded_by: PlacedMessage | None = None
    ended: bool = False
    ending: Case | None = None
    refusal: PlacedMessage | None = None
    talk: tuple[PlacedMessage, ...] = ()

    @property
    def request_id(self) -> str:
        """The id an answer must quote."""
        return thread_of(self.question)

    @property
    def asker(self) -> str:
        """Who asked."""
        return self.question.message.sender

    @property
    def addressee(self) -> str:
        """Who was asked."""
        return self.question.message.recipients[0]

    @property
    def is_open(self) -> bool:
        """Whether an answer is still wanted."""
        return self.state in (RequestState.OPEN, RequestState.OVERDUE)

    @property
    def is_finished(self) -> bool:
        """Whether nothing is to be done about it any more."""
        return not self.is_open and self.ending is None

    @property
    def stops(self) -> str | None:
        """The agent that should fall silent after a yes."""
        return self.addressee if self.kind is RequestKind.SHUTDOWN else self.ends

    @property
    def ends(self) -> str | None:
        """The agent whose end the Master is asked for."""
        return self.question.read.subject if self.kind is RequestKind.DESTROY else None

    @property
    def announcement(self) -> PlacedMessage | None:
        """The message that announced the agent, of a creation that was granted."""
        return self.verdict if self.kind is RequestKind.CREATE else None


def judge(
    messages: Iterable[Message], config: TeamConfig, recorded: RecordedFacts | None, now: datetime
) -> dict[Message, Case]:
    """Every request that these messages open, by its question, as it stands `now`.

    A question under the id of another (`twins`) is judged too: an answer may have been given on just that one.

    Args:
        messages: In stored order, with everything that bears on the requests (`with_bearing`).
        recorded: What the audit trail has of them; None where there is no trail to ask.
    """
    entries = [PlacedMessage.of(message, place) for place, message in enumerate(messages)]
    judged = judge_entries(Basis(config, recorded), entries, twins=True)
    return {case.question.message: at(case, now) for case in judged.cases}


class Judged(Struct, frozen=True):
    """Every request of some messages, before the clock is looked at.

    Attributes:
        cases: Each with its link.
        twins: Request id -> further questions under an id that another question has.
        orphans: Answers to nothing that is known.
    """

    cases: Sequence[Case]
    twins: Mapping[Thread, tuple[PlacedMessage, ...]]
    orphans: Sequence[PlacedMessage]


def judge_entries(
    evidence: Basis,
    entries: Iterable[PlacedMessage],
    heard: Callable[[str], Heard] | None = None,
    *,
    twins: bool = False,
) -> Judged:
    """Judge every request that these entries open.

    Args:
        heard: When an agent last said that it is alive; None where nobody asks whether it fell silent.
        twins: Judge the questions under the id of another too.
    """
    entries = tuple(entries)
    groups = Groups(entries)
    reports: dict[str, list[PlacedMessage]] = {}
    for entry in entries:
        if entry.read.name == COMPLETE:
            reports.setdefault(entry.message.sender, []).append(entry)
    pools: Iterable[Pool] = [key for key in groups.keys if not isinstance(key, str)]
    pairings = {key: _pairing_of(evidence, groups, key) for key in pools}
    orphans = [entry for pairing in pairings.values() for entry in pairing.orphans]
    chains: dict[Chain, list[Case]] = {}
    cases: list[Case] = []
    late: dict[Thread, tuple[PlacedMessage, ...]] = {}
    late_cases: list[Case] = []
    for key in groups.keys:
        if not isinstance(key, str):
            continue
        judged, late_ones = _judge_thread(evidence, groups, key, pairings, twins=twins)
        orphans += _orphans(groups.others(key), {case.kind for case in judged})
        if late_ones:
            late[key] = tuple(late_ones)
        is_late = set(map(id, late_ones))
        for case in judged:
            chain = _chain(case.kind, case.question)
            if id(case.question) in is_late:
                late_cases.append(case)
            elif chain is None:
                cases.append(case)
            else:
                chains.setdefault(chain, []).append(case)
    for chain, members in chains.items():
        known = heard(chain[1]) if heard is not None else Heard()
        known = replace(known, reports=reports.get(chain[1], ()))
        members.sort(key=lambda case: case.order)
        if chain[0] == _DISPATCH:
            links = _dispatched(evidence, members, known.reports)
        else:
            links = _stops(evidence, members, known) if chain[0] == _STOP else _succession(members)
        cases += map(_linked, members, links)
    stops = [case for case in cases if case.kind is RequestKind.SHUTDOWN]
    cases += [_linked(twin, _approved_by(evidence, twin, stops)) for twin in late_cases]
    return Judged(cases, late, orphans)


def with_bearing(thread: Sequence[Message], live: Callable[[], Sequence[Message]]) -> Sequence[Message]:
    """A thread with those of the live messages that bear on its requests though they do not quote its id."""
    keys = {key for message in thread for key in _shared_keys(PlacedMessage.of(message, 0))}
    if not keys:
        return thread
    everything = live()
    entries = [PlacedMessage.of(message, 0) for message in everything]
    asked = {thread_of(entry) for entry in entries if not keys.isdisjoint(_shared_keys(entry))}
    wanted = set(map(id, thread))
    for entry in entries:
        report = (_DISPATCH, entry.message.sender) if entry.read.name == COMPLETE else None
        thread_id = thread_of(entry) if entry.read.opens else entry.read.request_id
        if report in keys or pool_of_answer(entry) in keys or thread_id in asked:
            wanted.add(id(entry.message))
    here = set(map(id, everything))
    past = [message for message in thread if id(message) not in here]
    return [*past, *(message for message in everything if id(message) in wanted)]


def _shared_keys(entry: PlacedMessage) -> list[Chain | Pool]:
    """The chain and the pool of a question."""
    kind = entry.read.opens
    keys = (_chain(kind, entry), pool_of_question(entry)) if kind is not None else ()
    return [key for key in keys if key is not None]


# What a message claims, by the audit trail and by whoever may have written it.


class Basis(Struct, frozen=True):
    """What answers are judged by; `recorded` is None where the store keeps no audit trail."""

    config: TeamConfig
    recorded: RecordedFacts | None = None

    def when(self, entry: PlacedMessage) -> RecordOrder:
        """The place of a message in the order of events."""
        if self.recorded is None:
            return entry.order[0], 1, 0, entry.order[1]
        return self.recorded.order_of(entry.message.message_id, entry.order)

    def rank(self, question: PlacedMessage) -> tuple[bool, RecordOrder]:
        """The first of several questions has their id; a date is what its writer says it is."""
        message_id = question.message.message_id
        return self.recorded is not None and not self.recorded.is_by_desk(message_id), self.when(question)

    def may_answer(self, answer: PlacedMessage, question: PlacedMessage) -> bool:
        """Whether its writer may decide the question."""
        kind, addressee = question.read.opens, question.message.recipients[0]
        return kind is not None and may_answer(self.config, actor=answer.message.sender, kind=kind, addressee=addressee)

    def objection(self, answer: PlacedMessage, question: PlacedMessage) -> str:
        """Why an answer decides nothing, whoever may have written it; empty when it may decide."""
        # guard: forged-verdict
        return objection(self.config, answer.message, question.message, recorded=self.recorded)

    def decides(self, answer: PlacedMessage, question: PlacedMessage) -> bool:
        """Whether its writer may decide the question, and it is known to be what that writer said."""
        return self.may_answer(answer, question) and not self.objection(answer, question)

    def claim(self, entry: PlacedMessage, question: PlacedMessage) -> Claim:
        """A message held against the trail."""
        message_id, recorded = entry.message.message_id, self.recorded
        if recorded is None:
            return Claim(entry, self.when(entry), objection=self.objection(entry, question))
        altered = recorded.differs(entry.message)
        written = recorded.message(message_id) if altered else None
        if written is not None:
            entry = PlacedMessage.of(written, entry.place)
        is_ours = recorded.is_by_desk(message_id)
        return Claim(entry, self.when(entry), is_ours, altered, self.objection(entry, question))

    def on_record(self, thread: Thread) -> list[PlacedMessage]:
        """Answers and withdrawals as they were recorded, in the store or not: taken out, edited, archived."""
        recorded = self.recorded
        known = map(recorded.message, recorded.answers_to(thread)) if recorded is not None else ()
        return [PlacedMessage.of(message, float(place)) for place, message in enumerate(known) if message is not None]


class Quotes:
    """Answers that quote an id, by the question that each answers of all that have this id; for one look."""

    def __init__(self, questions: Sequence[PlacedMessage], others: Sequence[PlacedMessage], evidence: Basis) -> None:
        self._questions, self._others, self._evidence = questions, others, evidence
        self._of_kind: dict[RequestKind, list[PlacedMessage]] = {}
        self._of_question: dict[RequestKind, dict[int, list[PlacedMessage]]] = {}

    def of(self, question: PlacedMessage) -> list[PlacedMessage]:
        """Those that answer `question`, one of the questions, by its own id."""
        kind = question.read.opens
        if kind is None:
            return []
        if kind not in self._of_kind:
            thread = thread_of(question)
            self._of_kind[kind] = [entry for entry in self._others if answers(entry.message, kind, thread)]
        if kind not in REUSED_IDS:
            return self._of_kind[kind]
        if kind not in self._of_question:
            self._of_question[kind] = self._assigned(self._of_kind[kind])
        return self._of_question[kind].get(id(question), [])

    def _assigned(self, quotes: Sequence[PlacedMessage]) -> dict[int, list[PlacedMessage]]:
        """Each answer once: to the question it was given on, else to the latest that its reader had asked by then."""
        several = len(self._questions) > 1
        named = {digest_of(entry.message): entry for entry in reversed(self._questions)} if several and quotes else {}
        asked = self._asked() if quotes else {}
        assigned: dict[int, list[PlacedMessage]] = {}
        for answer in quotes:
            digest = given_on(answer.message) if several else ""
            meant = named.get(digest) if digest else self._latest(answer, asked)
            if meant is not None:
                assigned.setdefault(id(meant), []).append(answer)
        return assigned

    def _asked(self) -> dict[str, list[PlacedMessage]]:
        """Who asked what, in the order in which it came."""
        asked: dict[str, list[PlacedMessage]] = {}
        for entry in sorted(self._questions, key=self._evidence.when):
            asked.setdefault(entry.message.sender, []).append(entry)
        return asked

    def _latest(self, answer: PlacedMessage, asked: Mapping[str, Sequence[PlacedMessage]]) -> PlacedMessage | None:
        when, moment = self._evidence.when, self._evidence.when(answer)
        readers = [entries for sender, entries in asked.items() if answer.message.is_addressed_to(sender)]
        places = [(entries, bisect_left(entries, moment, key=when)) for entries in readers]
        before = [entries[place - 1] for entries, place in places if place]
        return max(before or [entries[-1] for entries in readers], key=when, default=None)


# Which question a message answers: by the id it quotes, else in order, by what both speak of (002-c, 002-i).


class Groups:
    """Messages that concern requests, by group."""

    def __init__(self, entries: Iterable[PlacedMessage]) -> None:
        self._questions: dict[Group, list[PlacedMessage]] = {}
        self._others: dict[Group, list[PlacedMessage]] = {}
        for entry in entries:
            members = self._others if entry.read.opens is None else self._questions
            for group in groups_of(entry):
                members.setdefault(group, []).append(entry)

    @property
    def keys(self) -> Iterable[Group]:
        """The groups that have members."""
        return dict.fromkeys((*self._questions, *self._others))

    def questions(self, group: Group) -> Sequence[PlacedMessage]:
        """The questions of a group, in no order."""
        return self._questions.get(group, ())

    def others(self, group: Group) -> Sequence[PlacedMessage]:
        """What is no question: answers, and messages that may be one."""
        return self._others.get(group, ())


def groups_of(entry: PlacedMessage) -> Iterator[Group]:
    """The thread and the pool of a message. An answer that is paired in a pool quotes no id that is one question's."""
    question, answer = pool_of_question(entry), pool_of_answer(entry)
    if question is not None:
        yield question
    if answer is not None:
        yield answer
    elif entry.read.request_id is not None:
        yield entry.read.request_id


def thread_of(question: PlacedMessage) -> Thread:
    """The id an answer must quote."""
    return question.read.request_id or question.message.message_id


class Pairing(Struct, frozen=True):
    """Which answer belongs to which question of one pool.

    Attributes:
        answers: Message id of a question -> its answers.
        orphans: Answers that had no question at all.
    """

    answers: Mapping[str, tuple[PlacedMessage, ...]] = field(default_factory=dict)
    orphans: tuple[PlacedMessage, ...] = ()


def pool_of_question(entry: PlacedMessage) -> Pool | None:
    """Where a question waits for an answer in order, None for kinds whose answers always quote its id."""
    kind = entry.read.opens
    return _pool(entry, kind, entry.message.sender) if kind is not None else None


def pool_of_answer(entry: PlacedMessage) -> Pool | None:
    """Where an answer looks for its question, None when it quotes the question's own id."""
    kind = entry.read.answers
    if kind is None or (kind in _BY_SUBJECT and entry.read.request_id is not None):
        return None
    return _pool(entry, kind, entry.message.recipients[0])


def _pool(entry: PlacedMessage, kind: RequestKind, asker: str) -> Pool | None:
    if kind in REUSED_IDS:
        shared = entry.read.request_id
    elif kind in _BY_SUBJECT:
        shared = entry.read.subject
    else:
        return None
    return None if shared is None else (kind, "" if kind is RequestKind.DESTROY else asker, shared)


def _pairing_of(evidence: Basis, groups: Groups, pool: Pool) -> Pairing:
    """Pair the answers of a pool with its questions, in order."""
    given = groups.others(pool)
    if not given:
        return Pairing()
    asked = sorted(groups.questions(pool), key=evidence.when, reverse=True)
    questions = {question.message.message_id: question for question in asked}
    threads = {thread_of(question) for question in asked}
    quotes = {thread: Quotes(groups.questions(thread), groups.others(thread), evidence) for thread in threads}
    closed: dict[str, RecordOrder] = {}
    for key, question in questions.items():
        quoting = quotes[thread_of(question)].of(question)
        moments = [evidence.when(entry) for entry in quoting if evidence.decides(entry, question)]
        if moments:
            closed[key] = min(moments)
    return _pair(questions.values(), given, closed=closed, fits=evidence.decides, when=evidence.when)


def _pair(
    questions: Iterable[PlacedMessage],
    answers: Iterable[PlacedMessage],
    *,
    closed: Mapping[str, RecordOrder],
    fits: Callable[[PlacedMessage, PlacedMessage], bool],
    when: Callable[[PlacedMessage], RecordOrder],
) -> Pairing:
    """Give each answer to the oldest question that still waits for one.

    Args:
        closed: Message id of a question -> when an answer quoted it.
        fits: Whether the writer of an answer may answer the question; who may not never closes one.
        when: The place of a message in the order of events.
    """
    waiting: list[PlacedMessage] = []
    last: PlacedMessage | None = None
    answered: dict[str, tuple[PlacedMessage, ...]] = {}
    orphans: list[PlacedMessage] = []
    for event in sorted([*questions, *answers], key=when):
        if event.read.opens is not None:
            waiting.append(event)
            continue
        if closed:
            now = when(event)
            still = [question for question in waiting if closed.get(question.message.message_id, now) >= now]
            last = waiting[0] if waiting and not still else last
            waiting = still
        target = waiting[0] if waiting else last
        if target is None:
            orphans.append(event)
            continue
        message_id = target.message.message_id
        answered[message_id] = (*answered.get(message_id, ()), event)
        if waiting and fits(event, target):
            last = waiting.pop(0)
    return Pairing(answered, tuple(orphans))


# What stands of one request by its own answers and withdrawals.


_MOST_TWINS = 64
"""Twins of one id that are judged: nobody asks that often, and each costs a look at the whole thread."""


def _judge_thread(
    evidence: Basis, groups: Groups, thread: Thread, pairings: Mapping[Pool, Pairing], *, twins: bool
) -> tuple[list[Case], list[PlacedMessage]]:
    """Judge the requests of one thread: the first question of its kind opens one, one we wrote before any other.

    Returns:
        A case for each kind of question, several for kinds whose ids are used again; and the questions that come too
        late under the id of another, which open nothing.

    Args:
        twins: Judge those that come too late under the id too: who looked at one may answer just that one.
    """
    others = groups.others(thread)
    asked = sorted(groups.questions(thread), key=evidence.rank)
    pools = dict.fromkeys(filter(None, map(pool_of_question, asked)))
    opening, late = _first_of_each(asked)
    several = frozenset(digest_of(entry.message) for entry in asked) if len(asked) > 1 else frozenset()
    cases, quotes = [], Quotes(asked, others, evidence)
    recorded = evidence.on_record(thread)
    there = {entry.message.message_id for entry in others} if recorded else set()
    absent = [entry for entry in recorded if entry.message.message_id not in there]
    taking_back: dict[str, list[PlacedMessage]] = {}
    # guard: withdrawal-that-left-the-queue
    for entry in filter(_is_withdrawal, (*others, *absent)):
        taking_back.setdefault(entry.message.sender, []).append(entry)
    named = [(f"{entry.read.opens}:{thread}:{entry.message.message_id}", entry) for entry in late[:_MOST_TWINS]]
    for key, question in (*opening, *(named if twins else ())):
        kind, message_id = question.read.opens, question.message.message_id
        assert kind is not None
        claims = list(quotes.of(question))
        claims += (answer for pool in pools for answer in pairings[pool].answers.get(message_id, ()))
        if kind not in REUSED_IDS:
            claimed = {entry.message.message_id for entry in claims} if recorded else set()
            unclaimed = (entry for entry in recorded if entry.message.message_id not in claimed)
            claims += (entry for entry in unclaimed if answers(entry.message, kind, thread))
        own = taking_back.get(question.message.sender, ())
        gone = (entry for entry in own if withdraws(entry.message, question.message, thread))
        withdrawals = [entry for entry in gone if not evidence.objection(entry, question)]
        case = _judged(evidence, question, claims, withdrawals=withdrawals, key=key, several=several)
        cases.append(replace(case, talk=_talk(evidence, question, others)))
    return cases, late


def _talk(evidence: Basis, question: PlacedMessage, others: Sequence[PlacedMessage]) -> tuple[PlacedMessage, ...]:
    """Questions back by whoever may answer, and the asker's words to them; a forged one is none."""
    said = [entry for entry in others if entry.read.kind is not None and entry.read.kind.talks]
    asker = question.message.sender
    sound = [
        entry
        for entry in said
        if (entry.message.sender == asker if entry.read.name == ASKED_BACK else evidence.decides(entry, question))
    ]
    return tuple(sorted(sound, key=evidence.when))


def _judged(
    evidence: Basis,
    question: PlacedMessage,
    claiming: Sequence[PlacedMessage],
    *,
    withdrawals: Sequence[PlacedMessage],
    key: str,
    several: Set[str],
) -> Case:
    """The request that `question` opens, with the first valid answer as its verdict (D10, D14, D17).

    Args:
        several: `digest_of` each question under its id, where there are several.
    """
    kind, message, order = question.read.opens, question.message, evidence.when(question)
    assert kind is not None
    every = [evidence.claim(entry, question) for entry in claiming]
    if several:
        own = digest_of(message)
        every = [claim for claim in every if (digest := given_on(claim.entry.message)) == own or digest not in several]
    every.sort(key=lambda claim: claim.when)
    claims = _distinct(question, every)
    forged = {claim.message_id: claim.objection for claim in claims if claim.objection}
    if is_verdict(evidence.config, message) and (why := evidence.objection(question, question)):
        forged[message.message_id] = why
    sound = [claim for claim in claims if not claim.objection]
    valid = [claim for claim in sound if evidence.may_answer(claim.entry, question)]
    if kind in IN_WORDS:
        sound = [claim for claim in sound if claim in valid or claim.entry.read.approve is not None]
        claims = [claim for claim in claims if claim in sound or claim.objection]
    end = expiry_of(kind, question.read.body)
    # guard: verdict-in-time
    in_time = valid if end is None else [claim for claim in valid if claim.when[0] < end]
    standing = min(in_time, key=lambda claim: claim.rank, default=None)
    gone = min(withdrawals, key=evidence.when, default=None)
    if gone is not None and standing is not None and evidence.when(gone) < standing.when:
        standing = None
    verdict = standing.entry if standing is not None else None
    taken_back = gone if standing is None else None
    unverified = () if kind in RESULTS else tuple(claim.message_id for claim in valid if not claim.verified)
    altered = tuple(dict.fromkeys(claim.message_id for claim in every if claim.altered))
    patience = timedelta(seconds=_patience(evidence.config, kind))
    decided = standing.when if standing is not None else evidence.when(taken_back) if taken_back is not None else order
    return Case(
        question,
        kind,
        key,
        _state(message, kind, verdict, taken_back),
        order,
        decided,
        # Patience runs from when the question came, whatever date it bears.
        due_at=min(question.moment, order[0]) + patience if question.moment else None,
        expires_at=end,
        claims=tuple(claims),
        verdict=verdict,
        taken_back=taken_back,
        withdrawn_at=None if verdict else _withdrawn_at(message, taken_back),
        flags=tuple(_flags(kind, sound, valid, altered, unverified, forged)),
        altered=altered,
        unverified=unverified,
        forged=forged,
    )


def _first_of_each(asked: Iterable[PlacedMessage]) -> tuple[list[tuple[str, PlacedMessage]], list[PlacedMessage]]:
    """The questions that open a request, each with its key, and those that come too late under their id."""
    opening: list[tuple[str, PlacedMessage]] = []
    twins: list[PlacedMessage] = []
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


def _orphans(others: Iterable[PlacedMessage], kinds: set[RequestKind]) -> Iterable[PlacedMessage]:
    for entry in others:
        if entry.read.answers is None and (entry.read.approve is None or _is_withdrawal(entry)):
            continue
        if not any(entry.read.answers in (None, kind) for kind in kinds):
            yield entry


def _is_withdrawal(entry: PlacedMessage) -> bool:
    return entry.read.kind is not None and entry.read.kind.withdraws


def _distinct(question: PlacedMessage, claims: Iterable[Claim]) -> list[Claim]:
    """Each message id once, its oldest copy: copies of one answer are one answer. What was edited into one is none."""
    kind, thread = question.read.opens, thread_of(question)
    distinct: dict[str, Claim] = {}
    for claim in claims:
        if not claim.altered or (kind is not None and _fits(claim.entry, kind, thread)):
            distinct.setdefault(claim.message_id, claim)
    return list(distinct.values())


def _fits(entry: PlacedMessage, kind: RequestKind, thread: str) -> bool:
    """Whether an answer that was edited belonged to this request when it was written."""
    if entry.read.request_id is None:
        return entry.read.answers is kind
    return answers(entry.message, kind, thread)


def _patience(config: TeamConfig, kind: RequestKind) -> float:
    seconds = config.overdue_seconds
    return seconds.get(kind, seconds.get("default", 900.0))


def _state(
    question: Message, kind: RequestKind, verdict: PlacedMessage | None, taken_back: PlacedMessage | None
) -> RequestState:
    if verdict is None:
        gone = taken_back is not None or question.status == Status.RECALLED
        # guard: withdrawn-not-open
        return RequestState.WITHDRAWN if gone else RequestState.OPEN
    approve = verdict.read.approve
    if approve is None or (approve and kind is RequestKind.QUESTION):
        return RequestState.ANSWERED
    return RequestState.APPROVED if approve else RequestState.REJECTED


def _withdrawn_at(question: Message, taken_back: PlacedMessage | None) -> datetime | None:
    if taken_back is not None:
        return taken_back.moment
    value = question.envelope("recalled_at") if question.status == Status.RECALLED else None
    return from_text(value) if isinstance(value, str) else None


def _flags(
    kind: RequestKind,
    sound: Sequence[Claim],
    valid: Sequence[Claim],
    altered: Sequence[str],
    unverified: Sequence[str],
    forged: Mapping[str, str],
) -> Iterator[Flag]:
    if len(valid) < len(sound):
        yield Flag.UNAUTHORISED
    words = {claim.entry.read.approve for claim in valid if claim.entry.read.approve is not None}
    if len(words) > 1:
        yield Flag.CONTRADICTORY
    if len(valid) > 1 and kind not in IN_WORDS:
        yield Flag.ANSWERED_TWICE
    if altered:
        yield Flag.ALTERED
    if unverified:
        yield Flag.UNVERIFIED
    if forged:
        yield Flag.FORGED


# What other requests of its chain make of a request: later ones replace it, a stop carries out an approved end.


class Link(Struct, frozen=True):
    """What other requests and messages make of a request.

    Attributes:
        superseded_by: The later question.
        ended, alive: For a stop that was agreed to: whether the agent is silent since, or writes all the same.
        over: The message by which the agent ended, so that this needs no answer any more.
        approval: For an end: the order to stop that approved it.
        ending: For an end: the latest order, while its agent has not answered and nobody confirmed the end.
        refusal: For an end: what the agent said when it refused to stop.
    """

    supersedes: str | None = None
    superseded_by: PlacedMessage | None = None
    ended: bool = False
    alive: bool = False
    over: PlacedMessage | None = None
    approval: Case | None = None
    ending: Case | None = None
    refusal: PlacedMessage | None = None


class Heard(Struct, frozen=True):
    """When an agent last said that it is alive, when its creation was announced, and its reports of finished work."""

    spoke: Order | None = None
    arrived: Order | None = None
    reports: Sequence[PlacedMessage] = ()


def _chain(kind: RequestKind, question: PlacedMessage) -> Chain | None:
    """The chain a request belongs to, None when it stands alone."""
    if kind is RequestKind.PLAN:
        return str(kind), question.message.sender
    if kind is RequestKind.SHUTDOWN:
        return _STOP, question.message.recipients[0]
    if question.read.name == DISPATCH:
        return _DISPATCH, dispatched_name(question.read)
    subject = question.read.subject if kind is RequestKind.DESTROY else None
    return (_STOP, subject) if subject is not None else None


def succession_of(message: Message) -> tuple[Chain, RequestKind, str] | None:
    """What a question shares with those that replace it, or that it replaces; None for any other message."""
    entry = PlacedMessage.of(message, 0)
    kind = entry.read.opens
    chain = _chain(kind, entry) if kind is not None else None
    return (chain, kind, message.sender) if chain is not None and kind is not None else None


def _linked(case: Case, link: Link) -> Case:
    """The case with its link; an open request that was superseded or needs no answer any more is open no more."""
    case = _with_approval(case, link)
    case = replace(case, supersedes=link.supersedes, superseded_by=link.superseded_by, ended=link.ended)
    if link.alive:
        case = replace(case, flags=(*case.flags, Flag.STILL_ALIVE))
    if case.state is RequestState.OPEN and link.superseded_by is not None:
        return replace(case, state=RequestState.SUPERSEDED, flags=(*case.flags, Flag.SUPERSEDED))
    if case.state is RequestState.OPEN and link.over is not None:
        who, is_dispatch = link.over.message.sender, case.kind is RequestKind.CREATE
        gone, reason = link.over.moment, f"{who} did its work" if is_dispatch else f"{case.stops} has ended"
        return replace(case, state=RequestState.WITHDRAWN, withdrawn_at=gone, reason=reason)
    return case


def _with_approval(case: Case, link: Link) -> Case:
    """An end is approved from the moment at which its agent was asked to stop, until the agent refuses."""
    if link.refusal is not None:
        return replace(case, flags=(*case.flags, Flag.REFUSED), refusal=link.refusal)
    if link.approval is None:
        return case
    order, flags = link.approval, case.flags
    if case.verdict is not None and case.verdict.read.approve is False:
        flags = (*(flag for flag in flags if flag is not Flag.CONTRADICTORY), Flag.CONTRADICTORY, Flag.ANSWERED_TWICE)
    waits = link.ending is not None and link.ending.verdict is None
    return replace(
        case,
        state=RequestState.APPROVED,
        decided=order.order,
        claims=(Claim(order.question, order.order), *case.claims),
        verdict=order.question,
        flags=(*flags, Flag.STOPPING) if waits else flags,
        ending=link.ending,
    )


def _stops(evidence: Basis, cases: Sequence[Case], heard: Heard) -> list[Link]:
    """Stops of one agent: whoever asks again replaces an open question; each yes is held against what came after."""
    stops = [case for case in cases if case.kind is RequestKind.SHUTDOWN]
    made = {case.key: _approved_by(evidence, case, stops) for case in cases}
    judged = [_with_approval(case, made[case.key]) for case in cases]
    for kind, asker in {(case.kind, case.asker) for case in cases}:
        same = [case for case in judged if (case.kind, case.asker) == (kind, asker)]
        # What was refused is history, and the next one a new matter; a rejected plan is revised.
        for case, link in zip(same, _succession(same, RequestState.REJECTED), strict=True):
            newer = link.supersedes, link.superseded_by
            made[case.key] = replace(made[case.key], supersedes=newer[0], superseded_by=newer[1])
    agreed = [case for case in cases if case.state is RequestState.APPROVED]
    for case, ending in zip(agreed, _endings(agreed, heard), strict=True):
        made[case.key] = replace(made[case.key], ended=ending.ended, alive=ending.alive)
    for case in cases:
        # A slave that reported its batch asks for its own end: nobody waits for that once it has ended.
        ends = agreed if case in stops else [end for end in agreed if end not in stops and case.asker == case.ends]
        over = next((end.verdict for end in ends if end.decided > case.order), None)
        if case.state is RequestState.OPEN and over is not None:
            made[case.key] = replace(made[case.key], over=over)
    return [made[case.key] for case in cases]


def _dispatched(evidence: Basis, cases: Iterable[Case], reports: Iterable[PlacedMessage]) -> list[Link]:
    """An agent that was asked for with its task, and reports it done, was created: nobody announces it (r3)."""
    told = sorted(reports, key=evidence.when)
    places = [bisect_right(told, case.order, key=evidence.when) for case in cases]
    return [Link(over=told[place] if place < len(told) else None) for place in places]


def _approved_by(evidence: Basis, case: Case, stops: Iterable[Case]) -> Link:
    """An end with the orders to stop that were given for it, which approve it."""
    orders = [stop for stop in stops if case.kind is RequestKind.DESTROY and _is_order(evidence, stop, case)]
    given = [stop for stop in orders if not evidence.objection(stop.question, case.question)]
    verdict = case.verdict
    if not given or (case.state is RequestState.WITHDRAWN and case.decided < given[0].order):
        return Link()
    if verdict is not None:
        is_no = verdict.read.approve is False
        before = (stop for stop in given if stop.order < case.decided)
        return Link(approval=next((stop for stop in before if not (is_no and _was_refused(stop, case.decided))), None))
    latest = next((stop for stop in orders if stop.state is RequestState.APPROVED), orders[-1])
    if latest.state is RequestState.REJECTED:
        return Link(refusal=latest.verdict)
    return Link(
        approval=next((stop for stop in given if stop.state is not RequestState.REJECTED), given[0]), ending=latest
    )


def _is_order(evidence: Basis, stop: Case, case: Case) -> bool:
    """Whether a stop was asked for because of the request for an end, by whoever may decide that."""
    quoted = text_of(stop.question.message.payload.get("in_reply_to"))
    if quoted != case.request_id or stop.state is RequestState.WITHDRAWN:
        return False
    is_sound = not objection(evidence.config, stop.question.message, recorded=evidence.recorded)
    return is_sound and evidence.may_answer(stop.question, case.question)


def _was_refused(stop: Case, moment: RecordOrder) -> bool:
    return stop.state is RequestState.REJECTED and stop.decided < moment


def _succession(cases: Sequence[Case], *final: RequestState) -> list[Link]:
    """Each replaces the one before unless that was approved or taken back; what was taken back replaces nothing.

    Args:
        final: Further states in which a request is neither replaced nor points to a later one.
    """
    found: list[Link] = []
    newer: PlacedMessage | None = None
    for place in range(len(cases) - 1, -1, -1):
        case, older = cases[place], cases[place - 1] if place else None
        replaced = older is not None and older.state not in (RequestState.APPROVED, RequestState.WITHDRAWN, *final)
        replaceable = case.state in {RequestState.OPEN, RequestState.REJECTED}.difference(final)
        found.append(Link(older.request_id if older and replaced else None, newer if replaceable else None))
        if case.state is not RequestState.WITHDRAWN:
            # guard: superseding-request-kept
            newer = case.question
    return found[::-1]


def _endings(cases: Iterable[Case], heard: Heard) -> Iterable[Link]:
    """After a yes to a stop: silent, or alive all the same; a later creation is another agent."""
    ends = [case.verdict.order for case in cases if case.verdict is not None]
    latest, spoke, arrived = max(ends, default=None), heard.spoke, heard.arrived
    for end in ends:
        alive = spoke is not None and spoke > end and not (arrived is not None and arrived > end)
        yield Link(ended=not alive, alive=alive and end == latest)


# The clock.


def at(case: Case, now: datetime) -> Case:
    """A case as it stands `now`: open, overdue when it has waited longer than its kind should, or timed out."""
    if not case.is_open:
        return case
    # guard: expired-request-closed
    if case.expires_at is not None and now >= case.expires_at:
        return replace(case, state=RequestState.WITHDRAWN, reason=TIMED_OUT, withdrawn_at=case.expires_at)
    if case.due_at is not None and now >= case.due_at:
        return replace(case, state=RequestState.OVERDUE, flags=(*case.flags, Flag.OVERDUE))
    return case
