"""Queues as other programs write them: empty in their words, under the lock of the source, with files in `drop/`."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.equipment.command_line import CommandLine

pytestmark = pytest.mark.slow

QUEUE = "message-queue.yaml"
SEND = ("send", "--as", "ceo", "--to", "dev", "--summary", "one two three four five", "--content", "c")
ENTRY = "- {message_id: theirs, type: message, from: ceo, to: dev, status: pending, payload: {content: c}}"


@pytest.fixture
def here(tmp_path: Path) -> CommandLine:
    (tmp_path / "messenger-config.yaml").write_text("lead: ceo\nagents: [dev, sm, boss]\n")
    return CommandLine(tmp_path)


def test_a_program_that_writes_as_the_source_says_is_not_told_off(here: CommandLine) -> None:
    here.ok(*SEND)
    for number in range(2):
        script = f"cp {QUEUE} {QUEUE}.tmp && echo '{ENTRY.replace('theirs', f'theirs-{number}')}' >> {QUEUE}.tmp"
        command = f"{script} && mv {QUEUE}.tmp {QUEUE}"
        subprocess.run(["flock", f"{QUEUE}.lock", "sh", "-c", command], cwd=here.folder, check=True)
        found = here("check")
        assert "does not lock" not in found.out
        assert "nothing is missing" in found.out
        assert here.ok(*SEND).err == ""
    assert here.ok("receive dev --json").json["count"] == 5
