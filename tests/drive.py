"""Drives the demo with chance: `python -m tests.drive --seconds 300 --seed 1` presses random keys in every mode.

Sizes change as it goes. A defect, a traceback, a log of defects or an end that is not orderly makes it fail; the keys
pressed last stand in what it prints, and the same seed presses the same keys again.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.equipment.command_line import COMMAND
from tests.equipment.terminal import Terminal

SIZES = ((60, 20), (80, 24), (120, 40), (200, 55))
MODES = "1l23l456"
_KEYS_OF_A_ROUND = 5
ESCAPE = "\x1b[27u"
"""Escape as a terminal sends it that can tell it from the beginning of a sequence."""
WRONG = re.compile(r"✗ DEFECT|Traceback|cannot be shown|Unexpected:")
KEYS = (
    *("a\r", "r", "rno, tests first\r", "d", "D", "m", "mhello\r", "b", "s", "S", "t", "e", "x", "u", "C"),
    *("U", "W", "z", "c", "o", "y", "Y", "n", "?", " ", "*", "L", "B", "E", ";", "."),
    *("j", "j", "j", "k", "G", "g", "\r", "\t", "\x04", "\x15", "/plan\r", "/\r", "1", "2", "\x0f\r"),
    *(":watch the shutdown\r", ":as written\r", ":exact moments\r", ":mark range\r", ":wake\r"),
    *(":agent\r", ":sprint\r", ":help\r", "\x0c", ESCAPE, ESCAPE),
)
"""What is pressed at once, each as the terminal sends it."""


def drive(terminal: Terminal, chance: random.Random, goes_on: Callable[[int], bool]) -> str:
    """Press keys for as many rounds as `goes_on`; what went wrong and the last keys, empty when nothing did."""
    last: deque[str] = deque(maxlen=24)
    number = 0
    while goes_on(number):
        terminal.resize(*SIZES[(number + number // len(MODES)) % len(SIZES)])
        keys = [MODES[number % len(MODES)], *(chance.choice(KEYS) for _ in range(_KEYS_OF_A_ROUND)), ESCAPE, ESCAPE]
        for key in keys:
            last.append(key)
            terminal.send(key)
            terminal.settle(0.06, 0.6)
            if WRONG.search(terminal.text) or terminal._ended():
                return f"round {number}, {terminal.screen.columns} columns, after {list(last)}:\n{terminal.text}"
        number += 1
    return ""


def run(seed: int, goes_on: Callable[[int], bool]) -> str:
    """The demo from its start to its end; what went wrong, empty when nothing did."""
    with tempfile.TemporaryDirectory() as scratch:
        homes = {name: str(Path(scratch, name.lower())) for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME")}
        # An editor and a pager that end by themselves: keys would go to them, and the console would wait.
        programs = dict.fromkeys(("VISUAL", "EDITOR", "PAGER"), "true")
        env = {"TMPDIR": scratch, "TEAM_CONSOLE_GRACE": "2", **programs, **homes}
        with Terminal([*COMMAND, "demo"], cwd=Path(scratch), env=env) as terminal:
            terminal.wait_for("●", seconds=60)
            trouble = drive(terminal, random.Random(seed), goes_on)
            if trouble:
                return trouble + _defects(Path(scratch))
            for _ in range(4):
                terminal.send(ESCAPE)
                terminal.settle(0.1, 0.5)
            terminal.send("\x11")
            if (status := terminal.wait_exit(180)) != 0:
                return f"it ended with {status}:\n{terminal.text}"
        return _defects(Path(scratch))


def _defects(scratch: Path) -> str:
    """What the console logged of its own defects."""
    logs = [path.read_text(encoding="utf-8") for path in scratch.rglob("defects.log")]
    return "".join(f"\na log of defects:\n{log}" for log in logs)


def main(arguments: Sequence[str]) -> int:
    """Drive for the seconds wanted; 1 when something went wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.drive", description="Press random keys in the demo.")
    parser.add_argument("--seconds", type=float, default=300.0, help="(default: 300)")
    parser.add_argument("--seed", type=int, default=1, help="same seed, same keys (default: 1)")
    chosen = parser.parse_args(arguments)
    end = time.monotonic() + chosen.seconds
    trouble = run(chosen.seed, lambda number: time.monotonic() < end)
    print(trouble or f"seed {chosen.seed}: nothing went wrong in {chosen.seconds:.0f} s")
    return 1 if trouble else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
