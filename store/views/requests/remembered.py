"""What is remembered of the groups of messages: pairings of pools, judgements of threads, links of chains.

Each is a pure function of the group's messages, worked out again only for a group that changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from team_console.store.model.recorded import RecordOrder
from team_console.store.protocol.entries import Entry
from team_console.store.protocol.kinds.kind import RequestKind
from team_console.store.views.requests.evidence import Evidence, quoting
from team_console.store.views.requests.grouping import Groups, Thread, thread_of
from team_console.store.views.requests.judging import Case, Judgement, judge_thread
from team_console.store.views.requests.linking import Chain, Heard, Link, chain_of, links
from team_console.store.views.requests.pairing import NO_PAIRING, Pairing, Pool, pair, pool_of_question
from team_console.store.views.rows import RequestState


class Pairings:
    """Which answer belongs to which question, of each pool that has answers."""

    def __init__(self, groups: Groups, evidence: Evidence) -> None:
        self._groups = groups
        self._evidence = evidence
        self._known: dict[Pool, Pairing] = {}

    @property
    def orphans(self) -> Iterator[Entry]:
        """Answers that had no question at all."""
        for pairing in self._known.values():
            yield from pairing.orphans

    def pools(self, thread: Thread) -> set[Pool]:
        """The pools whose pairing depends on what quotes this id."""
        pools = map(pool_of_question, self._groups.questions(thread))
        return {pool for pool in pools if pool is not None}

    def of(self, thread: Thread) -> list[Pairing]:
        """The pairings of the pools of a thread's questions."""
        return [self._known.get(pool, NO_PAIRING) for pool in self.pools(thread)]

    def renew(self, pool: Pool) -> set[Thread]:
        """Pair a pool again; returns the threads of questions whose answers are others now."""
        asked = sorted(self._groups.questions(pool), key=self._evidence.when, reverse=True)
        questions = {question.message.message_id: question for question in asked}
        before, after = self._known.pop(pool, NO_PAIRING), NO_PAIRING
        answers = self._groups.others(pool)
        if answers:
            quoted = {key: self._quoted(question) for key, question in questions.items()}
            closed = {key: moment for key, moment in quoted.items() if moment is not None}
            fits, when = self._evidence.decides, self._evidence.when
            after = self._known[pool] = pair(questions.values(), answers, closed=closed, fits=fits, when=when)
        changed = {*before.answers, *after.answers}
        return {thread_of(question) for key, question in questions.items() if key in changed}

    def _quoted(self, question: Entry) -> RecordOrder | None:
        """When an answer that counts first quoted the question's own id."""
        thread, evidence = thread_of(question), self._evidence
        quotes = quoting(question, self._groups.questions(thread), self._groups.others(thread), evidence)
        return min((evidence.when(entry) for entry in quotes if evidence.decides(entry, question)), default=None)


class Judgements:
    """The requests of each thread, as the messages under its id make them."""

    def __init__(self, groups: Groups, evidence: Evidence) -> None:
        self._groups = groups
        self._evidence = evidence
        self._cases: dict[Thread, tuple[Case, ...]] = {}
        self._odd: dict[Thread, Judgement] = {}
        """Those with twins or orphans: few, and asked for at every look."""

    @property
    def twins(self) -> Mapping[Thread, tuple[Entry, ...]]:
        """Request id -> further questions under an id that another question has."""
        return {thread: judgement.twins for thread, judgement in self._odd.items() if judgement.twins}

    @property
    def orphans(self) -> Iterator[Entry]:
        """Answers that quote an id under which nothing of their kind was asked."""
        for judgement in self._odd.values():
            yield from judgement.orphans

    def forget(self, thread: Thread) -> tuple[Case, ...]:
        """What was known of a thread is true no more."""
        self._odd.pop(thread, None)
        return self._cases.pop(thread, ())

    def renew(self, thread: Thread, pairings: Iterable[Pairing]) -> tuple[Case, ...]:
        """Judge a thread by what is in it now."""
        questions, others = self._groups.questions(thread), self._groups.others(thread)
        judgement = judge_thread(self._evidence, questions, others, pairings)
        if judgement.cases:
            self._cases[thread] = judgement.cases
        if judgement.twins or judgement.orphans:
            self._odd[thread] = judgement
        return judgement.cases


class Chains:
    """Requests that other requests and messages bear upon, each with its link.

    Attributes:
        plan_states: Author -> state of its latest plan that was not taken back.
    """

    def __init__(self) -> None:
        self.plan_states: dict[str, RequestState] = {}
        self._members: dict[Chain, dict[str, tuple[Case, Link | None]]] = {}
        self._dirty: set[Chain] = set()

    def touch(self, chain: Chain) -> None:
        """Something that bears upon a chain happened."""
        self._dirty.add(chain)

    def put(self, case: Case) -> bool:
        """A request was judged; whether it is in a chain, and so shown only with its link."""
        chain = chain_of(case)
        if chain is not None:
            self._members.setdefault(chain, {})[case.row.key] = case, None
            self.touch(chain)
        return chain is not None

    def drop(self, case: Case) -> None:
        """A judgement is true no more."""
        chain = chain_of(case)
        if chain is not None:
            del self._members[chain][case.row.key]
            self.touch(chain)

    def renew(self, heard: Callable[[str], Heard]) -> Iterator[tuple[Case, Link]]:
        """Link again what was touched; gives the requests whose link is another now.

        Args:
            heard: What is known of an agent's life.
        """
        for chain in self._dirty:
            yield from self._linked(chain, heard)
        self._dirty.clear()

    def _linked(self, chain: Chain, heard: Callable[[str], Heard]) -> Iterator[tuple[Case, Link]]:
        members = self._members.get(chain, {})
        shown = sorted(members.values(), key=lambda member: member[0].order)
        cases = [case for case, _ in shown]
        for (case, before), link in zip(shown, links(chain, cases, heard(chain[1])), strict=True):
            if link != before:
                members[case.row.key] = case, link
                yield case, link
        if not members:
            self._members.pop(chain, None)
        if chain[0] == RequestKind.PLAN:
            self._note_plan_state(chain[1], cases)

    def _note_plan_state(self, author: str, cases: list[Case]) -> None:
        self.plan_states.pop(author, None)
        states = (case.row.state for case in reversed(cases))
        latest = next((state for state in states if state is not RequestState.WITHDRAWN), None)
        if latest is not None:
            self.plan_states[author] = latest
