"""The router: due messages are pushed to agents, each to exactly one attempt at a time (seed 003)."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import tempfile
import threading
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING

from msgspec.structs import replace
from team_console.store.contract.team import Snapshot, WatchHint
from team_console.store.contract.transaction import Transaction
from team_console.store.model.clock import to_text
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message, Status
from team_console.store.model.schedule import attempts_of, is_expired, is_held, lease_end, max_attempts, next_attempt
from team_console.store.service.agents import finish_due, next_ending
from team_console.store.service.caller import Caller
from team_console.store.service.delivery_state import (
    ROUTER,
    Attempt,
    Choice,
    Delivered,
    Job,
    claimed,
    commands,
    due_jobs,
    failed,
    is_busy,
    job_of,
    members_of,
    obstacle,
    record_attempts,
    serves,
    skipped,
    with_outcome,
)
from team_console.store.service.drafting import refuse_unknown
from team_console.store.service.handing_on import Trust, trust_in
from team_console.store.service.inbox import readable
from team_console.store.service.maintenance import take_in_drops
from team_console.store.service.slices import slices, still
from team_console.store.service.waiting import follow, may_pass
from team_console.store.settings.team_config import TeamConfig

if TYPE_CHECKING:
    from subprocess import Popen


_ERROR_BYTES = 400
_GRACE_SECONDS = 5.0


def hand_over(message: Message, *, command: Sequence[str], limit: float, folder: Path | None) -> str | None:
    """Run `command` without a shell in `folder`; None when it took the message, else why not, with its last words.

    The command gets the record as one JSON line. After `limit` seconds it is ended with its process group; what it
    leaves running when it ends by itself is its own affair. The record may come again with a higher `attempts` when a
    router died before it could note the outcome.
    """
    import subprocess

    with tempfile.TemporaryFile() as record, tempfile.TemporaryFile() as complaint:
        record.write(json.dumps(dict(message.record), default=str).encode() + b"\n")
        record.seek(0)
        try:
            process = subprocess.Popen(
                list(command),
                stdin=record,
                stdout=complaint,
                stderr=complaint,
                cwd=folder,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            return f"{command[0]}: {getattr(error, 'strerror', None) or error}"
        return _ending(process, limit, complaint)


def _ending(process: Popen[bytes], limit: float, complaint: IO[bytes]) -> str | None:
    import subprocess

    try:
        status = process.wait(limit)
        if status == 0:
            return None
        ending = f"signal {-status}" if status < 0 else f"exit status {status}"
    except subprocess.TimeoutExpired:
        ending = f"no answer within {limit:g} s"
    finally:
        has_ended = _end_group(process)
    if not has_ended:
        ending += ", and it could not be ended"
    size = complaint.seek(0, os.SEEK_END)
    complaint.seek(max(0, size - _ERROR_BYTES))
    said = " ".join(complaint.read().decode("utf-8", "replace").split())
    return f"{ending}: {said}" if said else ending


def _end_group(process: Popen[bytes]) -> bool:
    """End a command that is still running; its process group is its own, so that nothing else is hit.

    Returns:
        Whether it has ended: one that runs as another user, as by sudo, or that the kernel holds goes on.
    """
    import subprocess

    if process.returncode is not None:
        return True
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    try:
        process.wait(_GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        return False
    return True


# Command worker: claims a message, runs an agent's command outside the lock, notes the outcome, claims the next.

_WORKERS = 8
_HEARD_WITHIN = 0.2
"""Seconds after which an interruption is heard at the latest."""
_LOCK_TRIES = 3


def run_commands(caller: Caller, choice: Choice, agents: Sequence[str], done: Delivered, stop: threading.Event) -> None:
    """Serve every agent's command, several agents at a time; outcomes are added to `done`.

    An interruption, such as Ctrl-C, lets running commands end and their outcomes be noted, and begins no others.

    Raises:
        TeamError: The first one an agent's delivery met, after all have ended.
    """
    if not agents:
        return
    from concurrent.futures import ThreadPoolExecutor, wait

    with ThreadPoolExecutor(_WORKERS, "deliver") as pool:
        try:
            served = [pool.submit(AgentDelivery(caller, choice, agent, stop).run, done) for agent in agents]
            # A signal that comes just before a wait without an end is only heard behind it, when all was delivered.
            while wait(served, timeout=_HEARD_WITHIN).not_done:
                pass
            trouble = [error for item in served if (error := item.exception()) is not None]
        except BaseException:
            stop.set()
            raise
    if trouble:
        raise trouble[0]


class AgentDelivery:
    """Hands one agent its due messages by its command, one after the other, each at most once a pass."""

    def __init__(self, caller: Caller, choice: Choice, agent: str, stop: threading.Event) -> None:
        self._caller = caller
        self._choice = choice
        self._agent = agent
        self._stop = stop
        self._tried: set[str] = set()

    def run(self, done: Delivered) -> None:
        """Until nothing is due for the agent, or the pass is stopped."""
        if self._stop.is_set():
            return
        job = self._finish_and_claim(None, {}, done)
        while job is not None:
            job = self._after(job, self._hand_over(job), done)

    def _after(self, job: Job, outcomes: dict[str, str | None], done: Delivered) -> Job | None:
        """Write the outcome in spite of a busy lock: an outcome that is not written means another delivery later."""
        for tries_left in reversed(range(_LOCK_TRIES)):
            try:
                return self._finish_and_claim(job, outcomes, done)
            except TeamError as error:
                if error.code is not Code.STORE_LOCKED or not tries_left:
                    raise
        return None

    def _hand_over(self, job: Job) -> dict[str, str | None]:
        config = self._caller.team.config()
        outcomes: dict[str, str | None] = {}
        message = trust_in(self._caller.team, [job.message]).marked(job.message)
        for name in commands(config, job):
            agent = config.agent(name)
            limit = self._choice.seconds(agent.deliver_timeout)
            # guard: trusted-commands-only
            if config.distrust:
                outcomes[name] = f"its command was not run: {config.distrust}"
                continue
            outcomes[name] = hand_over(message, command=agent.deliver, limit=limit, folder=self._folder())
        return outcomes

    def _folder(self) -> Path | None:
        root = self._caller.team.root
        return None if root is None else root if root.is_dir() else root.parent

    def _finish_and_claim(self, job: Job | None, outcomes: dict[str, str | None], done: Delivered) -> Job | None:
        """One transaction: the outcome of the last command, and the claim on the next message."""
        attempts: list[Attempt] = []
        with self._caller.team.transaction(actor=self._caller.actor, action="deliver", wait=self._caller.wait) as tx:
            if job is not None:
                attempts += self._finish(tx, job, outcomes)
            following = None if self._stop.is_set() else self._claim(tx, attempts)
            record_attempts(tx, attempts)
        done.attempts += attempts
        return following

    def _finish(self, tx: Transaction, job: Job, outcomes: dict[str, str | None]) -> list[Attempt]:
        """The outcome counts only while the claim stands: a late one would overrule whoever took over."""
        stored = tx.current(job.message)
        if stored is None or stored.envelope("token") != job.message.envelope("token"):
            tx.record("deliver", ids=[], late={job.message.message_id: outcomes})
            return []
        outcomes = dict(outcomes)  # what is pushed here is pushed again where this transaction is tried again
        members = members_of(tx.config, tx.everything())
        for name in job.targets:
            if name not in outcomes:
                outcomes[name] = obstacle(tx.config, members, name)
                if outcomes[name] is None:
                    tx.push(name, trust_in(self._caller.team, [stored]).marked(stored))
        message = with_outcome(Job(stored, job.targets, job.everyone), outcomes, tx.now)
        tx.replace(stored, message)
        return [Attempt(message, name, error) for name, error in outcomes.items()]

    def _claim(self, tx: Transaction, attempts: list[Attempt]) -> Job | None:
        if is_busy(tx.everything(), self._agent, tx.now):
            return None
        for job in due_jobs(tx.config, tx.everything(), self._choice, tx.now):
            names = commands(tx.config, job)
            if self._agent not in names[:1] or job.message.message_id in self._tried:
                continue
            self._tried.add(job.message.message_id)
            if attempts_of(job.message) >= max_attempts(job.message):
                attempts.append(self._give_up(tx, job))
                continue
            limit = sum(self._choice.seconds(tx.config.agent(name).deliver_timeout) for name in names)
            message = claimed(job.message, limit=limit, now=tx.now)
            tx.replace(job.message, message)
            tx.record("dispatch", ids=[message.message_id], to=self._agent, attempt=attempts_of(message))
            return Job(message, job.targets, job.everyone)
        return None

    def _give_up(self, tx: Transaction, job: Job) -> Attempt:
        holder = "the router" if job.message.envelope("claimed_by") == ROUTER else "whoever had claimed it"
        error = f"{holder} ended during attempt {attempts_of(job.message)}; whether it arrived is not known"
        message = failed(job.message, error, tx.now)
        tx.replace(job.message, message)
        return Attempt(message, self._agent, error)


# The router: pushes due messages to agents, each to exactly one attempt at a time (seed 003, decisions D3, D4, D12).


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


# The router kept running: a pass whenever something is due or the store changed, asleep in between.

LONGEST_SLEEP = 30.0
"""Seconds after which the router looks again although nothing told it to."""
_PASSING = frozenset({Code.STORE_LOCKED, Code.STORE_UNREADABLE, Code.STORE_FAILED})
_AFTER_TROUBLE = 2.0
_SHORTEST_IDLE = 0.5
"""A message can be due and not ours to hand over: another router is busy with its agent."""


def deliver_loop(
    caller: Caller,
    *,
    stop: threading.Event,
    interval: float = LONGEST_SLEEP,
    limit: float | None = None,
    report: Callable[[Delivered], None] = lambda done: None,
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
    asyncio.run(_Loop(caller, stop, interval, limit, report, trouble).run())


class _Loop:
    def __init__(
        self,
        caller: Caller,
        stop: threading.Event,
        interval: float,
        limit: float | None,
        report: Callable[[Delivered], None],
        trouble: Callable[[TeamError], None],
    ) -> None:
        self._caller = caller
        self._stop = stop
        self._interval = interval
        self._limit = limit
        self._report = report
        self._trouble = trouble
        self._awake = asyncio.Event()
        self._told = ""

    async def run(self) -> None:
        """Watch and wait beside the passes; both end with the loop."""
        loop = asyncio.get_running_loop()
        over = threading.Event()
        waiter = threading.Thread(target=self._wait_for_stop, args=(loop, over), daemon=True)
        waiter.start()
        watcher = asyncio.create_task(self._listen(follow(self._caller.team)))
        try:
            while not self._stop.is_set():
                await self._sleep(await self._pass())
        finally:
            over.set()
            watcher.cancel()
            with suppress(asyncio.CancelledError):
                await watcher

    def _wait_for_stop(self, loop: asyncio.AbstractEventLoop, over: threading.Event) -> None:
        while not self._stop.wait(0.2):
            if over.is_set():
                return
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(self._awake.set)

    async def _listen(self, hints: AsyncIterator[WatchHint]) -> None:
        async for _ in hints:
            self._awake.set()

    async def _pass(self) -> float:
        """One pass; returns how many seconds to sleep."""
        self._awake.clear()
        try:
            done = await asyncio.to_thread(deliver, self._caller, limit=self._limit, stop=self._stop)
        except TeamError as error:
            if error.code not in _PASSING and not may_pass(error):
                raise
            if error.message != self._told:
                self._told = error.message
                self._trouble(error)
            return min(_AFTER_TROUBLE, self._interval)
        self._told = ""
        if done.attempts or done.expired:
            self._report(done)
        if done.next_due is None:
            return self._interval
        seconds = (done.next_due - self._caller.team.clock()).total_seconds()
        return min(max(seconds, 0.0 if done.attempts else _SHORTEST_IDLE), self._interval)

    async def _sleep(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._awake.wait()
