"""`status` tells a lock that blocks from a write, and a queue that somebody rolled back; `check --heal` repairs it."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from team_console.console.cli.look import watched
from team_console.console.cli.main import run
from team_console.store.contract.team import LockHolder, Snapshot
from team_console.store.model.clock import to_text, utc_now

from tests.conftest import CommandLine
from tests.memory_team import MemoryTeam
from tests.store.yaml_folder import process, wait_for
from tests.views.chronicle import snapshot_of

pytestmark = pytest.mark.slow

QUEUE = "message-queue.yaml"
NAMELESS = (
    "import fcntl\nfile = open(root / sys.argv[2])\nfcntl.flock(file, fcntl.LOCK_EX)\n"
    "os.write(1, b'held'); sys.stdin.read(1)"
)
"""Holds the lock as `flock` in a shell does, leaving no word in the file."""


class _Scripted(MemoryTeam):
    """A team whose lock is held by these, one after the other; the last stays."""

    def __init__(self, *holders: LockHolder | None) -> None:
        super().__init__(name="trial", clock=utc_now)
        self._holders = list(holders)
        self.looks = 0

    def snapshot(self, *, progress: Callable[[int, int], bool] | None = None) -> Snapshot:
        self.looks += 1
        holder = self._holders.pop(0) if len(self._holders) > 1 else self._holders[0]
        return Snapshot("r", utc_now(), None, snapshot_of(()).config, holder=holder)


def _held(pid: int, *, seconds: float = 0.0) -> LockHolder:
    return LockHolder(pid, os.uname().nodename, to_text(utc_now() - timedelta(seconds=seconds)), "send", True)


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """So long may a write take that a busy machine never passes one off as a lock that blocks."""
    monkeypatch.setattr("team_console.store.views.status.LONG_WRITE", 600.0)


@pytest.mark.usefixtures("patient")
def test_a_write_that_is_over_at_the_next_look_is_no_lock() -> None:
    team = _Scripted(_held(7), None)
    assert watched(team).holder is None
    assert team.looks == 2


@pytest.mark.usefixtures("patient")
def test_many_writers_one_after_the_other_are_no_lock_that_blocks() -> None:
    team = _Scripted(_held(7), _held(8))
    seen = watched(team).holder
    assert seen is not None
    assert (seen.pid, team.looks) == (8, 2)


def test_what_holds_the_lock_long_is_told_at_once() -> None:
    team = _Scripted(_held(7, seconds=30))
    assert watched(team).holder is not None
    assert team.looks == 1


def test_who_holds_the_lock_from_a_time_to_come_is_watched_for_a_second_and_no_longer() -> None:
    assert watched(_Scripted(_held(7, seconds=-3600))).holder is not None


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="needs the kernel's list of locks")
def test_a_lock_without_a_name_is_told_with_its_process(team: CommandLine) -> None:
    team.ok("send", "--to", "file-manager", "--summary", "Look at the export once", "--content", "Now.")
    with process(NAMELESS, team.folder, f"{QUEUE}.lock") as holder:
        wait_for(holder, b"held")
        seen = team.ok("status", "--json").json
        words = team.ok("status").out
    assert (seen["condition"], seen["lock"]["pid"], seen["lock"]["alive"]) == ("locked", holder.pid, True)
    assert f"locked by process {holder.pid}" in words
    assert "it is alive" in words
    free = team.ok("status", "--json").json
    assert (free["condition"], free["lock"]) == ("ok", None)


def test_a_rolled_back_queue_is_in_doubt_until_it_is_healed(team: CommandLine) -> None:
    before = (team.folder / QUEUE).read_bytes() if (team.folder / QUEUE).exists() else b"messages: []\n"
    team.ok("send", "--to", "file-manager", "--summary", "Look at the export once", "--content", "Now.")
    (team.folder / QUEUE).write_bytes(before)
    seen = team.ok("status", "--json").json
    assert (seen["condition"], seen["missing"]) == ("doubt", 1)
    assert "took 1 message out of the queue" in seen["doubt"]
    assert seen["needs_you"] == 1
    checked = team("check", "--json")
    assert (checked.status, [item["code"] for item in checked.json["findings"]]) == (1, ["ROLLED_BACK"])
    assert "check --heal" in checked.json["findings"][0]["hint"]
    healed = team.ok("check", "--heal", "--json").json
    assert [item["code"] for item in healed["healed"]] == ["HEALED_LOST"]
    assert team.ok("status", "--json").json["condition"] == "ok"
    assert team.ok("inbox", "file-manager", "--json").json["count"] == 1


@pytest.mark.parametrize("words", ["requests --open", "failures", "roster", "history", "inbox file-manager"])
def test_no_verb_lists_nothing_of_a_rolled_back_queue_without_a_warning(
    team: CommandLine, capfd: pytest.CaptureFixture[str], words: str
) -> None:
    team.ok("send", "--to", "file-manager", "--summary", "Look at the export once", "--content", "Now.")
    assert run(["-t", str(team.folder), *words.split()]) == 0
    assert "another program" not in capfd.readouterr().err
    (team.folder / QUEUE).write_bytes(b"messages: []\n")
    for more in ([], ["--json"]):
        assert run(["-t", str(team.folder), *words.split(), *more]) == 0
        assert "another program took 1 message out of the queue" in capfd.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        "requests",
        "requests --open",
        "failures",
        "roster",
        "history",
        "inbox file-manager",
        "status",
        "check",
        "decisions",
    ],
)
def test_every_list_in_json_says_why_it_may_not_be_all(team: CommandLine, words: str) -> None:
    team.ok("send", "--to", "file-manager", "--summary", "Look at the export once", "--content", "Now.")
    assert team(*words.split(), "--json").json["doubt"] is None
    (team.folder / QUEUE).write_bytes(b"messages: []\n")
    assert "took 1 message out of the queue" in team(*words.split(), "--json").json["doubt"]


def test_healing_is_a_write_and_refused_where_nothing_may_be_written(team: CommandLine) -> None:
    refused = team("--read-only", "check", "--heal", "--json")
    assert (refused.status, refused.json["error"]) == (5, "READ_ONLY")


def test_a_trail_that_was_changed_is_an_error_of_check_with_its_place(team: CommandLine) -> None:
    for number in range(3):
        team.ok("send", "--to", "file-manager", "--summary", f"Look at export number {number}", "--content", "Now.")
    assert team.ok("check", "--json").json["findings"] == []
    audit = team.folder / "audit.jsonl"
    lines = audit.read_bytes().splitlines(keepends=True)
    audit.write_bytes(b"".join(lines[:-2] + lines[-1:]))
    checked = team("check", "--json")
    assert checked.status == 1
    (found,) = checked.json["findings"]
    assert (found["code"], found["place"]) == ("AUDIT_BROKEN", f"audit.jsonl, line {len(lines)}")
    assert found["hint"]
