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


def _refuse(line: CommandLine, agent: str) -> None:
    settings = line.folder / "messenger-config.yaml"
    command = f"- name: {agent}\n  deliver: [sh, -c, 'echo no room >&2; exit 3']"
    settings.write_text(settings.read_text().replace(f"- name: {agent}", command))


def test_the_failure_desk_from_failure_to_discard(make_team: MakeTeam) -> None:
    line = make_team("architect", "code_developer")
    first, second = _send(line), _send(line)
    _refuse(line, "architect")
    assert "exit status 3: no room" in line.ok("deliver").out
    rows = line.ok("failures", "--json").json["failures"]
    assert {row["message_id"]: (row["status"], row["attempts"]) for row in rows} == {
        first: ("retry", 1),
        second: ("retry", 1),
    }
    assert "no room" in line.ok("failures").out
    line.ok("redirect", first, "--to", "code_developer")
    line.ok("discard", second, "--reason", "not needed")
    line.ok("deliver")
    assert _inbox(line, "code_developer") == [first]
    assert line.ok("failures").out == "no failed deliveries\n"


def test_a_failed_delivery_is_answered_with_exactly_the_error_object_of_the_source(make_team: MakeTeam) -> None:
    line = make_team("architect")
    sent = _send(line)
    _refuse(line, "architect")
    failed = line("route", stdin=f'{{"ACTION": "deliver", "MESSAGE_ID": "{sent}"}}')
    assert failed.status == 1
    assert list(failed.json.items()) == [
        ("success", False),
        ("error", "delivery_timeout"),
        ("message", "Failed to deliver message after 1 attempt: exit status 3: no room"),
        ("message_id", sent),
        ("recipient", "architect"),
        ("retry_count", 1),
    ]


def test_the_loop_delivers_until_it_is_told_to_stop(make_team: MakeTeam) -> None:
    line = make_team("architect")
    with line.running("deliver", "--loop") as process:
        sent = _send(line)
        until(lambda: _inbox(line, "architect") == [sent])
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0
