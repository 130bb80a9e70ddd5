"""`send` and `broadcast`: what is written, what is said about it, what is refused."""

from __future__ import annotations

import os
import pty
import re
import select
import time

import pytest
import yaml

from tests.equipment.command_line import COMMAND, CommandLine, clean_environment

SUMMARY = "State of the export job please"


def queue(team: CommandLine) -> list[dict[str, object]]:
    """The records as an independent YAML reader sees them."""
    return list(yaml.safe_load((team.folder / "message-queue.yaml").read_text(encoding="utf-8"))["messages"] or [])


def test_the_receipt_has_the_fields_of_the_contract(team: CommandLine) -> None:
    result = team.ok("send", "--to", "task-manager", "--summary", SUMMARY, "--content", "How far is it?", "--json").json
    assert re.fullmatch(r"MSG-\d{8}-[a-z2-7]{8}", result["message_id"])
    assert result["success"] is True
    assert result["action"] == "send"
    assert (result["sender"], result["recipient"]) == ("ceo", "task-manager")
    assert (result["message_type"], result["status"]) == ("message", "pending")
    assert result["created_at"].endswith("Z")
    assert result["warnings"] == []
    assert "deliveries" not in result


@pytest.mark.parametrize(
    "to", [("--to", "task-manager,file-manager"), ("--to", "task-manager", "--to", "file-manager")]
)
def test_several_recipients_get_one_record_each(to: tuple[str, ...], team: CommandLine) -> None:
    result = team.ok("send", *to, "--summary", SUMMARY, "--content", "?", "--json").json
    assert [row["recipient"] for row in result["deliveries"]] == ["task-manager", "file-manager"]
    records = queue(team)
    assert [record["to"] for record in records] == ["task-manager", "file-manager"]
    assert len({record["broadcast_id"] for record in records}) == 1


def test_content_comes_from_standard_input_byte_for_byte(team: CommandLine) -> None:
    text = "第一行\n  indented: 'quoted' # not a comment\n\nlast line\n"
    team.ok("send", "--to", "task-manager", "--summary", SUMMARY, "--content", "-", stdin=text)
    assert queue(team)[0]["payload"] == {"content": text, "summary": SUMMARY}


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ((), "MISSING_RECIPIENT"),
        (("--to", ","), "MISSING_RECIPIENT"),
        (("--to", "task-manger", "--summary", "s", "--content", "c"), "AGENT_NOT_FOUND"),
        (("--to", "../etc", "--summary", "s", "--content", "c"), "INVALID_NAME"),
        (("--to", "task-manager", "--content", "c"), "MISSING_SUMMARY"),
        (("--to", "task-manager", "--summary", "s"), "MISSING_CONTENT"),
        (("--to", "task-manager", "--summary", "s", "--content", "c", "--type", "mesage"), "INVALID_TYPE"),
        (("--to", "task-manager", "--summary", "s", "--content", "c", "--payload", "[1]"), "INVALID_FIELD"),
        (("--to", "task-manager", "--summary", "s", "--content", "c", "--payload", "{"), "INVALID_FIELD"),
    ],
)
def test_what_cannot_be_sent_is_refused_with_its_code(arguments: tuple[str, ...], code: str, team: CommandLine) -> None:
    result = team("send", *arguments, "--json")
    assert (result.status, result.json["error"]) == (1, code)
    assert result.json["hint"]
    assert queue(team) == []


def test_a_broadcast_says_the_number_of_deliveries_first(team: CommandLine) -> None:
    result = team.ok("broadcast", "--summary", "Code freeze starts at four today", "--content", "Merge before 16:00.")
    assert result.err.startswith("4 deliveries: task-manager, schedule-manager, file-manager, knowledge-manager")
    assert {record["type"] for record in queue(team)} == {"broadcast"}
    assert len(queue(team)) == 4


@pytest.mark.parametrize(("answer", "written"), [("\r", 0), ("y\r", 4)])
def test_at_a_terminal_a_broadcast_asks_first(answer: str, written: int, team: CommandLine) -> None:
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(team.folder)
        words = ("broadcast", "--summary", "Code freeze starts at four today", "--content", "x")
        os.execve(COMMAND[0], [*COMMAND, *words], clean_environment())
    seen = read_until(terminal, b"[y/N] ")
    assert b"4 deliveries" in seen
    assert queue(team) == []
    os.write(terminal, answer.encode())
    read_until(terminal, None)
    os.waitpid(pid, 0)
    os.close(terminal)
    assert len(queue(team)) == written


def read_until(terminal: int, wanted: bytes | None) -> bytes:
    """What the terminal showed up to `wanted`, or to its end."""
    seen, end = b"", time.monotonic() + 60
    while wanted is None or wanted not in seen:
        assert time.monotonic() < end, seen
        if not select.select([terminal], [], [], 0.5)[0]:
            continue
        try:
            part = os.read(terminal, 4096)
        except OSError:
            return seen
        if not part:
            return seen
        seen += part
    return seen
