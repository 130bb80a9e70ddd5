"""Teams of 0.5.0 open as they are, and 0.5.0 reads and writes on in teams of now."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.equipment.command_line import CommandLine
from tests.equipment.older_version import FIXTURE, YAML_FILES, act, comparable


@pytest.fixture
def old(tmp_path: Path) -> CommandLine:
    """A copy of a team that 0.5.0 made."""
    shutil.copytree(FIXTURE, tmp_path / "old")
    return CommandLine(tmp_path / "old")


@pytest.fixture
def new(tmp_path: Path) -> CommandLine:
    """A team in which the same was done now."""
    (tmp_path / "new").mkdir()
    command = CommandLine(tmp_path / "new")
    act(lambda words: command.ok(*words).out)
    return command


def test_it_goes_on_where_0_5_0_stopped(old: CommandLine) -> None:
    rows = {row["kind"]: row for row in old.ok("--as ceo requests --json").json["requests"]}
    assert {kind: row["state"] for kind, row in rows.items()} == {"plan": "approved", "clarification": "overdue"}
    old.ok("--as ceo answer", rows["clarification"]["message_id"], "--content", "Make it blue")
    got = old.ok("receive --agent dev --json").json["messages"]
    assert len(got) == 2
    assert "plan_approval_response" in {message["type"] for message in got}
    assert [found for found in old("check --json").json["findings"] if found["severity"] == "error"] == []


def test_what_is_written_now_has_the_form_of_0_5_0(new: CommandLine) -> None:
    for name in YAML_FILES:
        now, then = ((folder / name).read_text("utf-8") for folder in (new.folder, FIXTURE))
        assert comparable(now) == comparable(then), name
    trails = [(folder / "audit.jsonl").read_text("utf-8").splitlines() for folder in (new.folder, FIXTURE)]
    lines = [list(map(json.loads, trail)) for trail in trails]
    for now, then in zip(*lines, strict=True):
        assert _shape(now) == _shape(then)


_ADDED = {"previous", "decision_sha256"}
"""Parts and facts that a line has beside those of 0.5.0, whose readers pass over them."""


def _shape(line: dict[str, Any]) -> tuple[object, ...]:
    """What readers of a line rely on: who did what, which parts it has and what its facts are called."""
    facts = sorted(set(line["facts"]) - _ADDED)
    return line["actor"], line["action"], sorted(line.keys() - _ADDED), facts, sorted(line["settings"])
