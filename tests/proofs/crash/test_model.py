"""Any order of sends, crashes and foreign writes keeps to a model, and the next lock holder finishes it."""

from __future__ import annotations

import errno
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from team_console.store.backends.yaml.audit_trail import AuditTrail, TrailTip
from team_console.store.backends.yaml.disk import Disk, PartialAppendError, Stat
from team_console.store.backends.yaml.entry import write_entry
from team_console.store.backends.yaml.queue import QueueText
from team_console.store.backends.yaml.team import YamlTeam
from team_console.store.model.errors import Code, TeamError

from tests.equipment.teams import make_message
from tests.equipment.yaml_folder import is_rolled_back, notices, receive
from tests.proofs.crash.models import images
from tests.proofs.crash.simdisk import ROOT, PowerCut, SimDisk
from tests.proofs.crash.stories import (
    AGENT,
    QUEUE,
    acknowledge,
    answer,
    compact,
    deliver,
    open_team,
    send,
)

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

    @rule(act=st.sampled_from([deliver, acknowledge, compact, notices]), stop=_STEPS, model=_MODELS)
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
            self.disk.put(QUEUE, b"messages:\n" + body + write_entry(own))
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
        self.disk.fault_from(stop or 0, lambda first, name: PowerCut() if first and stop else None)
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


ONE, TWO = make_message(1).message_id, make_message(2).message_id


def _killed_before_the_swap(act: Callable[[YamlTeam], object]) -> SimDisk:
    """A disk with two messages on which `act` was killed once its trail line was durable."""
    disk = SimDisk()
    send(1, 2)(open_team(disk))
    disk.fault_from(1, lambda first, name: PowerCut() if name == "exchange" else None)
    try:
        act(open_team(disk))
    except PowerCut:
        (image,) = images(disk, "process")
        return image.disk()
    raise AssertionError("it was not stopped")


def test_a_receive_on_record_is_finished_with_each_message_in_the_archive_once() -> None:
    disk = _killed_before_the_swap(receive)
    assert notices(open_team(disk)) == {"COMPLETED"}
    archive = disk.read(ROOT / "archive" / f"{AGENT}-archive.yaml")[0]
    assert [archive.count(b"message_id: " + message_id.encode()) for message_id in (ONE, TWO)] == [1, 1]
    assert {message.status for message in open_team(disk).snapshot().messages} == {"read"}


def test_a_completion_of_which_nobody_can_tell_whether_it_is_on_record_is_an_error_of_the_store(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    disk = _killed_before_the_swap(receive)

    def breaks(*_: object, **__: object) -> TrailTip:
        raise PartialAppendError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(AuditTrail, "append", breaks)
        with pytest.raises(TeamError, match="the outcome is unknown") as told:
            receive(open_team(disk))
    assert told.value.code is Code.STORE_FAILED
    assert notices(open_team(disk)) == {"COMPLETED"}


def test_an_answer_on_record_is_finished_whole() -> None:
    disk = _killed_before_the_swap(answer)
    assert notices(open_team(disk)) == {"COMPLETED"}
    states = {message.message_id[-2:]: message.status for message in open_team(disk).snapshot().messages}
    assert states == {"01": "read", "02": "pending", "09": "pending"}
    assert [message.message_id for message in open_team(disk).history().messages] == [ONE]
    # What else is finished is judged disk by disk in test_crash_states; here only that it is told.
    for act in (deliver, send(3, 4)):
        assert notices(open_team(_killed_before_the_swap(act))) == {"COMPLETED"}


def test_a_copy_of_a_receive_cut_short_does_not_count_as_archived_while_the_queue_is_healed() -> None:
    disk = _killed_before_the_swap(receive)
    disk.overwrite(QUEUE, b"messages: []\n")
    assert receive(open_team(disk)) == []
    assert {message.status for message in open_team(disk).snapshot().messages} == {"read"}


@pytest.mark.parametrize("cut", [0, 40])
def test_what_another_program_put_behind_an_unfinished_copy_stays(cut: int) -> None:
    disk = _killed_before_the_swap(receive)
    path, theirs = ROOT / "archive" / f"{AGENT}-archive.yaml", b"- {id: x, type: message, from: ceo, to: a}\n"
    ours = disk.read(path)[0]
    disk.overwrite(path, ours[: len(ours) - cut] + b"\n" + theirs)
    assert receive(open_team(disk)) == []
    history = [record.message_id for record in open_team(disk).history(agent=AGENT).messages]
    assert sorted(history) == [ONE, TWO, "x"]
    assert any(theirs in disk.read(ROOT / "archive" / name)[0] for name in disk.names(ROOT / "archive"))


@pytest.mark.parametrize("act", [deliver, answer])
def test_a_message_of_somebody_else_that_has_the_id_of_ours_is_left_alone(act: Callable[[YamlTeam], object]) -> None:
    disk = _killed_before_the_swap(act)
    theirs = b"- {message_id: %s, type: message, from: x, to: y, status: pending, payload: {content: theirs}}\n"
    disk.overwrite(QUEUE, b"messages:\n" + theirs % ONE.encode() + theirs % TWO.encode())
    for _ in range(2):
        send(3)(open_team(disk))
        assert disk.read(QUEUE)[0].startswith(b"messages:\n" + theirs % ONE.encode() + theirs % TWO.encode())


def test_every_call_of_a_disk_is_simulated() -> None:
    calls = {name for name, call in vars(Disk).items() if callable(call) and not name.startswith("_")}
    assert calls
    assert calls - vars(SimDisk).keys() == set()
