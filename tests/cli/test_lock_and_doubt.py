"""`status` tells a lock that blocks from a write, and a queue that somebody rolled back; `check --heal` repairs it."""

from __future__ import annotations

import pytest

from tests.equipment.command_line import CommandLine

pytestmark = pytest.mark.slow

QUEUE = "message-queue.yaml"


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
