"""Keys that arrive in one go decide once, what stood under the cursor; what was handed in can be taken back."""

from __future__ import annotations

import time
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from team_console.store.backends.open import open_team
from team_console.store.model.clock import utc_now

from tests.conftest import CommandLine
from tests.pty import Terminal, console
from tests.showcase import build
from tests.trust.damage import PLAN, healthy
from tests.trust.keys import ENTER, ESCAPE, leave, reach

pytestmark = pytest.mark.slow


def rest(terminal: Terminal, seconds: float) -> None:
    """Look at the screen for a while."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        terminal.pump(0.02)
    terminal.settle(0.02)


BURSTS = ("aa\r\r", "rno\r", "ra\r\x13", "a\x13")
"""Keys that arrive together, as from somebody who types ahead; ctrl+s hands in too."""


def test_keys_sent_in_one_go_decide_what_stood_under_the_cursor_once(team: CommandLine) -> None:
    healthy(team, at=utc_now() - timedelta(seconds=10))
    with console(team.folder) as terminal:
        terminal.wait_for("Needs you ·", "LIVE", PLAN[:20])
        reach(terminal, "1l", "All requests ·")
        rest(terminal, 0.8)
        for burst in BURSTS:
            terminal.send(burst)
            terminal.settle(0.2)
            terminal.send(ESCAPE * 2)
            rest(terminal, 0.5)
        leave(terminal)
    with closing(open_team(str(team.folder), read_only=True)) as opened:
        acts = [line.action for line in opened.audit(limit=1000) if line.actor == "ceo" and line.action != "send"]
    assert acts == ["approve"]
    (row,) = team.ok("requests", "--json").json["requests"]
    assert (row["title"], row["state"]) == (PLAN, "approved")


def test_what_enter_hands_in_can_be_taken_back_before_it_is_written(tmp_path: Path) -> None:
    folder = tmp_path / "team"
    build(folder)
    before = (folder / "audit.jsonl").read_bytes()
    with console(folder, env={"TEAM_CONSOLE_GRACE": "60"}) as terminal:
        terminal.wait_for("Needs you ·", "LIVE")
        reach(terminal, "2", "Agents ·")
        terminal.send("jj")
        for key in "sS":
            rest(terminal, 0.8)
            terminal.send(key)
            terminal.wait_for("to stop", "enter confirm")
            terminal.send(ENTER)
            terminal.wait_for("sends in")
            terminal.send("U")
            terminal.wait_for("Taken back")
            assert (folder / "audit.jsonl").read_bytes() == before, key
        reach(terminal, "6", "Deliveries ·")
        for key in "xe":
            rest(terminal, 0.8)
            terminal.send(key)
            terminal.wait_for("enter confirm")
            terminal.send(ENTER)
            terminal.wait_for("nothing was typed")
            terminal.send(ESCAPE)
            assert (folder / "audit.jsonl").read_bytes() == before, key
        terminal.settle(0.2)
        terminal.signal(15)  # type: ignore[arg-type]
        terminal.wait_exit()
    assert (folder / "audit.jsonl").read_bytes() == before
