"""Stories on a real terminal: several decisions at once, a console that only looks, an editor amiss, a shutdown."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from team_console.store.backends.open import open_team
from team_console.store.service import requests
from team_console.store.service.caller import Caller

from tests import showcase
from tests.conftest import COMMAND
from tests.pty import Terminal

pytestmark = pytest.mark.slow


def decided(folder: Path) -> list[str]:
    """The words of verdicts on plans that nobody read yet."""
    messages = open_team(str(folder), read_only=True).snapshot().messages
    return [message.content for message in messages if message.type == "plan_approval_response"]


def hand_in(folder: Path, agent: str) -> None:
    """A plan of `agent` for the lead."""
    team = open_team(str(folder))
    requests.submit_plan(Caller(team, agent), content="1. Look\n2. Ask", summary=f"What {agent} wants to do")
    team.close()


def test_what_comes_together_is_one_notice_and_a_console_that_only_looks_tells_it_but_decides_nothing(
    tmp_path: Path,
) -> None:
    team = tmp_path / "team"
    team.mkdir()
    showcase.build(team)
    before = decided(team)
    config = tmp_path / "config" / "team-console" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("[notices]\ndesktop = true\nread_only = true\n", encoding="utf-8")
    homes = {"XDG_STATE_HOME": str(tmp_path / "state"), "XDG_CONFIG_HOME": str(tmp_path / "config")}
    command = [*COMMAND, "-t", str(team), "--as", showcase.LEAD, "--read-only"]
    with Terminal(command, cwd=tmp_path, env=homes) as terminal:
        terminal.wait_for("READ-ONLY", "Escalation")
        terminal.settle()
        terminal.signal(signal.SIGSTOP)  # all three are there at its next look
        for agent in ("debugger", "architect", "file-manager"):
            hand_in(team, agent)
        terminal.signal(signal.SIGCONT)
        terminal.wait_until(lambda: b"\x1b]9;" in terminal.output, "the notice")
        terminal.settle()
        assert terminal.output.count(b"\x1b]9;") == 1
        assert b"(and 2 more decisions)\x1b\\" in terminal.output
        for keys in ("jj", "a\r", "rno\r", "d", "D"):
            terminal.send(keys)
            terminal.settle()
        terminal.send("l")
        terminal.wait_for("All requests ·")
        assert decided(team) == before
