"""What an attempt to hand over a message makes of it: whom the router serves, each change of state (decision D3)."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta

from msgspec import Struct
from team_console.store.model.clock import to_text
from team_console.store.model.message import Message, Status
from team_console.store.model.names import ALL, USER, is_name
from team_console.store.model.schedule import attempts_of, is_due, is_held, max_attempts, wait_after
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
