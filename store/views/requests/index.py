"""The request index: every request as it stands; one changed message costs the groups it belongs to, not all.

What is remembered of a group is a pure function of its messages, so that following a queue gives what reading it
anew gives: pools are paired, threads judged, chains linked, and the rows that differ put into the list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime

from team_console.store.model.recorded import RecordedFacts
from team_console.store.model.reuse.memo import Memo, Multimap
from team_console.store.protocol.entries import Entry
from team_console.store.protocol.judgement import (
    NO_PAIRING,
    Case,
    Chain,
    Evidence,
    Group,
    Groups,
    Heard,
    Judgement,
    LinkedCases,
    Pairing,
    Pool,
    RequestState,
    Thread,
    chain_of,
    groups_of,
    judge_thread,
    linked,
    links,
    pairing_of,
    plan_chain,
    stop_chain,
    thread_of,
)
from team_console.store.protocol.kinds.kind import RequestKind
from team_console.store.protocol.reading import named_agent
from team_console.store.protocol.relations.membership import Membership
from team_console.store.settings.team_config import TeamConfig
from team_console.store.views.agents.last_seen import LastSeen
from team_console.store.views.requests.request_list import RequestList


class RequestIndex:
    """Requests by id. Add and remove messages, then `refresh`.

    Attributes:
        listed: Every request, as it stood at the last refresh.
    """

    def __init__(self, config: TeamConfig, recorded: RecordedFacts | None = None) -> None:
        self.listed = RequestList()
        self._evidence = Evidence(config, recorded)
        self._read = len(recorded.log) if recorded is not None else 0
        self._groups = Groups()
        self._by_id = Multimap(_id_of)
        self._pairings = Memo[Pool, Pairing]()
        self._judgements = Memo[Thread, Judgement]()
        self._odd: dict[Thread, Judgement] = {}
        """Those with twins or orphans: few, and asked for at every look."""
        self._creations = Multimap(_announced_by)
        self._chains = Multimap(_chains_of)
        self._links = Memo[Chain, LinkedCases]()

    @property
    def orphans(self) -> Iterator[Entry]:
        """Answers to nothing that is known."""
        for pairing in self._pairings.values:
            yield from pairing.orphans
        for judgement in self._odd.values():
            yield from judgement.orphans

    @property
    def twins(self) -> Mapping[Thread, tuple[Entry, ...]]:
        """Request id -> further questions under an id that another question has."""
        return {thread: judgement.twins for thread, judgement in self._odd.items() if judgement.twins}

    def plan_state(self, author: str) -> RequestState | None:
        """The state of the author's latest plan that was not taken back."""
        plans = self._links.get(plan_chain(author)) or {}
        states = (case.state for case, _ in reversed(plans.values()))
        return next((state for state in states if state is not RequestState.WITHDRAWN), None)

    def creation(self, message_id: str) -> Entry | None:
        """The request that this announcement of a new agent answers."""
        granted = self._creations.of(message_id)
        return granted[0].question if granted else None

    def add(self, entry: Entry) -> None:
        """A message came: a question, an answer, or one that quotes a request."""
        self._by_id.put(entry)
        self._touch(self._groups.put(entry))

    def remove(self, entry: Entry) -> None:
        """A message was changed; its successor is added next."""
        self._by_id.drop(entry)
        self._touch(self._groups.drop(entry))

    def heard(self, agent: str) -> None:
        """This agent wrote something, so what was said of its end is judged again."""
        self._links.touch(stop_chain(agent))

    def refresh(self, now: datetime, *, last_seen: LastSeen, team: Membership) -> set[str]:
        """Judge again what was touched, and let the clock tell what is overdue.

        Returns:
            The agents whose creation or stop was judged again.
        """
        self.listed.judge_at(now)
        self._learn()
        self._pair_touched()
        agents = self._judge_touched()
        self._link_touched(lambda agent: Heard(last_seen.spoke(agent), team.arrived.get(agent)))
        return agents

    def _touch(self, groups: Iterable[Group]) -> None:
        for group in groups:
            if isinstance(group, str):
                self._judgements.touch(group)
            else:
                self._pairings.touch(group)

    def _learn(self) -> None:
        """What the audit trail tells since the last refresh."""
        recorded = self._evidence.recorded
        if recorded is None:
            return
        fresh = recorded.log[self._read :]
        self._read += len(fresh)
        for message_id in fresh:
            for entry in self._by_id.of(message_id):
                self._touch(groups_of(entry))
            fact = recorded.get(message_id)
            if fact is not None and fact.request_id is not None:
                self._judgements.touch(fact.request_id)

    def _pair_touched(self) -> None:
        """Pair again the pools that were touched, or whose questions something quotes; other answers touch threads."""
        for thread in self._judgements.touched:
            self._pairings.touch(*self._groups.pools(thread))
        for pool, before, after in self._pairings.renew(self._pairing):
            changed = {*(before or NO_PAIRING).answers, *(after or NO_PAIRING).answers}
            questions = self._groups.questions(pool) if changed else ()
            self._judgements.touch(*(thread_of(asked) for asked in questions if asked.message.message_id in changed))

    def _judge_touched(self) -> set[str]:
        renewed = self._judgements.renew(self._judgement)
        for thread, _, after in renewed:
            self._odd.pop(thread, None)
            if after is not None and (after.twins or after.orphans):
                self._odd[thread] = after
        gone = [case for _, before, _ in renewed if before is not None for case in before.cases]
        new = [case for _, _, after in renewed if after is not None for case in after.cases]
        for case in gone:  # all before any new one, which may have the row key or the answer of an old one
            self.listed.drop(case.key)
            self._creations.drop(case)
            self._links.touch(*self._chains.drop(case))
        for case in new:
            self._creations.put(case)
            chains = self._chains.put(case)
            self._links.touch(*chains)
            if not chains:
                self.listed.put(case)
        return {agent for case in (*gone, *new) for agent in _lives_of(case)}

    def _link_touched(self, heard: Callable[[str], Heard]) -> None:
        """Link again the chains that were touched; a request in a chain is shown only with its link."""

        def link(chain: Chain) -> LinkedCases | None:
            return links(self._evidence, chain, self._chains.of(chain), heard(chain[1])) or None

        for _, before, after in self._links.renew(link):
            known = before or {}
            for row_key, found in (after or {}).items():
                if known.get(row_key) != found:
                    self.listed.put(linked(*found))

    def _pairing(self, pool: Pool) -> Pairing | None:
        return pairing_of(self._evidence, self._groups, pool)

    def _judgement(self, thread: Thread) -> Judgement | None:
        """The requests of a thread, None when there are none and nothing is odd."""
        judged = judge_thread(self._evidence, self._groups, thread, self._pairings.get)
        return judged if judged.cases or judged.orphans else None


def _chains_of(case: Case) -> tuple[Chain, ...]:
    chain = chain_of(case)
    return () if chain is None else (chain,)


def _id_of(entry: Entry) -> tuple[str]:
    return (entry.message.message_id,)


def _announced_by(case: Case) -> tuple[str, ...]:
    return (case.announcement.message.message_id,) if case.announcement is not None else ()


def _lives_of(case: Case) -> tuple[str, ...]:
    """Whose lifecycle rests on this request."""
    if case.kind is RequestKind.SHUTDOWN:
        return (case.addressee,)
    return (named_agent(case.announcement.read),) if case.announcement is not None else ()
