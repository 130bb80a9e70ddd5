"""Nothing is decided that was not on the screen, asked about and confirmed, whatever keys are pressed meanwhile."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from console.demo.showcase import build
from store.locations import open_team
from tests.conftest import ROOT, CommandLine
from tests.pty import Terminal, console
from tests.trust.damage import healthy
from tests.trust.keys import ENTER, ESCAPE, TAB, reach

ACTS = 60
OTHERS = """
import random, sys, threading
from store.desk.inbox import receive
from store.desk.mail import send
from store.desk.requests import submit_plan
from store.desk.seat import Seat
from store.locations import open_team

team, dice, over = open_team(sys.argv[1]), random.Random(int(sys.argv[2])), threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), over.set()), daemon=True).start()
for number in range(10_000):
    if over.wait(dice.uniform(0.1, 1.5)):
        break
    name = dice.choice(["task-manager", "schedule-manager", "file-manager"])
    if dice.random() < 0.6:
        submit_plan(Seat(team, name, 5.0), summary=f"Plan number {number} of {name}", content=f"Step {number}")
    else:
        send(Seat(team, name, 5.0), to="ceo", summary=f"News number {number}", content="x", priority="critical")
"""


@contextmanager
def others_at_work(folder: Path, seed: int) -> Iterator[None]:
    """Agents that write all the time, until the block ends."""
    command = [sys.executable, "-c", OTHERS, str(folder), str(seed)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, cwd=ROOT) as running:
        try:
            yield
        finally:
            assert running.stdin is not None
            running.stdin.close()
            assert running.wait(20) == 0


def rest(terminal: Terminal, seconds: float) -> None:
    """Look at the screen for a while."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        terminal.pump(0.02)
    terminal.settle(0.02)


def decided(folder: Path) -> set[str]:
    """What the audit says the human decided or took: request ids and message ids."""
    opened = open_team(str(folder), read_only=True)
    lines = [
        line for line in opened.audit(limit=10_000) if line.actor == "ceo" and line.action not in ("send", "broadcast")
    ]
    opened.close()
    found = {str(line.facts.get("request_id") or "") for line in lines}
    for line in lines:
        if not line.facts.get("request_id"):
            found |= {str(one) for one in line.facts.get("ids", ())}
    return found - {""}


@pytest.mark.parametrize("seed", [1, 2])
def test_random_keys_while_items_change_decide_only_what_was_shown_and_confirmed(team: CommandLine, seed: int) -> None:
    healthy(team)
    before, dice, confirmed = decided(team.folder), random.Random(seed), set[str]()
    with others_at_work(team.folder, seed), console(team.folder, columns=160) as terminal:
        terminal.wait_for("─ Needs you ·", "LIVE")
        keys = ["a", "a", "r", "r", "d", "j", "k", "x", "y", "z", ENTER, ENTER, ENTER, ESCAPE, "w", TAB, " ", "1", "3"]
        for number in range(5 * ACTS):
            if number >= ACTS and decided(team.folder) - before:
                break
            key = dice.choice(keys)
            rest(terminal, dice.choice([0.0, 0.0, 0.3, 0.9]) if key in "ard" else 0.05)
            picture = terminal.text
            forms = "enter approve" in picture or "enter reject" in picture
            if key == ENTER or (key == "d" and not forms):
                confirmed.add(picture)
            terminal.send(key)
            if key in "ar" and dice.random() < 0.7:
                terminal.settle(0.1)
                if "enter approve" in terminal.text or "enter reject" in terminal.text:
                    terminal.send("because")
                    terminal.settle(0.1)
                    confirmed.add(terminal.text)
                    terminal.send(ENTER)
        terminal.settle(0.5)
        for _ in range(3):
            terminal.send(ESCAPE)
            terminal.settle(0.1)
        reach(terminal, "1", "─ Needs you")
        terminal.send("q")
        terminal.wait_exit()
    made = decided(team.folder) - before
    assert made, "the keys decided nothing, so that nothing was tested"
    flat = ["".join(picture.replace("│", "").split()) for picture in confirmed]
    assert [one for one in made if not any(one in picture for picture in flat)] == []


@pytest.mark.parametrize(
    ("mode", "title", "key"),
    [
        ("2", "─ Agents", "s"),
        ("2", "─ Agents", "S"),
        ("2", "─ Agents", "b"),
        ("4", "─ Deliveries", "x"),
        ("4", "─ Deliveries", "e"),
        ("4", "─ Deliveries", "t"),
        ("4", "─ Deliveries", "u"),
        ("3", "─ Requests", "r"),
    ],
)
def test_enter_pressed_at_once_does_nothing_dangerous(tmp_path: Path, mode: str, title: str, key: str) -> None:
    folder = tmp_path / "team"
    build(folder)
    before = (folder / "audit.jsonl").read_bytes()
    with console(folder) as terminal:
        terminal.wait_for("─ Needs you ·", "LIVE")
        reach(terminal, mode, title)
        terminal.send("jj" if key in "s" else "")
        terminal.settle(0.9)
        terminal.send(key)
        terminal.settle(0.4)
        terminal.send(ENTER)
        terminal.settle(0.4)
        terminal.signal(15)  # type: ignore[arg-type]
        terminal.wait_exit()
    assert (folder / "audit.jsonl").read_bytes() == before
