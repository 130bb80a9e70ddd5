"""The request index: every request as it stands; one changed message costs the groups it belongs to, not all.

What is remembered of a group is a pure function of its messages, so that following a queue gives what reading it
anew gives: pools are paired, threads judged, chains linked, and the rows that differ put into the list.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from team_console.store.model.recorded import RecordedFacts
from team_console.store.protocol.entries import Entry
from team_console.store.protocol.kinds.kind import RequestKind
from team_console.store.protocol.relations.membership import Membership
from team_console.store.settings.team_config import TeamConfig
from team_console.store.views.agents.last_seen import LastSeen
from team_console.store.views.requests.evidence import Evidence
from team_console.store.views.requests.grouping import Group, Groups, Thread, groups_of
from team_console.store.views.requests.judging import Case
from team_console.store.views.requests.linking import Heard, linked, stop_chain
from team_console.store.views.requests.remembered import Chains, Judgements, Pairings
from team_console.store.views.requests.request_list import RequestList
from team_console.store.views.rows import RequestRow, RequestState


class RequestIndex:
    """Requests by id. Add and remove messages, then `refresh`.

    Attributes:
        created: Message id of an AGENT_CREATED -> the creation request it answers.
        touched: Agents whose creation or stop was judged again in the last refresh.
    """

    def __init__(self, config: TeamConfig, recorded: RecordedFacts | None = None) -> None:
        evidence = Evidence(config, recorded)
        self._recorded = recorded
        self._read = len(recorded.log) if recorded is not None else 0
        self._dirty: set[Group] = set()
        self._groups = Groups()
        self._pairings = Pairings(self._groups, evidence)
        self._judgements = Judgements(self._groups, evidence)
        self._chains = Chains()
        self._list = RequestList()
        self.created: dict[str, Entry] = {}
        self.touched: set[str] = set()

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
        yield from self._pairings.orphans
        yield from self._judgements.orphans

    @property
    def twins(self) -> Mapping[Thread, tuple[Entry, ...]]:
        """Request id -> further questions under an id that another question has."""
        return self._judgements.twins

    @property
    def plan_states(self) -> Mapping[str, RequestState]:
        """Author -> state of its latest plan that was not taken back."""
        return self._chains.plan_states

    def row(self, thread: Thread, kind: RequestKind) -> RequestRow | None:
        """The first request of this kind with this id."""
        return self._list.row(f"{kind}:{thread}")

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
        self._chains.touch(stop_chain(agent))

    def refresh(self, now: datetime, *, last_seen: LastSeen, team: Membership) -> None:
        """Judge again what was touched, and let the clock tell what is overdue."""
        self.touched.clear()
        self._list.judge_at(now)
        self._learn()
        threads = self._paired()
        self._dirty.clear()
        for thread in threads:  # forget all before judging any: an answer may have moved from one to another
            self._forget(thread)
        for thread in threads:
            self._judge(thread)
        for case, link in self._chains.renew(lambda agent: Heard(last_seen.spoke(agent), team.arrived.get(agent))):
            self._list.put(case, linked(case, link))

    def _learn(self) -> None:
        """What the audit trail tells since the last refresh."""
        if self._recorded is None:
            return
        fresh = self._recorded.log[self._read :]
        self._read += len(fresh)
        for message_id in fresh:
            for entry in self._groups.with_id(message_id):
                self._dirty.update(groups_of(entry))
            fact = self._recorded.get(message_id)
            if fact is not None and fact.request_id is not None:
                self._dirty.add(fact.request_id)

    def _paired(self) -> set[Thread]:
        """Pair again every pool that was touched; the threads to judge: those touched, and those with other answers."""
        threads = {group for group in self._dirty if isinstance(group, str)}
        pools = {group for group in self._dirty if not isinstance(group, str)}
        pools.update(*map(self._pairings.pools, threads))
        return threads.union(*map(self._pairings.renew, pools))

    def _forget(self, thread: Thread) -> None:
        for case in self._judgements.forget(thread):
            self._touch(case)
            if _is_creation(case) and case.verdict is not None:
                self.created.pop(case.verdict.message.message_id, None)
            self._list.drop(case.row.key)
            self._chains.drop(case)

    def _judge(self, thread: Thread) -> None:
        for case in self._judgements.renew(thread, self._pairings.of(thread)):
            self._touch(case)
            if _is_creation(case) and case.verdict is not None:
                self.created[case.verdict.message.message_id] = case.question
            if not self._chains.put(case):
                self._list.put(case, case.row)

    def _touch(self, case: Case) -> None:
        """Whose lifecycle rests on this request."""
        if case.row.kind is RequestKind.SHUTDOWN:
            self.touched.add(case.row.addressee)
        if _is_creation(case) and case.verdict is not None:
            self.touched.add(str(case.verdict.read.body.get("agent_name")))


def _is_creation(case: Case) -> bool:
    return case.row.kind is RequestKind.CREATE
