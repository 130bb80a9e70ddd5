"""Nothing is decided that was not on the screen, asked about and confirmed, whatever keys are pressed meanwhile."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from team_console.console.tui.main import GUARD
from team_console.store.backends.open import open_team
from team_console.store.model.clock import from_text, utc_now
from team_console.store.protocol.titles import message_title
from team_console.store.views.conversation import find_thread

from tests.equipment.command_line import ROOT, CommandLine
from tests.equipment.damage import PLAN, healthy
from tests.equipment.pressed_keys import ENTER, ESCAPE, TAB, arrives, leave, reach
from tests.equipment.terminal import Terminal, console
from tests.showcase import build

pytestmark = pytest.mark.slow

ACTS = 10
THOUGHT = 5
"""Every so many acts one is thought about, the others are keys at random; later ones are all thought about."""
_SHOWN = 16
"""Letters of a title that its row has room for; they tell the titles below apart."""
OTHERS = """
import random, sys, threading
from team_console.store.service.inbox import receive
from team_console.store.service.sending import send
from team_console.store.service.requests import submit_plan
from team_console.store.service.caller import Caller
from team_console.store.backends.open import open_team

team, dice, over = open_team(sys.argv[1]), random.Random(int(sys.argv[2])), threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), over.set()), daemon=True).start()
for number in range(10_000):
    if over.wait(dice.uniform(0.4, 2.0)):
        break
    name = dice.choice(["task-manager", "schedule-manager", "file-manager"])
    if dice.random() < 0.6:
        submit_plan(Caller(team, name, 5.0), summary=f"Plan number {number} of {name}", content=f"Step {number}")
    else:
        send(Caller(team, name, 5.0), to="ceo", summary=f"News number {number}", content="x", priority="critical")
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


@dataclass(frozen=True, slots=True)
class Decision:
    """What the audit says the human decided or took, and when."""

    at: datetime
    action: str
    title: str


@dataclass(frozen=True, slots=True)
class Press:
    """A key that may decide, and what the human had on the screen when it was pressed."""

    at: datetime
    key: str
    picture: str

    def shows(self, made: Decision) -> bool:
        """Whether what was decided was looked at when the key was pressed, so that the key can have been meant for it.

        A key that asks for a verdict opens a form about what stands there; what follows goes to that form.
        """
        keys = {"approve": "a", "reject": "ar"}.get(made.action, "d")
        return self.key in keys and made.title[:_SHOWN] in self.picture


def decided(folder: Path) -> list[Decision]:
    """What the human decided or took, oldest first, by the titles of requests and messages without gaps."""
    opened = open_team(str(folder), read_only=True)
    lines = [line for line in opened.audit(limit=10_000) if line.actor == "ceo" and line.action not in ("send", "plan")]
    found = []
    for line in lines:
        about = line.facts.get("question")
        ids = [str(about)] if about else [str(fact) for fact in line.facts.get("ids", ())]
        for subject in ids:
            thread = find_thread(subject, opened.snapshot().messages, opened.archived)
            title = "" if thread is None else message_title(thread.message)
            found.append(Decision(_moment(line.at), line.action, "".join(title.split())))
    opened.close()
    return sorted(found, key=lambda entry: entry.at)


def _moment(text: str) -> datetime:
    moment = from_text(text)
    assert moment is not None
    return moment


def press(terminal: Terminal, key: str) -> Press:
    """Press a key; what stood on the screen before, without lines and gaps."""
    while terminal.pump(0):
        pass
    picture = "".join(terminal.text.replace("│", "").split())
    pressed = Press(datetime.now(UTC), key, picture)
    terminal.send(key)
    return pressed


def think(terminal: Terminal, key: str) -> list[Press]:
    """Decide as people do: out of what is open, look, ask, read the question, answer it."""
    for keys in (ESCAPE, ESCAPE, "1", "g"):
        terminal.send(keys)
        terminal.settle(0.02)
    terminal.settle(GUARD + 0.1)
    pressed = press(terminal, key)
    if not arrives(terminal, {"a": "enter approve", "r": "enter reject"}[key], 3.0):
        return []
    terminal.send("because" if key == "r" else "")
    return [pressed, press(terminal, ENTER)]


def test_random_keys_while_items_change_decide_only_what_was_asked_on_the_screen_before(team: CommandLine) -> None:
    seed = 1
    healthy(team, at=utc_now() - timedelta(seconds=10))
    before, dice, pressed = len(decided(team.folder)), random.Random(seed), list[Press]()
    with others_at_work(team.folder, seed), console(team.folder, columns=160) as terminal:
        terminal.wait_for("Needs you", "●")
        keys = ["a", "a", "r", "r", "d", "j", "k", "x", "y", "z", ENTER, ENTER, ENTER, ESCAPE, "w", TAB, " ", "1", "3"]
        for number in range(4 * ACTS):
            if number >= ACTS and len(decided(team.folder)) >= before + 2:
                break
            if number >= ACTS or number % THOUGHT == THOUGHT - 1:
                pressed += think(terminal, dice.choice("ar"))
                continue
            key = dice.choice(keys)
            rest(terminal, dice.choice([0.0, 0.3]) if key in "ard" else 0.02)
            pressed.append(press(terminal, key))
            if key in "ar" and dice.random() < 0.5:
                rest(terminal, dice.choice([0.0, 0.02, 0.1, 0.5]))
                terminal.send("because")
                pressed.append(press(terminal, ENTER))
        leave(terminal)
    made = decided(team.folder)[before:]
    assert made, "the keys decided nothing, so that nothing was tested"
    meant = [any(item.at <= each.at and item.shows(each) for item in pressed) for each in made]
    assert [each for each, was in zip(made, meant, strict=True) if not was] == []


BURSTS = ("aa\r\r", "rno\r", "ra\r\x13", "a\x13")
"""Keys that arrive together, as from somebody who types ahead; ctrl+s hands in too."""


def test_keys_sent_in_one_go_decide_nothing(team: CommandLine) -> None:
    healthy(team, at=utc_now() - timedelta(seconds=10))
    before = len(decided(team.folder))
    with console(team.folder) as terminal:
        terminal.wait_for("Needs you", "●", PLAN[:20])
        reach(terminal, "1l", "All requests ·")
        rest(terminal, 0.8)
        for burst in BURSTS:
            terminal.send(burst)
            terminal.settle(0.2)
            terminal.send(ESCAPE * 2)
            rest(terminal, 0.5)
        leave(terminal)
    made = decided(team.folder)[before:]
    assert [(each.action, each.title) for each in made] == []


def test_what_enter_hands_in_can_be_taken_back_before_it_is_written(tmp_path: Path) -> None:
    folder = tmp_path / "team"
    build(folder)
    before = (folder / "audit.jsonl").read_bytes()
    with console(folder, env={"TEAM_CONSOLE_GRACE": "60"}) as terminal:
        terminal.wait_for("Needs you", "●")
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
