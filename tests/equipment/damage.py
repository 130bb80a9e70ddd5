"""Ways in which a file of a team comes to harm, and what a healthy team is that one does it to."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from unittest.mock import patch

from team_console.store.backends.open import open_team
from team_console.store.service.caller import Caller
from team_console.store.service.inbox import receive
from team_console.store.service.requests import submit_plan
from team_console.store.service.sending import send
from team_console.store.settings.team_config import CONFIG_NAME, QUEUE_NAME

from tests.equipment.command_line import CommandLine
from tests.equipment.teams import START, FakeClock

PLAN = "Split the loader from the renderer"
NOTE = "The export is ready for you"
LETTER = "Merge the open branches today"
FILES = {
    "queue": QUEUE_NAME,
    "settings": CONFIG_NAME,
    "archive": "archive/file-manager-archive.yaml",
    "audit": "audit.jsonl",
}

Harm = Callable[[Path], object]


def _bytes(change: Callable[[bytes], bytes]) -> Harm:
    return lambda path: path.write_bytes(change(path.read_bytes()))


def _instead(make: Callable[[Path], object]) -> Harm:
    def harm(path: Path) -> None:
        path.unlink()
        make(path)

    return harm


def flipped(data: bytes, *, every: int, first: int = -1) -> bytes:
    """One bit in a few of every so many bytes, the first of them at `first` (from the end when below 0)."""
    return bytes(item ^ 0x15 if place % every == first % every else item for place, item in enumerate(data))


def _moved(path: Path) -> None:
    path.rename(path.with_name("moved-away"))


_CHANGES: Mapping[str, Callable[[bytes], bytes]] = {
    "emptied": lambda data: b"",
    "only a comment": lambda data: b"# begin\n",
    "only spaces": lambda data: b"  \n\n",
    "only the key": lambda data: b"messages:\n",
    "only half the key": lambda data: b"mess",
    "cut in the middle": lambda data: data[: len(data) // 2],
    "cut near the end": lambda data: data[:-7],
    "zeros": lambda data: bytes(len(data)),
    "zeros at the end": lambda data: data[: len(data) // 2] + bytes(512),
    "many bits flipped": lambda data: flipped(data, every=7),
    "few bits flipped": lambda data: flipped(data, every=191),
    "latin-1": lambda data: data.replace(b"e", "é".encode("latin-1")),
    "utf-16": lambda data: data.decode().encode("utf-16"),
    "conflict markers": lambda data: b"<<<<<<< HEAD\n" + data + b"=======\n" + data + b">>>>>>> other\n",
    "nested too deeply": lambda data: data + b"- " + b"[" * 200_000,
    "two documents": lambda data: data + b"---\n" + data,
    "a list instead": lambda data: b"- a\n- b\n",
    "a word instead": lambda data: b"hello\n",
    "random bytes": lambda data: bytes(range(256)) * 8,
    "a web page": lambda data: b"<html><body>404 not found</body></html>\n",
}
HARMS: Mapping[str, Harm] = {
    **{name: _bytes(change) for name, change in _CHANGES.items()},
    "gone": Path.unlink,
    "moved away": _moved,
    "a folder instead": _instead(Path.mkdir),
    "a pipe instead": _instead(lambda path: os.mkfifo(path)),
    "a dangling link": _instead(lambda path: path.symlink_to("nowhere")),
    "a loop of links": _instead(lambda path: path.symlink_to(path.name)),
}


SEED = 20260224
"""Of the message ids: what a harm does to the bytes of a queue is the same in every run."""


def healthy(team: CommandLine, *, at: datetime = START) -> None:
    """Give a fresh team of `task-manager` and `file-manager` something in every file, written `at` a fixed time."""
    print(f"message ids from seed {SEED}, times from {at}")
    clock = FakeClock(at)
    opened = open_team(str(team.folder), clock=clock)
    caller = {name: Caller(opened, name, 5.0) for name in ("ceo", "task-manager", "file-manager")}
    dice = random.Random(SEED)
    with patch("os.urandom", lambda count: bytes(dice.randrange(32) for _ in range(count))):
        send(caller["ceo"], to="file-manager", summary=LETTER, content="All of them, please.")
        receive(caller["file-manager"], agent="file-manager")
        clock.advance(1)
        submit_plan(caller["task-manager"], summary=PLAN, content="1. Split it\n2. Test it")
        clock.advance(1)
        send(caller["file-manager"], to="ceo", summary=NOTE, content="It lies in the share.")
        clock.advance(1)
        send(caller["ceo"], to="task-manager", summary="Tell me when you begin with it", content="Thank you.")
    opened.close()


def healthy_team(folder: Path) -> Path:
    """Make a new team with something in every file; returns `folder`, which is the team's."""
    folder.mkdir()
    members = ("--agent", "task-manager:plan", "--agent", "file-manager")
    team = CommandLine(folder)
    team.ok("init", ".", "--name", "sprint-42", "--lead", "ceo", *members)
    healthy(team)
    return folder
