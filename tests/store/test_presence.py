"""Presence: a fact that ends with its process, whichever way that ends, in every kind of team."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from team_console.store.backends.open import open_team
from team_console.store.contract.team import Presence, Team, new_presence_name
from team_console.store.service.waiting import announce_presence, human_present

from tests.equipment.command_line import CommandLine, clean_environment, next_line
from tests.equipment.teams import FACTORIES, FakeClock
from tests.equipment.waiting import until

pytestmark = pytest.mark.slow

_HOLD = """
import sys
from team_console.store.backends.open import open_team
from team_console.store.contract.team import Presence
team = open_team(sys.argv[1])
with team.announce(Presence(sys.argv[2]), sys.argv[3]) as announced:
    print(announced, flush=True)
    sys.stdin.readline()
team.close()
"""


@contextmanager
def another_process(location: str, presence: Presence, name: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process that is present until its input ends."""
    with subprocess.Popen(
        [sys.executable, "-P", "-c", _HOLD, location, str(presence), name],
        env=clean_environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert next_line(process.stdout) == "True"
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("kind", FACTORIES)
def test_whoever_announced_itself_is_there_until_it_leaves(kind: str, tmp_path: Path) -> None:
    with FACTORIES[kind](tmp_path, FakeClock()) as make:
        team: Team = make()
        assert not human_present(team)
        with announce_presence(team) as announced:
            assert announced
            until(lambda: human_present(team))
            assert not team.attendance(Presence.ASKER).names
        assert not human_present(team)
        team.close()


@pytest.fixture(params=["folder", "database"])
def location(request: pytest.FixtureRequest, team: CommandLine, tmp_path: Path) -> str:
    """A team on disk, one of each kind."""
    if request.param == "folder":
        return str(team.folder)
    team.ok("init", str(tmp_path / "team.db"), "--lead", "ceo")
    return str(tmp_path / "team.db")


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM, None])
def test_presence_ends_with_its_process_however_that_ends(location: str, end: signal.Signals | None) -> None:
    team = open_team(location)
    with another_process(location, Presence.CONSOLE, new_presence_name()) as process:
        assert human_present(team)
        if end is None:
            process.communicate(b"\n")
        else:
            process.send_signal(end)
            process.wait()
        assert not human_present(team)
    team.close()


def test_a_name_is_gone_only_when_that_is_certain(location: str) -> None:
    team, name = open_team(location), new_presence_name()
    with another_process(location, Presence.ASKER, name):
        attendance = team.attendance(Presence.ASKER)
        assert not attendance.is_gone(name)
        assert attendance.is_gone(new_presence_name())
    assert team.attendance(Presence.ASKER).is_gone(name)
    team.close()


def test_a_console_whose_presence_was_removed_is_there_again(location: str) -> None:
    team = open_team(location)
    folder = Path(team.places()["presence"])
    with announce_presence(team):
        for _ in range(2):
            (entry,) = folder.iterdir()
            before = entry.stat().st_ino
            aside = folder.rename(folder.with_name("aside"))
            assert not human_present(team)
            until(lambda: human_present(team))
            assert [found.stat().st_ino == before for found in folder.iterdir()] == [False]
            shutil.rmtree(aside)
    assert list(folder.iterdir()) == []
    team.close()


def test_what_keeps_a_console_from_being_seen_is_told(location: str) -> None:
    """Hooks of agents asked nobody, though the human sat there, and nothing said why."""
    team = open_team(location)
    place = Path(team.places()["presence"])
    shutil.rmtree(place, ignore_errors=True)
    place.write_text("")
    with team.announce(Presence.CONSOLE, new_presence_name()) as announced:
        assert not announced
    found = open_team(location).snapshot().problems
    assert [problem.code for problem in found if "is not seen" in problem.message] == ["UNUSABLE_FILE"]
