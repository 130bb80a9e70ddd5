"""Keys typed in one go each act on what stands there once the key before them has acted; on a real terminal."""

from __future__ import annotations

from pathlib import Path

import pytest
from team_console.store.backends.open import open_team
from team_console.store.contract.team import Team
from team_console.store.service import requests
from team_console.store.service.caller import Caller

from tests.console.test_on_a_terminal import ESCAPE, on_team
from tests.pty import console

pytestmark = pytest.mark.slow


def test_keys_behind_the_one_that_closes_a_view_go_to_what_stands_behind_it(tmp_path: Path) -> None:
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


def test_a_verdict_and_what_follows_it_can_be_typed_in_one_go(tmp_path: Path) -> None:
    with on_team(tmp_path / "team", tmp_path) as terminal:
        terminal.wait_for("LIVE", "Escalation")
        terminal.send("jjr")
        terminal.wait_for("enter reject")
        terminal.send("first no" + "\r" + "1l/plan\r3q")
        assert terminal.wait_exit() == 0
    messages = open_team(str(tmp_path / "team"), read_only=True).snapshot().messages
    assert [message.content for message in messages if message.type == "plan_approval_response"][-1:] == ["first no"]


def test_thirty_plans_are_approved_with_three_keys_and_those_not_shown_can_be_left_out(tmp_path: Path) -> None:
    names = [f"runner-{number}" for number in range(30)]
    config = f"name: sprint-42\nlead: ceo\nagents: [{', '.join(names)}]\n"
    (tmp_path / "messenger-config.yaml").write_text(config, encoding="utf-8")
    team = open_team(str(tmp_path))
    for name in names:
        requests.submit_plan(Caller(team, name), content="1. Look\n2. Act", summary=f"What {name} is to do")
    with console(tmp_path, "--as", "ceo") as terminal:
        terminal.wait_for("LIVE", "Needs you · 30", "1. Look")
        terminal.send("*a")
        terminal.wait_for("Approve 30", "29 not opened yet")
        terminal.send("\x0f")
        terminal.wait_for("━Approve 1━")
        terminal.send("\x0f\r")
        terminal.wait_until(lambda: approved(team) == 30, "thirty verdicts")
    team.close()


def approved(team: Team) -> int:
    """How many approvals are on record and not read yet."""
    return sum(message.type == "plan_approval_response" for message in team.snapshot().messages)
