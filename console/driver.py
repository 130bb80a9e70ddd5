"""A driver of the terminal that sends little, sleeps while nothing is typed, and never waits for one that is gone."""

from __future__ import annotations

import asyncio
import codecs
import os
import re
import selectors
import sys
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from threading import Event
from typing import IO, Any, TextIO, cast

from rich.cells import get_character_cell_size
from team_console.console.canvas import Canvas
from textual._time import get_time
from textual._xterm_parser import BRACKETED_PASTE_END, BRACKETED_PASTE_START, XTermParser
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver
from textual.events import Paste
from textual.message import Message

_ESC, _SUBSTITUTE = "\x1b", "\x1a"
"""Of the characters of control the second stands for one that could not be passed on."""
_STYLES = re.compile(r"\x1a\[[0-?]*[ -/]*[@-~]|\x1a\][^\x07\x1a]*(?:\x07|\x1a\\)")
"""Sequences that colour what is printed, move the cursor or name a window or a link: no part of the text."""


class PasteParser(XTermParser):
    """Textual's parser of what a terminal sends; what stands between the marks of a paste is text, whatever it is."""

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self._is_pasting = False
        self._before = self._held = ""

    def feed(self, data: str) -> Iterable[Message]:
        """The events that `data` completes; empty `data` is the end."""
        passed = "".join(self._without_escapes(data))
        if data and not passed:  # all of it may be the end of a paste; without data it would be the end of all
            return
        for message in super().feed(passed):
            if isinstance(message, Paste):
                message.text = _plain(message.text)
            yield message

    def undecided_for(self) -> float | None:
        """Seconds after which `tick` decides on what may be the beginning of a sequence; None when nothing may be."""
        return None if self._timeout_time is None else max(0.0, self._timeout_time - get_time())

    def _without_escapes(self, data: str) -> Iterator[str]:
        """The same, with another character for each escape in a paste; marks may come in two pieces."""
        data, self._held = self._held + data, ""
        while data:
            if self._is_pasting:
                pasted, end, data = data.partition(BRACKETED_PASTE_END)
                if not end:
                    kept = len(pasted) - _begun(pasted, BRACKETED_PASTE_END)
                    pasted, self._held = pasted[:kept], pasted[kept:]
                yield pasted.replace(_ESC, _SUBSTITUTE) + end
                self._is_pasting, self._before = not end, ""
            else:
                place = (self._before + data).find(BRACKETED_PASTE_START)
                typed = place + len(BRACKETED_PASTE_START) - len(self._before) if place >= 0 else len(data)
                yield data[:typed]
                self._before = (self._before + data)[1 - len(BRACKETED_PASTE_START) :]
                self._is_pasting, data = place >= 0, data[typed:]


def _begun(text: str, mark: str) -> int:
    """How many characters at the end of `text` may be the beginning of `mark`."""
    return next(size for size in range(len(mark) - 1, -1, -1) if text.endswith(mark[:size]))


def _plain(pasted: str) -> str:
    return _STYLES.sub("", pasted).replace(_SUBSTITUTE, _ESC)


# How what is typed is read: by a thread that sleeps until there is something, whatever a terminal sends.

_AT_A_TIME = 1 << 12
"""Bytes that are read at once."""


class WakingEvent(Event):
    """An event that can be waited for beside a file: while it is set there is something to read from `fileno`."""

    def __init__(self) -> None:
        super().__init__()
        self.fileno = self._wake = -1
        self.open()

    def open(self) -> None:
        """Be ready to wake, also again after `close`."""
        if self._wake < 0:
            self.fileno, self._wake = os.pipe()
            os.set_blocking(self.fileno, False)

    def set(self) -> None:
        """Set it and wake whoever waits."""
        super().set()
        if self._wake >= 0:
            os.write(self._wake, b".")

    def clear(self) -> None:
        """Take it back."""
        super().clear()
        with suppress(BlockingIOError):
            os.read(self.fileno, 64)

    def close(self) -> None:
        """Give up what it wakes with, until it is opened again."""
        for fileno in (self.fileno, self._wake) if self._wake >= 0 else ():
            os.close(fileno)
        self.fileno = self._wake = -1


class TypedInput:
    """What the driver of a terminal is mixed with, in front of its own class: how its thread reads what is typed.

    Textual's own way wakes up ten times a second to look, ends the console at a byte that is no UTF-8, which a
    terminal of another encoding sends, never leaves a terminal that is gone, and knows no parser but its own.
    """

    fileno: int
    exit_event: WakingEvent
    process_message: Callable[[Message], None]

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.exit_event = WakingEvent()

    def start_application_mode(self) -> None:
        """Take the terminal; also how it is had again after an editor had it, which closes the driver."""
        self.exit_event.open()
        super().start_application_mode()  # type: ignore[misc]

    def close(self) -> None:
        """Let go of what wakes the thread."""
        super().close()  # type: ignore[misc]
        self.exit_event.close()

    def run_input_thread(self) -> None:
        """Read what is typed until it is over or the terminal is gone.

        It sleeps without end only when the parser has decided on all it got: an escape alone may begin a sequence, and
        becomes a key when nothing follows in time, whenever it was typed.
        """
        parser, decoder = PasteParser(), getincrementaldecoder("utf-8")("replace")
        # Not `poll`: terminals of macOS are no devices that it can wait for.
        with selectors.SelectSelector() as selector:
            selector.register(self.fileno, selectors.EVENT_READ)
            selector.register(self.exit_event.fileno, selectors.EVENT_READ)
            while not self.exit_event.is_set():
                ready = selector.select(parser.undecided_for())
                if any(key.fd == self.fileno for key, _ in ready):
                    if not (typed := self._read()):
                        return
                    if text := decoder.decode(typed):
                        self._pass_on(parser.feed(text))
                self._pass_on(parser.tick())

    def _read(self) -> bytes:
        """What was typed; nothing when the terminal is gone."""
        try:
            return os.read(self.fileno, _AT_A_TIME)
        except OSError:
            return b""

    def _pass_on(self, events: Iterable[Message]) -> None:
        for event in events:
            self.process_message(event)


# Characters for a terminal of another encoding than UTF-8: what it cannot show is told in as many cells.

ERRORS = "team-console-cells"
"""Name of the way to encode, for `str.encode`."""
_ALIKE = {
    character: plain
    for plain, characters in {
        "*": "●◉◆•■▣★",
        "o": "○◌◇□◐",
        "+": "✓✚",
        "x": "✗✕×",
        "!": "‼",
        "@": "◷◔↻",
        "^": "△▲↑",
        "v": "↓▼",
        ">": "→›▸",
        "<": "←‹◂",
        ".": "…·",
        "-": "─━┅┄–—−",
        "|": "│┃▏▎▍▌▋▊▐",
        "#": "█▁▂▃▄▅▆▇▀",
        '"': "“”„«»",
        "'": "‘’",
    }.items()
    for character in characters
}


def _in_as_many_cells(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    characters = error.object[error.start : error.end]
    return "".join(_ALIKE.get(each) or "?" * get_character_cell_size(each) for each in characters), error.end


codecs.register_error(ERRORS, _in_as_many_cells)


# How a picture is written: at once while the terminal takes it at once, by a thread from when it does not.


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


_AT_ONCE = 400
"""Characters that reach the terminal by one write and are drawn by it as one picture; more are bracketed for that."""
SYNC_BEGIN, SYNC_END = "\x1b[?2026h", "\x1b[?2026l"


def abilities() -> dict[str, bool]:
    """What the terminal database promises beyond what every terminal can do, as `Canvas` wants to know it."""
    import curses

    try:
        curses.setupterm()
    except curses.error:
        return {}
    scrolls = all(curses.tigetstr(name) for name in ("csr", "il1", "dl1"))
    return {"erases": bool(curses.tigetstr("ech")) and curses.tigetflag("bce") > 0, "scrolls": scrolls}


class SparingDriver(Driver):
    """What a driver of Textual's is mixed with, in front of its own class: see `sparing`."""

    _has_terminal = False

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.canvas = Canvas(**abilities())
        self._begun = False

    def write(self, data: str) -> None:
        """Send what `data` changes on the terminal, in brackets when it is more than one picture takes."""
        if data == SYNC_BEGIN:
            self._begun = True
        elif data == SYNC_END:
            if not self._begun:
                self._send(data)
            self._begun = False
        else:
            changed = self.canvas.update(data)
            if len(changed) > _AT_ONCE:
                self._send((SYNC_BEGIN if self._begun else "") + changed)
                self._begun = False
            elif changed:
                self._send(changed)

    def start_application_mode(self) -> None:
        """Take the terminal."""
        super().start_application_mode()  # type: ignore[safe-super]
        self._has_terminal = True

    def stop_application_mode(self) -> None:
        """Give the terminal back."""
        self._has_terminal = False
        super().stop_application_mode()  # type: ignore[safe-super]

    def _sigcont_application(self, *arguments: Any) -> None:
        # Textual takes every SIGCONT for the end of a ctrl+z, and would read and write a terminal it has twice.
        if getattr(self, "_must_signal_resume", False):
            super()._sigcont_application(*arguments)  # type: ignore[misc]
        elif self._has_terminal:
            asyncio.get_running_loop().call_soon_threadsafe(self._take_again)

    def _take_again(self) -> None:
        """Whoever stopped us from outside may have used the terminal: give it away, have it again, draw all."""
        if self._has_terminal and self._auto_restart:
            self.suspend_application_mode()
            self._must_signal_resume = True
            self.resume_application_mode()

    def _send(self, data: str) -> None:
        writer = getattr(self, "_writer_thread", None)
        if writer is None or writer.is_alive():
            super().write(data)  # type: ignore[safe-super]


def sparing(driver_class: type[Driver]) -> type[Driver]:
    """`driver_class` with output through a `Canvas`, written at once, and input waited for and read as it was meant."""
    if not issubclass(driver_class, LinuxDriver):  # there are drivers without a terminal
        return type("SparingDriver", (SparingDriver, driver_class), {})
    return type("SparingDriver", (TypedInput, SparingDriver, PromptOutput, driver_class), {})
