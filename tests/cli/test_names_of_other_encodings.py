"""A folder whose name is not UTF-8, as older systems left them: its teams work, and what cannot hold it says so."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.equipment.command_line import CommandLine

pytestmark = pytest.mark.skipif(sys.platform == "darwin", reason="its file systems hold no such names")
WORDS = ("--summary", "One two three four five", "--content", "x")


@pytest.fixture
def latin(tmp_path: Path) -> CommandLine:
    """The command line in such a folder."""
    folder = tmp_path / os.fsdecode("Bücher?%ff".encode("latin-1"))
    folder.mkdir()
    return CommandLine(folder)


@pytest.mark.parametrize("place", [".", "team.db"])
def test_a_team_in_it_works(place: str, latin: CommandLine) -> None:
    latin.ok("init", place, "--agent", "dev")
    sent = latin.ok("-t", place, "send", "--to", "dev", *WORDS, "--json").json
    assert latin.ok("-t", place, "--read-only", "inbox", "dev", "--json").json["count"] == 1
    taken = latin.ok("-t", place, "receive", "--agent", "dev", "--json").json["messages"]
    assert [message["message_id"] for message in taken] == [sent["message_id"]]
    assert latin.ok("-t", place, "status", "--json").json["location"].startswith(str(latin.folder))
