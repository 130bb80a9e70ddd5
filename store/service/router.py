"""The router: due messages are pushed to agents, each to exactly one attempt at a time (seed 003)."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Collection, Sequence
from datetime import datetime, timedelta

from msgspec import Struct, field
from msgspec.structs import replace
from team_console.store.contract.snapshot import Snapshot
from team_console.store.contract.team import opened_read_only
from team_console.store.contract.transaction import RefusedRowsError, Transaction
from team_console.store.model.clock import to_text
from team_console.store.model.delivery_schedule import (
    attempts_of,
    is_expired,
    is_held,
    lease_end,
    max_attempts,
    next_attempt,
)
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message, Status, ids_of
from team_console.store.model.safe import counted
from team_console.store.service.agent_command import run_command
from team_console.store.service.agents import finish_due, next_ending
from team_console.store.service.caller import Caller
from team_console.store.service.deliveries import (
    ROUTER,
    Attempt,
    Job,
    PassResult,
    PassScope,
    command_targets,
    due_jobs,
    give_up,
    is_served,
    job_of,
    leave_refused_row,
    members_of,
    push_and_note,
    record_attempts,
    skipped_attempts,
)
from team_console.store.service.inbox import trust_check
from team_console.store.service.maintenance import RefusedRows, take_in_drops, write_in_pieces
from team_console.store.service.waiting import may_pass, until
from team_console.store.service.writing import check_known
from team_console.store.settings.team_config import TeamConfig

# Command worker: claims a message, runs an agent's command outside the lock, notes the outcome, claims the next.

_WORKERS = 8
_HEARD_WITHIN = 0.2
"""Seconds after which an interruption is heard at the latest."""
_LOCK_TRIES = 3
_GRACE_SECONDS = 30.0


def run_commands(
    caller: Caller, scope: PassScope, agents: Sequence[str], done: PassResult, stop: threading.Event
) -> None:
    """Serve every agent's command, several agents at a time; outcomes are added to `done`.

    An interruption, such as Ctrl-C, lets running commands end and their outcomes be noted, and begins no others.

    Raises:
        TeamError: The first one an agent's delivery met, after all have ended.
    """
    if not agents:
        return
    from concurrent.futures import ThreadPoolExecutor, wait  # 5 ms, which only commands need

    with ThreadPoolExecutor(_WORKERS, "deliver") as pool:
        try:
            served = [pool.submit(AgentDelivery(caller, scope, agent, done, stop).run) for agent in agents]
            # A signal that comes just before a wait without an end is only heard behind it, when all was delivered.
            while wait(served, timeout=_HEARD_WITHIN).not_done:
                pass
            trouble = [error for item in served if (error := item.exception()) is not None]
        except BaseException:
            stop.set()
            raise
    if trouble:
        raise trouble[0]


class AgentDelivery(Struct):
    """Hands one agent its due messages by its command, one after the other, each at most once a pass.

    Attributes:
        done: Where the outcomes are added.
        stop: Ends it early, after the command that is running.
        tried: Ids of the messages that were looked at in this pass.
        refused: The messages whose rows the table did not let change in this pass.
    """

    caller: Caller
    scope: PassScope
    agent: str
    done: PassResult
    stop: threading.Event
    tried: set[str] = set()
    refused: RefusedRows = field(default_factory=RefusedRows)

    def run(self) -> None:
        """Hand over what is due for the agent until nothing is, or the pass is stopped."""
        if self.stop.is_set():
            return
        job = self._finish_and_claim(None, {})
        while job is not None:
            outcomes = self._hand_over(job)
            # In spite of a busy lock: an outcome that is not written means another delivery later.
            for tries_left in reversed(range(_LOCK_TRIES)):
                try:
                    job = self._finish_and_claim(job, outcomes)
                    break
                except TeamError as error:
                    if error.code is not Code.STORE_LOCKED or not tries_left:
                        raise

    def _hand_over(self, job: Job) -> dict[str, str | None]:
        """Run the command of each recipient for one message; returns name -> what went wrong, None for nothing."""
        config = self.caller.team.config()
        outcomes: dict[str, str | None] = {}
        message = trust_check(self.caller.team, [job.message]).marked(job.message)
        for name in command_targets(config, job):
            agent = config.agent(name)
            limit = self.scope.limit or agent.deliver_timeout
            # guard: trusted-commands-only
            if config.distrust:
                outcomes[name] = f"its command was not run: {config.distrust}"
                continue
            # The record may come again, with a higher `attempts`, when a router died before it noted the outcome.
            record = json.dumps(dict(message.record), default=str).encode() + b"\n"
            outcomes[name] = run_command(agent.deliver, limit=limit, record=record, folder=self.caller.team.folder)
        return outcomes

    def _finish_and_claim(self, job: Job | None, outcomes: dict[str, str | None]) -> Job | None:
        """Write the outcomes of the last message, claim the next one in the same transaction and return it.

        Args:
            job: The last message; None at the beginning.
        """
        attempts: list[Attempt] = []
        before = {*self.tried}
        try:
            with self.caller.transaction("deliver") as tx:
                if job is not None and job.message.message_id in self.refused.rows:
                    stored, why = tx.current(job.message), self.refused.rows[job.message.message_id]
                    attempts += [] if stored is None else leave_refused_row(tx, stored, outcomes, why)
                elif job is not None:
                    attempts += self._finish(tx, job, outcomes)
                following = None if self.stop.is_set() else self._claim(tx, attempts)
                record_attempts(tx, attempts)
        except RefusedRowsError as error:
            if not self.refused.learn(error):
                raise
            self.tried = before
            return self._finish_and_claim(job, outcomes)
        self.done.attempts += attempts
        return following

    def _finish(self, tx: Transaction, job: Job, outcomes: dict[str, str | None]) -> list[Attempt]:
        """Write an outcome while the claim stands: a late one would overrule whoever took over."""
        stored = tx.current(job.message)
        if stored is None or stored.envelope("token") != job.message.envelope("token"):
            tx.record("deliver", ids=[], late={job.message.message_id: outcomes})
            return []
        now = replace(job, message=stored)
        return push_and_note(tx, now, outcomes, trust_check(self.caller.team, [stored]), members_of(tx))

    def _claim(self, tx: Transaction, attempts: list[Attempt]) -> Job | None:
        """Return the next message, held for the time its commands may take; its claim counts as an attempt.

        Args:
            attempts: Takes what became of messages that are passed over: given up, or refused by the table.
        """
        for message in tx.everything():
            by_router = message.envelope("claimed_by") == ROUTER and is_held(message, tx.now)
            if by_router and message.is_addressed_to(self.agent):  # one at a time keeps them in order
                return None
        for job in due_jobs(tx, self.scope):
            names = command_targets(tx.config, job)
            if self.agent not in names[:1] or job.message.message_id in self.tried:
                continue
            self.tried.add(job.message.message_id)
            if (why := self.refused.rows.get(job.message.message_id)) is not None:
                attempts += leave_refused_row(tx, job.message, job.targets, why)
                continue
            if attempts_of(job.message) >= max_attempts(job.message):
                attempts += give_up(tx, job, _why_given_up(job.message))
                continue
            limit = sum(self.scope.limit or tx.config.agent(name).deliver_timeout for name in names)
            message = job.message.with_changes(
                status=Status.CLAIMED.value,
                attempts=attempts_of(job.message) + 1,
                claimed_by=ROUTER,
                lease_until=to_text(tx.now + timedelta(seconds=limit + _GRACE_SECONDS)),
                token=os.urandom(8).hex(),
                next_attempt_at=None,
            )
            tx.replace(job.message, message)
            tx.record("dispatch", ids=[message.message_id], to=self.agent, attempt=attempts_of(message))
            return replace(job, message=message)
        return None


# One pass: every due message, pushed once (seed 003, decisions D3, D4, D12).


def deliver(
    caller: Caller,
    *,
    only: Collection[str] | None = None,
    ids: Collection[str] | None = None,
    limit: float | None = None,
    most: int | None = None,
    stop: threading.Event | None = None,
) -> PassResult:
    """Make one pass: expire what is too old, push what is due, oldest first; failed tries are put off or given up.

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
        raise opened_read_only(caller.team.location)
    scope = PassScope(only, ids, limit, most)
    snapshot = take_in_drops(caller, caller.team.snapshot().require_known()).require_known()
    check_known(snapshot, only or ())
    done = PassResult()
    try:
        finish_due(caller, snapshot)
        _expire(caller, snapshot, scope, done)
        jobs = due_jobs(snapshot, scope)
        if most is not None:
            jobs = jobs[:most]
            scope = replace(scope, ids=frozenset(job.message.message_id for job in jobs))
        _push(caller, snapshot, scope, [job.message for job in jobs if not command_targets(snapshot.config, job)], done)
        agents = dict.fromkeys(names[0] for job in jobs if (names := command_targets(snapshot.config, job)))
        run_commands(caller, scope, list(agents), done, stop or threading.Event())
    except TeamError as error:
        # guard: done-beside-error
        if not done.words:
            raise
        raise error.after(f"{done.words} in the same pass", **done.counts_json()) from error
    after = caller.team.snapshot()
    done.next_due = next_due(after)
    done.skipped = skipped_attempts(after, scope, done)
    return done


def next_due(snapshot: Snapshot) -> datetime | None:
    """Return when the router should look again: now when something is due, None while nothing is on its way."""
    now = snapshot.now
    if due_jobs(snapshot, PassScope()):
        return now
    held = [lease_end(message) for message in snapshot.messages if is_held(message, now)]
    put_off = [
        next_attempt(message) for message in snapshot.messages if message.status in (Status.PENDING, Status.RETRY)
    ]
    moments = (*held, *put_off, next_ending(snapshot))
    return min((moment for moment in moments if moment is not None and moment > now), default=None)


def _expire(caller: Caller, snapshot: Snapshot, scope: PassScope, done: PassResult) -> None:
    """Give up what waited too long; what waits for the human or the lead never runs out."""
    stale = [message for message in snapshot.messages if _is_stale(snapshot.config, message, scope, snapshot.taken_at)]
    refused = RefusedRows()

    def write(tx: Transaction, piece: Sequence[Message]) -> tuple[list[Message], list[Attempt]]:
        """Return those that expired, and those whose rows could not be changed."""
        expired: list[Message] = []
        left: list[Attempt] = []
        for message in tx.current_of(piece):
            if not _is_stale(tx.config, message, scope, tx.now):
                continue
            if (why := refused.rows.get(message.message_id)) is not None:
                left += leave_refused_row(tx, message, message.recipients, why)
                continue
            ended = message.with_changes(
                status=Status.EXPIRED.value, next_attempt_at=None, ended_at=to_text(tx.now), table_refuses=None
            )
            expired.append(ended)
            tx.replace(message, ended)
        if expired:
            tx.record("expire", ids=ids_of(expired))
        return expired, left

    for expired, left in write_in_pieces(caller, "expire", stale, write, refused):
        done.expired += expired
        done.attempts += left


def _is_stale(config: TeamConfig, message: Message, scope: PassScope, now: datetime) -> bool:
    served = any(is_served(config, name) for name in message.recipients)
    return served and is_expired(message, now) and scope.takes(message, message.recipients)


def _push(caller: Caller, snapshot: Snapshot, scope: PassScope, due: Sequence[Message], done: PassResult) -> None:
    """Push those that are still due, piece by piece; what an inbox or a row refuses costs only its own message.

    The members are those of the snapshot: finding them anew for each piece would read the whole store each time.
    """
    trust = trust_check(caller.team, due) if due else None
    names, refused = members_of(snapshot), RefusedRows()

    def write(tx: Transaction, piece: Sequence[Message]) -> list[Attempt]:
        """Return the tries."""
        attempts: list[Attempt] = []
        for message in tx.current_of(piece):
            job = job_of(tx.config, names, message, tx.now)
            if trust is None or job is None or not scope.takes(message, job.targets) or command_targets(tx.config, job):
                continue
            if (why := refused.rows.get(message.message_id)) is not None:
                attempts += leave_refused_row(tx, message, job.targets, why)
            elif attempts_of(message) >= max_attempts(message):
                attempts += give_up(tx, job, _why_given_up(message))
            else:
                trouble = refused.pushes.get(message.message_id)
                outcomes = dict.fromkeys(job.targets, trouble) if trouble else {}
                attempts += push_and_note(tx, job, outcomes, trust, names, attempts=attempts_of(message) + 1)
        record_attempts(tx, attempts)
        return attempts

    for attempts in write_in_pieces(caller, "deliver", due, write, refused):
        done.attempts += attempts


def _why_given_up(message: Message) -> str:
    """Say why a message gets no other try, although none of those it had is known to have failed."""
    tries = attempts_of(message)
    if message.status == Status.CLAIMED:
        if message.envelope("claimed_by") == ROUTER:
            return f"the router ended during attempt {tries}; whether it arrived is not known"
        return f"claimed {counted(tries, 'time')} and never acknowledged"
    allowed = counted(max_attempts(message), "try")
    return f"its writer counts {counted(tries, 'try')}, and it gets {allowed}"


# The router kept running: a pass whenever something is due or the store changed, asleep in between.

LONGEST_SLEEP = 30.0
"""Seconds after which the router looks again although nothing told it to."""
_PASSING = frozenset({Code.STORE_LOCKED, Code.STORE_UNREADABLE, Code.STORE_FAILED})
_AFTER_TROUBLE = 2.0
_SHORTEST, _SHORTEST_IDLE = 0.001, 0.5
"""A message can be due and not ours to hand over: another router is busy with its agent."""


def deliver_loop(
    caller: Caller,
    *,
    stop: threading.Event,
    interval: float = LONGEST_SLEEP,
    limit: float | None = None,
    report: Callable[[PassResult], None] = lambda done: None,
    trouble: Callable[[TeamError], None] = lambda error: None,
) -> None:
    """Deliver until `stop` is set; running commands are waited for. Blocks the calling thread.

    Args:
        interval: Longest sleep in seconds; changes and due times end it earlier.
        report: Called after every pass that did something.
        trouble: Called when the store is locked, unreadable or cannot be written, once for each reason.

    Raises:
        TeamError: What will not pass by itself, such as `READ_ONLY`.
    """
    told = ""
    pause = 0.0

    def one_pass() -> bool | None:
        """Deliver once, and say when it is over; then `pause` is how many seconds to sleep."""
        nonlocal told, pause
        if stop.is_set():
            return True
        try:
            done = deliver(caller, limit=limit, stop=stop)
        except TeamError as error:
            if error.code not in _PASSING and not may_pass(error):
                raise
            if error.message != told:
                told = error.message
                trouble(error)
            pause = min(_AFTER_TROUBLE, interval)
            return None
        told = ""
        if done.attempts or done.expired:
            report(done)
        seconds = interval
        if done.next_due is not None:
            seconds = (done.next_due - caller.team.clock()).total_seconds()
        pause = min(max(seconds, _SHORTEST if done.attempts else _SHORTEST_IDLE), interval)
        return None

    until(caller.team, one_pass, timeout=None, tick=lambda: pause, stop=stop)
