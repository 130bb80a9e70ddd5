"""`status` tells a lock that blocks from a write, and a queue that somebody rolled back; `check --heal` repairs it."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import timedelta

import pytest
from team_console.console.cli.watching import watched
from team_console.store.contract.team import LockHolder, Snapshot
from team_console.store.model.clock import to_text, utc_now

from tests.equipment.chronicle import snapshot_of
from tests.equipment.command_line import CommandLine
from tests.equipment.memory_team import MemoryTeam

pytestmark = pytest.mark.slow

QUEUE = "message-queue.yaml"


class _Scripted(MemoryTeam):
    """A team whose lock is held at the first look, since so many seconds."""

    def __init__(self, seconds: float) -> None:
        super().__init__(name="trial", clock=utc_now)
        since = to_text(utc_now() - timedelta(seconds=seconds))
        self._holders = [None, LockHolder(7, os.uname().nodename, since, "send", True)]

    def snapshot(self, *, progress: Callable[[int, int], bool] | None = None) -> Snapshot:
        return Snapshot("r", utc_now(), None, snapshot_of(()).config, holder=self._holders.pop())


def test_what_holds_the_lock_long_is_told_at_once() -> None:
    assert watched(_Scripted(900)).holder is not None


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


def test_no_verb_lists_nothing_of_a_rolled_back_queue_without_a_warning(team: CommandLine) -> None:
    team.ok("send", "--to", "file-manager", "--summary", "Look at the export once", "--content", "Now.")
    lists = [words.split() for words in ("requests --open", "failures", "roster", "history", "inbox file-manager")]
    more = [[word] for word in ("requests", "status", "check", "decisions")]
    assert {team(*words, "--json").json["doubt"] for words in (*lists, *more)} == {None}
    assert {team.ok(*words).err for words in lists} == {""}
    (team.folder / QUEUE).write_bytes(b"messages: []\n")
    for words in (*lists, *more):
        assert "took 1 message out of the queue" in team(*words, "--json").json["doubt"]
    for words in lists:
        for form in ((), ("--json",)):
            assert "another program took 1 message out of the queue" in team.ok(*words, *form).err
