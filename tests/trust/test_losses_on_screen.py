"""Archives and audit lines that are lost while the console runs are told in Health and over the history."""

from __future__ import annotations

from datetime import timedelta

import pytest
from team_console.store.model.clock import utc_now

from tests.conftest import CommandLine
from tests.pty import console
from tests.trust.damage import FILES, HARMS, PLAN, healthy

pytestmark = pytest.mark.slow

LOSSES = [
    ("archive", "gone", "ARCHIVE_LOST"),
    ("archive", "cut near the end", "DAMAGED_ARCHIVE"),
    ("audit", "emptied", "AUDIT_LOST"),
]


@pytest.mark.parametrize(("file", "harm", "code"), LOSSES)
def test_a_loss_while_the_console_runs_is_told_in_health_and_history(
    team: CommandLine, file: str, harm: str, code: str
) -> None:
    healthy(team, at=utc_now() - timedelta(seconds=10))
    with console(team.folder) as terminal:
        terminal.wait_for("Needs you ·", "● LIVE", PLAN[:20], seconds=60)
        HARMS[harm](team.folder / FILES[file])
        terminal.send("4")
        terminal.wait_for("Health · 1 ", seconds=60)
        terminal.send("i")
        terminal.wait_for(code, seconds=60)
        terminal.send("3")
        terminal.wait_for("History ·", "not all of it can be read", seconds=60)
        terminal.send("q")
        assert terminal.wait_exit(60) == 0
