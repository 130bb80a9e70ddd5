"""The request index: every request as it stands; one changed message costs the groups it belongs to, not all.

What is remembered of a group is a pure function of its messages, so that following a queue gives what reading it
anew gives: pools are paired, threads judged, chains linked, and the rows that differ put into the list.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from team_console.store.model.recorded import RecordedFacts, RecordOrder
from team_console.store.protocol.entries import Entry
from team_console.store.protocol.kinds.kind import RequestKind
from team_console.store.protocol.relations.membership import Membership
from team_console.store.settings.team_config import TeamConfig
from team_console.store.views.agents.last_seen import LastSeen
from team_console.store.views.requests.evidence import Evidence, quoting
from team_console.store.views.requests.grouping import Group, Groups, Thread, groups_of, thread_of
from team_console.store.views.requests.judging import Case, Judgement, judge_thread
from team_console.store.views.requests.linking import Chain, Heard, Link, chain_of, linked, links, stop_chain
from team_console.store.views.requests.pairing import NO_PAIRING, Pairing, Pool, pair, pool_of_question
from team_console.store.views.requests.request_list import RequestList
from team_console.store.views.rows import RequestRow, RequestState


class RequestIndex:
    """Requests by id. Add and remove messages, then `refresh`.

    Attributes:
        created: Message id of an AGENT_CREATED -> the creation request it answers.
        touched: Agents whose creation or stop was judged again in the last refresh.
        twins: Request id -> further questions under an id that another question has.
    """

    def __init__(self, config: TeamConfig, recorded: RecordedFacts | None = None) -> None:
        self._evidence = Evidence(config, recorded)
        self._read = len(recorded.log) if recorded is not None else 0
        self._groups = Groups()
        self._dirty: set[Group] = set()
        self._pairings: dict[Pool, Pairing] = {}
        self._judgements: dict[Thread, Judgement] = {}
        self._chains: dict[Chain, dict[str, tuple[Case, Link | None]]] = {}
        self._dirty_chains: set[Chain] = set()
        self._plan_states: dict[str, RequestState] = {}
        self._list = RequestList()
        self._orphans: dict[Group, tuple[Entry, ...]] = {}
        self.created: dict[str, Entry] = {}
        self.touched: set[str] = set()
        self.twins: dict[Thread, tuple[Entry, ...]] = {}

    @property
    def rows(self) -> tuple[RequestRow, ...]:
        """Open first, oldest first; then answered, newest first."""
        return self._list.rows

    @property
    def open(self) -> tuple[RequestRow, ...]:
        """Requests that wait for an answer, oldest first."""
        return self._list.open

    @property
    def flagged(self) -> Iterable[RequestRow]:
        """Requests with something odd."""
        return self._list.flagged.values()

    @property
    def orphans(self) -> Iterator[Entry]:
        """Answers to nothing that is known."""
        for entries in self._orphans.values():
            yield from entries

    def row(self, thread: Thread, kind: RequestKind) -> RequestRow | None:
        """The first request of this kind with this id."""
        return self._list.row(f"{kind}:{thread}")

    def plan_states(self) -> dict[str, RequestState]:
        """Author -> state of its latest plan that was not taken back."""
        return self._plan_states

    def is_refused(self, request_id: str) -> bool:
        """Whether this shutdown was asked for and refused."""
        row = self.row(request_id, RequestKind.SHUTDOWN)
        return row is not None and row.state is RequestState.REJECTED

    def add(self, entry: Entry) -> None:
        """A message came: a question, an answer, or one that quotes a request."""
        self._groups.put(entry)
        self._dirty.update(groups_of(entry))

    def remove(self, entry: Entry) -> None:
        """A message was changed; its successor is added next."""
        self._groups.drop(entry)
        self._dirty.update(groups_of(entry))

    def heard(self, agent: str) -> None:
        """This agent wrote something, so what was said of its end is judged again."""
        self._dirty_chains.add(stop_chain(agent))

    def refresh(self, now: datetime, *, last_seen: LastSeen, team: Membership) -> None:
        """Judge again what was touched, and let the clock tell what is overdue."""
        self.touched.clear()
        self._list.judge_at(now)
        self._learn()
        threads = {group for group in self._dirty if isinstance(group, str)}
        pools = {group for group in self._dirty if not isinstance(group, str)}
        for thread in threads:
            pools.update(self._pools(thread))
        for pool in pools:
            threads.update(self._pair(pool))
        for thread in threads:
            self._forget(thread)
        for thread in threads:
            self._judge(thread)
        for chain in self._dirty_chains:
            self._link(chain, last_seen, team)
        self._dirty.clear()
        self._dirty_chains.clear()

    def _learn(self) -> None:
        """What the audit trail tells since the last refresh."""
        recorded = self._evidence.recorded
        if recorded is None:
            return
        fresh = recorded.log[self._read :]
        self._read += len(fresh)
        for message_id in fresh:
            for entry in self._groups.with_id(message_id):
                self._dirty.update(groups_of(entry))
            fact = recorded.get(message_id)
            if fact is not None and fact.request_id is not None:
                self._dirty.add(fact.request_id)

    def _pools(self, thread: Thread) -> Iterator[Pool]:
        """The pools whose pairing depends on what quotes this id."""
        for question in self._groups.questions(thread):
            pool = pool_of_question(question)
            if pool is not None:
                yield pool

    def _pair(self, pool: Pool) -> Iterable[Thread]:
        """Pair a pool again; returns the threads of questions whose answers are others now."""
        asked = sorted(self._groups.questions(pool), key=self._evidence.when, reverse=True)
        questions = {question.message.message_id: question for question in asked}
        before = self._pairings.pop(pool, NO_PAIRING)
        self._orphans.pop(pool, None)
        answers = self._groups.others(pool)
        after = NO_PAIRING
        if answers:
            closed = {
                key: moment for key, question in questions.items() if (moment := self._quoted(question)) is not None
            }
            fits, when = self._evidence.decides, self._evidence.when
            after = self._pairings[pool] = pair(questions.values(), answers, closed=closed, fits=fits, when=when)
        if after.orphans:
            self._orphans[pool] = after.orphans
        changed = {*before.answers, *after.answers}
        return {thread_of(question) for key, question in questions.items() if key in changed}

    def _quoted(self, question: Entry) -> RecordOrder | None:
        """When an answer that counts first quoted the question's own id."""
        thread, evidence = thread_of(question), self._evidence
        quotes = quoting(question, self._groups.questions(thread), self._groups.others(thread), evidence)
        return min((evidence.when(entry) for entry in quotes if evidence.decides(entry, question)), default=None)

    def _judge(self, thread: Thread) -> None:
        questions = self._groups.questions(thread)
        pairings = [self._pairings.get(pool, NO_PAIRING) for pool in set(self._pools(thread))]
        judgement = judge_thread(self._evidence, questions, self._groups.others(thread), pairings)
        self._judgements[thread] = judgement
        if judgement.twins:
            self.twins[thread] = judgement.twins
        if judgement.orphans:
            self._orphans[thread] = judgement.orphans
        for case in judgement.cases:
            self._note(case, present=True)
            chain = chain_of(case)
            if chain is None:
                self._list.put(case, case.row)
            else:
                self._chains.setdefault(chain, {})[case.row.key] = case, None
                self._dirty_chains.add(chain)

    def _forget(self, thread: Thread) -> None:
        """Forget all before judging any: an answer may have moved from one thread to another."""
        self.twins.pop(thread, None)
        self._orphans.pop(thread, None)
        judgement = self._judgements.pop(thread, None)
        for case in judgement.cases if judgement is not None else ():
            self._note(case, present=False)
            self._list.drop(case.row.key)
            chain = chain_of(case)
            if chain is not None:
                self._chains[chain].pop(case.row.key)
                self._dirty_chains.add(chain)

    def _note(self, case: Case, *, present: bool) -> None:
        """What lifecycles rest on."""
        if case.row.kind is RequestKind.SHUTDOWN:
            self.touched.add(case.row.addressee)
        if case.row.kind is RequestKind.CREATE and case.verdict is not None:
            self.touched.add(str(case.verdict.read.body.get("agent_name")))
            if present:
                self.created[case.verdict.message.message_id] = case.question
            else:
                self.created.pop(case.verdict.message.message_id, None)

    def _link(self, chain: Chain, last_seen: LastSeen, team: Membership) -> None:
        members = self._chains.get(chain)
        if not members:
            self._chains.pop(chain, None)
            self._plan_states.pop(chain[1], None) if chain[0] == RequestKind.PLAN else None
            return
        shown = sorted(members.values(), key=lambda member: member[0].order)
        cases = [case for case, _ in shown]
        heard = Heard(last_seen.spoke(chain[1]), team.arrived.get(chain[1]))
        for (case, before), link in zip(shown, links(chain, cases, heard), strict=True):
            if link != before:
                members[case.row.key] = case, link
                self._list.put(case, linked(case, link))
        if chain[0] == RequestKind.PLAN:
            self._note_plan_state(chain[1], cases)

    def _note_plan_state(self, author: str, cases: list[Case]) -> None:
        states = (case.row.state for case in reversed(cases))
        latest = next((state for state in states if state is not RequestState.WITHDRAWN), None)
        self._plan_states.pop(author, None)
        if latest is not None:
            self._plan_states[author] = latest
