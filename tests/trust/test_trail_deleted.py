"""A trail that was deleted with all that stood beside it is missed as long as a verdict of the team is left."""

from __future__ import annotations

import shutil

import pytest

from tests.equipment.command_line import CommandLine
from tests.equipment.signing_keys import sign_verdicts

pytestmark = pytest.mark.slow


def test_a_trail_that_was_deleted_with_everything_beside_it_is_told_for_good(team: CommandLine) -> None:
    sign_verdicts(team.folder)
    plan = ("--as", "task-manager", "plan", "--content", "1. Go", "--summary", "Split the loader in two today")
    team.ok("approve", team.ok(*plan).out.strip())
    for path in team.folder.iterdir():
        if path.name not in ("message-queue.yaml", "messenger-config.yaml"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    settings = team.folder / "messenger-config.yaml"
    settings.write_text(settings.read_text().partition("team_id:")[0])
    found = team("check", "--json")
    assert (found.status, "AUDIT_LOST" in {item["code"] for item in found.json["findings"]}) == (1, True)
    team.ok(*plan)
    assert "AUDIT_LOST" in {item["code"] for item in team("check", "--json").json["findings"]}
