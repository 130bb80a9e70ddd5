"""What the child processes do until they are killed; each notes on its own receipt file what a call returned."""

from __future__ import annotations

import os
import random
import re
import resource
import sqlite3
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import yaml
from team_console.store.backends.open import open_team
from team_console.store.contract.snapshot import Condition
from team_console.store.contract.team import Team
from team_console.store.model.errors import Code, TeamError
from team_console.store.protocol.parsing import parse_message
from team_console.store.service.caller import Caller
from team_console.store.service.inbox import acknowledge, receive
from team_console.store.service.maintenance import clear
from team_console.store.service.requests import approve, reject, submit_plan
from team_console.store.service.router import deliver
from team_console.store.service.sending import broadcast, send

from tests.equipment.command_line import COMMAND, template
from tests.equipment.pressed_keys import ESCAPE
from tests.equipment.statements import execute
from tests.equipment.terminal import Terminal
from tests.proofs.drive import MODES, SIZES, WRONG

LEAD = "ceo"
RECEIVERS = ("dev-1", "dev-2")
CLAIMER = "qa-1"
CLAIMERS = (CLAIMER,)
PUSHED = ("ops-1",)
BULK = "bulk-1"
"""Who is written to by everybody's broadcasts, and gets all of it at once."""
PLANNERS = ("planner-1", "planner-2", "planner-3", "planner-4")
NAMES = (LEAD, *RECEIVERS, *CLAIMERS, *PUSHED, BULK, *PLANNERS)
LEASE_SECONDS = 1.0
NOBODY = 65534
_ENTRY = re.compile(r"^- message_id: \S+\n(?:(?: .*)?\n)+?(?=- |\Z)", re.M)
"""A whole entry: the key that names it first, all further lines indented or, in a quoted text, empty."""
_INSERT = (
    "INSERT INTO agent_message (message_id, sender, recipient, message_type, payload, status, created_at) "
    "VALUES (:id, :who, :to, 'notify', '{}', 'pending', :at)"
)
_WAIT = 30.0
_REFUSALS = {Code.STORE_LOCKED}


@dataclass(slots=True)
class Job:
    """One child's assignment.

    Attributes:
        location: Where the team is.
        folder: Where it works.
        receipts: The file this child alone appends to.
        seed: Its random numbers.
    """

    location: str
    folder: Path
    receipts: Path
    seed: int
    number: int = 0

    def new_id(self, mark: str) -> str:
        """An id that no other child gives."""
        self.number += 1
        return f"MSG-20260224-{self.seed:04d}{mark}{self.number:05d}"

    def note(self, *words: str) -> None:
        """Append one receipt by one write, after the store call returned."""
        fd = os.open(self.receipts, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(fd, (" ".join(words) + "\n").encode())
        os.close(fd)


Act = Callable[[Job, Team, random.Random], None]
"""One round of a child's work."""


@dataclass(frozen=True, slots=True)
class Work:
    """What a kind of child does again and again, and how many seconds it rests between: some, and more at random."""

    act: Act
    least: float
    more: float

    def __call__(self, job: Job) -> None:
        """Do it until the process ends; a refusal under these conditions is noted, any other error is a finding."""
        team, chance = open_team(job.location), random.Random(job.seed)
        while True:
            try:
                self.act(job, team, chance)
            except TeamError as error:
                kind = "error" if error.code in _REFUSALS else "wrong"
                job.note(kind, str(error.code), error.message.replace("\n", " "))
            time.sleep(self.least + chance.random() * self.more)


KINDS: dict[str, Callable[[Job], None]] = {}
"""Name of a kind of child -> what it does in its process."""


def again(least: float = 0.0, more: float = 0.0) -> Callable[[Act], Act]:
    """Register a round of work as a kind of child, done again and again with these rests between."""

    def register(act: Act) -> Act:
        KINDS[act.__name__] = Work(act, least, more)
        return act

    return register


@again(more=0.05)
def sender(job: Job, team: Team, chance: random.Random) -> None:
    """Send, now and then to everybody."""
    message_id = job.new_id("x")
    content = f"Message {message_id}.\n" + "more\n" * chance.randrange(30)
    if chance.random() < 0.1:
        receipt = broadcast(Caller(team, LEAD), summary="to you all now and then", content=content)
    else:
        to, summary = chance.choice((*RECEIVERS, *CLAIMERS, *PUSHED)), "one more for you today"
        receipt = send(Caller(team, LEAD), to=to, summary=summary, content=content, message_id=message_id)
    job.note("sent", *(message.message_id for message in receipt.messages))


def limited_sender(job: Job) -> None:
    """Send while files may not grow beyond a limit, so that writes fail half-way."""
    limit = random.Random(job.seed).randrange(200, 60_000)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    _REFUSALS.add(Code.STORE_FAILED)  # of this process alone: nothing else makes the disk refuse a write
    KINDS["sender"](job)


KINDS["limited_sender"] = limited_sender


@again(more=0.05)
def receiver(job: Job, team: Team, chance: random.Random) -> None:
    """Receive for one agent."""
    agent = RECEIVERS[job.seed % len(RECEIVERS)]
    got = receive(Caller(team, agent), agent=agent)
    job.note("got", agent, *(message.message_id for message in got.messages))


@again(more=0.1)
def claimer(job: Job, team: Team, chance: random.Random) -> None:
    """Take messages on lease, beside another that does, and acknowledge most of them."""
    caller = Caller(team, CLAIMER)
    for message in receive(caller, agent=CLAIMER, lease=LEASE_SECONDS).messages:
        if chance.random() < 0.9:
            token = message.envelope("token")
            try:
                done = acknowledge(caller, ids=[message.message_id], token=str(token) if token else None)
            except TeamError as error:
                if error.code is not Code.NOT_PERMITTED:
                    raise
                continue  # the lease ran out while it was stopped
            if not done.repeated:  # else another claimer did it once the lease had run out
                job.note("acked", CLAIMER, message.message_id)


@again(0.1, 0.2)
def router(job: Job, team: Team, chance: random.Random) -> None:
    """Push what is due."""
    job.note("routed", str(len(deliver(Caller(team, LEAD), only=PUSHED).delivered)))


@again(0.1, 0.3)
def planner(job: Job, team: Team, chance: random.Random) -> None:
    """Hand in a plan."""
    content = f"Plan of {job.seed} at {time.time_ns()}.\n1. Do it.\n"
    job.note("asked", str(submit_plan(Caller(team, chance.choice(PLANNERS)), content=content).request_id))


@again(more=0.05)
def approver(job: Job, team: Team, chance: random.Random) -> None:
    """Answer one of the newest plans; several approvers race for each."""
    plans = [message for message in team.snapshot().messages if message.type == "plan_approval_request"][-6:]
    for message in chance.sample(plans, k=min(1, len(plans))):
        caller, request = Caller(team, LEAD), str(parse_message(message).request_id)
        try:
            if chance.random() < 0.5:
                approve(caller, request_id=request)
            else:
                reject(caller, request_id=request, reason="not yet")
            job.note("answered", request)
        except TeamError as error:
            if error.code not in (Code.ALREADY_ANSWERED, Code.INVALID_REQUEST_ID):
                raise


@again(0.3, 1.0)
def clearer(job: Job, team: Team, chance: random.Random) -> None:
    """Archive and remove everything that has ended."""
    job.note("cleared", str(clear(Caller(team, LEAD), older_than_days=0.0).deleted))


@again(0.01)
def console(job: Job, team: Team, chance: random.Random) -> None:
    """Look, and note whatever must not be seen."""
    snapshot = team.snapshot()
    if snapshot.condition not in (Condition.OK, Condition.EMPTY):
        job.note("wrong", "snapshot", str(snapshot.condition), *(problem.message for problem in snapshot.problems))
    ids = [message.message_id for message in snapshot.messages]
    if len(ids) != len(set(ids)):
        job.note("wrong", "snapshot", "with a message twice")


@again(0.2, 0.5)
def careless(job: Job, team: Team, chance: random.Random) -> None:
    """Edit the queue as a program without the lock: read, add a message, rename the copy over it."""
    queue = job.folder / "message-queue.yaml"
    message_id = job.new_id("f")
    record = {"message_id": message_id, "type": "notify", "from": LEAD, "to": RECEIVERS[0], "priority": "low"}
    record |= {"created": "2026-02-24T10:30:15.123Z", "status": "pending"}
    try:
        loaded = yaml.load(queue.read_bytes(), Loader=yaml.CSafeLoader)
    except FileNotFoundError:
        loaded = {"messages": []}
    except yaml.YAMLError:
        return  # another program appended to an empty list: ours can read it, this one cannot, and waits
    loaded["messages"].append({**record, "payload": {"content": "by hand"}})
    mine = queue.with_name(f"careless-{job.seed}.yaml.new")
    mine.write_text(yaml.dump(loaded, Dumper=yaml.CSafeDumper, sort_keys=False, allow_unicode=True))
    mine.chmod(0o644)
    mine.rename(queue)
    job.note("sent", message_id)


@again(0.1, 0.3)
def dropper(job: Job, team: Team, chance: random.Random) -> None:
    """Put a message into the drop folder, as a script does."""
    folder, message_id = job.folder / "drop", job.new_id("d")
    folder.mkdir(exist_ok=True)
    draft = folder / f".tmp-{message_id}"
    draft.write_text(f"message_id: {message_id}\ntype: notify\nfrom: {LEAD}\nto: {RECEIVERS[0]}\n")
    draft.rename(folder / f"{message_id}.yaml")
    job.note("sent", message_id)


@again(0.2, 0.5)
def copier(job: Job, team: Team, chance: random.Random) -> None:
    """Leave an entry in the queue twice, to the letter, as a program without the lock."""
    queue = job.folder / "message-queue.yaml"
    # Appended in one write: a copy put in place of the file would take away what others wrote meanwhile.
    with suppress(FileNotFoundError):
        entries = _ENTRY.findall(queue.read_text())
        pending = [entry for entry in entries if f"to: {RECEIVERS[0]}\n" in entry and "pending" in entry]
        if pending:
            fd = os.open(queue, os.O_WRONLY | os.O_APPEND)
            os.write(fd, chance.choice(pending).encode())
            os.close(fd)


@again(0.1, 0.3)
def inserter(job: Job, team: Team, chance: random.Random) -> None:
    """Put a row into the table, as another program with a connection of its own."""
    message_id = job.new_id("i")
    values = {"id": message_id, "who": LEAD, "to": RECEIVERS[0], "at": "2026-02-24 10:30:15"}
    with suppress(sqlite3.OperationalError):  # it was locked for 20 seconds: this program gives up
        execute(job.location, _INSERT, **values)
        job.note("sent", message_id)


@again(0.01, 0.05)
def bulk(job: Job, team: Team, chance: random.Random) -> None:
    """Send to many at once; now and then work much off at once."""
    receipt = broadcast(Caller(team, LEAD), summary="to you all now and then", content="One of many.")
    job.note("sent", *(message.message_id for message in receipt.messages))
    if chance.random() < 0.1:
        deliver(Caller(team, LEAD), only=(BULK,))
        got = receive(Caller(team, BULK), agent=BULK, delivered=True)
        job.note("got", BULK, *(message.message_id for message in got.messages))


def watcher(job: Job) -> None:
    """See a team at work as healthy, as another user without rights."""
    team = open_team(job.location, read_only=True)
    team.snapshot()  # everything that is imported late is there before the rights are given up
    if os.geteuid() == 0:
        os.seteuid(NOBODY)
    while (snapshot := team.snapshot()).condition in (Condition.OK, Condition.EMPTY):
        time.sleep(0.02)
    os.seteuid(os.getuid())
    problems = (problem.message for problem in snapshot.problems)
    job.note("wrong", "watcher", str(snapshot.condition), *problems)


def screen(job: Job) -> None:
    """Go through the modes of a console on a terminal and look into things, until its line is lost."""
    template.cache_clear()  # one of its own: several processes cannot talk to one
    chance, command, cwd = random.Random(job.seed), [*COMMAND, "-t", job.location, "--as", LEAD], job.folder
    while True:
        columns, lines = chance.choice(SIZES)
        with Terminal(command, cwd=cwd, columns=columns, lines=lines) as terminal:
            terminal.wait_for("torture", seconds=_WAIT)
            for _ in range(chance.randrange(5, 30)):
                terminal.send(chance.choice((*MODES, "j", "j", "k", "\r", ESCAPE, "?", ESCAPE, "v", "G")))
                terminal.settle(0.05)
            if shown := WRONG.search(terminal.text):
                job.note("wrong", "screen", shown.group().replace(" ", "_"))
            terminal.hang_up()
            terminal.wait_exit(_WAIT)
        job.note("screened", str(columns))


KINDS |= {"watcher": watcher, "screen": screen}
