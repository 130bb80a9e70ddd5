"""Requests: every question with its answer, its state and its clock."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct
from team_console.store.model.clock import from_text
from team_console.store.model.message import Message
from team_console.store.model.recorded import RecordedFacts, RecordOrder
from team_console.store.model.reuse import Memo, Multimap
from team_console.store.protocol.entries import EARLIEST, Entry
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
    at,
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
from team_console.store.protocol.kinds import RequestKind
from team_console.store.protocol.membership import Membership
from team_console.store.protocol.parsing import named_agent
from team_console.store.settings.team_config import TeamConfig
from team_console.store.views.last_seen import LastSeen
from team_console.store.views.ordered import Joined, Ordered
from team_console.store.views.rows import RequestRow
from team_console.store.views.titles import reason_of, title_of

_LAST = (datetime.max.replace(tzinfo=UTC),)
"""Sorts behind the place of every question."""


class _Shown(Struct, frozen=True):
    """A request as it is listed.

    Attributes:
        row: As it is shown now.
        case: As it is before any clock is looked at.
    """

    row: RequestRow
    case: Case

    @property
    def key(self) -> Any:
        """Its key in the open or the closed list."""
        order = self.case.order
        return order if self.row.is_open else (_newest_first(_decided(self.row, self.case)), _newest_first(order))

    @property
    def moments(self) -> list[Any]:
        """Its keys among the moments at which the clock changes it."""
        times = {self.case.due_at, self.case.expires_at} if self.case.is_open else set()
        return [(moment, self.case.order) for moment in times if moment is not None]


class RequestList:
    """Rows by key."""

    def __init__(self) -> None:
        self._flagged: dict[str, RequestRow] = {}
        self._shown: dict[str, _Shown] = {}
        self._open: Ordered[RequestRow] = Ordered()
        self._closed: Ordered[RequestRow] = Ordered()
        self._moments: Ordered[str] = Ordered()
        self._now = EARLIEST
        self._rows = Joined(self._open, self._closed)

    @property
    def rows(self) -> tuple[RequestRow, ...]:
        """Open first, oldest first; then answered, newest first; the same object until one of them changes."""
        return self._rows.rows

    @property
    def open(self) -> tuple[RequestRow, ...]:
        """Requests that wait for an answer, oldest first."""
        return self._open.rows

    @property
    def flagged(self) -> Iterable[RequestRow]:
        """Requests with something odd."""
        return self._flagged.values()

    def request(self, request_id: str, kind: RequestKind) -> RequestRow | None:
        """The first request of this kind with this id."""
        shown = self._shown.get(f"{kind}:{request_id}")
        return shown.row if shown else None

    def is_refused(self, request_id: str) -> bool:
        """Whether this shutdown was asked for and refused."""
        row = self.request(request_id, RequestKind.SHUTDOWN)
        return row is not None and row.state is RequestState.REJECTED

    def put(self, case: Case) -> None:
        """Show a request, in place of what was shown of it before."""
        self.drop(case.key)
        for moment in self._show(case).moments:
            self._moments.put(moment, case.key)

    def drop(self, key: str) -> None:
        """Show it no more."""
        if key in self._shown:
            for moment in self._hide(key).moments:
                self._moments.drop(moment)

    def judge_at(self, now: datetime) -> None:
        """Say what time it is."""
        places = [self._moments.place_of((moment, _LAST)) for moment in (self._now, now)]
        self._now = now
        for index in range(min(places), max(places)):
            self._judge_again(self._moments.row_at(index))

    def _judge_again(self, key: str) -> None:
        shown = self._shown[key]
        if at(shown.case, self._now).state is not shown.row.state:
            self._hide(key)
            self._show(shown.case)

    def _show(self, case: Case) -> _Shown:
        row = request_row(at(case, self._now))
        shown = self._shown[row.key] = _Shown(row, case)
        (self._open if row.is_open else self._closed).put(shown.key, row)
        if row.flags:
            self._flagged[row.key] = row
        return shown

    def _hide(self, key: str) -> _Shown:
        shown = self._shown.pop(key)
        self._flagged.pop(key, None)
        (self._open if shown.row.is_open else self._closed).drop(shown.key)
        return shown


def request_row(case: Case) -> RequestRow:
    """A judged request as people look at it."""
    question, verdict = case.question, case.verdict
    said = verdict or case.taken_back or case.refusal
    return RequestRow(
        request_id=case.request_id,
        key=case.key,
        kind=case.kind,
        asker=case.asker,
        addressee=case.addressee,
        title=title_of(question.read),
        question=question.message,
        state=case.state,
        asked_at=question.moment,
        due_at=case.due_at,
        seen_at=_seen_at(question.message, case.addressee),
        answers=tuple(claim.entry.message for claim in case.claims),
        verdict=verdict.message if verdict else None,
        answered_at=verdict.moment if verdict else None,
        answered_by=verdict.message.sender if verdict else None,
        reason=case.reason or (reason_of(said.message) if said is not None else ""),
        flags=case.flags,
        supersedes=case.supersedes,
        superseded_by=thread_of(case.superseded_by) if case.superseded_by is not None else None,
        ended=case.ended,
        withdrawn_at=case.withdrawn_at,
        expires_at=case.expires_at,
        altered=case.altered,
        unverified=case.unverified,
        forged=case.forged,
    )


def _seen_at(question: Message, addressee: str) -> datetime | None:
    value = question.read_by.get(addressee) or question.envelope("read_at")
    return from_text(value) if isinstance(value, str) else None


def _decided(row: RequestRow, case: Case) -> RecordOrder:
    """When it was decided; the clock decides at the moment of expiry."""
    if row.state is not case.state and row.expires_at is not None and row.withdrawn_at == row.expires_at:
        return row.expires_at, *case.order[1:]
    return case.decided


def _newest_first(order: RecordOrder) -> tuple[Any, int, int, float]:
    return EARLIEST - order[0], -order[1], -order[2], -order[3]


# The request index: every request as it stands; one changed message costs the groups it belongs to, not all.


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
