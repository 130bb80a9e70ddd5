"""Runs the commands that a page shows, in a team made for it, and writes what they print below them.

Clock and ids are those of the step, and the human's key is always the same, so that the same commands print the same
on every machine and day.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from tests.equipment.command_line import DECIDING, clean_environment

_BLOCK = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)
_PROMPT = "$ "
_PROGRAM = "team-console"
_RUN = (_PROGRAM, "printf")
"""Programs whose blocks are run; `printf` writes into settings."""
_HOME = "/home/you"
_INSTALLED = f"{_HOME}/.local/bin/{_PROGRAM}"
_LONGEST, _HEAD, _TAIL = 40, 24, 8
"""Lines of output that are shown whole, and those that are left of more at the beginning and at the end."""
_OURS = str(Path(sys.executable).parent / _PROGRAM)
"""The program under test, as what it writes into settings names it."""
_ID = re.compile(
    r"MSG-\d{8}-[a-z2-7]{8}|(?:plan_approval|shutdown|question|permission)-\d{13}@[\w.@-]*\w|(?<=--seen )[0-9a-f]{64}"
)
"""What a later command quotes of an earlier output."""
_NUMBER = re.compile(r"(?<=<!-- team-console: )(\S+) [0-9a-f]{8}(?= )")
"""The number of a block in `AGENTS.md`, made from its text, which has the paths of the machine."""
_PROCESS = """
import os, random, secrets, sys
from datetime import UTC, datetime, timedelta
import team_console.store.model.clock
step = int(sys.argv[1])
moment = datetime(2026, 2, 24, 10, 30, tzinfo=UTC) + timedelta(seconds=step)
team_console.store.model.clock.utc_now = lambda: moment
dice = random.Random(step)
os.urandom = lambda count: bytes([dice.randrange(32) for _ in range(count)] if count == 8 else random.randbytes(count))
secrets.token_hex = lambda count=32: random.Random(step).randbytes(count).hex()
secrets.randbelow = random.Random(step).randrange
from team_console.console.cli.main import run
sys.exit(run(sys.argv[2:]))
"""
"""The command line at a time and with ids that only the step decides."""


def with_transcripts(text: str) -> str:
    """`text` with every block of `team-console` commands run anew, in order, in a folder that holds an empty one."""
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home).resolve() / "sprint-42"
        for place in (folder, folder / "notes"):
            place.mkdir()
        _make_key(folder.parent / ".ssh")
        session = _Session(folder)
        return _BLOCK.sub(lambda match: session.block(match.group()), text)


def shown_commands(text: str) -> Iterator[list[str]]:
    """The words of every `team-console` command in a console block."""
    for match in _BLOCK.finditer(text):
        for command, _ in _steps(match.group()):
            words = shlex.split(command, comments=True)
            if words[:1] == [_PROGRAM]:
                yield words


def _make_key(folder: Path) -> None:
    """The key of whoever reads the README, as `ssh-keygen -t ed25519` would have made it."""
    private = Ed25519PrivateKey.from_private_bytes(hashlib.sha256(b"the README of team-console").digest())
    folder.mkdir(mode=0o700)
    path = folder / "id_ed25519"
    path.touch(mode=0o600)
    path.write_bytes(private.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()))
    public = private.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)
    path.with_suffix(".pub").write_bytes(public + b" you@desk\n")


class _Session:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._step = 0
        self._shim = folder.parent / "bin" / _PROGRAM
        self._shim.parent.mkdir()
        words = (sys.executable, "-P", "-u", "-c", _PROCESS)
        self._shim.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$STEP" "$@"\n')
        self._shim.chmod(0o755)
        self._renamed: dict[str, str] = {}

    def block(self, text: str) -> str:
        """A block with its output made anew; a block with other programs in it stays as it is."""
        steps = list(_steps(text))
        words = [shlex.split(command, comments=True) for command, _ in steps]
        if not all(word[0] in _RUN and len(word) > 1 for word in words):
            return text
        return "".join(self._run(command, before) for command, before in steps)

    def _run(self, command: str, before: str) -> str:
        for old, new in self._renamed.items():
            command = command.replace(old, new)
        self._step += 1
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=self._folder,
            env=clean_environment(
                HOME=str(self._folder.parent),
                PATH=f"{self._shim.parent}:{os.environ['PATH']}",
                STEP=str(self._step),
                **dict.fromkeys(("XDG_STATE_HOME", "XDG_CONFIG_HOME", "SSH_AUTH_SOCK"), ""),
                **_seat(command),
            ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        after = _shortened(done.stdout.replace(str(self._folder.parent), _HOME).replace(_OURS, _INSTALLED))
        after = _NUMBER.sub(r"\1 5f2c81d0", after)
        old_ids, new_ids = dict.fromkeys(_ID.findall(before)), dict.fromkeys(_ID.findall(after))
        self._renamed |= dict(zip(old_ids, new_ids, strict=False))
        return f"{_PROMPT}{command}\n{after}"


def _seat(command: str) -> dict[str, str]:
    """Who sits there: a reader of the README decides at a terminal, where the lead need not be named."""
    words = shlex.split(command, comments=True)
    return {"TEAM_CONSOLE_AS": "ceo"} if words[0] == _PROGRAM and words[1] in DECIDING and "--as" not in words else {}


def _shortened(text: str) -> str:
    """A long output without its middle, with a line that says so."""
    lines = text.splitlines(keepends=True)
    if len(lines) <= _LONGEST:
        return text
    left_out = len(lines) - _HEAD - _TAIL
    return "".join([*lines[:_HEAD], f"[... {left_out} more lines ...]\n", *lines[-_TAIL:]])


def _steps(block: str) -> Iterator[tuple[str, str]]:
    """Each command of a block and the output below it."""
    command, output = "", ""
    for line in block.splitlines(keepends=True):
        if line.startswith(_PROMPT):
            if command:
                yield command, output
            command, output = line.removeprefix(_PROMPT).rstrip("\n"), ""
        else:
            output += line
    if command:
        yield command, output
