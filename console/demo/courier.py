"""Plays the delivery of the demo: one agent is out of reach now and then, and its messages fail."""

from __future__ import annotations

import random
import time
from datetime import datetime, timedelta

from store.clock import to_text
from store.message import Message, Status
from store.team import Team

ABSENT = "architect"
"""The member without a process of its own."""
_ERROR = f"delivery_timeout: {ABSENT} did not take it within 30 s"
_ATTEMPTS = 4


class Courier:
    """Tries to deliver what is addressed to the absent member: four attempts, then failed. What the human sends on
    its way again after that goes through: the member is back.
    """

    def __init__(self, team: Team, *, rng: random.Random, speed: float) -> None:
        self.team = team
        self._rng = rng
        self._speed = speed
        self._due: dict[str, float] = {}
        self._failed: set[str] = set()

    def round(self) -> None:
        """Try what is due."""
        for message in self.team.snapshot().messages:
            waiting = message.status in (Status.PENDING, Status.RETRY)
            if message.recipients == (ABSENT,) and waiting and self._is_due(message.message_id):
                self._try(message.message_id)

    def _is_due(self, message_id: str) -> bool:
        now = time.monotonic()
        if message_id not in self._due:
            self._due[message_id] = now + self._rng.uniform(1.5, 2.5) / self._speed
        return self._due[message_id] <= now

    def _try(self, message_id: str) -> None:
        with self.team.transaction(actor="courier", action="deliver", wait=2.0) as tx:
            message = tx.get(message_id)
            if message is None or message.status not in (Status.PENDING, Status.RETRY):
                return
            changed = self._delivered(message, tx.now) if message_id in self._failed else self._missed(message, tx.now)
            tx.replace(message, changed)
            tx.record("deliver", ids=[message_id], status=changed.status)
        self._due.pop(message_id, None)

    def _delivered(self, message: Message, now: datetime) -> Message:
        return message.with_changes(status="delivered", delivered_at=_text(now), next_attempt_at=None)

    def _missed(self, message: Message, now: datetime) -> Message:
        value = message.envelope("attempts")
        attempts = (value if isinstance(value, int) else 0) + 1
        facts = {
            "attempts": attempts,
            "retry_count": attempts - 1,
            "max_retries": _ATTEMPTS - 1,
            "error_message": _ERROR,
        }
        if attempts >= _ATTEMPTS:
            self._failed.add(message.message_id)
            return message.with_changes(status="failed", next_attempt_at=None, **facts)
        return message.with_changes(status="retry", next_attempt_at=_text(now, 2), **facts)


def _text(now: datetime, seconds: float = 0) -> str:
    return to_text(now + timedelta(seconds=seconds))
