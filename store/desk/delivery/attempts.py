"""What the router tried: which messages a pass is about, each try with its outcome, and the audit record of both."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct, field
from team_console.store.contract.transaction import Transaction
from team_console.store.desk.delivery.delivery_state import Job, by_age, job_of
from team_console.store.model.message import Message
from team_console.store.protocol.relations.membership import members
from team_console.store.settings.team_config import TeamConfig


class Attempt(Struct, frozen=True):
    """One try to hand a message to one recipient.

    Attributes:
        message: As stored after the try.
        error: Why it failed, None when it was handed over.
    """

    message: Message
    recipient: str
    error: str | None


class Skipped(Struct, frozen=True):
    """One message that waits on, for one recipient."""

    message: Message
    recipient: str
    reason: str


class Delivered(Struct):
    """What one pass of the router did.

    Attributes:
        expired: Messages given up because of their age.
        next_due: When the router has something to do again, None when nothing waits.
        skipped: What is on its way and was left where it is, with the reason.
    """

    attempts: list[Attempt] = field(default_factory=list)
    expired: list[Message] = field(default_factory=list)
    next_due: datetime | None = None
    skipped: tuple[Skipped, ...] = ()

    @property
    def delivered(self) -> list[Attempt]:
        """The tries that succeeded."""
        return [attempt for attempt in self.attempts if attempt.error is None]

    @property
    def failed(self) -> list[Attempt]:
        """The tries that failed, whether they will be repeated or not."""
        return [attempt for attempt in self.attempts if attempt.error is not None]

    def by_recipient(self) -> dict[str, tuple[int, int]]:
        """Recipient -> (handed over, failed), in the order they came up."""
        counts: dict[str, tuple[int, int]] = {}
        for attempt in self.attempts:
            done, lost = counts.get(attempt.recipient, (0, 0))
            counts[attempt.recipient] = (done + (attempt.error is None), lost + (attempt.error is not None))
        return counts

    def summary_json(self) -> list[dict[str, Any]]:
        """What `by_recipient` says, as JSON."""
        counts = self.by_recipient().items()
        return [{"recipient": name, "delivered": done, "failed": lost} for name, (done, lost) in counts]

    def skipped_json(self) -> dict[str, Any]:
        """What was left, counted and named, as JSON."""
        rows = [
            {"message_id": left.message.message_id, "recipient": left.recipient, "reason": left.reason}
            for left in self.skipped
        ]
        return {"messages_skipped": len(rows), "skipped": rows}


class Choice(Struct, frozen=True):
    """Which messages a pass is about; None means all.

    Attributes:
        limit: Time a command may take, in seconds, instead of its agent's own limit; it may be longer or shorter.
        most: How many messages at most, the oldest ones.
    """

    recipients: frozenset[str] | None = None
    ids: frozenset[str] | None = None
    limit: float | None = None
    most: int | None = None

    def takes(self, message: Message, targets: Iterable[str]) -> bool:
        """Whether `message`, to be handed to `targets`, is meant."""
        return (self.ids is None or message.message_id in self.ids) and (
            self.recipients is None or not self.recipients.isdisjoint(targets)
        )

    def seconds(self, own: float) -> float:
        """The time limit of a command whose agent allows `own` seconds."""
        return own if self.limit is None else self.limit


def members_of(config: TeamConfig, messages: Sequence[Message]) -> Callable[[], Sequence[str]]:
    """Names of the members, worked out when first asked for."""
    known: list[str] = []

    def names() -> Sequence[str]:
        if not known:
            known.extend(members(config, messages))
        return known

    return names


def due_jobs(config: TeamConfig, messages: Sequence[Message], choice: Choice, now: datetime) -> list[Job]:
    """What is due for the chosen recipients, oldest first."""
    members = members_of(config, messages)
    jobs = [job for message in messages if (job := job_of(config, members, message, now)) is not None]
    return sorted((job for job in jobs if choice.takes(job.message, job.targets)), key=by_age)


def commands(config: TeamConfig, job: Job) -> list[str]:
    """Those targets of `job` that have a command of their own."""
    return [name for name in job.targets if config.agent(name).deliver]


def record_attempts(tx: Transaction, attempts: Sequence[Attempt]) -> None:
    """Put the outcomes on the audit trail; nothing when there are none."""
    lost = {
        attempt.message.message_id: f"{attempt.recipient}: {attempt.error}"
        for attempt in attempts
        if attempt.error is not None
    }
    if attempts:
        done = dict.fromkeys(attempt.message.message_id for attempt in attempts if attempt.error is None)
        tx.record("deliver", ids=list(done), failed=lost)
