"""Drives a program on a real pseudo-terminal: sends keys, waits for text on its screen, keeps every byte it wrote."""

from __future__ import annotations

import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

import pyte
from wcwidth import wcwidth

from tests.equipment.command_line import COMMAND, clean_environment, template
from tests.equipment.forked import Child, start_settings

WAIT = 60.0
"""Seconds after which something that was expected counts as missing."""
_QUESTION, _ANSWER = b"\x1b[?2026$p", b"\x1b[?2026;2$y"

_JOINED = re.compile(rb"\xf0\x9f\x8f[\xbb-\xbf]|\xe2\x80\x8d(?:[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3})")
"""A colour of skin; a joiner and the emoji it joins to the one before."""
_STYLE = re.compile(rb"\x1b\[[0-9;:]*m")
_UNFINISHED = re.compile(rb"\xe2(?:\x80(?:\x8d(?:[\xe0-\xef][\x80-\xbf]?|[\xf0-\xf4][\x80-\xbf]{0,2})?)?)?\Z")
"""The beginning of the same at the end of a read."""


_SURROUNDINGS = {
    "TERM": "xterm-256color",
    "COLORTERM": "truecolor",
    "TEAM_CONSOLE_GRACE": "0",
    "PYTHONFAULTHANDLER": "1",
}
"""Decisions are written at once; with the last of them a child that is sent SIGABRT says where its threads are."""


class Terminal:
    """A child process and the terminal it believes in.

    Attributes:
        output: Every byte the child wrote.
        screen: What stands on the screen now; without colours and styles, which take pyte most of its time.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        cwd: Path,
        columns: int = 120,
        lines: int = 40,
        env: Mapping[str, str] | None = None,
        styled: bool = False,
    ) -> None:
        """Start the child; `styled` keeps colours and styles on the screen."""
        self._is_styled = styled
        self.output = bytearray()
        self.screen = pyte.Screen(columns, lines)
        self.screen.write_process_input = self._answer  # type: ignore[method-assign]
        self._stream = pyte.ByteStream(self.screen)
        self._held = b""
        self._lines: dict[int, str] = {}
        self._has_waited = False
        self.status: int | None = None
        environment = clean_environment(**{**_SURROUNDINGS, **(env or {})})
        self.fd, theirs = os.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        self._child: Child | subprocess.Popen[bytes]
        if tuple(command[: len(COMMAND)]) == COMMAND and template().settings == start_settings(environment):
            words, files = command[len(COMMAND) :], (theirs, theirs, theirs)
            self._child = template().start(words, files=files, folder=cwd, environment=environment, is_terminal=True)
        else:
            self._child = subprocess.Popen(
                command,
                cwd=cwd,
                env=environment,
                stdin=theirs,
                stdout=theirs,
                stderr=theirs,
                start_new_session=True,
                preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
            )
        os.close(theirs)
        self.pid = self._child.pid
        os.set_blocking(self.fd, False)

    def _answer(self, data: str) -> None:
        """Answer what the terminal is asked, such as where its cursor is."""
        with suppress(OSError):  # whoever asked is gone
            os.write(self.fd, data.encode())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        self.end()

    @property
    def text(self) -> str:
        """The screen as lines of text."""
        return "\n".join(self._line(number).rstrip() for number in range(self.screen.lines))

    def _line(self, number: int) -> str:
        """One line, made anew only after it was written to."""
        if number in self.screen.dirty or number not in self._lines:
            self._lines[number] = self._new_line(number)
            self.screen.dirty.discard(number)
        return self._lines[number]

    def _new_line(self, number: int) -> str:
        """One line; half of a wide character whose other half was overwritten is blank, where pyte's own text ends."""
        cells, row, place = [], self.screen.buffer[number], 0
        while place < self.screen.columns:
            data = row[place].data or " "
            cells.append(data)
            place += 2 if wcwidth(data[0]) == 2 else 1
        return "".join(cells)

    def styled_screen(self) -> pyte.Screen:
        """Return the screen with colours and styles, made again of all that the child wrote; for one size only."""
        screen = pyte.Screen(self.screen.columns, self.screen.lines)
        pyte.ByteStream(screen).feed(_without_private(bytes(self.output)))
        return screen

    @property
    def is_raw(self) -> bool:
        """Whether keys go to the child as they are pressed, not as lines that the terminal edits."""
        return not termios.tcgetattr(self.fd)[3] & termios.ICANON

    def resize(self, columns: int, lines: int) -> None:
        """Give the terminal another size."""
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        self.screen.resize(lines, columns)

    def send(self, keys: str | bytes) -> None:
        """Press keys; behind something that was waited for, once the rest of what came with it is there, too."""
        if self._has_waited:
            self._has_waited = False
            self.settle(0.05, at_most=0.5)
        data = keys.encode() if isinstance(keys, str) else keys
        while data:
            self.pump(0)
            try:
                data = data[os.write(self.fd, data) :]
            except BlockingIOError:
                self.pump(0.01)

    def pump(self, seconds: float) -> bool:
        """Take what the child wrote within `seconds`; False when there was nothing or it is gone."""
        if self.fd < 0 or not select.select([self.fd], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self.fd, 65536)
        except BlockingIOError:
            return False
        except OSError:
            # A terminal that its child has closed is always ready to be read: without the pause, waiting would spin.
            time.sleep(min(seconds, 0.01))
            return False
        self.output += data
        # A joiner and what it joins may come in two reads; the first part waits for the second.
        shown = self._held + data
        cut = _UNFINISHED.search(shown)
        self._held = shown[cut.start() :] if cut else b""
        shown = _without_private(shown[: cut.start()] if cut else shown)
        self._stream.feed(shown if self._is_styled else _STYLE.sub(b"", shown))
        if _QUESTION in data:
            os.write(self.fd, _ANSWER)
        return bool(data)

    def wait_until(self, condition: Callable[[], bool], what: str, seconds: float = WAIT) -> None:
        """Read until `condition` holds; an assertion fails with the screen when it does not in time."""
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, f"no {what} within {seconds} s; the screen:\n{self.text}"
            self.pump(0.02)
        self._has_waited = True

    def wait_for(self, *texts: str, seconds: float = WAIT) -> None:
        """Read until every text stands on the screen."""
        self.wait_until(lambda: all(text in self.text for text in texts), repr(texts), seconds)

    def wait_gone(self, text: str, seconds: float = WAIT) -> None:
        """Read until `text` stands on the screen no more."""
        self.wait_until(lambda: text not in self.text, f"screen without {text!r}", seconds)

    def settle(self, quiet: float = 0.15, at_most: float = 5.0) -> None:
        """Read until the child is quiet for a while; one that never is, because others keep writing, is left so."""
        deadline = time.monotonic() + at_most
        while self.pump(quiet) and time.monotonic() < deadline:
            pass

    def signal(self, number: signal.Signals) -> None:
        """Send the child a signal."""
        os.kill(self.pid, number)

    def hang_up(self) -> None:
        """Close the terminal, as a lost line does."""
        os.close(self.fd)
        self.fd = -1

    def wait_exit(self, seconds: float = WAIT) -> int:
        """Wait for the child to end; its exit status, negative for a signal."""
        deadline = time.monotonic() + seconds
        while not self._ended():
            assert time.monotonic() < deadline, f"no exit within {seconds} s; the screen:\n{self.text}\n{self._doing()}"
            self.pump(0.02)
        while self.pump(0.05):
            pass
        assert self.status is not None
        return self.status

    def ends(self, seconds: float) -> bool:
        """Whether the child ends soon."""
        deadline = time.monotonic() + seconds
        while not self._ended() and time.monotonic() < deadline:
            self.pump(0.02)
        return self._ended()

    def _doing(self) -> str:
        """What each thread of a child that does not end is doing; it ends the child."""
        before = len(self.output)
        os.kill(self.pid, signal.SIGABRT)
        self.settle(0.5)
        return bytes(self.output[before:]).decode(errors="replace")

    def end(self) -> None:
        """Make sure the child is gone."""
        if not self._ended():
            with suppress(ProcessLookupError):  # it ended just now, and that is still on its way to us
                os.kill(self.pid, signal.SIGKILL)
            self.status = self._child.wait()
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

    def _ended(self) -> bool:
        with suppress(subprocess.TimeoutExpired):
            self.status = self._child.wait(0.0)
        return self.status is not None


def console(folder: Path, *arguments: str, **more: object) -> Terminal:
    """The console on the team in `folder`."""
    return Terminal([*COMMAND, "-t", str(folder), *arguments], cwd=folder, **more)  # type: ignore[arg-type]


def _without_private(data: bytes) -> bytes:
    """What pyte is shown, as a terminal that joins emoji shows it; the log keeps all.

    pyte takes the kitty keyboard sequences for text, and drops the rest of a run after an enclosing mark, a variation
    selector or a joiner.
    """
    data = _JOINED.sub(b"", data)
    for aside in (b"\x1b[>25u", b"\x1b[<u", *(mark.encode() for mark in ("\u20dd", "\ufe0e", "\ufe0f"))):
        data = data.replace(aside, b"")
    return data
