"""Every request with its answers: asked, seen, answered, ended; one changed message re-judges what it touches."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from typing import TypeVar

from msgspec.structs import replace

from store.config import TeamConfig
from store.message import Status
from store.permissions import may_answer
from store.protocol.answering import answers
from store.protocol.entries import Entry, Order
from store.protocol.kinds import RequestKind
from store.protocol.members import Membership
from store.views.cases import Case, is_overdue, judge, newest_first
from store.views.ordered import Ordered
from store.views.pairing import Pool, pair, pool_of_answer, pool_of_question
from store.views.rows import Flag, RequestRow, RequestState
from store.views.voices import Voices

Thread = str
Key = TypeVar("Key")
Line = tuple[RequestKind, str, str]
"""Requests of which the newest counts: the plans of one author, the stops one asker asked of one agent."""
_REUSED_IDS = frozenset({RequestKind.DEBUG, RequestKind.BROWSER})
"""Kinds whose ids the asker makes, so that `DBG-001` may come again in another session."""


class Ledger:
    """Requests by id. Add and remove facts, then `refresh`.

    Attributes:
        created: Message id of an AGENT_CREATED -> the creation request it answers.
        touched: Agents whose creation or stop was judged again in the last refresh.
        flagged: Row key -> request with something odd.
        twins: Request id -> further questions under an id that another question has.
    """

    def __init__(self, config: TeamConfig) -> None:
        self._config = config
        self._asked: dict[Thread, list[Entry]] = {}
        self._said: dict[Thread, list[Entry]] = {}
        self._pool_asked: dict[Pool, list[Entry]] = {}
        self._pool_said: dict[Pool, list[Entry]] = {}
        self._paired: dict[Pool, dict[str, list[Entry]]] = {}
        self._cases: dict[Thread, list[Case]] = {}
        self._lines: defaultdict[Line, Ordered[Entry]] = defaultdict(Ordered)
        self._stops: defaultdict[str, set[Thread]] = defaultdict(set)
        self._ending: set[str] = set()
        self._dirty: set[Thread] = set()
        self._dirty_pools: set[Pool] = set()
        self._open: Ordered[RequestRow] = Ordered()
        self._closed: Ordered[RequestRow] = Ordered()
        self._thread_orphans: dict[Thread, list[Entry]] = {}
        self._pool_orphans: dict[Pool, list[Entry]] = {}
        self.created: dict[str, Entry] = {}
        self.touched: set[str] = set()
        self.flagged: dict[str, RequestRow] = {}
        self.twins: dict[Thread, list[Entry]] = {}

    @property
    def rows(self) -> tuple[RequestRow, ...]:
        """Open first, oldest first; then answered, newest first."""
        return self._open.rows + self._closed.rows

    @property
    def open(self) -> tuple[RequestRow, ...]:
        """Requests that wait for an answer, oldest first."""
        return self._open.rows

    @property
    def orphans(self) -> Iterator[Entry]:
        """Answers to nothing that is known."""
        for found in (*self._thread_orphans.values(), *self._pool_orphans.values()):
            yield from found

    def row(self, thread: Thread, kind: RequestKind) -> RequestRow | None:
        """The first request of this kind with this id."""
        return next((case.row for case in self._cases.get(thread, ()) if case.row.kind is kind), None)

    def plan_states(self) -> dict[str, RequestState]:
        """Author -> state of its latest plan that was not taken back."""
        found: dict[str, RequestState] = {}
        for (kind, author, _), plans in self._lines.items():
            if kind is not RequestKind.PLAN:
                continue
            rows = (self._row_of(one) for one in reversed(plans.rows))
            latest = next((row for row in rows if row and row.state is not RequestState.WITHDRAWN), None)
            if latest is not None:
                found[author] = latest.state
        return found

    def refused(self, request_id: str) -> bool:
        """Whether this shutdown was asked for and refused."""
        row = self.row(request_id, RequestKind.SHUTDOWN)
        return row is not None and row.state is RequestState.REJECTED

    def add(self, entry: Entry) -> None:
        """A fact came: a question, an answer, or a message that quotes one."""
        self._touch(entry, present=True)

    def remove(self, entry: Entry) -> None:
        """A fact was changed; its successor is added next."""
        self._touch(entry, present=False)

    def heard(self, name: str) -> None:
        """This agent wrote something, so what was said of its end is judged again."""
        self._dirty |= self._stops.get(name, set())

    def refresh(self, now: datetime, *, voices: Voices, team: Membership) -> None:
        """Judge again what was touched, and let the clock tell what is overdue."""
        self.touched.clear()
        for pool in list(self._dirty_pools):
            self._pair(pool)
        self._dirty_pools.clear()
        self._dirty |= {plan for thread in self._dirty for plan in self._siblings(thread)}
        self._judge_all(self._dirty)
        peers = {thread for name in self._ending for thread in self._stops.get(name, ())} - self._dirty
        self._judge_all(peers)
        for thread in self._dirty | peers:
            self._finish(thread, voices, team)
        self._ending.clear()
        self._dirty.clear()
        self._tick(now)

    def _touch(self, entry: Entry, *, present: bool) -> None:
        read = entry.read
        question, answer = pool_of_question(entry), pool_of_answer(entry)
        if question is not None:
            _keep(self._pool_asked, question, entry, present=present)
            self._dirty_pools.add(question)
        if answer is not None:
            _keep(self._pool_said, answer, entry, present=present)
            self._dirty_pools.add(answer)
        if read.request_id is None:
            return
        if read.opens is not None:
            _keep(self._asked, read.request_id, entry, present=present)
            self._dirty.add(read.request_id)
            line = line_of(entry)
            if line is not None:
                self._note_in_line(entry, line, present)
        elif answer is None:
            _keep(self._said, read.request_id, entry, present=present)
            self._dirty.add(read.request_id)
            self._dirty_pools |= {
                pool for one in self._asked.get(read.request_id, ()) if (pool := pool_of_question(one)) is not None
            }

    def _note_in_line(self, entry: Entry, line: Line, present: bool) -> None:
        requests = self._lines[line]
        if not present:
            self._dirty |= set(self._neighbours(entry, line))
            requests.drop(entry.order)
        else:
            requests.put(entry.order, entry)

    def _siblings(self, thread: Thread) -> Iterator[Thread]:
        for one in self._asked.get(thread, ()):
            line = line_of(one)
            if line is not None:
                yield from self._neighbours(one, line)

    def _neighbours(self, request: Entry, line: Line) -> Iterator[Thread]:
        """The next request of the line, and the earlier ones up to the first that stands: what links to this one."""
        plans = self._lines[line]
        place = plans.place_of(request.order)
        yield from (thread_of(one) for one in plans.rows[place + 1 : place + 2])
        while place > 0:
            place -= 1
            yield thread_of(plans.row_at(place))
            if plans.row_at(place).message.status != Status.RECALLED:
                return

    def _pair(self, pool: Pool) -> None:
        asked = sorted(self._pool_asked.get(pool, ()), key=lambda entry: entry.order, reverse=True)
        questions = {one.message.message_id: one for one in asked}.values()
        said = self._pool_said.get(pool)
        closed = {one.message.message_id: order for one in questions if (order := self._quoted(one)) is not None}
        before = self._paired.pop(pool, {})
        self._pool_orphans.pop(pool, None)
        if said:
            self._paired[pool], orphans = pair(questions, said, closed=closed, fits=self._may_answer)
            if orphans:
                self._pool_orphans[pool] = orphans
        changed = before.keys() | self._paired.get(pool, {}).keys()
        self._dirty |= {thread_of(one) for one in questions if one.message.message_id in changed}

    def _quoted(self, question: Entry) -> Order | None:
        """When an answer that counts first quoted the question's own id."""
        return min((one.order for one in self._quoting(question) if self._may_answer(one, question)), default=None)

    def _quoting(self, question: Entry) -> list[Entry]:
        thread, kind = thread_of(question), question.read.opens
        if kind is None:
            return []
        quoting = [one for one in self._said.get(thread, ()) if answers(one.message, kind, thread)]
        return [one for one in quoting if kind not in _REUSED_IDS or self._meant(one, thread) is question]

    def _meant(self, answer: Entry, thread: Thread) -> Entry | None:
        """Of several questions under one id, the latest that the answer's reader had asked by then."""
        asked = [one for one in self._asked.get(thread, ()) if answer.message.is_addressed_to(one.message.sender)]
        before = [one for one in asked if one.order < answer.order]
        return max(before or asked, key=lambda one: one.order, default=None)

    def _may_answer(self, answer: Entry, question: Entry) -> bool:
        kind, addressee = question.read.opens, question.message.recipients[0]
        return kind is not None and may_answer(
            self._config, actor=answer.message.sender, kind=kind, addressee=addressee
        )

    def _judge_all(self, threads: set[Thread]) -> None:
        """Forget all before judging any: an answer may have moved from one thread to another."""
        for thread in threads:
            self._forget(thread)
        for thread in threads:
            self._judge(thread)

    def _judge(self, thread: Thread) -> None:
        cases: list[Case] = []
        twins: list[Entry] = []
        for question in sorted(self._asked.get(thread, ()), key=lambda entry: entry.order):
            kind = question.read.opens
            same = [one.row.question.message_id for one in cases if one.row.kind is kind]
            if same and (kind not in _REUSED_IDS or question.message.message_id in same):
                twins.append(question)
                continue
            key = f"{kind}:{thread}" + (f":{question.message.message_id}" if same else "")
            cases.append(judge(self._config, question, self._claims(question), key=key))
        if twins:
            self.twins[thread] = twins
        if cases:
            self._cases[thread] = cases
        for case in cases:
            self._index(case, thread)
        self._note_orphans(thread, cases)

    def _index(self, case: Case, thread: Thread, *, present: bool = True) -> None:
        if case.stops is not None:
            (self._stops[case.stops].add if present else self._stops[case.stops].discard)(thread)
            self._ending.add(case.stops)
        if case.row.kind is RequestKind.SHUTDOWN:
            self.touched.add(case.row.addressee)
        if case.row.kind is RequestKind.CREATE and case.verdict is not None:
            self.touched.add(str(case.verdict.read.body.get("agent_name")))
            if present:
                self.created[case.verdict.message.message_id] = case.question
            else:
                self.created.pop(case.verdict.message.message_id, None)

    def _claims(self, question: Entry) -> list[Entry]:
        pool = pool_of_question(question)
        paired = self._paired.get(pool, {}) if pool is not None else {}
        return [*self._quoting(question), *paired.get(question.message.message_id, ())]

    def _note_orphans(self, thread: Thread, cases: list[Case]) -> None:
        said = self._said.get(thread)
        if not said:
            return
        kinds = {case.row.kind for case in cases}
        lost = [one for one in said if (one.read.answers or one.read.approve is not None) and not _fits(one, kinds)]
        if lost:
            self._thread_orphans[thread] = lost

    def _forget(self, thread: Thread) -> None:
        self.twins.pop(thread, None)
        self._thread_orphans.pop(thread, None)
        for case in self._cases.pop(thread, ()):
            self._open.drop(case.order)
            self._closed.drop(_closed_key(case))
            self.flagged.pop(case.row.key, None)
            self._index(case, thread, present=False)

    def _finish(self, thread: Thread, voices: Voices, team: Membership) -> None:
        """What depends on others than the request itself: a newer plan, a voice after the end."""
        cases = self._cases.get(thread)
        if not cases:
            return
        done = [self._ended(self._linked(case), voices, team) for case in cases]
        self._cases[thread] = done
        for case in done:
            if case.row.is_open:
                self._open.put(case.order, case.row)
            else:
                self._closed.put(_closed_key(case), case.row)
            if case.row.flags:
                self.flagged[case.row.key] = case.row

    def _linked(self, case: Case) -> Case:
        line = line_of(case.question)
        if line is None:
            return case
        plans = self._lines[line]
        place = plans.place_of(case.order)
        later = (self._row_of(one) for one in islice(plans.rows, place + 1, None))
        others = (one for one in later if one is not None and one.request_id != case.row.request_id)
        newer = next((one for one in others if one.state is not RequestState.WITHDRAWN), None)
        older = self._row_of(plans.row_at(place - 1)) if place else None
        row = case.row
        # A revised plan succeeds the rejected one; a stop that was refused is history, and the next one a new matter.
        closed = {RequestState.REJECTED} if row.kind is RequestKind.SHUTDOWN else set()
        if older is not None and older.state not in {RequestState.APPROVED, RequestState.WITHDRAWN, *closed}:
            row = replace(row, supersedes=older.request_id)
        if newer is not None and row.state in {RequestState.OPEN, RequestState.REJECTED} - closed:
            row = replace(row, superseded_by=newer.request_id)
            if row.state is RequestState.OPEN:
                row = replace(row, state=RequestState.SUPERSEDED, flags=(*row.flags, Flag.SUPERSEDED))
        return replace(case, row=row)

    def _row_of(self, question: Entry) -> RequestRow | None:
        kind = question.read.opens
        return self.row(thread_of(question), kind) if kind is not None else None

    def _ended(self, case: Case, voices: Voices, team: Membership) -> Case:
        """After a yes to a stop: silent, or alive all the same; a later creation is another agent."""
        if case.stops is None or case.verdict is None:
            return case
        end, spoke, arrived = case.verdict.order, voices.spoke(case.stops), team.arrived.get(case.stops)
        alive = spoke is not None and spoke > end and not (arrived is not None and arrived > end)
        latest = max((one for one in self._ends(case.stops)), default=end)
        flags = (*case.row.flags, Flag.STILL_ALIVE) if alive and end >= latest else case.row.flags
        return replace(case, row=replace(case.row, ended=not alive, flags=flags))

    def _ends(self, name: str) -> Iterator[Order]:
        for thread in self._stops.get(name, ()):
            for case in self._cases.get(thread, ()):
                if case.stops == name and case.verdict is not None:
                    yield case.verdict.order

    def _tick(self, now: datetime) -> None:
        for place, row in enumerate(self._open.rows):
            overdue = is_overdue(row, now)
            if overdue is not (row.state is RequestState.OVERDUE):
                flags = tuple(flag for flag in row.flags if flag is not Flag.OVERDUE)
                state = RequestState.OVERDUE if overdue else RequestState.OPEN
                shown = replace(row, state=state, flags=(*flags, Flag.OVERDUE) if overdue else flags)
                self._open.replace_at(place, shown)
                self.flagged.pop(row.key, None)
                if shown.flags:
                    self.flagged[row.key] = shown


def line_of(question: Entry) -> Line | None:
    """The line of requests that this one belongs to, None for a kind whose requests stand beside each other."""
    message = question.message
    if question.read.opens is RequestKind.PLAN:
        return RequestKind.PLAN, message.sender, ""
    if question.read.opens is RequestKind.SHUTDOWN:
        return RequestKind.SHUTDOWN, message.sender, message.recipients[0]
    return None


def thread_of(question: Entry) -> Thread:
    """The id an answer must quote."""
    return question.read.request_id or question.message.message_id


def _closed_key(case: Case) -> tuple[object, float]:
    return newest_first(case.row.answered_at or case.row.asked_at, case.order)


def _keep(facts: dict[Key, list[Entry]], key: Key, entry: Entry, *, present: bool) -> None:
    if present:
        facts.setdefault(key, []).append(entry)
        return
    found = facts[key]
    found.remove(entry)
    if not found:
        del facts[key]


def _fits(answer: Entry, kinds: set[RequestKind]) -> bool:
    return any(answer.read.answers in (None, kind) for kind in kinds)
