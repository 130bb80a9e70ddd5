"""Which messages an agent asks for: what waits for it, most urgent first (requirements 13-20)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import partial

from msgspec import Struct
from team_console.store.contract.transaction import Enough, Transaction
from team_console.store.model.message import Message, Status
from team_console.store.model.schedule import is_held
from team_console.store.protocol.reading import reading

_ON_ITS_WAY = tuple(status for status in Status if status not in (Status.PENDING, Status.READ))


class Wanted(Struct, frozen=True):
    """Which messages an agent asks for; a `type` is the record's or the kind a sprint message carries."""

    agent: str
    type: str | None = None
    delivered: bool = False

    def among(self, messages: Iterable[Message], now: datetime, ranks: Mapping[str, int]) -> list[Message]:
        """Messages `receive` would hand out now, in its order (requirements 13-20; leases that ended count).

        Args:
            ranks: The places of priorities by the team's own settings.
        """
        waiting = [message for message in messages if self.is_one(message, now)]
        return sorted(waiting, key=lambda message: message.order_by(ranks))

    def is_one(self, message: Message, now: datetime) -> bool:
        """Whether `receive` would hand it out now."""
        return self._waits(message, now) and self._fits(message)

    def pushed(self, messages: Iterable[Message]) -> tuple[Message, ...]:
        """Those of them that the router delivered and the agent did not acknowledge, urgent ones first."""
        pushed = [message for message in messages if message.is_delivered_to(self.agent) and self._fits(message)]
        return tuple(sorted(pushed, key=lambda message: message.order))

    def _waits(self, message: Message, now: datetime) -> bool:
        if is_waiting(message, self.agent, now):
            return True
        return self.delivered and message.is_delivered_to(self.agent)

    def _fits(self, message: Message) -> bool:
        return self.type is None or self.type in (message.type, reading(message).name)


def is_waiting(message: Message, agent: str, now: datetime) -> bool:
    """Whether nobody has it yet, or whoever had it did not acknowledge it in time."""
    return message.is_pending_for(agent) or _lease_ended(message, agent, now)


def _lease_ended(message: Message, agent: str, now: datetime) -> bool:
    if message.status != Status.CLAIMED or not message.is_addressed_to(agent):
        return False
    return not is_held(message, now)


def reserve_waiting(
    tx: Transaction, wanted: Wanted, limit: int | None = None, seen: Iterable[Message] | None = None
) -> list[Message]:
    """What waits for the agent, most urgent first, kept from everybody else until the end of the transaction.

    Args:
        limit: At most so many.
        seen: What was for the agent a moment ago. Without it a limit spares nobody else's waiting: which messages
            are the most urgent shows only in all of them.
    """
    ranks = tx.config.ranks
    enough = None
    if limit is not None and seen is not None:
        ids = [message.message_id for message in wanted.among(seen, tx.now, ranks)]
        enough = Enough(limit, ids, partial(wanted.is_one, now=tx.now))
    statuses = (Status.PENDING, *(_ON_ITS_WAY if wanted.delivered else (Status.CLAIMED,)))
    return wanted.among(tx.reserve(wanted.agent, statuses, enough=enough), tx.now, ranks)[:limit]
