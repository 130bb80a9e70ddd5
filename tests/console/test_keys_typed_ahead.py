"""Keys typed in one go each act on what stands there once the key before them has acted; on a real terminal."""

from __future__ import annotations

from pathlib import Path

import pytest
from team_console.store.backends.open import open_team

from tests.console.test_on_a_terminal import ESCAPE, on_team

pytestmark = pytest.mark.slow


def test_keys_behind_the_one_that_closes_a_view_or_decides_go_to_what_stands_behind_it(tmp_path: Path) -> None:
    with on_team(tmp_path / "team", tmp_path) as terminal:
        terminal.wait_for("LIVE", "Escalation")
        terminal.send(":agent debugger\rjjj")
        terminal.wait_for("Agents ·", "file-manager ·")  # three below
        terminal.send(":agent architect\r3")
        terminal.wait_for("History ·", "Tuesday 2026-02-24")
        terminal.send(":no such thing at all\r" + ESCAPE + "1l")
        terminal.wait_for("All requests ·")
        terminal.send("?" + ESCAPE + "4")
        terminal.wait_for("Health ·")
        terminal.send("1gc" + ESCAPE + "6")
        terminal.wait_for("Deliveries ·")
        terminal.send("T" + ESCAPE + "3")
        terminal.wait_for("History ·")
        terminal.send("/escalation\r1l")
        terminal.wait_for("All requests ·")
        terminal.send("3")
        terminal.wait_for("History ·", "/ escalation")
        terminal.send(ESCAPE + "e" + ESCAPE + "5")
        terminal.wait_for("Sprint ·")
        terminal.send("\x1bOQ\r1")
        terminal.wait_for("Needs you ·")
        terminal.send("gjjr")
        terminal.wait_for("enter reject")
        terminal.send("first no" + "\r" + "1l/plan\r3q")
        assert terminal.wait_exit() == 0
    messages = open_team(str(tmp_path / "team"), read_only=True).snapshot().messages
    assert [message.content for message in messages if message.type == "plan_approval_response"][-1:] == ["first no"]
