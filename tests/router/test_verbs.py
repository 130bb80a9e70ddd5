"""The router's verbs as processes on a team in files."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable

import pytest

from tests.equipment.command_line import CommandLine
from tests.equipment.waiting import until

pytestmark = pytest.mark.slow

MakeTeam = Callable[..., CommandLine]


def _inbox(line: CommandLine, agent: str) -> list[str]:
    file = line.folder / "inbox" / f"{agent}.jsonl"
    return [json.loads(splitline)["message_id"] for splitline in file.read_text().splitlines()] if file.exists() else []


def _send(line: CommandLine, to: str = "architect") -> str:
    result = line.ok("send --json --to", to, "--summary", "The spec is ready now", "--content", "See spec 31.")
    return str(result.json["message_id"])


def test_the_loop_delivers_until_it_is_told_to_stop(make_team: MakeTeam) -> None:
    line = make_team("architect")
    with line.running("deliver", "--loop") as process:
        sent = _send(line)
        until(lambda: _inbox(line, "architect") == [sent])
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0
