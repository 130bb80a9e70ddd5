"""`send` and `broadcast`: what is written, and what is said about it first."""

from __future__ import annotations

import yaml

from tests.equipment.cases import cases
from tests.equipment.command_line import COMMAND, CommandLine
from tests.equipment.terminal import Terminal

SUMMARY = "State of the export job please"


def queue(team: CommandLine) -> list[dict[str, object]]:
    """The records as an independent YAML reader sees them."""
    return list(yaml.safe_load((team.folder / "message-queue.yaml").read_text(encoding="utf-8"))["messages"] or [])


@cases
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


@cases
def test_a_broadcast_says_who_will_get_it_and_asks_at_a_terminal(answer: str, written: int, team: CommandLine) -> None:
    words = ("broadcast", "--summary", "Code freeze starts at four today", "--content", "x")
    with Terminal([*COMMAND, *words], cwd=team.folder) as terminal:
        terminal.wait_for("4 deliveries: task-manager, schedule-manager, file-manager, knowledge-manager", "[y/N]")
        assert queue(team) == []
        terminal.send(answer)
        terminal.wait_exit()
    assert [record["type"] for record in queue(team)] == ["broadcast"] * written
