"""The router: pushes due messages to agents, each to exactly one attempt at a time (seed 003, decisions D3, D4, D12).

Messages for an agent without a command go into its inbox in the transaction that marks them delivered. For an agent
with a command a first transaction claims the message, the command runs outside the lock, and a second one closes the
outcome if the claim still stands. A router that dies in between leaves a claim that runs out and counts as an attempt.
The human and the lead read in the console: nothing is pushed to them unless they have a command.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from datetime import datetime

from msgspec.structs import replace
from team_console.store.contract.team import Snapshot
from team_console.store.contract.transaction import Transaction
from team_console.store.desk.agents.endings import finish_due, next_ending
from team_console.store.desk.caller import Caller
from team_console.store.desk.delivery.attempts import (
    Attempt,
    Choice,
    Delivered,
    commands,
    due_jobs,
    members_of,
    record_attempts,
)
from team_console.store.desk.delivery.command_worker import run_commands
from team_console.store.desk.delivery.delivery_state import Job, failed, job_of, obstacle, serves, with_outcome
from team_console.store.desk.delivery.handing_on import Trust, trust_in
from team_console.store.desk.delivery.skipped import skipped
from team_console.store.desk.delivery.slices import slices, still
from team_console.store.desk.draft import refuse_unknown
from team_console.store.desk.inbox import readable
from team_console.store.desk.maintenance.repair import take_in_drops
from team_console.store.model.clock import to_text
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message, Status
from team_console.store.model.schedule import attempts_of, is_expired, is_held, lease_end, max_attempts, next_attempt
from team_console.store.settings.team_config import TeamConfig


def deliver(
    caller: Caller,
    *,
    only: Collection[str] | None = None,
    ids: Collection[str] | None = None,
    limit: float | None = None,
    most: int | None = None,
    stop: threading.Event | None = None,
) -> Delivered:
    """One pass: expire what is too old, push what is due, oldest first; failed tries are put off or given up.

    Args:
        only: Names of the recipients to serve.
        ids: Messages to look at.
        limit: Seconds every command may take, instead of its own limit (seed 003's DELIVERY_TIMEOUT_SECONDS).
        most: How many messages to push at most, the oldest ones (seed 003's BATCH_SIZE).
        stop: Ends the pass early, after the commands that are running.

    Raises:
        TeamError: `READ_ONLY`; `AGENT_NOT_FOUND` for a name in `only` that nobody has and for which nothing would ever
            be due; or the store's own.
    """
    if caller.team.read_only:
        raise TeamError(Code.READ_ONLY, f"{caller.team.location} is open read-only", "Open it without --read-only.")
    choice = Choice(None if only is None else frozenset(only), None if ids is None else frozenset(ids), limit, most)
    snapshot = readable(take_in_drops(caller, readable(caller.team.snapshot())))
    refuse_unknown(snapshot.config, lambda: snapshot.messages, only or ())
    done = Delivered()
    finish_due(caller, snapshot)
    _expire(caller, snapshot, choice, done)
    jobs = due_jobs(snapshot.config, snapshot.messages, choice, snapshot.taken_at)
    if most is not None:
        jobs = jobs[:most]
        choice = replace(choice, ids=frozenset(job.message.message_id for job in jobs))
    for part in slices([job.message for job in jobs if not commands(snapshot.config, job)]):
        _push(caller, choice, part, done)
    agents = dict.fromkeys(names[0] for job in jobs if (names := commands(snapshot.config, job)))
    run_commands(caller, choice, list(agents), done, stop or threading.Event())
    after = caller.team.snapshot()
    done.next_due = next_due(after)
    done.skipped = skipped(after, choice, done)
    return done


def next_due(snapshot: Snapshot) -> datetime | None:
    """When the router should look again, None while nothing is on its way; now when something is due."""
    now, config = snapshot.taken_at, snapshot.config
    if due_jobs(config, snapshot.messages, Choice(), now):
        return now
    held = [lease_end(message) for message in snapshot.messages if is_held(message, now)]
    put_off = [
        next_attempt(message) for message in snapshot.messages if message.status in (Status.PENDING, Status.RETRY)
    ]
    moments = (*held, *put_off, next_ending(snapshot))
    return min((moment for moment in moments if moment is not None and moment > now), default=None)


def _expire(caller: Caller, snapshot: Snapshot, choice: Choice, done: Delivered) -> None:
    """Give up what waited too long; what waits for the human or the lead never runs out."""
    stale = [message for message in snapshot.messages if _is_stale(snapshot.config, message, choice, snapshot.taken_at)]
    for part in slices(stale):
        with caller.team.transaction(actor=caller.actor, action="expire", wait=caller.wait) as tx:
            expired = [
                _expired(tx, message) for message in still(tx, part) if _is_stale(tx.config, message, choice, tx.now)
            ]
            if expired:
                tx.record("expire", ids=[message.message_id for message in expired])
        done.expired += expired


def _expired(tx: Transaction, message: Message) -> Message:
    expired = message.with_changes(status=Status.EXPIRED.value, next_attempt_at=None, ended_at=to_text(tx.now))
    tx.replace(message, expired)
    return expired


def _is_stale(config: TeamConfig, message: Message, choice: Choice, now: datetime) -> bool:
    served = any(serves(config, name) for name in message.recipients)
    return served and is_expired(message, now) and choice.takes(message, message.recipients)


def _push(caller: Caller, choice: Choice, due: Sequence[Message], done: Delivered) -> None:
    """Fill the inboxes in one transaction; when one of them cannot be written, message by message."""
    try:
        done.attempts += _push_all(caller, choice, due)
        return
    except TeamError as error:
        if error.code is not Code.STORE_FAILED:
            raise
    for message in due:
        _push_alone(caller, choice, message, done)


def _push_alone(caller: Caller, choice: Choice, message: Message, done: Delivered) -> None:
    """Push one message, or put on record why that failed."""
    try:
        done.attempts += _push_all(caller, choice, [message])
    except TeamError as error:
        if error.code is not Code.STORE_FAILED:
            raise
        done.attempts += _push_all(caller, choice, [message], trouble=error.message)


def _push_all(caller: Caller, choice: Choice, due: Sequence[Message], *, trouble: str | None = None) -> list[Attempt]:
    """Push those messages that are still due, or note `trouble` as the reason why that failed."""
    attempts: list[Attempt] = []
    trust = trust_in(caller.team, due)
    with caller.team.transaction(actor=caller.actor, action="deliver", wait=caller.wait) as tx:
        members = members_of(tx.config, tx.everything())
        for message in still(tx, due):
            job = job_of(tx.config, members, message, tx.now)
            if job is not None and choice.takes(message, job.targets) and not commands(tx.config, job):
                errors = {name: trouble or obstacle(tx.config, members, name) for name in job.targets}
                attempts += _write_outcome(tx, job, errors, trust)
        record_attempts(tx, attempts)
    return attempts


def _write_outcome(tx: Transaction, job: Job, errors: dict[str, str | None], trust: Trust) -> list[Attempt]:
    """Push to every target without an error, and put the outcome of this attempt on the message."""
    if attempts_of(job.message) >= max_attempts(job.message):
        error = f"claimed {attempts_of(job.message)} times and never acknowledged"
        message = failed(job.message, error, tx.now)
        tx.replace(job.message, message)
        return [Attempt(message, name, error) for name in job.targets]
    for name, error_text in errors.items():
        if error_text is None:
            tx.push(name, trust.marked(job.message))
    message = with_outcome(job, errors, tx.now, attempts=attempts_of(job.message) + 1)
    tx.replace(job.message, message)
    return [Attempt(message, name, error_text) for name, error_text in errors.items()]
