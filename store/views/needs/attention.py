"""What waits for the human, ranked by what it blocks, its priority and its age, with the rank explained."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from itertools import chain
from operator import is_
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from team_console.store.model.message import Message
from team_console.store.model.names import ALL, USER
from team_console.store.model.problem import Problem
from team_console.store.model.reuse.last_result import LastResult
from team_console.store.model.words import counted
from team_console.store.protocol.entries import EARLIEST, Entry
from team_console.store.protocol.kinds.kind import RequestKind
from team_console.store.protocol.permissions import may_answer
from team_console.store.protocol.reading import reading
from team_console.store.protocol.relations.state_reports import report_of
from team_console.store.protocol.relations.stops import RESPONSE
from team_console.store.views.agents.roster import Scene
from team_console.store.views.needs.blocking import Blocking
from team_console.store.views.needs.rank import explain, score
from team_console.store.views.ordered import Ordered
from team_console.store.views.requests.index import RequestIndex
from team_console.store.views.rows import AttentionItem, DeliveryRow, Flag, Need, RequestRow, RequestState
from team_console.store.views.titles import message_title, reason_of, title_of

_REMEMBERED = timedelta(days=1)
"""How long an agent that agreed to stop and still writes stays on the list."""
_NEEDS = {
    RequestKind.PLAN: Need.PLAN,
    RequestKind.PERMISSION: Need.PERMIT,
    RequestKind.QUESTION: Need.QUESTION,
    RequestKind.CREATE: Need.CREATE,
    RequestKind.DESTROY: Need.DESTROY,
    RequestKind.ESCALATION: Need.ESCALATE,
    RequestKind.CLARIFICATION: Need.CLARIFY,
    RequestKind.SHUTDOWN: Need.SHUTDOWN,
}
_Key = tuple[int, datetime, str]
_Subject = tuple[str, str]
"""Who reports, and what about."""


class Waiting(Struct, frozen=True):
    """Everything that could need somebody at one moment.

    Attributes:
        failed: Deliveries the router gave up.
        problems: What is wrong with the store.
    """

    scene: Scene
    failed: tuple[DeliveryRow, ...]
    problems: tuple[Problem, ...]

    @property
    def requests(self) -> RequestIndex:
        """Every request there is."""
        return self.scene.facts.requests

    @property
    def twins(self) -> Iterator[Entry]:
        """Questions under an id that another question has."""
        return chain.from_iterable(self.requests.twins.values())

    @property
    def is_lead(self) -> bool:
        """Whether it is the human in charge who looks."""
        return self.scene.me in (self.scene.config.lead, USER)


class _Grounds(Struct, frozen=True, eq=False):
    """Everything the list is made from: objects that are others as soon as they say another thing, and problems."""

    objects: tuple[object, ...]
    problems: tuple[Problem, ...]

    @classmethod
    def of(cls, waiting: Waiting, *rows: object) -> _Grounds:
        scene, flagged = waiting.scene, tuple(waiting.requests.flagged)
        # Whoever was to be gone and still writes leaves the list when a day is over.
        now = (scene.now,) if any(Flag.STILL_ALIVE in row.flags for row in flagged) else ()
        lists = (*flagged, None, *waiting.twins, None, *scene.dropped)
        grounds = (waiting.requests.open, waiting.failed, scene.config, scene.team, scene.facts.sprint)
        return cls((*rows, *grounds, *lists, *now), waiting.problems)

    def is_same(self, other: _Grounds) -> bool:
        mine, others = self.objects, other.objects
        return len(mine) == len(others) and all(map(is_, mine, others)) and self.problems == other.problems


class Attention:
    """The list of one identity. Plain unread messages are kept as rows; the rest is made at each look."""

    def __init__(self, names: frozenset[str]) -> None:
        self._names = names
        self._messages: Ordered[AttentionItem] = Ordered()
        self._refusals: Ordered[Entry] = Ordered()
        self._reports: defaultdict[_Subject, Ordered[Entry]] = defaultdict(Ordered)
        self._failures = LastResult(_failures)
        self._made: tuple[_Grounds, tuple[AttentionItem, ...]] | None = None

    def add(self, entry: Entry) -> None:
        """A message came into the queue."""
        subject = self._subject(entry)
        if subject is not None:
            self._change_reports(subject, lambda reports: reports.put(entry.order, entry))
        elif not self._is_mine(entry):
            return
        elif _is_refusal(entry):
            self._refusals.put(entry.order, entry)
        elif _is_plain(entry):
            item = _plain(entry)
            self._messages.put((*_key(item), entry.place), item)

    def remove(self, entry: Entry) -> None:
        """A message left the queue."""
        subject = self._subject(entry)
        if subject is not None:
            self._change_reports(subject, lambda reports: reports.drop(entry.order))
        elif not self._is_mine(entry):
            return
        elif _is_refusal(entry):
            self._refusals.drop(entry.order)
        elif _is_plain(entry):
            self._messages.drop((*_key(_plain(entry)), entry.place))

    def _subject(self, entry: Entry) -> _Subject | None:
        """Who reports what, None for a message that is no report to this identity, read or not."""
        message = entry.message
        to_me = ALL in message.recipients or not self._names.isdisjoint(message.recipients)
        report = report_of(message) if to_me and message.sender not in self._names else None
        return (message.sender, report.subject) if report is not None else None

    def _change_reports(self, subject: _Subject, change: Callable[[Ordered[Entry]], None]) -> None:
        """Only the newest report of a sender about one thing is shown; one that was read hides the older ones too."""
        reports = self._reports[subject]
        self._show_newest(reports, present=False)
        change(reports)
        self._show_newest(reports, present=True)

    def _show_newest(self, reports: Ordered[Entry], *, present: bool) -> None:
        newest = reports.row_at(len(reports) - 1) if reports else None
        if newest is None or not self._is_mine(newest):
            return
        item = _report(newest, sum(self._is_mine(row) for row in reports.rows) - 1)
        if present:
            self._messages.put((*_key(item), newest.place), item)
        else:
            self._messages.drop((*_key(item), newest.place))

    def items(self, waiting: Waiting) -> tuple[AttentionItem, ...]:
        """The most urgent first; among equals what waits longest. The same object while nothing it rests on changed."""
        grounds = _Grounds.of(waiting, self._messages.rows, self._refusals.rows)
        if self._made is None or not self._made[0].is_same(grounds):
            self._made = grounds, self._items(waiting)
        return self._made[1]

    def _items(self, waiting: Waiting) -> tuple[AttentionItem, ...]:
        failed = (
            item
            for item in self._failures(waiting.failed)
            if waiting.is_lead or (item.message is not None and item.message.sender in waiting.scene.mine)
        )
        standing = (*_standing(waiting), *failed, *self._refused(waiting), *self._second(waiting))
        return tuple(sorted((*standing, *self._messages.rows), key=_key)) if standing else self._messages.rows

    def _is_mine(self, entry: Entry) -> bool:
        message = entry.message
        if ALL not in message.recipients and self._names.isdisjoint(message.recipients):
            return False
        return any(message.is_unread_by(name) for name in self._names) and message.sender not in self._names

    def _refused(self, waiting: Waiting) -> Iterator[AttentionItem]:
        asked_again = {row.addressee for row in waiting.requests.open if row.kind is RequestKind.SHUTDOWN}
        for entry in self._refusals.rows:
            if entry.message.sender not in asked_again:
                row = waiting.requests.row(entry.read.request_id or "", RequestKind.SHUTDOWN)
                title = reason_of(entry.message) or "will not stop and gives no reason"
                yield _message(Need.REFUSED, entry.message, title, since=entry.moment, request=row)

    def _second(self, waiting: Waiting) -> Iterator[AttentionItem]:
        for entry in waiting.twins:
            if self._is_mine(entry):
                yield _plain(entry)


def _standing(waiting: Waiting) -> Iterator[AttentionItem]:
    config, me = waiting.scene.config, waiting.scene.me
    blocking = Blocking(waiting.requests.open, waiting.scene.facts.sprint)
    endings = {row.request_id for row in waiting.requests.open if row.kind is RequestKind.DESTROY}
    stopping = {row.question.payload.get("in_reply_to") for row in waiting.requests.open if _may_still_answer(row)}
    for row in waiting.requests.open:
        if row.kind is RequestKind.DESTROY and row.request_id in stopping:
            continue
        if row.asker in waiting.scene.mine:
            if row.state is RequestState.OVERDUE and not _is_answered_otherwise(waiting, row, endings):
                title = f"has not answered the {row.kind} request: {row.title}"
                yield _about(Need.OVERDUE, row.addressee, row, title)
        elif may_answer(config, actor=me, kind=row.kind, addressee=row.addressee):
            yield _asked(waiting, row, blocking.by(row))
    if waiting.is_lead:
        yield from _alive(waiting)
        yield from (_damaged(problem) for problem in waiting.problems if problem.severity == "error")
    yield from _dropped(waiting.scene)


def _may_still_answer(row: RequestRow) -> bool:
    """Whether an agent that was asked to stop has time to answer: until then its end is approved and not confirmed."""
    return row.kind is RequestKind.SHUTDOWN and row.state is RequestState.OPEN


def _is_answered_otherwise(waiting: Waiting, row: RequestRow, endings: frozenset[str] | set[str]) -> bool:
    """A stop that nobody needs to be told is overdue: the agent is gone, or its end is asked about on the same list."""
    is_stop = row.kind is RequestKind.SHUTDOWN
    quoted = row.question.payload.get("in_reply_to")
    return is_stop and (row.addressee in waiting.scene.team.gone or quoted in endings)


def _asked(waiting: Waiting, row: RequestRow, blocks: tuple[str, ...]) -> AttentionItem:
    need = _NEEDS.get(row.kind, Need.MESSAGE)
    priority, overdue = row.question.priority, row.state is RequestState.OVERDUE
    planning = need is Need.PLAN and waiting.scene.config.agent(row.asker).plan_mode_required
    return _item(
        need,
        row.asker,
        row.title,
        key=row.key,
        since=row.asked_at,
        blocks=blocks,
        priority=priority,
        overdue=overdue,
        plan_mode=planning,
        request=row,
        message=row.question,
        answerable=need is not Need.MESSAGE,
    )


def _about(need: Need, who: str, row: RequestRow, title: str, *, since: datetime | None = None) -> AttentionItem:
    since = since or row.asked_at
    return _item(need, who, title, key=f"{need}:{row.key}", since=since, request=row, message=row.question)


def _dropped(scene: Scene) -> Iterator[AttentionItem]:
    """Messages for the reader that nobody took into the queue yet."""
    for message in scene.dropped:
        mine = any(message.is_addressed_to(name) for name in scene.mine)
        if mine and message.sender not in scene.mine:
            item = _message(Need.MESSAGE, message, message_title(message), since=message.created_at)
            yield replace(item, key=f"drop:{message.message_id}", why=f"{item.why} · in drop/ until the next write")


def _alive(waiting: Waiting) -> Iterator[AttentionItem]:
    for row in waiting.requests.flagged:
        recent = row.answered_at is not None and waiting.scene.now - row.answered_at < _REMEMBERED
        if Flag.STILL_ALIVE in row.flags and recent:
            who = row.addressee if row.kind is RequestKind.SHUTDOWN else reading(row.question).subject
            yield _about(
                Need.OVERDUE, who or row.addressee, row, "should be gone and still writes", since=row.answered_at
            )


def _failures(deliveries: Iterable[DeliveryRow]) -> tuple[AttentionItem, ...]:
    return tuple(map(_failed, deliveries))


def _failed(delivery: DeliveryRow) -> AttentionItem:
    message, tries = delivery.message, counted(delivery.attempts, "attempt")
    error = delivery.error or f"gave up after {tries}"
    item = _item(
        Need.FAILED,
        delivery.recipient,
        message_title(message),
        key=f"{Need.FAILED}:{delivery.key}",
        since=message.created_at,
        blocks=(delivery.recipient,),
        priority=message.priority,
        message=message,
    )
    return replace(item, why=f"{item.why} · {error}")


def _damaged(problem: Problem) -> AttentionItem:
    key = f"{Need.DAMAGED}:{problem.code}:{problem.place}"
    return _item(Need.DAMAGED, problem.place, problem.message, key=key, since=None)


def _plain(entry: Entry) -> AttentionItem:
    return _message(Need.MESSAGE, entry.message, title_of(entry.read), since=entry.moment)


def _report(entry: Entry, older: int) -> AttentionItem:
    """A state report, with how many older unread ones it stands for."""
    item = _plain(entry)
    if not older:
        return item
    earlier = "1 earlier report" if older == 1 else f"{older} earlier reports"
    return replace(item, why=" · ".join(filter(None, (item.why, f"replaces {earlier}"))))


def _message(
    need: Need, message: Message, title: str, *, since: datetime | None, request: RequestRow | None = None
) -> AttentionItem:
    key, priority = f"{need}:{message.message_id}", message.priority
    return _item(need, message.sender, title, key=key, since=since, priority=priority, request=request, message=message)


def _item(
    need: Need,
    who: str,
    title: str,
    *,
    blocks: tuple[str, ...] = (),
    priority: str = "",
    overdue: bool = False,
    plan_mode: bool = False,
    **facts: Any,
) -> AttentionItem:
    """An item with its rank, and the rank in words."""
    why = explain(need, blocks, priority=priority, overdue=overdue, plan_mode=plan_mode)
    rank = score(need, blocks, priority=priority, overdue=overdue)
    return AttentionItem(need=need, who=who, title=title, why=why, score=rank, blocks=blocks, **facts)


def _is_refusal(entry: Entry) -> bool:
    return entry.read.name == RESPONSE and entry.read.approve is False


def _is_plain(entry: Entry) -> bool:
    """Whether it is a message to read: no question, which waits as a request, and no end of one, which needs nobody."""
    read = entry.read
    return read.opens is None and not (read.kind is not None and read.kind.withdraws)


def _key(item: AttentionItem) -> _Key:
    return -item.score, item.since or EARLIEST, item.key
