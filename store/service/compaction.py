"""Keeps the queue small by itself: read messages whose archive copy is proven leave it (decision D18)."""

from __future__ import annotations

from collections.abc import Iterable

from team_console.store.contract.snapshot import TeamState
from team_console.store.contract.transaction import Transaction
from team_console.store.model.clock import days_before
from team_console.store.model.message import DONE, ids_of
from team_console.store.protocol.grants import GRANT, GRANTED, grants_among
from team_console.store.protocol.judgement import judge
from team_console.store.protocol.request_chains import newest_words, threads_of
from team_console.store.service.sending import confirm_ends


def tidy(tx: Transaction, *, keep: Iterable[str] = ()) -> None:
    """Confirm the ends that are due, and take out what is done: what most writes do on their way out.

    Read messages beyond the configured number or age leave the queue. One stays while something live depends on it: its
    request is unanswered, another message of its thread is unread, it is the newest word on who is in the team, or no
    archive proves to hold it.

    Args:
        keep: Ids of what was only just read: it stays until the next write, so that everybody sees it as read.
    """
    confirm_ends(tx)
    config, just_read = tx.config, frozenset(keep)
    done = [message for message in tx.everything() if message.status in DONE and message.message_id not in just_read]
    limit = days_before(tx.now, config.archive_after_days)
    too_many = max(0, len(done) - config.active_messages_max)
    ages = ((number, message, message.created_at or limit) for number, message in enumerate(done))
    leaving = [message for number, message, created in ages if number < too_many or created < limit]
    if not leaving:  # what is needed is costly to find out
        return
    needed = still_needed(tx, leaving=ids_of(leaving))
    gone = [message for message in leaving if message.message_id not in needed and tx.is_archived(message)]
    for message in gone:
        tx.remove(message, optional=True)
    if gone:
        tx.record("compact", ids=ids_of(gone))


def still_needed(state: TeamState, *, leaving: Iterable[str]) -> frozenset[str]:
    """Return the ids of messages that the present state still rests on, whatever their own status is.

    A request stays with everything said about it while it is open, and so does what superseded a request that stays:
    without it the older one would be open again.

    Args:
        leaving: Ids of messages that go unless they are needed.
    """
    messages, config = state.everything(), state.config
    threads = threads_of(messages)
    # The audit trail may be long: only what was decided before `signed_since`, and grants, need it.
    are_grants = any(message.type == GRANT or GRANTED in message.payload for message in messages)
    recorded = state.recorded if are_grants or config.signed_since is not None else None
    rows = judge(messages, config, recorded, state.now).values()
    newer: dict[str, list[str]] = {}  # request id -> the requests that replaced it or carry out its end
    for row in rows:
        ending = row.ending.request_id if row.ending is not None else None
        later = [key for key in (row.superseded_by, ending) if key is not None]
        newer.setdefault(row.request_id, []).extend(later)
    gone = set(leaving)
    kept = {key for key, thread in threads.items() if any(message.status not in DONE for message in thread)}
    for row in rows:
        if row.is_open or row.ending is not None or (newer[row.request_id] and row.question.message_id not in gone):
            kept.add(row.request_id)
    waiting = list(kept)  # what replaced a request that stays stays, too, and what replaced that
    while waiting:
        for key in newer.get(waiting.pop(), ()):
            if key not in kept:
                kept.add(key)
                waiting.append(key)
    members = (message.message_id for key in kept for message in threads.get(key, ()))
    running = (one.grant.message_id for one in grants_among(messages, state.now, recorded) if not one.over)
    return frozenset((*members, *newest_words(messages), *running))
