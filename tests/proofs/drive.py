"""Proof that random keys in every mode of the demo leave the console whole.

Sizes change as it goes. A defect, a traceback, a log of defects or an end that is not orderly makes it fail; the keys
pressed last stand in what it prints, and the same seed presses the same keys again.
"""

from __future__ import annotations

import random
import re
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from tests.equipment.cases import constant
from tests.equipment.command_line import COMMAND
from tests.equipment.pressed_keys import ESCAPE
from tests.equipment.terminal import Terminal

SIZES = ((60, 20), (80, 24), (120, 40), (200, 55))
MODES = "1l23l456"
_KEYS_OF_A_ROUND = 5
WRONG = re.compile(r"✗ DEFECT|Traceback|cannot be shown|Unexpected:")
KEYS = constant(__file__, "KEYS", list[str])


def drive(terminal: Terminal, chance: random.Random, rounds: int) -> str:
    """Press keys for so many rounds; what went wrong and the last keys, empty when nothing did."""
    last: deque[str] = deque(maxlen=24)
    for number in range(rounds):
        terminal.resize(*SIZES[(number + number // len(MODES)) % len(SIZES)])
        keys = [MODES[number % len(MODES)], *(chance.choice(KEYS) for _ in range(_KEYS_OF_A_ROUND)), ESCAPE, ESCAPE]
        for key in keys:
            last.append(key)
            terminal.send(key)
            terminal.settle(0.06, 0.6)
            if WRONG.search(terminal.text) or terminal._ended():
                return f"round {number}, {terminal.screen.columns} columns, after {list(last)}:\n{terminal.text}"
    return ""


def prove(count: int, seed: int, folder: Path, only: str) -> Iterator[str]:
    """Drive the demo from its start to its end; yield what went wrong, and what the console logged of its defects."""
    homes = {name: str(folder / name.lower()) for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME")}
    # An editor and a pager that end by themselves: keys would go to them, and the console would wait.
    programs = dict.fromkeys(("VISUAL", "EDITOR", "PAGER"), "true")
    env = {"TMPDIR": str(folder), "TEAM_CONSOLE_GRACE": "2", **programs, **homes}
    with Terminal([*COMMAND, "demo"], cwd=folder, env=env) as terminal:
        terminal.wait_for("●", seconds=60)
        if trouble := drive(terminal, random.Random(seed), count):
            yield trouble
        else:
            for _ in range(4):
                terminal.send(ESCAPE)
                terminal.settle(0.1, 0.5)
            terminal.send("\x11")
            if (status := terminal.wait_exit(180)) != 0:
                yield f"it ended with {status}:\n{terminal.text}"
    for path in folder.rglob("defects.log"):
        yield f"a log of defects:\n{path.read_text(encoding='utf-8')}"
