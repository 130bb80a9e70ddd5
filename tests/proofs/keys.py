"""Proof that no key decides on what the terminal did not hold before it was pressed.

Random keys are pressed in every place of the console, in lists, marks, forms and the reader, one by one, in bursts,
held down and typed ahead, on a real terminal. An emulator that knows nothing of the console keeps what it held before
each byte was written; what was decided is looked for there. Agents ask for more as long as it goes on.
"""

from __future__ import annotations

import os
import random
import re
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct, field
from team_console.store.backends.open import open_team
from team_console.store.contract.team import AuditLine, Team
from team_console.store.model.clock import from_text
from team_console.store.model.errors import TeamError
from team_console.store.model.message import Message
from team_console.store.protocol.shown_when_decided import SHOWN_BY
from team_console.store.service import asking, requests
from team_console.store.service.caller import Caller
from team_console.store.settings.team_config import Agent
from team_console.store.views.projection import view_of

from tests.equipment.cases import constant
from tests.equipment.pressed_keys import ESCAPE
from tests.equipment.teams import made_at, team_of
from tests.equipment.terminal import Terminal, console

LEAD, PLANS, OTHERS = "ceo", 12, 3
SIZES = ((120, 40), (120, 40), (80, 24), (100, 30), (160, 50))
_ENTER = "\r"
_MARK = re.compile(r"\b([A-Z]\d+)-(\d+)\b")
"""What each line of a request begins with: which request, and which line of it."""
_CLAIM = re.compile(r"the console: lines? (.*?) of [\d,]+")
_KEYS = constant(__file__, "KEYS", dict[str, int])
_LOOKS = 0.15
"""Seconds of quiet after which a human who looks presses the next key."""
_FORM = re.compile(r"enter (?:approve|allow|answer|reject|refuse|confirm)")
_BACK = (ESCAPE, ESCAPE, ESCAPE, "1")
_LOOKING = [
    *((*_BACK, *keys) for keys in constant(__file__, "LOOKING", list[list[str]])),
    *constant(__file__, "STAYING", list[list[str]]),
]
_DECIDING = constant(__file__, "DECIDING", list[list[str]])
_BURSTS = constant(__file__, "BURSTS", list[str])


class Held(Struct):
    """What the emulator held, and when which byte was written.

    Attributes:
        lines: Name and line of a request -> the number of the first press before which it stood on the screen.
        presses: When each press was made, in seconds since the epoch, and its keys.
    """

    lines: dict[tuple[str, int], int] = field(default_factory=dict)
    presses: list[tuple[float, str]] = field(default_factory=list)
    last: deque[str] = field(default_factory=lambda: deque(maxlen=60))

    def press(self, terminal: Terminal, keys: str) -> None:
        """Write keys to the terminal, after noting what it holds before them."""
        while terminal.pump(0):
            pass
        self.look(terminal)
        self.last.append(keys)
        data = keys.encode()
        self.presses.append((time.time(), keys))
        while data:
            with suppress(BlockingIOError):
                data = data[os.write(terminal.fd, data) :]

    def look(self, terminal: Terminal) -> None:
        """Note what the terminal holds now."""
        for name, line in _MARK.findall(terminal.text):
            self.lines.setdefault((name, int(line)), len(self.presses))

    def before(self, moment: float) -> int:
        """Return the number of the last press that may have decided before a moment."""
        numbers = (number for number in range(len(self.presses) - 1, -1, -1) if self.presses[number][0] <= moment)
        return next((number for number in numbers if _decides(self.presses[number][1])), -1)


def _decides(keys: str) -> bool:
    return any(key in keys for key in (_ENTER, "\x13"))


class Askers:
    """Agents that keep so many requests open; each line of a request has its own mark."""

    def __init__(self, team: Team, chance: random.Random) -> None:
        self._team, self._chance, self._number = team, chance, 0
        self.names: dict[str, str] = {}

    def ask(self) -> None:
        """Ask for what is missing."""
        rows = requests_open(self._team)
        kinds = [message.type for message in rows]
        for number in range(PLANS):
            agent = f"dev-{number}"
            if not any(message.sender == agent and message.type == "plan_approval_request" for message in rows):
                self._plan(agent)
        for _ in range(OTHERS - kinds.count("question_request")):
            self._question()
        for _ in range(OTHERS - kinds.count("permission_request")):
            self._permission()

    def _name(self, letter: str) -> str:
        self._number += 1
        return f"{letter}{self._number}"

    def _plan(self, agent: str) -> None:
        name, length = self._name("P"), self._chance.choice((4, 20, 60, 110))
        text = "\n".join(f"{name}-{line} step of the plan" for line in range(1, length + 1))
        made = requests.submit_plan(Caller(self._team, agent), content=text, summary=f"What {agent} wants to do next")
        self.names[made.request_id or ""] = name

    def _question(self) -> None:
        name = self._name("Q")
        options = [{"label": "first", "description": f"{name}-2"}, {"label": "second", "description": f"{name}-3"}]
        question = {"question": f"{name}-1 which one?", "header": "Way", "options": options}
        self.names[asking.ask_question(Caller(self._team, "dev-0"), questions=[question]).request_id or ""] = name

    def _permission(self) -> None:
        name = self._name("R")
        made = asking.ask_permission(
            Caller(self._team, "dev-1"),
            tool="Bash",
            input={"command": f"make {name}-1"},
            suggestions=[{"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": f"make {name}-1"}]}],
            directory="/srv/atlas",
        )
        self.names[made.request_id or ""] = name


def requests_open(team: Team) -> list[Message]:
    """Return what was asked and is not answered yet."""
    view = view_of(team.snapshot(), me=LEAD, now=team.clock())
    return [row.question for row in view.requests if row.is_open]


def verdicts(team: Team) -> list[AuditLine]:
    """Return the lines of the audit trail by which the human decided."""
    lines = team.audit(limit=1_000_000)
    return [line for line in lines if line.action in ("approve", "reject", "answer") and line.actor == LEAD]


def unseen(team: Team, held: Held, names: dict[str, str]) -> list[str]:
    """Return each decision on what the emulator did not hold before its key, in words."""
    wrong = []
    for line in verdicts(team):
        name, shown = names.get(str(line.facts.get("request_id")), "?"), str(line.facts.get(SHOWN_BY))
        key = held.before(_seconds(line.at))
        seen = {number for (of, number), first in held.lines.items() if of == name and first <= key}
        claimed = _claimed(shown)
        if not seen or not claimed:
            wrong.append(f"{line.action} {name}: nothing of it was held before press {key}; on record: {shown}")
        elif name[0] == "P" and (lost := claimed - seen):
            wrong.append(f"{line.action} {name}: lines {sorted(lost)[:9]} were not held before press {key}: {shown}")
    return wrong


def _claimed(shown: str) -> set[int]:
    found = _CLAIM.match(shown)
    lines: set[int] = set()
    for part in found[1].split(", ") if found else ():
        first, _, last = part.partition("-")
        if first.isdigit():
            lines |= set(range(int(first), int(last or first) + 1))
    return lines


def _seconds(text: str) -> float:
    moment = from_text(text)
    return moment.timestamp() if moment is not None else 0.0


def prove(count: int, seed: int, folder: Path, only: str) -> Iterator[str]:
    """Press so many random keys; yield each decision on what the terminal did not hold, then the last keys."""
    chance = random.Random(seed)
    agents = (Agent(f"dev-{number}") for number in range(PLANS))
    team = open_team(made_at(str(folder), team_of(*agents, name="s")))
    askers, held, told = Askers(team, chance), Held(), 0
    askers.ask()
    env = {name: str(folder / "own" / name.lower()) for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME")}
    with console(folder, "--as", LEAD, columns=120, lines=40, env=env) as terminal:
        answer = terminal.screen.write_process_input

        def look_and_answer(data: str) -> None:  # a frame that is gone before the next press was held, too
            held.look(terminal)
            answer(data)

        terminal.screen.write_process_input = look_and_answer  # type: ignore[method-assign]
        terminal.wait_for("●", "P1")
        while len(held.presses) < count and not terminal._ended():
            keys, pause = _next_keys(chance)
            for key in keys:
                held.press(terminal, key)
                if pause < _LOOKS:
                    terminal.settle(pause, 8 * pause)
                else:
                    _look(terminal, key)
            terminal.settle(chance.choice((0.0, 0.02, 0.1)), chance.choice((0.0, 0.1, 0.4)))
            if chance.random() < 0.02:
                terminal.resize(*chance.choice(SIZES))
            if chance.random() < 0.03:
                held.press(terminal, "1")
            if chance.random() < 0.1:
                with suppress(TeamError):
                    askers.ask()
            if len(held.presses) >= told + 500:
                told = len(held.presses)
                wrong = len(unseen(team, held, askers.names))
                print(f"{told:,} presses, {len(verdicts(team)):,} decisions, {wrong} unseen", flush=True)
        screen = terminal.text
        for _ in range(4):
            held.press(terminal, ESCAPE)
            terminal.settle(0.1, 1.0)
    found = unseen(team, held, askers.names)
    team.close()
    yield from found
    if found:
        print(f"the last keys: {list(held.last)}\n{screen}")


def _look(terminal: Terminal, key: str) -> None:
    """Wait as a human does who looks: until a form that was asked for is there, and the screen is quiet."""
    until = time.monotonic() + 3.0
    while key == "a" and not _FORM.search(terminal.text) and time.monotonic() < until:
        terminal.pump(0.05)
    terminal.settle(_LOOKS, 2.0)


def _next_keys(chance: random.Random) -> tuple[Sequence[str], float]:
    """Return what is pressed next, each by itself, and the seconds of quiet that are waited for behind each."""
    kind = chance.random()
    if kind < 0.35:  # as a human would, who looks before the next key
        return (*chance.choice(_LOOKING), *chance.choice(_DECIDING)), chance.choice((0.05, _LOOKS, _LOOKS))
    if kind < 0.5:
        burst = chance.choice(_BURSTS)
        apart = burst[0] != ESCAPE[0] and chance.random() < 0.6
        return (tuple(burst) if apart else (burst,)), chance.choice((0.0, 0.001, 0.01, 0.05))
    return chance.choices(list(_KEYS), list(_KEYS.values())), chance.choice((0.0, 0.0, 0.02))
