"""Receive of which nobody could tell whether it counts, as when the line is cut in its commit: found out, not guessed.

Handed out unseen, its messages might come twice; forgotten, they would be read and nobody had them.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from msgspec.structs import replace
from team_console.store.contract.transaction import Transaction
from team_console.store.desk.caller import Caller, Received
from team_console.store.desk.delivery.handing_on import marked_as_taken
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message, Status
from team_console.store.model.words import first_of
from team_console.store.settings.team_config import TeamConfig

_PAUSE = 0.1
"""Seconds from one try to find out to the next."""
_NAMED = 5


class UnsureError(TeamError):
    """What was to be taken may be read by now, or not: the store has to say which.

    Args:
        cause: What the write ended with.
        received: What is handed out if it counts.
        config: The settings when it was taken.
    """

    def __init__(self, cause: TeamError, received: Received, config: TeamConfig) -> None:
        ids = [message.message_id for message in received.messages]
        hint = f"Look whether {received.agent} has read it before you go on: team-console show {ids[0]}"
        super().__init__(
            cause.code, f"{cause.message}; it was to take {first_of(ids, _NAMED)}", hint, **cause.facts | {"ids": ids}
        )
        self._received, self._config = received, config

    def found(self, caller: Caller) -> Received | None:
        """What is handed out, when it is on record as taken by this receive; else None. Nothing is written.

        What the lost connection may still be about is waited for: it has the rows until it is over.

        Raises:
            TeamError: The store's own, `STORE_LOCKED` among it.
        """
        agent, taken = self._received.agent, self._received.messages
        with caller.team.claims(actor=agent, action="receive", wait=caller.wait) as tx:
            tx.prefetch([message.message_id for message in taken])
            if not any(_is_on_record(tx, agent, message) for message in taken):
                return None
        return replace(self._received, messages=tuple(marked_as_taken(caller.team, taken, self._config)))


def found_out(caller: Caller, unsure: UnsureError) -> Received:
    """What was taken, once the store says so; it is asked for as long as the caller waits for a lock.

    Raises:
        UnsureError: It could not be asked.
        TeamError: `STORE_UNREADABLE` when nothing was taken.
    """
    end = time.monotonic() + caller.wait
    while True:
        try:
            found = unsure.found(caller)
            break
        except TeamError:
            if time.monotonic() >= end:
                raise unsure from None
            time.sleep(_PAUSE)
    if found is not None:
        return found
    text = f"{caller.team.location}: the connection was lost; nothing was taken"
    raise TeamError(Code.STORE_UNREADABLE, text, "Try again.")


def _is_on_record(tx: Transaction, agent: str, taken: Message) -> bool:
    stored = tx.current(taken)
    if stored is None:
        return tx.archived_for(agent, taken)
    if taken.is_group:
        return agent in taken.read_by and stored.read_by.get(agent) == taken.read_by[agent]
    keys: Sequence[str] = ("token",) if taken.status == Status.CLAIMED else ("status", "read_at")
    return all(stored.record.get(key) == taken.record.get(key) for key in keys)
