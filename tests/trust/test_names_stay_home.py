"""No name, id or reference in a store leads out of the folders it belongs to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from team_console.store.settings.team_config import QUEUE_NAME

from tests.equipment import corpus
from tests.equipment.cases import constant
from tests.equipment.command_line import CommandLine

pytestmark = pytest.mark.slow

CLIMBS = constant(__file__, "CLIMBS", tuple[str, ...])


def folders(root: Path) -> set[str]:
    """Every path below `root`, and below the folder that holds it."""
    return {str(path.relative_to(root.parent)) for path in root.parent.rglob("*")}


def record(**given: Any) -> dict[str, Any]:
    """A pending record."""
    base = {"message_id": "M-1", "type": "message", "from": "task-manager", "to": "ceo", "priority": "high"}
    return {**base, "created": "2026-02-24T10:30:15.123Z", "status": "pending", "payload": {"content": "x"}, **given}


def test_hostile_names_on_disk_are_handled_by_deliver_receive_and_clear_inside_the_team(team: CommandLine) -> None:
    records = [record(message_id=f"../M-{n}", to=name or "x", **{"from": name}) for n, name in enumerate(CLIMBS)]
    records += [record(message_id=name, to="task-manager") for name in CLIMBS if name]
    (team.folder / QUEUE_NAME).write_bytes(corpus.queue_of(records))
    for words in (
        ("deliver",),
        ("receive", "--agent", "task-manager"),
        ("clear", "--older-than-days", "0"),
        ("check",),
    ):
        done = team(*words)
        assert "Traceback" not in done.err
        assert "unexpected" not in done.err, done
    made = {folder for folder in folders(team.folder) if not folder.startswith("team/") and folder != "team"}
    assert made == set()
    files = {path.name for path in (team.folder / "archive").iterdir()}
    assert files <= {f"{name}-archive.yaml" for name in ("ceo", "task-manager")}
    assert {path.name for path in (team.folder / "inbox").glob("*")} <= {"task-manager.jsonl", "ceo.jsonl"}
