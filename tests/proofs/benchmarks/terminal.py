"""A program on a pseudo terminal: keys in, every byte out with the moment it came, and what the screen shows."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from types import TracebackType
from typing import Self

import pyte

COLUMNS, LINES = 120, 40
_TOGETHER = 0.005
_QUESTIONS = {
    b"\x1b[?2026$p": b"\x1b[?2026;2$y",  # synchronised output: known, off
    b"\x1b[c": b"\x1b[?62;22c",
}
"""What a present-day terminal is asked at the start, and what it answers."""
_UNKNOWN_TO_PYTE = re.compile(rb"\x1b\[[<=>][0-9;]*[a-zA-Z]|\x1b\[\?[0-9;]+\$[py]")


@dataclass(frozen=True, slots=True)
class Burst:
    """Output up to a quiet moment.

    Attributes:
        first: Seconds from the start of waiting to its first byte, 0 when nothing came.
        seconds: The same to its last byte.
        size: Bytes.
        answer: Bytes that came together with the first, within 5 ms of each other.
    """

    first: float
    seconds: float
    size: int
    answer: int


class Terminal:
    """A running program; use it as a context manager, which ends the program."""

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], *, size: tuple[int, int] = (COLUMNS, LINES)
    ) -> None:
        self.started = perf_counter()
        self.chunks: list[tuple[float, bytes]] = []
        self.received = 0
        self._size, self._drawn = size, 0
        self._screen = _screen(size)
        self._tail = b""
        self.pid, self._file = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
            os.execvpe(command[0], list(command), dict(environment))

    def press(self, keys: bytes) -> None:
        """Send keys as a terminal would."""
        os.write(self._file, keys)

    def read(self, seconds: float) -> bytes:
        """What came within `seconds`, at the first moment something came; empty when nothing did.

        Raises:
            RuntimeError: The program ended.
        """
        ready, _, _ = select.select([self._file], [], [], max(0.0, seconds))
        if not ready:
            return b""
        try:
            data = os.read(self._file, 1 << 16)
        except OSError:
            data = b""
        if not data:
            raise RuntimeError(f"the program on the terminal ended; its last words: {self.text()[-600:]}")
        self.chunks.append((perf_counter(), data))
        self.received += len(data)
        self._answer(data)
        return data

    def settle(self, *, quiet: float = 0.1, limit: float = 60.0, first: float | None = None) -> Burst:
        """Wait until nothing came for `quiet` seconds; wait `first` seconds (default `limit`) for the first byte."""
        start, mark = perf_counter(), len(self.chunks)
        while perf_counter() < start + limit:
            silence = quiet if len(self.chunks) > mark else (limit if first is None else first)
            if not self.read(silence):
                break
        return _burst(self.chunks[mark:], start)

    def wait_for(self, text: str, *, limit: float = 60.0) -> float:
        """Seconds until the screen shows `text`; it may be drawn in pieces, in any order.

        Raises:
            TimeoutError: It did not come within `limit` seconds.
        """
        start = perf_counter()
        while perf_counter() < start + limit:
            if self.read(start + limit - perf_counter()) and text in self.text():
                return self.chunks[-1][0] - start
        raise TimeoutError(f"{text!r} did not appear within {limit} s; the screen shows:\n{self.text()}")

    def text(self) -> str:
        """What the screen shows now, without trailing blanks."""
        screen, stream = self._screen
        for _, data in self.chunks[self._drawn :]:
            stream.feed(_UNKNOWN_TO_PYTE.sub(b"", data))
        self._drawn = len(self.chunks)
        return "\n".join(line.rstrip() for line in screen.display)

    def forget(self) -> None:
        """Drop what came so far; for programs that run for hours."""
        self.chunks.clear()
        self._drawn = 0

    def first_seen(self, shows: Callable[[str], bool]) -> float | None:
        """Seconds from the start of the program until the screen first satisfied `shows`; None if it never did."""
        screen, stream = _screen(self._size)
        for moment, data in self.chunks:
            stream.feed(_UNKNOWN_TO_PYTE.sub(b"", data))
            if shows("\n".join(screen.display)):
                return moment - self.started
        return None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.kill(self.pid, signal.SIGTERM)
        if not self._ended(5.0):
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self._file)

    def _ended(self, limit: float) -> bool:
        deadline = perf_counter() + limit
        while perf_counter() < deadline:
            if os.waitpid(self.pid, os.WNOHANG)[0]:
                return True
            try:
                self.read(0.02)
            except RuntimeError:
                select.select([], [], [], 0.01)
        return False

    def _answer(self, data: bytes) -> None:
        recent = self._tail + data
        for question, answer in _QUESTIONS.items():
            if question in recent and question not in self._tail:
                os.write(self._file, answer)
        self._tail = recent[-16:]


def _burst(chunks: list[tuple[float, bytes]], start: float) -> Burst:
    if not chunks:
        return Burst(0.0, 0.0, 0, 0)
    together = 1
    while together < len(chunks) and chunks[together][0] - chunks[together - 1][0] < _TOGETHER:
        together += 1
    answer = sum(len(data) for _, data in chunks[:together])
    return Burst(chunks[0][0] - start, chunks[-1][0] - start, sum(len(data) for _, data in chunks), answer)


def _screen(size: tuple[int, int]) -> tuple[pyte.Screen, pyte.ByteStream]:
    screen = pyte.Screen(*size)
    return screen, pyte.ByteStream(screen)
