"""Any order of sends, receives, deliveries, crashes and foreign writes keeps to a model that fits in a dictionary."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from team_console.store.backends.yaml.disk import Stat
from team_console.store.backends.yaml.entry import emit
from team_console.store.backends.yaml.queue import QueueText
from team_console.store.backends.yaml.team import YamlTeam

from tests.equipment.teams import make_message
from tests.equipment.yaml_folder import is_rolled_back
from tests.proofs.crash.models import images
from tests.proofs.crash.simdisk import ROOT, PowerCut, SimDisk
from tests.proofs.crash.stories import AGENT, QUEUE, acknowledge, compact, deliver, enter, open_team, receive, send

pytestmark = pytest.mark.slow

_STEPS = st.one_of(st.none(), st.integers(1, 25))
_MODELS = st.sampled_from(["process", "ext4"])


class Story(RuleBasedStateMachine):
    """The model: which ids were accepted, and which a caller has received.

    Attributes:
        settled: Nobody wrote without the lock, and nothing crashed, since the last act.
        sure: Nothing crashed since the last act, so that it is known what was accepted.
    """

    def __init__(self) -> None:
        super().__init__()
        self.disk = SimDisk()
        self.accepted: set[str] = set()
        self.received: list[str] = []
        self.number = 0
        self.settled = self.sure = True
        self.past: list[bytes] = []
        self.theirs: str | None = None

    @rule(count=st.integers(1, 3), stop=_STEPS, model=_MODELS)
    def sends(self, count: int, stop: int | None, model: str) -> None:
        numbers = range(self.number + 1, self.number + 1 + count)
        self.number += count
        if self._do(send(*numbers), stop, model):
            self.accepted |= {make_message(number).message_id for number in numbers}

    @rule(stop=_STEPS, model=_MODELS)
    def receives(self, stop: int | None, model: str) -> None:
        got: list[str] = []
        if self._do(lambda team: got.extend(receive(team)), stop, model):
            assert not set(got) & set(self.received), "handed out twice"
            self.received += got

    @rule(act=st.sampled_from([deliver, acknowledge, compact, enter]), stop=_STEPS, model=_MODELS)
    def works(self, act: Callable[[YamlTeam], object], stop: int | None, model: str) -> None:
        self._do(act, stop, model)

    @rule(back=st.integers(1, 3))
    def is_rolled_back(self, back: int) -> None:
        """A program that does not lock puts back what it read some time ago, with a message of its own."""
        if len(self.past) >= back:
            self.number += 1
            own = make_message(self.number)
            old = QueueText.parse(self.past[-back])
            body = b"".join(entry.raw for entry in old.entries)
            self.disk.put(QUEUE, b"messages:\n" + body + emit(own))
            self.theirs = own.message_id
            self.settled = False

    @rule()
    def is_cut(self) -> None:
        """A program that rewrites in place stops after the first messages."""
        stat: Stat | None = self.disk.stat(QUEUE)
        if stat is not None and self.past:
            entries = QueueText.parse(self.past[-1]).entries
            if len(entries) > 1:
                self.disk.overwrite(
                    QUEUE, b"messages:\n" + b"".join(entry.raw for entry in entries[: len(entries) // 2])
                )
                self.theirs, self.settled = None, False

    @invariant()
    def nothing_accepted_is_lost(self) -> None:
        if self.settled:
            missing = self.accepted - self._present()
            assert not missing, missing

    @invariant()
    def what_a_foreign_writer_took_is_told_before_it_is_healed(self) -> None:
        if self.sure and self.disk.stat(QUEUE) is not None:
            snapshot = open_team(self.disk).snapshot()
            present = self._present()
            assert self.accepted - present <= snapshot.missing
            assert not snapshot.missing & present
            assert is_rolled_back(snapshot) or not snapshot.missing

    @invariant()
    def nothing_received_is_pending(self) -> None:
        if self.settled and self.disk.stat(QUEUE) is not None:
            live = {message.message_id: message.status for message in open_team(self.disk).snapshot().messages}
            assert all(live.get(item, "read") == "read" for item in self.received)

    @invariant()
    def archives_hold_each_message_once(self) -> None:
        path = ROOT / "archive" / f"{AGENT}-archive.yaml"
        stat = self.disk.stat(path)
        if self.settled and stat is not None and stat.size:
            ids = [message.message_id for message in QueueText.parse(self.disk.read(path)[0]).messages()]
            assert len(ids) == len(set(ids))
            assert set(self.received) <= set(ids)

    def _do(self, act: Callable[[YamlTeam], object], stop: int | None, model: str) -> bool:
        """Act, perhaps crashing at a step; whether it returned."""

        def fault(count: int, name: str) -> None:
            if count == stop:
                raise PowerCut

        self.disk.steps.clear()
        self.disk.fault = fault if stop is not None else None
        try:
            act(open_team(self.disk))
        except PowerCut:
            *_, image = images(self.disk, model)
            self.disk = image.disk()
            self.settled = self.sure = False
            return False
        self.disk.fault = None
        self.settled = self.sure = True
        self.accepted |= {self.theirs} if self.theirs else set()
        self.theirs = None
        if self.disk.stat(QUEUE) is not None:
            self.past.append(self.disk.read(QUEUE)[0])
        return True

    def _present(self) -> set[str]:
        team = open_team(self.disk)
        live = {message.message_id for message in team.snapshot().messages}
        return live | {message.message_id for message in team.history(limit=10_000).messages}


TestStory = Story.TestCase
TestStory.settings = settings(
    max_examples=30,
    stateful_step_count=30,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
