"""How a picture is written: at once while the terminal takes it at once, by a thread from when it does not.

Textual hands each picture to a thread, so that a slow line stops nobody; while the line is quick, waking that thread
costs more than the writing.
"""

from __future__ import annotations

import os
import sys
from typing import IO, Any, TextIO, cast

from team_console.console.terminal.substitutes import ERRORS


class Output:
    """What a terminal is written through: by its owner without waiting, by the thread it hands the rest to.

    Nothing is written out of order: while the thread has anything left, all goes to the thread.
    """

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._fd = -1
        self._handed = self._done = 0
        self._rest = b""

    def open(self) -> None:
        """Be ready to write without waiting, where the terminal can be opened a second time."""
        self.close()
        self._handed = self._done = 0
        self._rest = b""
        self._fd = _opened_again(self._file)

    def close(self) -> None:
        """Let the thread write all from now on."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def write_now(self, text: str) -> str | None:
        """Write what the terminal takes now; None when that is all, else the words to hand to the thread."""
        if self._fd < 0 or self._handed != self._done:
            self._handed += 1
            return text
        data = self._encoded(text)
        try:
            written = os.write(self._fd, data)
        except OSError:  # it takes nothing now, or is gone: the thread finds out which
            written = 0
        if written == len(data):
            return None
        self._rest = data[written:]  # may begin inside a character, so it is no text
        self._handed += 1
        return ""

    def write(self, text: str) -> None:
        """Write `text`, or what is left of the picture before it was handed over; in the thread, which may wait."""
        if self._rest:
            self._file.buffer.write(self._rest)
            self._rest = b""
        self._file.buffer.write(self._encoded(text))
        self._file.flush()
        self._done += 1

    def _encoded(self, text: str) -> bytes:
        return text.encode(self._file.encoding, ERRORS)

    def flush(self) -> None:
        """All is written already."""

    def fileno(self) -> int:
        """The terminal."""
        return self._file.fileno()


class PromptOutput:
    """What the driver of a terminal is mixed with, in front of its own class: how it writes."""

    _file: IO[str]

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._output = Output(cast(TextIO, _terminal(self._file)))
        self._file = cast("IO[str]", self._output)

    def start_application_mode(self) -> None:
        """Take the terminal."""
        self._output.open()
        super().start_application_mode()  # type: ignore[misc]

    def close(self) -> None:
        """Let go of the terminal once all is written."""
        super().close()  # type: ignore[misc]
        self._output.close()

    def write(self, data: str) -> None:
        """Write `data`; what the terminal does not take at once goes to the thread."""
        left = self._output.write_now(data)
        if left is not None:
            super().write(left)  # type: ignore[misc]


def _terminal(file: IO[str]) -> IO[str]:
    """Standard error, on which the toolkit draws, or standard output where errors go to a file, as with `2>log`."""
    output = sys.__stdout__
    return output if not file.isatty() and output is not None and output.isatty() else file


def _opened_again(file: TextIO) -> int:
    """The terminal behind `file`, opened so that a write never waits; -1 where that cannot be.

    A second opening has flags of its own: the same flag set on the first would be set for the shell and for whatever
    else shares it.
    """
    try:
        opened = os.open(os.ttyname(file.fileno()), os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return -1
    if os.path.samestat(os.fstat(opened), os.fstat(file.fileno())):
        return opened
    os.close(opened)
    return -1
