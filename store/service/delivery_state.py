"""What an attempt to hand over a message makes of it: whom the router serves, each change of state (decision D3)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from msgspec import Struct, field
from team_console.store.contract.team import Snapshot
from team_console.store.contract.transaction import Transaction
from team_console.store.model.clock import to_text
from team_console.store.model.message import Message, Status
from team_console.store.model.names import ALL, USER, is_name
from team_console.store.model.schedule import (
    ON_ITS_WAY,
    attempts_of,
    is_due,
    is_held,
    lease_end,
    max_attempts,
    next_attempt,
    wait_after,
)
from team_console.store.protocol.membership import members
from team_console.store.settings.team_config import TeamConfig

ROUTER = "@router"
"""`claimed_by` of a message the router is handing over; no agent can have this name."""
_GRACE_SECONDS = 30.0
_MAX_ERROR = 500
_CLEARED = {"claimed_by": None, "lease_until": None, "token": None, "next_attempt_at": None, "ended_at": None}


class Job(Struct, frozen=True):
    """One message that is due, and whom it is still to be handed to.

    Attributes:
        everyone: All its addressees but the sender, those included whom the router does not serve.
    """

    message: Message
    targets: tuple[str, ...]
    everyone: tuple[str, ...]


def serves(config: TeamConfig, name: str) -> bool:
    """Whether the router pushes to `name`: to every agent, but to the human and the lead only by a command.

    People read in the console; a message pushed to a file for them would look delivered and be seen by nobody.
    """
    return bool(config.agent(name).deliver) or name not in (USER, config.lead)


def job_of(config: TeamConfig, members: Callable[[], Sequence[str]], message: Message, now: datetime) -> Job | None:
    """The job that `message` is now, None when it is not due or nobody is to be served."""
    if not is_due(message, now):
        return None
    everyone = addressees(members, message)
    done = {*message.read_by, *message.delivered_to} if message.is_group else set()
    targets = tuple(name for name in everyone if name not in done and serves(config, name))
    return Job(message, targets, everyone) if targets else None


def addressees(members: Callable[[], Sequence[str]], message: Message) -> tuple[str, ...]:
    """Whom a message is for, one by one; `members` is asked only for a message to everybody."""
    if not message.is_group:
        return message.recipients
    names = members() if ALL in message.recipients else message.recipients
    return tuple(name for name in names if name != message.sender)


def by_age(job: Job) -> str:
    """Sort key of the router: oldest first and nothing else (decision D4)."""
    moment = job.message.created_at
    return moment.isoformat() if moment else ""


def is_busy(messages: Sequence[Message], agent: str, now: datetime) -> bool:
    """Whether a router is handing something to `agent` right now; one at a time keeps them in order."""
    return any(
        message.envelope("claimed_by") == ROUTER and is_held(message, now) and message.is_addressed_to(agent)
        for message in messages
    )


def obstacle(config: TeamConfig, members: Callable[[], Sequence[str]], name: str) -> str | None:
    """Why nothing can be handed to `name` at all, None when it can."""
    if not is_name(name):
        return f"{name!r} is not an agent name"
    if config.declared and name not in config.agents and name not in members():
        return f"no agent {name} in team {config.name}"
    return None


def claimed(message: Message, *, limit: float, now: datetime) -> Message:
    """The message while the router runs a command for it that may take `limit` seconds; counts as an attempt."""
    return message.with_changes(
        status=Status.CLAIMED.value,
        attempts=attempts_of(message) + 1,
        claimed_by=ROUTER,
        lease_until=to_text(now + timedelta(seconds=limit + _GRACE_SECONDS)),
        token=os.urandom(8).hex(),
        next_attempt_at=None,
    )


def with_outcome(
    job: Job, outcomes: Mapping[str, str | None], now: datetime, *, attempts: int | None = None
) -> Message:
    """The message after an attempt; `outcomes` maps each target to its error, or None.

    Args:
        attempts: The number of this attempt, where the message does not count it yet.
    """
    message, at = job.message, to_text(now)
    counted = {} if attempts is None else {"attempts": attempts}
    handed = {**message.delivered_to, **{name: at for name, error in outcomes.items() if error is None}}
    errors = [f"{name}: {error}" if len(job.targets) > 1 else error for name, error in outcomes.items() if error]
    if message.is_group and handed:
        message = message.with_changes(delivered_to=handed)
    if errors:
        return failed(message, "; ".join(errors), now, attempts=attempts)
    open_ones = [name for name in job.everyone if name not in handed and name not in message.read_by]
    if message.is_group and open_ones:
        return message.with_changes(status=Status.PENDING.value, attempts=None, error_message=None, **_CLEARED)
    delivered = {"status": Status.DELIVERED.value, **counted, "delivered_at": at, "error_message": None}
    return message.with_changes(**delivered, **_CLEARED)


def failed(message: Message, error: str, now: datetime, *, attempts: int | None = None) -> Message:
    """The message after a failed attempt: to be tried again later, or a dead letter when the tries are used up.

    A group message stays `pending` between tries, so that those of its addressees who pull it still can.
    """
    attempts = attempts_of(message) if attempts is None else attempts
    facts = {**_CLEARED, "attempts": attempts, "error_message": error[:_MAX_ERROR]}
    if attempts >= max_attempts(message):
        return message.with_changes(**{**facts, "status": Status.FAILED.value, "ended_at": to_text(now)})
    facts["next_attempt_at"] = to_text(now + wait_after(attempts))
    status = Status.PENDING if message.is_group else Status.RETRY
    return message.with_changes(**{**facts, "status": status.value})


# What the router tried: which messages a pass is about, each try with its outcome, and the audit record of both.


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


# Skipped messages: what a pass of the router left where it is although it is on its way, and why.


def skipped(snapshot: Snapshot, choice: Choice, done: Delivered) -> tuple[Skipped, ...]:
    """What the pass that ended as `done` left; `snapshot` was taken after it."""
    tried = {(attempt.message.message_id, attempt.recipient) for attempt in done.attempts}
    return tuple(
        Skipped(message, name, reason)
        for message in snapshot.messages
        if message.status in ON_ITS_WAY or message.status == Status.CLAIMED
        for name, reason in _reasons(snapshot, message)
        if (message.message_id, name) not in tried
        and (choice.recipients is None or name in choice.recipients)
        and (choice.ids is None or choice.most is not None or message.message_id in choice.ids)
    )


def _reasons(snapshot: Snapshot, message: Message) -> Iterator[tuple[str, str]]:
    for name in message.recipients:
        if name not in message.read_by and name not in message.delivered_to:
            yield name, _reason(snapshot, message, name)


def _reason(snapshot: Snapshot, message: Message, name: str) -> str:
    config: TeamConfig = snapshot.config
    now, put_off, held_until = snapshot.taken_at, next_attempt(message), lease_end(message)
    if not serves(config, name):
        return "the human reads it in the console" if name == USER else "the lead reads it in the console"
    if is_held(message, now) and held_until is not None:
        holder = message.envelope("claimed_by") or "somebody"
        return f"held by {holder} until {to_text(held_until, milliseconds=False)}"
    if put_off is not None and put_off > now:
        return f"put off until {to_text(put_off, milliseconds=False)}"
    return "not in this batch"
