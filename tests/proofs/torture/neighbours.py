"""What disturbs the others: an entry twice, much at once, a watcher of another user, consoles whose line is lost."""

from __future__ import annotations

import os
import random
import re
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from team_console.store.backends.open import open_team
from team_console.store.contract.team import Condition
from team_console.store.service.caller import Caller
from team_console.store.service.inbox import receive
from team_console.store.service.router import deliver
from team_console.store.service.sending import broadcast

from tests.conftest import COMMAND, template
from tests.proofs.torture.workers import BULK, LEAD, RECEIVERS, Job, attempt
from tests.pty import Terminal

NOBODY = 65534
MODES = "12345678"
_ENTRY = re.compile(r"^- message_id: \S+\n(?: .*\n)+", re.M)
"""An entry as the store writes it: the key that names it first, all further lines indented."""
_WAIT = 30.0
_DEFECT = re.compile(r"✗ DEFECT|Traceback|cannot be shown")


def copier(job: Job) -> None:
    """A program without the lock that leaves an entry in the queue twice, to the letter."""
    chance = random.Random(job.seed)
    queue = Path(job.location) / "message-queue.yaml"
    while True:
        time.sleep(0.2 + chance.random() * 0.5)
        try:
            text = queue.read_text()
        except FileNotFoundError:
            continue
        pending = [entry for entry in _ENTRY.findall(text) if f"to: {RECEIVERS[0]}\n" in entry and "pending" in entry]
        if not pending:
            continue
        # Appended in one write: a copy put in place of the file would take away what others wrote meanwhile.
        with suppress(FileNotFoundError):
            fd = os.open(queue, os.O_WRONLY | os.O_APPEND)
            os.write(fd, chance.choice(pending).encode())
            os.close(fd)


def bulk(job: Job) -> None:
    """Sends to many at once and works much off at once."""
    team, chance = job.open(), random.Random(job.seed)
    while True:

        def act() -> None:
            receipt = broadcast(Caller(team, LEAD), summary="to you all now and then", content="One of many.")
            job.note("sent", *(message.message_id for message in receipt.messages))

        def deliver_all() -> None:
            job.note("routed", str(len(deliver(Caller(team, LEAD), only=(BULK,)).delivered)))

        def receive_all() -> None:
            got = receive(Caller(team, BULK), agent=BULK, delivered=True)
            job.note("got", BULK, *(message.message_id for message in got.messages))

        for _ in range(12):
            attempt(job, act)
        attempt(job, deliver_all)
        attempt(job, receive_all)
        time.sleep(chance.random() * 0.5)


def watcher(job: Job) -> None:
    """Another user without rights, who sees a team at work as healthy."""
    team = open_team(job.location, read_only=True)
    team.snapshot()  # everything that is imported late is there before the rights are given up
    if os.geteuid() == 0:
        os.seteuid(NOBODY)
    while True:
        snapshot = team.snapshot()
        if snapshot.condition not in (Condition.OK, Condition.EMPTY):
            problems = (problem.message for problem in snapshot.problems)
            os.seteuid(os.getuid())
            job.note("wrong", "watcher", str(snapshot.condition), *problems)
            return
        time.sleep(0.02)


def screen(job: Job) -> None:
    """A console on a terminal: goes through its modes, looks into things, and at last its line is lost."""
    template.cache_clear()  # one of its own: several processes cannot talk to one
    chance = random.Random(job.seed)
    while True:
        columns, lines = chance.choice(((120, 40), (80, 24), (60, 20), (200, 55)))
        with Terminal(
            [*COMMAND, "-t", job.location, "--as", LEAD], cwd=Path(job.location), columns=columns, lines=lines
        ) as terminal:
            terminal.wait_for("torture", seconds=_WAIT)
            for _ in range(chance.randrange(5, 30)):
                terminal.send(chance.choice((*MODES, "j", "j", "k", "\r", "\x1b[27u", "?", "\x1b[27u", "v", "G")))
                terminal.settle(0.05)
            if shown := _DEFECT.search(terminal.text):
                job.note("wrong", "screen", shown.group().replace(" ", "_"))
            terminal.hang_up()
            terminal.wait_exit(_WAIT)
        job.note("screened", str(columns))


KINDS: dict[str, Callable[[Job], None]] = {item.__name__: item for item in (copier, bulk, watcher, screen)}
