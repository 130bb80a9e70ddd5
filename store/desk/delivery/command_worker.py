"""Command worker: claims a message, runs an agent's command outside the lock, notes the outcome, claims the next."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

from team_console.store.contract.transaction import Transaction
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
from team_console.store.desk.delivery.delivery_state import (
    ROUTER,
    Job,
    claimed,
    failed,
    is_busy,
    obstacle,
    with_outcome,
)
from team_console.store.desk.delivery.handing_on import trust_in
from team_console.store.desk.delivery.run_command import hand_over
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.schedule import attempts_of, max_attempts

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
            return self._claimed(tx, job, names)
        return None

    def _claimed(self, tx: Transaction, job: Job, names: Sequence[str]) -> Job:
        limit = sum(self._choice.seconds(tx.config.agent(name).deliver_timeout) for name in names)
        message = claimed(job.message, limit=limit, now=tx.now)
        tx.replace(job.message, message)
        tx.record("dispatch", ids=[message.message_id], to=self._agent, attempt=attempts_of(message))
        return Job(message, job.targets, job.everyone)

    def _give_up(self, tx: Transaction, job: Job) -> Attempt:
        holder = "the router" if job.message.envelope("claimed_by") == ROUTER else "whoever had claimed it"
        error = f"{holder} ended during attempt {attempts_of(job.message)}; whether it arrived is not known"
        message = failed(job.message, error, tx.now)
        tx.replace(job.message, message)
        return Attempt(message, self._agent, error)
