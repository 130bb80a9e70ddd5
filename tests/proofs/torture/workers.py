"""What the child processes do until they are killed; each notes on its own receipt file what a call returned."""

from __future__ import annotations

import os
import random
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import yaml
from team_console.store.backends.open import open_team
from team_console.store.contract.team import Condition, Team
from team_console.store.model.errors import Code, TeamError
from team_console.store.protocol.parsing import parse_message
from team_console.store.service.caller import Caller
from team_console.store.service.inbox import acknowledge, receive
from team_console.store.service.maintenance import clear
from team_console.store.service.requests import approve, reject, submit_plan
from team_console.store.service.router import deliver
from team_console.store.service.sending import broadcast, send

LEAD = "ceo"
RECEIVERS = ("dev-1", "dev-2")
CLAIMERS = ("qa-1",)
PUSHED = ("ops-1",)
BULK = "bulk-1"
"""Who is written to by everybody's broadcasts, and gets all of it at once."""
PLANNERS = ("planner-1", "planner-2", "planner-3", "planner-4")
NAMES = (LEAD, *RECEIVERS, *CLAIMERS, *PUSHED, BULK, *PLANNERS)
LEASE_SECONDS = 1.0
_REFUSALS = frozenset({Code.STORE_LOCKED, Code.STORE_FAILED, Code.READ_ONLY})


@dataclass(slots=True)
class Job:
    """One child's assignment.

    Attributes:
        location: Where the team is.
        receipts: The file this child alone appends to.
        seed: Its random numbers.
    """

    location: str
    receipts: Path
    seed: int

    def open(self) -> Team:
        """The team, opened by this process."""
        return open_team(self.location)

    def note(self, *words: str) -> None:
        """Append one receipt by one write, after the store call returned."""
        fd = os.open(self.receipts, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(fd, (" ".join(words) + "\n").encode())
        os.close(fd)


def attempt(job: Job, act: Callable[[], None]) -> None:
    """Do something that may be refused under these conditions; any other error is a finding."""
    try:
        act()
    except TeamError as error:
        job.note("error" if error.code in _REFUSALS else "wrong", str(error.code), error.message.replace("\n", " "))


def sender(job: Job) -> None:
    """Sends, repeating with the same id when the outcome is not known, and now and then to everybody."""
    team, chance, number = job.open(), random.Random(job.seed), 0
    while True:
        number += 1
        message_id = f"MSG-20260224-{job.seed:04d}x{number:05d}"

        def act(message_id: str = message_id) -> None:
            content = f"Message {message_id}.\n" + "more\n" * chance.randrange(30)
            if chance.random() < 0.1:
                receipt = broadcast(Caller(team, LEAD), summary="to you all now and then", content=content)
            else:
                to = chance.choice((*RECEIVERS, *CLAIMERS, *PUSHED))
                receipt = send(
                    Caller(team, LEAD), to=to, summary="one more for you today", content=content, message_id=message_id
                )
            job.note("sent", *(message.message_id for message in receipt.messages))

        attempt(job, act)
        time.sleep(chance.random() * 0.05)


def limited_sender(job: Job) -> None:
    """Sends while its files may not grow beyond a limit, so that writes fail half-way."""
    chance = random.Random(job.seed)
    limit = chance.randrange(200, 60_000)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    sender(job)


def receiver(job: Job) -> None:
    """Receives for one agent."""
    team, chance = job.open(), random.Random(job.seed)
    agent = RECEIVERS[job.seed % len(RECEIVERS)]
    while True:

        def act() -> None:
            got = receive(Caller(team, agent), agent=agent)
            job.note("got", agent, *(message.message_id for message in got.messages))

        attempt(job, act)
        time.sleep(chance.random() * 0.05)


def claimer(job: Job) -> None:
    """Takes messages on lease and acknowledges most of them."""
    team, chance = job.open(), random.Random(job.seed)
    agent = CLAIMERS[job.seed % len(CLAIMERS)]
    while True:

        def act() -> None:
            claimed = receive(Caller(team, agent), agent=agent, lease=LEASE_SECONDS)
            for message in claimed.messages:
                if chance.random() < 0.9:
                    token = message.envelope("token")
                    try:
                        acknowledge(Caller(team, agent), ids=[message.message_id], token=str(token) if token else None)
                    except TeamError as error:
                        if error.code is not Code.NOT_PERMITTED:
                            raise
                        continue  # the lease ran out while it was stopped
                    job.note("acked", agent, message.message_id)

        attempt(job, act)
        time.sleep(chance.random() * 0.1)


def router(job: Job) -> None:
    """Pushes what is due."""
    team, chance = job.open(), random.Random(job.seed)
    while True:
        attempt(job, lambda: job.note("routed", str(len(deliver(Caller(team, LEAD), only=PUSHED).delivered))))
        time.sleep(0.1 + chance.random() * 0.2)


def planner(job: Job) -> None:
    """Hands in plans."""
    team, chance = job.open(), random.Random(job.seed)
    while True:

        def act() -> None:
            agent = chance.choice(PLANNERS)
            receipt = submit_plan(Caller(team, agent), content=f"Plan of {job.seed} at {time.time_ns()}.\n1. Do it.\n")
            job.note("asked", str(receipt.request_id))

        attempt(job, act)
        time.sleep(0.1 + chance.random() * 0.3)


def approver(job: Job) -> None:
    """Answers open plans; several of these race for each."""
    team, chance = job.open(), random.Random(job.seed)
    caller = Caller(team, LEAD)
    while True:
        plans = [message for message in team.snapshot().messages if message.type == "plan_approval_request"][-6:]
        for message in chance.sample(plans, k=min(3, len(plans))):
            request = str(parse_message(message).request_id)

            def act(request: str = request) -> None:
                try:
                    if chance.random() < 0.5:
                        approve(caller, request_id=request)
                    else:
                        reject(caller, request_id=request, reason="not yet")
                    job.note("answered", request)
                except TeamError as error:
                    if error.code not in (Code.ALREADY_ANSWERED, Code.INVALID_REQUEST_ID):
                        raise

            attempt(job, act)
        time.sleep(chance.random() * 0.1)


def clearer(job: Job) -> None:
    """Archives and removes everything that has ended."""
    team, chance = job.open(), random.Random(job.seed)
    while True:
        attempt(job, lambda: job.note("cleared", str(clear(Caller(team, LEAD), older_than_days=0.0).deleted)))
        time.sleep(0.3 + chance.random())


def console(job: Job) -> None:
    """Looks, and notes whenever it saw something that must not be."""
    team = job.open()
    seen = False
    while True:
        snapshot = team.snapshot()
        if snapshot.condition not in (Condition.OK, Condition.EMPTY):
            job.note("wrong", "snapshot", str(snapshot.condition), *(problem.message for problem in snapshot.problems))
        seen = seen or bool(snapshot.messages)
        ids = [message.message_id for message in snapshot.messages]
        if len(ids) != len(set(ids)):
            job.note("wrong", "snapshot", "with a message twice")
        time.sleep(0.01)


def careless(job: Job) -> None:
    """A program that edits the queue without the lock: reads, adds a message, renames its copy over it."""
    chance, number = random.Random(job.seed), 0
    queue = Path(job.location) / "message-queue.yaml"
    while True:
        number += 1
        message_id = f"MSG-20260224-{job.seed:04d}f{number:05d}"
        record = {"message_id": message_id, "type": "notify", "from": LEAD, "to": RECEIVERS[0], "priority": "low"}
        record |= {"created": "2026-02-24T10:30:15.123Z", "status": "pending"}
        try:
            loaded = yaml.load(queue.read_bytes(), Loader=yaml.CSafeLoader)
        except FileNotFoundError:
            loaded = {"messages": []}
        except yaml.YAMLError:
            # Another program appended to an empty list: ours can read it, this one cannot, and waits.
            time.sleep(0.1)
            continue
        loaded["messages"].append({**record, "payload": {"content": "by hand"}})
        text = yaml.dump(loaded, Dumper=yaml.CSafeDumper, sort_keys=False, allow_unicode=True)
        mine = queue.with_name(f"careless-{job.seed}.yaml.new")
        mine.write_text(text)
        mine.chmod(0o644)
        mine.rename(queue)
        job.note("sent", message_id)
        time.sleep(0.2 + chance.random() * 0.5)


def dropper(job: Job) -> None:
    """A script that puts messages into the drop folder."""
    chance, number = random.Random(job.seed), 0
    folder = Path(job.location) / "drop"
    folder.mkdir(exist_ok=True)
    while True:
        number += 1
        message_id = f"MSG-20260224-{job.seed:04d}d{number:05d}"
        draft = folder / f".tmp-{message_id}"
        draft.write_text(f"message_id: {message_id}\ntype: notify\nfrom: {LEAD}\nto: {RECEIVERS[0]}\n")
        draft.rename(folder / f"{message_id}.yaml")
        job.note("sent", message_id)
        time.sleep(0.1 + chance.random() * 0.3)


KINDS: dict[str, Callable[[Job], None]] = {
    item.__name__: item
    for item in (
        *(sender, limited_sender, receiver, claimer, router, planner, approver),
        *(clearer, console, careless, dropper),
    )
}
