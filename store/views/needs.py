"""What waits for the human, ranked by what it holds up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import chain

from msgspec.structs import replace
from team_console.store.model.message import Message, Priority
from team_console.store.model.names import ALL
from team_console.store.model.safe import counted, first_of
from team_console.store.protocol.foreign_fields import key_in
from team_console.store.protocol.kinds import SHUTDOWN_RESPONSE, RequestKind
from team_console.store.protocol.placed_message import EARLIEST, PlacedMessage
from team_console.store.protocol.rights import may_answer
from team_console.store.protocol.state_reports import report_of
from team_console.store.protocol.titles import message_title, verdict_reason
from team_console.store.views.facts import Facts
from team_console.store.views.rows import ActionItem, Flag, Need, RequestRow, RequestState


def _blocked_by(row: RequestRow, facts: Facts, waiting: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return agents and stories that an open request holds up, the nearest first; a stop holds up nobody.

    Found along open requests, task assignments and the dependencies of the batch plan.

    Args:
        waiting: Agent -> who waits for its answers.
    """
    if row.kind is RequestKind.SHUTDOWN:
        return ()
    found, sprint = dict.fromkeys((row.asker,)), facts.sprint
    if row.kind is not RequestKind.DESTROY:
        found |= dict.fromkeys(waiting.get(row.asker, ()))
        story = sprint.work.get(row.asker)
        stories = (story,) if story else sprint.unfinished.get(row.asker, ())
        found |= dict.fromkeys((*stories, *chain.from_iterable(map(sprint.waiting_for, stories))))
    found.pop(row.addressee, None)
    return tuple(name for name in found if name not in facts.team.gone)


# How the list is grouped: to decide (by rank), broken, for information.


class ItemPart(StrEnum):
    """What a human does about a thing, in the order in which the parts are shown; their values are words for it."""

    DECIDE = "decide"
    BROKEN = "trouble"
    INFORMATION = "news"


class Rank(StrEnum):
    """How urgent a thing to decide is, the most urgent first; within a rank the oldest comes first."""

    CRITICAL = "urgent"
    LATE = "late"
    BLOCKING = "waiting"
    NORMAL = "can wait"


_BROKEN = frozenset({Need.FAILED, Need.DAMAGED, Need.OVERDUE, Need.REFUSED})
_RANK_ORDER = tuple(Rank)


def part_of(item: ActionItem) -> ItemPart:
    """Return the part that an item is shown in; a failure is `BROKEN` even if it belongs to a request."""
    if item.need in _BROKEN:
        return ItemPart.BROKEN
    asks = item.request is not None and item.request.is_open
    if item.is_left_behind:
        return ItemPart.INFORMATION
    return ItemPart.DECIDE if asks or item.need is not Need.MESSAGE else ItemPart.INFORMATION


def group_of(item: ActionItem) -> ItemPart | Rank:
    """Return the group it is shown in: its part, and how urgent it is where it is to decide."""
    part = part_of(item)
    return rank_of(item) if part is ItemPart.DECIDE else part


def rank_of(item: ActionItem) -> Rank:
    """Return the urgency of a decision: critical, out of time, blocking others than its asker, or none of these."""
    priority = item.message.priority if item.message is not None else ""
    if priority == Priority.CRITICAL:
        return Rank.CRITICAL
    if item.request is not None and item.request.state is RequestState.OVERDUE:
        return Rank.LATE
    return Rank.BLOCKING if len(item.blocks) > 1 or priority == Priority.HIGH else Rank.NORMAL


def arrange_items(items: Iterable[ActionItem]) -> tuple[ActionItem, ...]:
    """Return the items by part, what is to decide by rank and age, the others in the order they came in."""
    parts: dict[ItemPart, list[ActionItem]] = {part: [] for part in ItemPart}
    for item in items:
        parts[part_of(item)].append(item)
    parts[ItemPart.DECIDE].sort(key=lambda item: (_RANK_ORDER.index(rank_of(item)), item.since or EARLIEST))
    return tuple(item for members in parts.values() for item in members)


def count_to_do(items: Iterable[ActionItem]) -> int:
    """Return the number of items that want an action: all but those for information."""
    return sum(part_of(item) is not ItemPart.INFORMATION for item in items)


# The score of an item: the weight of its need, more for each agent or story it blocks, for priority and lateness.

_NEED_SCORES = {
    Need.ESCALATE: 60,
    Need.PERMIT: 58,
    Need.QUESTION: 56,
    Need.PLAN: 55,
    Need.DAMAGED: 50,
    Need.CREATE: 50,
    Need.SHUTDOWN: 50,
    Need.CLARIFY: 50,
    Need.FAILED: 45,
    Need.REFUSED: 40,
    Need.OVERDUE: 35,
    Need.DESTROY: 30,
    Need.MESSAGE: 0,
}
_PRIORITY_SCORES = {str(Priority.CRITICAL): 40, str(Priority.HIGH): 20, str(Priority.MEDIUM): 10}
_SCORE_PER_BLOCKED, _MOST_BLOCKED_SCORED, _OVERDUE_SCORE = 8, 5, 15
_MOST_NAMED = 3
"""Names of those who are blocked that a reason has, at most."""
_REASONS = {
    Need.DAMAGED: "what cannot be read cannot be answered",
    Need.REFUSED: "refused to stop",
    Need.OVERDUE: "no sign of the end",
    Need.FAILED: "was given up",
    Need.MESSAGE: "unread",
}
"""Need -> why all items of it are on the list; those not named say it by their tag."""
_PLAN_MODE = "works only after its plan is approved"
SAID_BY_KIND = frozenset({*(_REASONS.get(need, "") for need in Need), _PLAN_MODE})
"""Reasons that all rows of one kind share, so that a list need not repeat them in each row."""


# Making the items: each with its score, and the reasons for it in words.

_STILL_LISTED = timedelta(days=1)
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


def need_of(kind: RequestKind) -> Need:
    """Return why a request of a kind is on its answerer's list; `MESSAGE` for kinds that wait for no human."""
    return _NEEDS.get(kind, Need.MESSAGE)


def action_items(facts: Facts) -> tuple[ActionItem, ...]:
    """List what waits for the reader, the most urgent first; among equals what waits longest, then what came first."""
    unread = [entry for entry in facts.live if _is_unread_by_reader(facts, entry.message)]
    twins = chain.from_iterable(facts.requests.twins.values())
    items = [
        *_open_request_items(facts),
        *(chain(_still_writing(facts), _damage_items(facts)) if facts.is_lead else ()),
        *_dropped_items(facts),
        *_failure_items(facts),
        *_refusal_items(facts, unread),
        *(_message_item(entry.message) for entry in twins if _is_unread_by_reader(facts, entry.message)),
        *_report_items(facts),
        *(_message_item(entry.message) for entry in unread if _is_to_read(entry)),
    ]
    return tuple(sorted(items, key=lambda item: (-item.score, item.since or EARLIEST)))


def _is_to_reader(facts: Facts, message: Message) -> bool:
    """Return whether it is a message of somebody else to this reader, read or not."""
    return message.sender not in facts.mine and not {ALL, *facts.mine}.isdisjoint(message.recipients)


def _is_unread_by_reader(facts: Facts, message: Message) -> bool:
    return _is_to_reader(facts, message) and any(message.is_unread_by(name) for name in facts.mine)


def _report_items(facts: Facts) -> Iterator[ActionItem]:
    """Yield the newest report of each sender about one thing; one that was read hides the older ones too."""
    reports: dict[tuple[str, str], list[PlacedMessage]] = {}
    for entry in facts.live:
        report = report_of(entry.message)
        if report is not None and _is_to_reader(facts, entry.message):
            reports.setdefault((entry.message.sender, report.subject), []).append(entry)
    for entries in reports.values():
        newest = max(entries, key=lambda entry: entry.order).message
        if _is_unread_by_reader(facts, newest):
            older = sum(_is_unread_by_reader(facts, entry.message) for entry in entries) - 1
            yield _message_item(newest, f"replaces {counted(older, 'earlier report')}" if older else "")


def _refusal_items(facts: Facts, unread: Iterable[PlacedMessage]) -> Iterator[ActionItem]:
    """Yield the agents that refused to stop and were not asked again."""
    stops = [row for row in facts.requests.rows if row.kind is RequestKind.SHUTDOWN]
    asked_again = {row.addressee for row in stops if row.is_open}
    for entry in unread:
        message = entry.message
        if _is_refusal(entry) and message.sender not in asked_again:
            row = next((row for row in stops if row.request_id == entry.read.request_id), None)
            title = verdict_reason(message) or "will not stop and gives no reason"
            yield _item(Need.REFUSED, message.sender, title, message, request=row)


def _failure_items(facts: Facts) -> Iterator[ActionItem]:
    for delivery in facts.failed:
        message, who = delivery.message, delivery.recipient
        if facts.is_lead or message.sender in facts.mine:
            key = f"{Need.FAILED}:{delivery.key}"
            error = delivery.error or f"gave up after {counted(delivery.attempts, 'attempt')}"
            yield _item(Need.FAILED, who, message_title(message), message, key=key, blocks=(who,), note=error)


def _open_request_items(facts: Facts) -> Iterator[ActionItem]:
    """Yield the open requests that the reader may answer, and those of the reader that are overdue."""
    waiting: dict[str, list[str]] = {}
    for row in facts.requests.open:
        if row.kind is not RequestKind.SHUTDOWN:
            waiting.setdefault(row.addressee, []).append(row.asker)
    ending = {row.request_id for row in facts.requests.flagged if Flag.STOPPING in row.flags}
    for row in facts.requests.open:
        if row.asker in facts.mine:
            # Nobody needs to be told that a stop is overdue whose agent is gone, or whose end is confirmed without it.
            is_stop, quoted = row.kind is RequestKind.SHUTDOWN, key_in(row.question.payload, "in_reply_to")
            settled = is_stop and (row.addressee in facts.team.gone or quoted in ending)
            if row.state is RequestState.OVERDUE and not settled:
                yield _overdue_item(row, row.addressee, f"has not answered the {row.kind.noun}: {row.title}")
        elif may_answer(facts.config.lead, actor=facts.me, kind=row.kind, addressee=row.addressee):
            yield _request_item(facts, row, _blocked_by(row, facts, waiting))


def _damage_items(facts: Facts) -> Iterator[ActionItem]:
    for problem in facts.problems:
        if problem.severity == "error":
            key = f"{Need.DAMAGED}:{problem.code}:{problem.place}"
            yield _item(Need.DAMAGED, problem.place, problem.message, None, key=key)


def _dropped_items(facts: Facts) -> Iterator[ActionItem]:
    """Yield the messages to the reader in `drop/`, which nobody took into the queue yet."""
    for message in facts.dropped:
        if message.sender not in facts.mine and any(message.is_addressed_to(name) for name in facts.mine):
            yield replace(_message_item(message, "in drop/ until the next write"), key=f"drop:{message.message_id}")


def _request_item(facts: Facts, row: RequestRow, blocks: tuple[str, ...]) -> ActionItem:
    """Return the item of an open request that the reader may answer."""
    need, stop, refused = need_of(row.kind), facts.stop_of(row.asker), ""
    has_ended = row.asker in facts.team.gone or (stop is not None and stop.ended)
    if Flag.REFUSED in row.flags and not has_ended:
        refused = f"{row.ends} was asked to stop and refused: {row.reason}"
    item = _item(
        need,
        row.asker,
        row.title,
        row.question,
        key=row.key,
        request=row,
        blocks=blocks,
        plan_mode=need is Need.PLAN and facts.config.agent(row.asker).plan_mode_required,
        note="the asker has ended" if has_ended else refused,
    )
    return replace(item, answerable=need is not Need.MESSAGE, is_left_behind=has_ended)


def _still_writing(facts: Facts) -> Iterator[ActionItem]:
    """Yield the agents that agreed to stop within a day and still write."""
    for row in facts.requests.flagged:
        recent = row.answered_at is not None and facts.now - row.answered_at < _STILL_LISTED
        if Flag.STILL_ALIVE in row.flags and recent:
            item = _overdue_item(row, row.stops or row.addressee, "should be gone and still writes")
            yield replace(item, since=row.answered_at)


def _overdue_item(row: RequestRow, who: str, title: str) -> ActionItem:
    """Return an item about the end of a wait, whatever the priority of the question."""
    return _item(Need.OVERDUE, who, title, row.question, key=f"{Need.OVERDUE}:{row.key}", request=row)


def _message_item(message: Message, note: str = "") -> ActionItem:
    return _item(Need.MESSAGE, message.sender, message_title(message), message, note=note)


def _item(
    need: Need,
    who: str,
    title: str,
    message: Message | None,
    *,
    key: str = "",
    request: RequestRow | None = None,
    blocks: tuple[str, ...] = (),
    plan_mode: bool = False,
    note: str = "",
) -> ActionItem:
    """Return an item with its score, larger where it is more urgent, and what makes it in words; age is in neither."""
    about = message if need is not Need.OVERDUE else None
    priority = about.priority if about is not None else ""
    overdue = about is not None and request is not None and request.state is RequestState.OVERDUE
    score = _NEED_SCORES[need] + _PRIORITY_SCORES.get(priority, 0)
    score += _SCORE_PER_BLOCKED * min(len(blocks), _MOST_BLOCKED_SCORED)
    if overdue:
        score += _OVERDUE_SCORE
    why = [
        _REASONS.get(need, ""),
        f"blocks {first_of(blocks, _MOST_NAMED)}" if blocks else "",
        _PLAN_MODE if plan_mode else "",
        f"{priority} priority" if priority in (Priority.CRITICAL, Priority.HIGH) else "",
        "overdue" if overdue else "",
        note,
    ]
    return ActionItem(
        key=key or f"{need}:{message.message_id if message is not None else who}",
        need=need,
        who=who,
        title=title,
        why=" · ".join(filter(None, why)),
        score=score,
        since=_since(need, message, request),
        blocks=blocks,
        request=request,
        message=message,
    )


def _since(need: Need, message: Message | None, request: RequestRow | None) -> datetime | None:
    """Return since when it waits: a new version of an open request as long as the first one."""
    if request is not None and request.is_open and need is not Need.OVERDUE:
        return request.waits_since
    return message.created_at if message is not None else None


def _is_refusal(entry: PlacedMessage) -> bool:
    return entry.read.name == SHUTDOWN_RESPONSE and entry.read.approve is False


def _is_to_read(entry: PlacedMessage) -> bool:
    """Return whether it is a message to read: no question, which waits as a request, no end or part of one, no
    report.
    """
    read = entry.read
    is_part = read.kind.withdraws or read.kind.talks
    return not (read.opens is not None or is_part or _is_refusal(entry) or report_of(entry.message) is not None)
