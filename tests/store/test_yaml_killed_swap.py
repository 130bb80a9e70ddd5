"""A program without the lock wrote just before our swap, and we died just after it: what it wrote is merged."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from team_console.store.backends.yaml.disk import Disk
from team_console.store.backends.yaml.team import YamlTeam

from tests.equipment.cases import cases
from tests.equipment.yaml_folder import (
    QUEUE,
    make_message,
    meanwhile,
    notices,
    open_yaml,
    put,
    queue_of,
    replace_by_rename,
    states,
)

PREVIOUS = f"{QUEUE}.prev"


class _Dying(Disk):
    """A disk under a process that dies when it has exchanged two names, or renamed a file to `.prev`."""

    def __init__(self, moment: str) -> None:
        super().__init__()
        self._moment = moment

    def exchange(self, path: Path, other: Path) -> bool:
        done = super().exchange(path, other)
        if self._moment == "exchanged":
            os._exit(9)
        return done

    def rename(self, path: Path, target: Path) -> None:
        super().rename(path, target)
        if self._moment == "kept" and target.name == PREVIOUS:
            os._exit(9)


def _die(root: Path, moment: str, act: Callable[[YamlTeam], object]) -> None:
    """Let a process of its own act on the team until it dies at this moment."""
    child = os.fork()
    if child == 0:
        try:
            act(open_yaml(root, disk=_Dying(moment)))
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9, f"it did not die: {moment}"


def _send(team: YamlTeam) -> None:
    put(team, make_message(2))


def _take_out_copies(team: YamlTeam) -> None:
    notices(team)


def _replace(root: Path) -> None:
    replace_by_rename(root / QUEUE, queue_of(make_message(1), make_message(8)))


def _remove(root: Path) -> None:
    (root / QUEUE).rename(root / "taken-away.yaml")


def _leave(root: Path) -> None:
    """Nobody writes."""


@pytest.mark.parametrize("later", [_replace, _remove, _leave], ids=["replaced", "removed", "left"])
@pytest.mark.parametrize("deaths", [("exchanged",), ("kept",), ("exchanged", "kept")], ids="-".join)
@cases
@pytest.mark.parametrize("act", [_send, _take_out_copies])
def test_what_our_swap_displaced_is_merged_whatever_became_of_the_queue(
    tmp_path: Path,
    act: Callable[[YamlTeam], object],
    has_generation: bool,
    deaths: tuple[str, ...],
    later: Callable[[Path], object],
) -> None:
    if has_generation:
        put(open_yaml(tmp_path), make_message(3))
        put(open_yaml(tmp_path), make_message(4))
    ours = [make_message(3), make_message(4)] if has_generation else []
    before = [make_message(1), *ours]
    replace_by_rename(tmp_path / QUEUE, queue_of(*before))
    if has_generation:
        notices(open_yaml(tmp_path))  # so that the write we die in is the one that is tried
    if act is _take_out_copies:
        before = [make_message(1), *before]
        replace_by_rename(tmp_path / QUEUE, queue_of(*before))

    with meanwhile("swap", lambda: replace_by_rename(tmp_path / QUEUE, queue_of(*before, make_message(7)))):
        _die(tmp_path, deaths[0], act)
    for moment in deaths[1:]:
        _die(tmp_path, moment, notices)
    later(tmp_path)
    notices(open_yaml(tmp_path))

    numbers = {"01", "07", *(message.message_id[-2:] for message in ours)}
    numbers |= {"02"} if act is _send else set()
    numbers |= {"08"} if later is _replace else set()
    assert states(open_yaml(tmp_path)) == dict.fromkeys(numbers, "pending")
    assert all(line.intact for line in open_yaml(tmp_path).audit())
    assert not [path for path in tmp_path.iterdir() if ".tmp." in path.name]
