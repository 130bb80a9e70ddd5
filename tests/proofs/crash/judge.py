"""Enumerates the crashes of a story and checks on every disk they can leave that the promises hold."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from team_console.store.model.errors import TeamError

from tests.equipment.teams import make_message
from tests.proofs.crash.models import MODELS, Image, images
from tests.proofs.crash.simdisk import ROOT, PowerCut, SimDisk
from tests.proofs.crash.state import PROBE, Broken, State, check_files, check_history, read_state
from tests.proofs.crash.stories import QUEUE, STORIES, Story, open_team, send

ENOUGH = 5
"""So many broken promises of one story end its judgement."""
FOREIGN = make_message(8).message_id


Raises = Callable[[bool, str], BaseException | None]
"""What a fault raises at a step, told whether it is the first and the step's name; None for nothing."""


class _Run(NamedTuple):
    """An act that met a fault: the disk it left, what it raised, and where the fault was."""

    disk: SimDisk
    error: BaseException | None
    where: str


class Expected(NamedTuple):
    """The states a story may end in: as if the act had not happened, or as if it had."""

    old: tuple[State, ...]
    new: tuple[State, ...]


_BROKEN = (Broken, TeamError, yaml.YAMLError, LookupError, ValueError)
"""What judging a bad disk may raise."""


def _steps(prepare: Callable[[], SimDisk], raises: Raises, act: Callable[[SimDisk], object]) -> Iterator[_Run]:
    """Act again and again on a new disk, with a fault at its first step, at its second, until none is reached."""
    for count in range(1, 1000):
        disk, error = prepare(), None
        disk.fault_from(count, raises)
        try:
            act(disk)
        except (PowerCut, KeyboardInterrupt, TeamError) as raised:
            error = raised
        reached = len(disk.steps) >= count
        disk.fault = disk.before_step = None
        yield _Run(disk, error, f"step {count} ({disk.steps[count - 1] if reached else 'after the return'})")
        if not reached:
            return
    raise AssertionError("the act never ends")


def _cut(first: bool, name: str) -> BaseException | None:
    return PowerCut() if first else None


def judge_story(
    story: Story, model: str, *, can_exchange: bool = True, again: str | None = None, every: int = 1
) -> Iterator[str]:
    """Yield what is wrong with every disk that a crash may leave, or each `every`-th; an empty text for nothing.

    Args:
        again: A model; the recovery of each disk is crashed too, at every step, and what that leaves is judged.
    """
    expected, wrong = expectation(story, can_exchange=can_exchange), 0
    seen: set[tuple[Image, bool]] = set()
    for run in _steps(partial(_prepared, story, can_exchange=can_exchange), _cut, partial(_act, story)):
        for image in images(run.disk, model):
            known = len(seen)
            seen.add((image, run.error is None))
            if len(seen) == known or len(seen) % every:
                continue
            for place, disk in _disks(image, run.where, again, can_exchange):
                found = _judged(f"{story.name}, {model}, {place}", story, disk, expected, returned=run.error is None)
                yield found
                wrong += bool(found)
            if wrong >= ENOUGH:
                return


def prove(
    count: int, seed: int, folder: Path, only: str, *, can_exchange: bool = True, again: str | None = None
) -> Iterator[str]:
    """Judge every disk of every story under every model; yield each promise that is broken."""
    for name, story in STORIES.items():
        if only in name:
            told = {model: [*judge_story(story, model, can_exchange=can_exchange, again=again)] for model in MODELS}
            print(f"{name:44} {', '.join(f'{len(found)} {model}' for model, found in told.items())}", flush=True)
            yield from filter(None, chain(*told.values()))


def judge_errors(story: Story, number: int, *, lasting: bool) -> Iterator[str]:
    """Let each step of the act fail with errno `number` (`lasting`: and every later one), then judge the disk."""

    def fails(first: bool, name: str) -> BaseException | None:
        return OSError(number, os.strerror(number), name) if first or lasting else None

    return _judge_faults(story, fails)


def judge_interrupts(story: Story) -> Iterator[str]:
    """Interrupt each step of the act as Ctrl-C does, in a process that lives on, then judge the disk."""
    return _judge_faults(story, lambda first, name: KeyboardInterrupt() if first else None)


def _judge_faults(story: Story, raises: Raises) -> Iterator[str]:
    """Judge what the act left and said that met faults and lives on: without an error all of it must be there."""
    expected = expectation(story, can_exchange=True)
    for run in _steps(partial(_prepared, story, can_exchange=True), raises, partial(_act, story)):
        error = run.error
        is_unknown = isinstance(error, KeyboardInterrupt) or "unknown" in getattr(error, "message", "")
        outcome = Expected(expected.old if error else (), expected.new if is_unknown or not error else ())
        name = f"{story.name}, {run.where}: {error!r}"
        yield _judged(name, story, run.disk, outcome, returned=False, repeated=expected.new)


def _judged(name: str, *given: Any, **more: Any) -> str:
    """Judge a disk of this name; what is wrong, or an empty text."""
    try:
        judge(*given, **more)
    except _BROKEN as error:
        return f"{name}: {type(error).__name__}: {error}"
    return ""


def _disks(image: Image, name: str, again: str | None, can_exchange: bool) -> Iterator[tuple[str, SimDisk]]:
    if again is None:
        yield name, image.disk(can_exchange=can_exchange)
        return
    seen: set[Image] = set()
    for run in _steps(partial(image.disk, can_exchange=can_exchange), _cut, _probe):
        for second in images(run.disk, again):
            if second not in seen:
                seen.add(second)
                yield f"{name}, then {run.where} of the recovery", second.disk(can_exchange=can_exchange)


def expectation(story: Story, *, can_exchange: bool) -> Expected:
    """What the story leads to when nothing crashes: without the act, and with it."""
    without = _prepared(story, can_exchange=can_exchange, intruded=False)
    _probe(without)
    with_it = _prepared(story, can_exchange=can_exchange, intruded=False)
    story.act(open_team(with_it))
    old, new = state_of(without), state_of(with_it)
    if story.intrusion is None:
        return Expected((old,), (new,))
    return Expected((old, _with_foreign(old)), (new, _with_foreign(new)))


def judge(
    story: Story, disk: SimDisk, expected: Expected, *, returned: bool, repeated: tuple[State, ...] | None = None
) -> None:
    """Let the next process work on `disk` and check every promise.

    Args:
        returned: The act had returned, so that nothing of it may be missing.
        repeated: What doing it again may lead to, if not just what `expected` says.

    Raises:
        Broken: Naming the promise.
    """
    intruded = any(FOREIGN.encode() in disk.inodes[number].data for number in disk.tree.values())
    check_history(disk, ROOT)
    _probe(disk)
    state = state_of(disk)
    allowed = expected.new if returned else (*expected.old, *expected.new)
    if state not in allowed or (intruded and FOREIGN not in str(state)):
        raise Broken(f"neither before nor after: {state}")
    check_files(disk, ROOT)
    check_history(disk, ROOT)
    story.act(open_team(disk))
    # A receive that is repeated reads the intruder's message too, rightly.
    if not intruded and state_of(disk) not in (repeated or expected.new):
        raise Broken(f"repeating it gives {state_of(disk)}")
    check_files(disk, ROOT)


def state_of(disk: SimDisk) -> State:
    """What the simulated team holds."""
    return read_state(disk, ROOT)


def _probe(disk: SimDisk) -> None:
    """What the next process does: send something else."""
    send(PROBE, to="ceo")(open_team(disk))


def _prepared(story: Story, *, can_exchange: bool, intruded: bool = True) -> SimDisk:
    disk = SimDisk(can_exchange=can_exchange)
    story.before(open_team(disk))
    story.meanwhile(disk)
    disk.steps.clear()
    if story.intrusion is not None and intruded:
        _intrude(disk, *story.intrusion)
    return disk


def _intrude(disk: SimDisk, step: str, text: Callable[[bytes], bytes]) -> None:
    def before(name: str) -> None:
        if name == step or (step == "exchange" and not disk.can_exchange and name == "link"):
            disk.before_step = None
            disk.put(QUEUE, text(disk.inodes[disk.tree[QUEUE]].data))

    disk.before_step = before


def _act(story: Story, disk: SimDisk) -> None:
    story.act(open_team(disk))


def _with_foreign(state: State) -> State:
    return tuple(sorted((*state[0], (FOREIGN, "pending")))), state[1], state[2]
