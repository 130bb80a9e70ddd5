"""Ways to tell: escape sequences for the terminal, and a program of the user's; every text is made safe first."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from contextlib import suppress
from threading import Thread

from team_console.store.model.safe import safe_line

_LONGEST = 200
_PATIENCE = 10.0
"""Seconds a program of the user's may take."""
_ENDING = "\x1b\\"
BELL = "\x07"
PUSH_TITLE, POP_TITLE = "\x1b[22;2t", "\x1b[23;2t"
"""What keeps the title of before, and gives it back (XTWINOPS)."""


def title(text: str) -> str:
    """The sequence that writes the terminal's title (OSC 2)."""
    return f"\x1b]2;{_plain(text)}{_ENDING}"


def desktop(head: str, text: str) -> str:
    """The sequences that ask for a notice of the desktop: OSC 9 (iTerm2, kitty), OSC 777 (urxvt, foot)."""
    return f"\x1b]9;{_plain(f'{head}: {text}')}{_ENDING}\x1b]777;notify;{_field(head)};{_field(text)}{_ENDING}"


def run(command: Sequence[str], text: str) -> None:
    """Start the user's program with the sentence as its last argument, without a shell; nobody waits for it."""
    Thread(target=_run, args=([*command, _argument(text)],), name="notice", daemon=True).start()


def _run(command: list[str]) -> None:
    with suppress(OSError, subprocess.SubprocessError, ValueError):
        subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_PATIENCE,
            check=False,
        )


def _plain(text: str) -> str:
    return safe_line(text, _LONGEST)


def _field(text: str) -> str:
    """A field of OSC 777, which a semicolon would end."""
    return _plain(text).replace(";", ",")


def _argument(text: str) -> str:
    """Words an agent wrote must not be taken for an option of the program."""
    plain = _plain(text)
    return f" {plain}" if plain.startswith("-") else plain
