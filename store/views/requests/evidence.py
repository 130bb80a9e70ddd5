"""Evidence of an answer: what the audit trail says it was when it was written, and where it stands among others."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from team_console.store.model.recorded import RecordedFacts, RecordOrder
from team_console.store.protocol.entries import Entry
from team_console.store.protocol.kinds.kind import RequestKind
from team_console.store.protocol.permissions import may_answer
from team_console.store.protocol.relations.answering import REUSED_IDS, answers, withdraws
from team_console.store.protocol.seen import digest_of, given_on
from team_console.store.protocol.verdicts.trust import objection
from team_console.store.settings.team_config import TeamConfig
from team_console.store.views.requests.grouping import thread_of


class Claim(Struct, frozen=True):
    """A message that claims to answer a request.

    Attributes:
        entry: What was said: by the audit trail where it has the answer, else by the message itself.
        when: Its place in the order of events.
        verified: Whether team-console wrote it, or there is no trail that could tell.
        altered: Whether the message in the store says something else than the trail.
        objection: Why it decides nothing, as the end of a sentence about it; empty when it may decide.
    """

    entry: Entry
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


class Evidence(Struct, frozen=True):
    """What answers are judged by; `recorded` is None where the store keeps no audit trail."""

    config: TeamConfig
    recorded: RecordedFacts | None = None

    def when(self, entry: Entry) -> RecordOrder:
        """The place of a message in the order of events."""
        if self.recorded is None:
            return entry.order[0], 1, 0, entry.order[1]
        return self.recorded.order_of(entry.message.message_id, entry.order)

    def rank(self, question: Entry) -> tuple[bool, RecordOrder]:
        """The first of several questions has their id; a date is what its writer says it is."""
        message_id = question.message.message_id
        return self.recorded is not None and not self.recorded.is_by_desk(message_id), self.when(question)

    def may_answer(self, answer: Entry, question: Entry) -> bool:
        """Whether its writer may decide the question."""
        kind, addressee = question.read.opens, question.message.recipients[0]
        return kind is not None and may_answer(self.config, actor=answer.message.sender, kind=kind, addressee=addressee)

    def objection(self, answer: Entry, question: Entry) -> str:
        """Why an answer decides nothing, whoever may have written it; empty when it may decide."""
        return objection(self.config, answer.message, question.message, recorded=self.recorded)

    def decides(self, answer: Entry, question: Entry) -> bool:
        """Whether its writer may decide the question, and it is known to be what that writer said."""
        return self.may_answer(answer, question) and not self.objection(answer, question)

    def claim(self, entry: Entry, question: Entry) -> Claim:
        """A message held against the trail."""
        message_id, recorded = entry.message.message_id, self.recorded
        if recorded is None:
            return Claim(entry, self.when(entry), objection=self.objection(entry, question))
        altered = recorded.differs(entry.message)
        written = recorded.message(message_id) if altered else None
        if written is not None:
            entry = Entry.of(written, entry.place)
        is_ours = recorded.is_by_desk(message_id)
        return Claim(entry, self.when(entry), is_ours, altered, self.objection(entry, question))

    def absent(self, question: Entry, present: Sequence[Entry]) -> list[Entry]:
        """Recorded answers to the question that are not among `present`: taken out, or archived and not looked at."""
        kind, thread = question.read.opens, thread_of(question)
        if kind is None or kind in REUSED_IDS:
            return []
        return [entry for entry in self._on_record(thread, present) if answers(entry.message, kind, thread)]

    def withdrawals(self, question: Entry, notices: Sequence[Entry], present: Sequence[Entry]) -> list[Entry]:
        """What takes the question back: among the `notices`, and on record though it is not `present` any more."""
        thread = thread_of(question)
        every = (*notices, *self._on_record(thread, present))
        gone = (entry for entry in every if withdraws(entry.message, question.message, thread))
        return [entry for entry in gone if not self.objection(entry, question)]

    def _on_record(self, thread: str, present: Sequence[Entry]) -> Iterator[Entry]:
        ids = self.recorded.answers_to(thread) if self.recorded is not None else ()
        there = {entry.message.message_id for entry in present} if ids else set()
        for place, message_id in enumerate(ids):
            message = self.recorded.message(message_id) if self.recorded and message_id not in there else None
            if message is not None:
                yield Entry.of(message, float(place))


class Quotes:
    """Answers that quote an id, by the question that each answers of all that have this id; for one look."""

    def __init__(self, questions: Sequence[Entry], others: Sequence[Entry], evidence: Evidence) -> None:
        self._questions, self._others, self._evidence = questions, others, evidence
        self._of_kind: dict[RequestKind, list[Entry]] = {}
        self._of_question: dict[RequestKind, dict[int, list[Entry]]] = {}

    def of(self, question: Entry) -> list[Entry]:
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

    def _assigned(self, quotes: Sequence[Entry]) -> dict[int, list[Entry]]:
        """Each answer once: to the question it was given on, else to the latest that its reader had asked by then."""
        several = len(self._questions) > 1
        named = {digest_of(entry.message): entry for entry in reversed(self._questions)} if several and quotes else {}
        asked = self._asked() if quotes else {}
        assigned: dict[int, list[Entry]] = {}
        for answer in quotes:
            digest = given_on(answer.message) if several else ""
            meant = named.get(digest) if digest else self._latest(answer, asked)
            if meant is not None:
                assigned.setdefault(id(meant), []).append(answer)
        return assigned

    def _asked(self) -> dict[str, list[Entry]]:
        """Who asked what, in the order in which it came."""
        asked: dict[str, list[Entry]] = {}
        for entry in sorted(self._questions, key=self._evidence.when):
            asked.setdefault(entry.message.sender, []).append(entry)
        return asked

    def _latest(self, answer: Entry, asked: Mapping[str, Sequence[Entry]]) -> Entry | None:
        when, moment = self._evidence.when, self._evidence.when(answer)
        readers = [entries for sender, entries in asked.items() if answer.message.is_addressed_to(sender)]
        places = [(entries, bisect_left(entries, moment, key=when)) for entries in readers]
        before = [entries[place - 1] for entries, place in places if place]
        return max(before or [entries[-1] for entries in readers], key=when, default=None)
