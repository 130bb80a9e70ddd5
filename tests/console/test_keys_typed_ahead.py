"""Keys typed in one go each act on what stands there once the key before them has acted; on a real terminal."""

from __future__ import annotations

from pathlib import Path

import pytest
from team_console.store.backends.open import open_team

from tests.console.test_on_a_terminal import ESCAPE, on_team

pytestmark = pytest.mark.slow


def test_keys_behind_the_one_that_closes_a_view_go_to_what_stands_behind_it(tmp_path: Path) -> None:
    with on_team(tmp_path / "team", tmp_path) as terminal:
        terminal.wait_for("LIVE", "Escalation")
        terminal.send(":agent debugger\rjjj")
        terminal.wait_for("Agents ·", "debugger ·")
        terminal.send(":agent architect\r6")
        terminal.wait_for("History ·", "Tuesday 2026-02-24")
        terminal.send(":no such thing at all\r" + ESCAPE + "3")
        terminal.wait_for("Requests ·")
        terminal.send("?" + ESCAPE + "7")
        terminal.wait_for("Health ·")
        terminal.send("1gc" + ESCAPE + "4")
        terminal.wait_for("Deliveries ·")
        terminal.send("T" + ESCAPE + "6")
        terminal.wait_for("History ·")
        terminal.send("/escalation\r3")
        terminal.wait_for("Requests ·")
        terminal.send("6")
        terminal.wait_for("History ·", "/ escalation")
        terminal.send(ESCAPE + "e" + ESCAPE + "5")
        terminal.wait_for("Sprint ·")
        terminal.send("\x1bOQ\r1")
        terminal.wait_for("Needs you ·")


def test_a_verdict_and_what_follows_it_can_be_typed_in_one_go(tmp_path: Path) -> None:
    with on_team(tmp_path / "team", tmp_path) as terminal:
        terminal.wait_for("LIVE", "Escalation")
        terminal.send("jjr" + "first no" + "\r" + "3/plan\r6q")
        assert terminal.wait_exit() == 0
    messages = open_team(str(tmp_path / "team"), read_only=True).snapshot().messages
    assert [message.content for message in messages if message.type == "plan_approval_response"][-1:] == ["first no"]
