"""Runs the children, hurts them at random, and calls the judge."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from team_console.store.backends.open import open_team
from team_console.store.service.caller import Caller
from team_console.store.service.inbox import receive

from tests.proofs.torture.audit import Receipts, Verdict
from tests.proofs.torture.stores import STORES, NotHereError
from tests.proofs.torture.workers import BULK, CLAIMERS, KINDS, LEASE_SECONDS, RECEIVERS, Job


class Torture:
    """Keeps a crew of children at work on one team and kills, stops or hinders them.

    Attributes:
        receipts: What the children noted, and `verdict` what is wrong with the team; both once it has run.
    """

    def __init__(self, store: str, *, seed: int) -> None:
        self._chance, self._seed, self._next = random.Random(seed), seed, seed % 1000
        self._store = STORES[store]
        self._location = ""
        self._folder = Path(tempfile.mkdtemp(prefix="torture-"))
        self.root = self._folder / "team"
        self._notes = self._folder / "receipts"
        self._children: dict[int, str] = {}
        self.harm: Counter[str] = Counter()
        self._orphans: list[str] = []

    def __str__(self) -> str:
        done, verdict = self.receipts, self.verdict
        return (
            f"seed {self._seed}: {dict(self.harm)}; {len(done.sent)} sent, "
            f"{sum(done.got.values())} got, {sum(done.acked.values())} acknowledged, "
            f"{len(done.asked)} asked, {len(done.answered)} answered, "
            f"{done.screens} consoles hung up; {verdict.live} live, "
            f"{verdict.archived} archived, {verdict.unseen} unseen; {sum(done.errors.values())} refusals "
            f"{dict(done.errors)}; {len(verdict.failures)} promises broken"
        )

    def run(self, seconds: float, patience: float = 0.0) -> None:
        """Torture, let the team settle, and judge; the folder stays when a promise was broken.

        Args:
            patience: Further seconds in which every kind of work may still be done for the first time.
        """
        self._prepare()
        deadline = time.monotonic() + seconds
        end = deadline + patience
        try:
            for kind in (*self._store.crew, *self._store.strangers):
                self._start(kind)
            while (now := time.monotonic()) < deadline or (now < end and not self.has_met_all()):
                time.sleep(self._chance.uniform(0.1, 0.4))
                self._hurt()
        finally:
            self._stop_all()
        self._drain()
        self.receipts = Receipts(self._notes)
        self.verdict = Verdict(self._store.read(self._location), self.receipts)
        self.verdict.failures += [f"still runs without its terminal: process {pid}" for pid in self._orphans]
        if not self.verdict.failures:
            shutil.rmtree(self._folder)

    def has_met_all(self) -> bool:
        """Whether every kind of work was done and disturbed; a busy machine takes longer."""
        seen = Receipts(self._notes) if self._children else self.receipts
        return bool(len(seen.sent) > 20 and seen.got and seen.acked and seen.answered and self.harm["SIGKILL"] > 3)

    def _prepare(self) -> None:
        self.root.mkdir()
        self._notes.mkdir()
        # Another user watches: what everybody may read stays so.
        self._folder.chmod(0o755)
        self.root.chmod(0o755)
        self._location = self._store.make(self.root)

    def _start(self, kind: str) -> None:
        self._next += 1
        job = Job(self._location, self.root, self._notes / f"{kind}-{self._next}", self._next)
        pid = os.fork()
        if pid == 0:
            _be(KINDS[kind], job)
        self._children[pid] = kind

    def _hurt(self) -> None:
        """One harm: most often a kill."""
        # A console needs seconds to start, and as many to be looked at.
        weights = [0.2 if kind == "screen" else 1.0 for kind in self._children.values()]
        pid = self._chance.choices(list(self._children), weights)[0]
        how = self._chance.choices(("SIGKILL", "SIGTERM", "SIGSTOP", "litter"), (60, 15, 15, 10))[0]
        self.harm[how] += 1
        if how == "litter":
            self._store.litter(self.root, self._chance)
        elif how == "SIGSTOP":
            os.kill(pid, signal.SIGSTOP)
            time.sleep(self._chance.uniform(0.1, 0.6))
            os.kill(pid, signal.SIGCONT)
        else:
            os.kill(pid, getattr(signal, how))
            self._bury(pid)

    def _bury(self, pid: int) -> None:
        os.waitpid(pid, 0)
        self._start(self._children.pop(pid))

    def _stop_all(self) -> None:
        for pid in self._children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
        self._children.clear()
        self._orphans = _orphans(self.root)

    def _drain(self) -> None:
        """One clean process at the end: settle, and read every inbox empty, noting receipts like a child."""
        job = Job(self._location, self.root, self._notes / "drain", 0)
        time.sleep(LEASE_SECONDS)
        agents: tuple[str, ...] = (*RECEIVERS, *CLAIMERS, BULK)
        rounds = 0
        with contextlib.closing(open_team(self._location)) as team:
            while agents:  # of many messages in drop/ each writer takes in some
                rounds += 1
                assert rounds < 50, f"no end of messages to {agents}"
                agents = tuple(agent for agent in agents if self._read_all(Caller(team, agent), job))

    def _read_all(self, caller: Caller, job: Job) -> bool:
        """Read what an agent has, and note it; whether there was something."""
        agent = caller.actor
        got = receive(caller, agent=agent, delivered=agent == BULK).messages
        if got:
            job.note("acked" if agent in CLAIMERS else "got", agent, *(message.message_id for message in got))
        return bool(got)


def _orphans(folder: Path) -> list[str]:
    """Processes that work in the folder although who started them, and their terminal, went ten seconds ago."""
    for _ in range(100):
        if not (running := [path.parent.name for path in Path("/proc").glob("[0-9]*/cwd") if _leads_to(path, folder)]):
            break
        time.sleep(0.1)
    return running


def _leads_to(link: Path, folder: Path) -> bool:
    with contextlib.suppress(OSError):
        return link.readlink() == folder
    return False


def _be(work: Callable[[Job], None], job: Job) -> None:
    """The child: never returns, and leaves a note when an unexpected error ends it."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        work(job)
    except BaseException as error:
        job.note("wrong", type(error).__name__, repr(error).replace("\n", " "))
    finally:
        os._exit(1)


def prove(count: int, seed: int, folder: Path, only: str) -> Iterator[str]:
    """Torture a team in each kind of store for so many seconds; yield each promise that was broken. Its folder stays.

    A child that is killed between a return and its receipt counts as unseen; kills never test fsync.
    """
    for store in STORES:
        if only not in store:
            continue
        torture = Torture(store, seed=seed)
        try:
            torture.run(count)
        except NotHereError as error:
            print(f"{store}: left out, {error}", flush=True)
            continue
        print(f"{store}: {torture}", torture.root if torture.verdict.failures else "", flush=True)
        yield from torture.verdict.failures
