"""Pairs of question and answer where the answer quotes no unique id: in order, by what both speak of (002-c, 002-i)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct, field
from team_console.store.model.recorded import RecordOrder
from team_console.store.protocol.entries import Entry
from team_console.store.protocol.kinds.kind import RequestKind

Pool = tuple[RequestKind, str, str]
"""Kind, asker, and the agent type, agent, story or source id that question and answer share."""
_BY_SUBJECT = frozenset({RequestKind.CREATE, RequestKind.DESTROY, RequestKind.RESEARCH})
_BY_SOURCE_ID = frozenset({RequestKind.DEBUG, RequestKind.BROWSER})


class Pairing(Struct, frozen=True):
    """Which answer belongs to which question of one pool.

    Attributes:
        answers: Message id of a question -> its answers.
        orphans: Answers that had no question at all.
    """

    answers: Mapping[str, tuple[Entry, ...]] = field(default_factory=dict)
    orphans: tuple[Entry, ...] = ()


NO_PAIRING = Pairing()


def pool_of_question(entry: Entry) -> Pool | None:
    """Where a question waits for an answer in order, None for kinds whose answers always quote its id."""
    kind = entry.read.opens
    return _pool(entry, kind, entry.message.sender) if kind is not None else None


def pool_of_answer(entry: Entry) -> Pool | None:
    """Where an answer looks for its question, None when it quotes the question's own id."""
    kind = entry.read.answers
    if kind is None or (kind in _BY_SUBJECT and entry.read.request_id is not None):
        return None
    return _pool(entry, kind, entry.message.recipients[0])


def pair(
    questions: Iterable[Entry],
    answers: Iterable[Entry],
    *,
    closed: Mapping[str, RecordOrder],
    fits: Callable[[Entry, Entry], bool],
    when: Callable[[Entry], RecordOrder],
) -> Pairing:
    """Give each answer to the oldest question that still waits for one.

    Args:
        closed: Message id of a question -> when an answer quoted it.
        fits: Whether the writer of an answer may answer the question; who may not never closes one.
        when: The place of a message in the order of events.
    """
    waiting: list[Entry] = []
    last: Entry | None = None
    answered: dict[str, tuple[Entry, ...]] = {}
    orphans: list[Entry] = []
    for event in sorted([*questions, *answers], key=when):
        if event.read.opens is not None:
            waiting.append(event)
            continue
        if closed:
            now = when(event)
            still = [question for question in waiting if closed.get(question.message.message_id, now) >= now]
            last = waiting[0] if waiting and not still else last
            waiting = still
        target = waiting[0] if waiting else last
        if target is None:
            orphans.append(event)
            continue
        message_id = target.message.message_id
        answered[message_id] = (*answered.get(message_id, ()), event)
        if waiting and fits(event, target):
            last = waiting.pop(0)
    return Pairing(answered, tuple(orphans))


def _pool(entry: Entry, kind: RequestKind, asker: str) -> Pool | None:
    if kind in _BY_SOURCE_ID:
        shared = entry.read.request_id
    elif kind in _BY_SUBJECT:
        shared = entry.read.subject
    else:
        return None
    return None if shared is None else (kind, "" if kind is RequestKind.DESTROY else asker, shared)
