"""The list of all requests of one snapshot, for a look that asks for nothing else: half the work of a whole view."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from team_console.store.contract.collecting import collection_paused
from team_console.store.contract.team import Snapshot
from team_console.store.model.message import Message
from team_console.store.protocol.entries import Entry, Queue
from team_console.store.views.agents.last_seen import LastSeen
from team_console.store.views.facts import Facts
from team_console.store.views.rows import RequestRow


def requests_of(
    snapshot: Snapshot, *, now: datetime, history: Iterable[Message] = (), complete: bool = True
) -> tuple[RequestRow, ...]:
    """The rows that `board.view_of` has of the same snapshot and the same history, newest archived message first."""
    with collection_paused():
        facts, last_seen = Facts(snapshot.config, snapshot.recorded), LastSeen()
        live: set[str] = set()
        for entry in Queue().update(snapshot.messages).added:
            live.add(entry.message.message_id)
            last_seen.add(entry)
            _fold(facts, entry)
        for entry in _archived(history, live):
            last_seen.remember(entry)
            _fold(facts, entry)
        facts.refresh(now, last_seen, complete=complete)
        return facts.requests.rows


def _fold(facts: Facts, entry: Entry) -> None:
    facts.heard(entry)
    if entry.is_fact:
        facts.add(entry)


def _archived(history: Iterable[Message], live: set[str]) -> Iterable[Entry]:
    """What is not live any more, each id once, as it was archived first; the older, the further down."""
    last = {message.message_id: message for message in history if message.message_id not in live}
    return [Entry.of(message, -float(number)) for number, message in enumerate(last.values(), start=1)]
