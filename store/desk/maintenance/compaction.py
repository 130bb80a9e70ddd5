"""Keeps the queue small by itself: read messages whose archive copy is proven leave it (decision D18)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from team_console.store.contract.transaction import Transaction
from team_console.store.model.message import Message, Status
from team_console.store.protocol.client_requests import expiry_of
from team_console.store.protocol.kinds.kind import RequestKind
from team_console.store.protocol.permissions import may_answer
from team_console.store.protocol.reading import reading
from team_console.store.protocol.relations.answering import answers, withdraws
from team_console.store.protocol.relations.reliance import (
    DONE,
    newest_words,
    questions_in,
    threads_of,
    with_superseders,
)
from team_console.store.protocol.relations.succession import superseders
from team_console.store.protocol.verdicts.trust import objection
from team_console.store.settings.team_config import TeamConfig


def compact(tx: Transaction, *, keep: Collection[str] = ()) -> int:
    """Take out read messages beyond the configured number or age; returns how many left.

    What was only just read has an id in `keep` and stays until the next write, so that everybody sees it as read.

    A message stays while something live depends on it: its request is unanswered, another message of its
    thread is unread, it is the newest word on who is in the team, or no archive proves to hold it.
    """
    config = tx.config
    just_read = frozenset(keep)
    done = [message for message in tx.everything() if message.status in DONE and message.message_id not in just_read]
    if not done:
        return 0
    limit = tx.now - timedelta(days=config.archive_after_days)
    too_many = max(0, len(done) - config.active_messages_max)
    leaving = [message for number, message in enumerate(done) if number < too_many or _older(message, limit)]
    if not leaving:
        return 0
    stay = bound(tx.everything(), config=config, now=tx.now, leaving=[message.message_id for message in leaving])
    gone = [message for message in leaving if message.message_id not in stay and tx.is_archived(message)]
    for missing in gone:
        tx.remove(missing)
    if gone:
        tx.record("compact", ids=[message.message_id for message in gone])
    return len(gone)


def bound(
    messages: Sequence[Message], *, config: TeamConfig, now: datetime, leaving: Iterable[str] = ()
) -> frozenset[str]:
    """Ids of messages that the present state still rests on, whatever their own status is.

    A request stays with everything said about it while it is open, and so does what superseded a request that stays:
    without it the older one would be open again.

    Args:
        leaving: Ids of messages that go unless they are bound.
    """
    threads = threads_of(messages)
    newer = superseders(messages)
    gone = set(leaving)
    open_keys = {key for key, thread in threads.items() if _is_unanswered(thread, key, config, now, newer)}
    staying = {key for message_id, key in questions_in(threads) if message_id in newer and message_id not in gone}
    kept = with_superseders(open_keys | staying, threads, newer)
    members = (message.message_id for key in kept for message in threads[key])
    return frozenset((*members, *newest_words(messages)))


def _older(message: Message, limit: datetime) -> bool:
    moment = message.created_at
    return moment is not None and moment < limit


def _is_unanswered(
    thread: Sequence[Message], request_id: str, config: TeamConfig, now: datetime, newer: Mapping[str, Message]
) -> bool:
    """Whether somebody has not read all of it, or it holds a question that still waits for its answer."""
    if any(message.status not in DONE for message in thread):
        return True
    return any(
        (kind := reading(question).opens) is not None
        and question.message_id not in newer
        and question.status != Status.RECALLED
        and not ((end := expiry_of(kind, question.payload)) is not None and now >= end)
        and not any(_ends(message, question, kind, request_id, config) for message in thread)
        for question in thread
    )


def _ends(message: Message, question: Message, kind: RequestKind, request_id: str, config: TeamConfig) -> bool:
    """Whether `message` ends the request: an answer of somebody who may give it, or its withdrawal."""
    if objection(config, message, question):
        return False
    if withdraws(message, question, request_id):
        return True
    may = may_answer(config, actor=message.sender, kind=kind, addressee=question.recipients[0])
    return may and answers(message, kind, request_id)
