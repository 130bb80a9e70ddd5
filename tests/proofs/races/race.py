"""One team on one kind of store, a plan that another program rewrites, and a human who approves what is shown."""

from __future__ import annotations

import os
import random
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

from team_console.store.contract.team import Team
from team_console.store.contract.transaction import ChangedError
from team_console.store.model.message import Message
from team_console.store.protocol.shown_when_decided import REQUEST_DIGEST, SHOWN, Seen, digest_of, seen_of
from team_console.store.service import requests
from team_console.store.service.answerable import live_question
from team_console.store.service.caller import Caller

from tests.equipment.statements import execute
from tests.equipment.teams import FACTORIES, STORES, FakeClock
from tests.equipment.yaml_folder import meanwhile

STEPS = {"in the transaction": "stage", "at the last check": "check", "at the swap": "swap"}
"""Moments within a write of ours, each with the step it comes before; where every writer needs the database's lock,
another program that writes at the same time stands for them."""
MOMENTS = ("after the look", *STEPS, "all the time", "never")
"""When the other program writes."""
_A_TEAM = 25
"""Races on one team: nobody reads its answers, and looking at all of them again after each change adds up."""
_OUTCOMES = ("approved", "asked again", "given up")
_LOOKS = 8
"""How often the human looks again before giving up on a plan that never rests."""
_MOST_BEATEN, _MOST_CHANGES = 12, 100
"""Rewritings of one plan at most, within our writes and all the time; after the last of them the plan rests, so that
it is approved right after a change, at no matter which."""


class Tally:
    """What became of the races.

    Attributes:
        counts: What happened -> how often; the moments at which another program wrote are among them.
        unseen: Approvals of bytes that were not on the screen, each by its request id.
    """

    def __init__(self) -> None:
        self.counts, self.unseen = Counter[str](), list[str]()

    def __str__(self) -> str:
        done = ", ".join(f"{self.counts[what]} {what}" for what in ("races", "changes", *_OUTCOMES))
        return f"{done}, {len(self.unseen)} approvals of what was not on the screen"


class Rewriter:
    """A program that rewrites the plan in the store itself, knowing no lock of ours."""

    def __init__(self, kind: str, location: str) -> None:
        self._kind, self._location = kind, location
        self.count = 0

    def change(self, mark: str) -> None:
        """Put another number behind `mark` in the text of a plan."""
        self.count += 1
        if self._kind == "yaml":
            self._replace_file(mark)
        else:
            old, new = f"{mark} version ", f"{mark} version {self.count:08d} was "
            text, cast = ("payload::text", "::json") if self._kind == "postgresql" else ("payload", "")
            changed = f"payload = replace({text}, :old, :new){cast}"
            update = f"UPDATE agent_message SET {changed} WHERE {text} LIKE :wanted AND status = 'pending'"
            execute(self._location, update, old=old, new=new, wanted=f"%{old}%")

    def _replace_file(self, mark: str) -> None:
        queue = next(Path(self._location).rglob("message-queue.yaml"))
        text = queue.read_text(encoding="utf-8")
        head, found, rest = text.partition(f"{mark} version ")
        if not found:
            return
        staged = queue.with_name(f".rewriter-{threading.get_ident()}")
        staged.write_text(f"{head}{found}{self.count:08d}{rest[8:]}", encoding="utf-8")
        os.replace(staged, queue)


class Races:
    """Runs races on one team."""

    def __init__(self, kind: str, team: Team, chance: random.Random, tally: Tally) -> None:
        self._kind, self._team, self._random, self.tally = kind, team, chance, tally
        self._rewriter = Rewriter(kind, team.location)

    def run(self, moments: Sequence[str]) -> None:
        """A race at each moment, one plan each."""
        for race, moment in enumerate(moments):
            self._race(f"plan{race:06d}", moment)
            self.tally.counts.update(("races", moment))
        self.tally.counts["changes"] += self._rewriter.count

    def _race(self, mark: str, moment: str) -> None:
        text = f"# {mark}\n{mark} version {0:08d} of the text\n"
        request_id = requests.submit_plan(Caller(self._team, "task-manager", 20.0), content=text).request_id
        assert request_id is not None
        with ExitStack() as stack:
            if moment == "all the time":
                stack.enter_context(self._changing(mark, times=self._random.randint(1, _MOST_CHANGES)))
            elif moment in STEPS and self._kind == "yaml":
                change, times = partial(self._rewriter.change, mark), self._random.randint(1, _MOST_BEATEN)
                stack.enter_context(meanwhile(STEPS[moment], change, times=times))  # then the plan rests
            self._approve(request_id, mark, moment, stack)

    def _approve(self, request_id: str, mark: str, moment: str, stack: ExitStack) -> None:
        for look in range(_LOOKS):
            question = live_question(self._team.snapshot(), request_id)
            assert question is not None
            seen = seen_of(question, evidence=["the project folder: a.py is there"])
            if look == 0 and moment == "after the look":
                self._rewriter.change(mark)
            elif look == 0 and moment in STEPS and self._kind != "yaml":
                stack.enter_context(self._changing(mark, times=2))
            try:
                caller = Caller(self._team, "ceo", 20.0)
                receipt = requests.approve(caller, request_id=request_id, note="go", seen=seen)
            except ChangedError:
                self.tally.counts["asked again"] += 1
                continue
            self.tally.counts["approved"] += 1
            self._judge(request_id, receipt.messages[0], seen)
            return
        self.tally.counts["given up"] += 1

    def _judge(self, request_id: str, verdict: Message, seen: Seen) -> None:
        """The question that went to the archive with the verdict is the one that was on the screen."""
        kept = [message for message in self._team.archived(request_id) if message.type == "plan_approval_request"]
        line = next(line for line in self._team.audit(limit=20) if verdict.message_id in line.facts.get("ids", ()))
        digests = {digest_of(message) for message in kept}
        shown = {seen_of(message, evidence=["the project folder: a.py is there"]).sha256 for message in kept}
        said = verdict.payload.get(SHOWN), line.facts.get(SHOWN)
        if digests != {line.facts.get(REQUEST_DIGEST)} or shown != {seen.sha256} or said != (seen.sha256, seen.sha256):
            self.tally.unseen.append(request_id)

    @contextmanager
    def _changing(self, mark: str, *, times: int) -> Iterator[None]:
        """Another thread that rewrites the plan so often, or until the block ends."""
        stop = threading.Event()

        def work() -> None:
            for _ in range(times):
                self._rewriter.change(mark)
                if stop.wait(0.002):
                    return

        thread = threading.Thread(target=work)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()


def prove(count: int, seed: int, folder: Path, only: str) -> Iterator[str]:
    """Yield each approval of what was not on the screen in so many races on each store, or that too little happened."""
    for kind in (kind for kind in STORES if only in kind):
        chance, tally = random.Random(f"{kind} {seed}"), Tally()
        moments = [MOMENTS[race % len(MOMENTS)] for race in range(count)]
        chance.shuffle(moments)
        for start in range(0, count, _A_TEAM):
            place = folder / f"{kind}-{start}"
            place.mkdir()
            with FACTORIES[kind](place, FakeClock()) as factory:
                Races(kind, factory(), chance, tally).run(moments[start : start + _A_TEAM])
            print(f"{kind}, seed {seed}: {tally}", flush=True)
        yield from (f"{kind}: {request_id} was approved as it never stood on the screen" for request_id in tally.unseen)
        # The other moments meet a look by luck.
        again, certain = tally.counts["asked again"], tally.counts["after the look"]
        if not again >= certain > 0 or tally.counts["approved"] * 4 <= count:
            yield f"{kind}: too little happened for a proof: {tally}"
