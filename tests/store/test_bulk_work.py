"""Work counted, not timed: what many messages cost may grow with their number and not with its square."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from team_console.store.backends.yaml.codec import QueueText, emit
from team_console.store.backends.yaml.disk import Disk
from team_console.store.contract.team import Team
from team_console.store.service import slices
from team_console.store.service.caller import Caller
from team_console.store.service.inbox import receive
from team_console.store.service.maintenance import clear
from team_console.store.service.router import deliver
from team_console.store.service.sending import send

from tests.store.contract import FakeClock, make_message, yaml_factory

pytestmark = pytest.mark.slow

FEW, MANY = 200, 800
STEEPEST = 1.1


class Work:
    """Calls made, and bytes read, written and searched."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.calls = 0
        self.bytes = 0
        read, find, write, search = Disk.read, Disk.find, Disk.write, QueueText._candidates

        def counted(function: Callable[..., Any], size: Callable[..., int]) -> Callable[..., Any]:
            def call(*arguments: Any) -> Any:
                result = function(*arguments)
                self.bytes += size(result, *arguments)
                return result

            return call

        patch.setattr(Disk, "read", counted(read, lambda result, *_: len(result[0])))
        patch.setattr(Disk, "write", counted(write, lambda result, *_: result))
        patch.setattr(Disk, "find", counted(find, lambda _, disk, path, needle: path.stat().st_size))
        patch.setattr(QueueText, "_candidates", counted(search, lambda _, text, *__: len(text.data())))

    def profile(self, frame: FrameType, event: str, argument: object) -> None:
        self.calls += event in ("call", "c_call")


def _measure(folder: Path, patch: pytest.MonkeyPatch, count: int, act: Callable[[Team], object]) -> tuple[int, int]:
    folder.mkdir()
    clock = FakeClock()
    with yaml_factory(folder, clock) as factory, patch.context() as inner:
        team = factory()
        assert team.root is not None
        text = b"".join(emit(make_message(number)) for number in range(count))
        (team.root / "message-queue.yaml").write_bytes(b"messages:\n" + text)
        clock.advance(86_400)
        work = Work(inner)
        sys.setprofile(work.profile)
        try:
            act(team)
        finally:
            sys.setprofile(None)
        return work.calls, work.bytes


def _receive(team: Team) -> object:
    return receive(Caller(team, "task-manager"), agent="task-manager")


def _deliver(team: Team) -> object:
    return deliver(Caller(team, "ceo"))


def _deliver_and_clear(team: Team) -> object:
    deliver(Caller(team, "ceo"))
    assert isinstance(team.clock, FakeClock)
    team.clock.advance(60)
    return clear(Caller(team, "ceo"), older_than_days=0)


def _send(team: Team) -> object:
    return send(Caller(team, "ceo"), to="task-manager", summary="Five words are in here", content="Hello")


@pytest.mark.parametrize("act", [_receive, _deliver, _deliver_and_clear, _send])
def test_the_work_grows_with_the_number_of_messages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, act: Callable[[Team], object]
) -> None:
    monkeypatch.setattr(slices, "LEAST", 25)
    few = _measure(tmp_path / "few", monkeypatch, FEW, act)
    many = _measure(tmp_path / "many", monkeypatch, MANY, act)
    for what, less, more in zip(("calls", "bytes"), few, many, strict=True):
        exponent = math.log(more / less) / math.log(MANY / FEW)
        assert exponent <= STEEPEST, f"{what} grow with the power of {exponent:.2f}: {less:,} and {more:,}"


def test_many_messages_are_written_in_slices_that_are_each_durable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slices, "LEAST", 10)
    with yaml_factory(tmp_path, FakeClock()) as factory:
        team = factory()
        assert team.root is not None
        text = b"".join(emit(make_message(number)) for number in range(40))
        (team.root / "message-queue.yaml").write_bytes(b"messages:\n" + text)
        assert len(receive(Caller(team, "task-manager"), agent="task-manager").messages) == 40
        slices_written = [line for line in team.audit() if line.action == "receive"]
        assert [len(line.facts["ids"]) for line in slices_written] == [10, 10, 10, 10]
