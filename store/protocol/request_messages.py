"""Pair answers with the questions they answer, and tell whether their writers may decide those.

An answer quotes the id of its question, or goes to the oldest question of its pool that still waits (002-c, 002-i).
Each is held against the settings, its signature, and what the audit trail has of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from msgspec import Struct
from team_console.store.model.message import Message
from team_console.store.model.recorded_facts import RecordedFacts, RecordOrder
from team_console.store.protocol.client_requests import answers_of
from team_console.store.protocol.kinds import FOR_CLIENTS, IN_WORDS, REUSED_IDS, UNKNOWN, VERDICT_ONLY, RequestKind
from team_console.store.protocol.membership import CREATED, created_agent
from team_console.store.protocol.parsing import parse_message, thread_of
from team_console.store.protocol.placed_message import PlacedMessage
from team_console.store.protocol.rights import may_answer
from team_console.store.protocol.shown_when_decided import digest_of, given_on
from team_console.store.protocol.sprint_bodies import COMPLETE
from team_console.store.protocol.trust import objection
from team_console.store.settings.team_config import TeamConfig

Thread = str
"""The id that a question has and its answers quote."""
_BY_SUBJECT = frozenset({RequestKind.CREATE, RequestKind.DESTROY, RequestKind.RESEARCH})
"""Requests whose answers need not quote their id: they name what was asked for."""


class Pool(NamedTuple):
    """Questions among which an answer without an id of one alone looks for the oldest that still waits.

    Attributes:
        asker: Whom the answer goes to; empty for an end, which is confirmed once, whoever asked for it.
        shared: The agent type, agent, story or source id that question and answer share.
    """

    kind: RequestKind
    asker: str
    shared: str


def pool_of(entry: PlacedMessage) -> Pool | None:
    """Return the pool in which a question waits in order and an answer looks for it; None where ids decide."""
    read = entry.read
    kind, is_question = read.opens or read.answers, read.opens is not None
    shared = None
    if kind in REUSED_IDS:
        shared = read.request_id
    elif kind in _BY_SUBJECT and (is_question or read.request_id is None):
        shared = read.subject
    if kind is None or shared is None:
        return None
    asker = entry.message.sender if is_question else entry.message.recipients[0]
    return Pool(kind, "" if kind is RequestKind.DESTROY else asker, shared)


def claims_to_answer(message: Message, kind: RequestKind, request_id: str) -> bool:
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
    verified: bool
    altered: bool
    objection: str

    @property
    def message_id(self) -> str:
        """The id of the message."""
        return self.entry.message.message_id


class RequestMessages:
    """Messages that concern requests, with what the settings and the audit trail say of them.

    Attributes:
        questions: Thread or pool -> the messages that ask in it.
        others: Thread or pool -> all other messages in it, answers among them.
        reports: Agent -> its reports that it is done.
        creations: Agent -> the announcements of its creation.
        orphans: Answers of pools that no question waited for.
        threads: The ids under which anything is asked or said.
    """

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
            asks, pool = entry.read.opens is not None, pool_of(entry)
            by_group = self.questions if asks else self.others
            if pool is not None:
                by_group.setdefault(pool, []).append(entry)
            # An answer that is paired in a pool quotes no id that is one question's.
            if entry.read.request_id is not None and (asks or pool is None):
                by_group.setdefault(entry.read.request_id, []).append(entry)
        self._quotes: dict[tuple[Thread, RequestKind], dict[str, list[PlacedMessage]]] = {}
        """Thread and kind -> digest of a question, empty where the thread has one alone -> the answers to it."""
        self._paired: dict[tuple[Pool, str], list[PlacedMessage]] = {}
        """Pool and id of a question in it -> the answers that went to it."""
        groups = dict.fromkeys((*self.questions, *self.others))
        self.threads = [group for group in groups if isinstance(group, str)]
        for group in groups:
            if not isinstance(group, str):
                self._pair(group)

    def when(self, entry: PlacedMessage) -> RecordOrder:
        """Return the place of a message in the order of events."""
        if self.recorded is None:
            return RecordOrder(entry.when, True, 0, entry.place)
        return self.recorded.order_of(entry.message.message_id, entry.order)

    def rank(self, question: PlacedMessage) -> tuple[bool, RecordOrder]:
        """Return what questions of one id are sorted by: whether another program wrote it, then its place in time.

        The first one has the id; a date alone is only what its writer says.
        """
        message_id = question.message.message_id
        is_foreign = self.recorded is not None and not self.recorded.is_by_desk(message_id)
        return is_foreign, self.when(question)

    def may_answer(self, answer: Message, question: Message) -> bool:
        """Return whether its writer may decide the question."""
        kind, addressee = parse_message(question).opens, question.recipients[0]
        return kind is not None and may_answer(self.config.lead, actor=answer.sender, kind=kind, addressee=addressee)

    def objection(self, answer: Message, question: Message | None) -> str:
        """Return why an answer decides nothing, whoever may have written it; empty when it may decide."""
        # guard: forged-verdict
        return objection(self.config, answer, question, recorded=self.recorded)

    def decides(self, answer: PlacedMessage, question: PlacedMessage) -> bool:
        """Return whether its writer may decide the question, and it is known to be what that writer said."""
        may = self.may_answer(answer.message, question.message)
        return may and not self.objection(answer.message, question.message)

    def claim(self, entry: PlacedMessage, question: Message) -> Claim:
        """Return a message held against the trail."""
        message_id, recorded = entry.message.message_id, self.recorded
        altered = recorded is not None and recorded.differs(entry.message)
        written = recorded.message(message_id) if recorded is not None and altered else None
        if written is not None:  # its words on record count, at the place of the message
            entry = PlacedMessage.of(written, entry.place)
        verified = recorded is None or recorded.is_by_desk(message_id)
        return Claim(entry, self.when(entry), verified, altered, self.objection(entry.message, question))

    def on_record(self, thread: Thread) -> list[PlacedMessage]:
        """Return answers and withdrawals as they were recorded, in the store or not: taken out, edited, archived."""
        recorded = self.recorded
        known = map(recorded.message, recorded.answers_to(thread)) if recorded is not None else ()
        return [PlacedMessage.of(message, float(place)) for place, message in enumerate(known) if message is not None]

    def quoting(self, question: PlacedMessage) -> list[PlacedMessage]:
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
                if claims_to_answer(entry.message, kind, thread):
                    given.setdefault(given_on(entry.message) if shared else "", []).append(entry)
        return self._quotes[thread, kind].get(digest_of(question.message) if shared else "", [])

    def paired(self, pool: Pool, question: Message) -> list[PlacedMessage]:
        """Return the answers of a pool that went to this question."""
        return self._paired.get((pool, question.message_id), [])

    def _pair(self, pool: Pool) -> None:
        """Give each answer of a pool to the oldest question of it that still waits for one (002-c, 002-i).

        Whoever may not answer never closes a question, and an answer that quotes its id closes it too.
        """
        given = self.others.get(pool, ())
        asked = sorted(self.questions.get(pool, ()), key=self.when, reverse=True) if given else []
        # From the newest to the oldest, so that of several under one id the oldest is left.
        questions = {question.message.message_id: question for question in asked}
        closed: dict[
            str, RecordOrder
        ] = {}  # id of a question -> when the first answer that quotes its own id decided it
        for key, question in questions.items():
            quoting = self.quoting(question)
            moments = [self.when(entry) for entry in quoting if self.decides(entry, question)]
            if moments:
                closed[key] = min(moments)
        waiting: list[PlacedMessage] = []  # questions that came so far and have no answer, oldest first
        last: PlacedMessage | None = None  # the question that was answered last: it gets what comes while none waits
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
