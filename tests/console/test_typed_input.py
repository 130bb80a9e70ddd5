"""The thread that reads keys sleeps until there is something to read, decides in time, and ends when it is told to."""

from __future__ import annotations

import os
import pty
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from queue import Queue
from threading import Thread

import pytest
from team_console.console.driver import PasteParser, TypedInput
from textual.events import Key
from textual.message import Message


class _Toolkit:
    """As much of the toolkit's driver as the reading needs."""

    def start_application_mode(self) -> None:
        """The terminal is the console's."""

    def close(self) -> None:
        """The terminal is given away."""


class _Reader(TypedInput, _Toolkit):
    """Reads a terminal in a thread; what it understands comes into `events`."""

    def __init__(self, fileno: int) -> None:
        super().__init__()
        self.fileno = fileno
        self.events: Queue[Message] = Queue()
        self.process_message = self.events.put

    def key(self) -> str:
        """The key that comes next."""
        event = self.events.get(timeout=60)
        assert isinstance(event, Key)
        return event.key


@contextmanager
def reading(reader: _Reader) -> Iterator[Thread]:
    """The thread that reads, until it ended."""
    thread = Thread(target=reader.run_input_thread)
    thread.start()
    try:
        yield thread
    finally:
        reader.exit_event.set()
        thread.join(60)
        assert not thread.is_alive()
        reader.exit_event.clear()


@pytest.fixture
def line() -> Iterator[tuple[int, int]]:
    """Where keys are typed, and where they arrive."""
    keys, console = pty.openpty()
    tty.setraw(console)
    yield keys, console
    os.close(keys)
    os.close(console)


def test_a_key_wakes_it(line: tuple[int, int]) -> None:
    keys, console = line
    reader = _Reader(console)
    with reading(reader):
        for letter in "xy":
            os.write(keys, letter.encode())
            assert reader.key() == letter


def test_an_escape_that_nothing_follows_is_a_key_however_long_ago_the_last_was_typed(line: tuple[int, int]) -> None:
    keys, console = line
    reader = _Reader(console)
    with reading(reader):
        for _ in range(3):
            os.write(keys, b"\x1b")
            assert reader.key() == "escape"


def test_a_sequence_in_two_pieces_is_one_key(line: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("textual.constants.ESCAPE_DELAY", 60.0)
    keys, console = line
    reader = _Reader(console)
    with reading(reader):
        os.write(keys, b"\x1b")
        os.write(keys, b"[A")
        assert reader.key() == "up"


def test_it_sleeps_without_end_unless_an_escape_waits_for_what_may_follow(monkeypatch: pytest.MonkeyPatch) -> None:
    parser = PasteParser()
    assert parser.undecided_for() is None
    for typed, seconds in (("x", None), ("\x1b", 60.0), ("[", 60.0), ("A", None), ("\x1b", 0.0)):
        monkeypatch.setattr("textual.constants.ESCAPE_DELAY", seconds)
        list(parser.feed(typed))
        left = parser.undecided_for()
        assert (left is None) == (seconds is None), typed
    assert left == 0.0
    assert [event.key for event in parser.tick() if isinstance(event, Key)] == ["escape"]
    assert parser.undecided_for() is None


def test_it_ends_when_it_is_told_to_and_reads_again_after_an_editor_had_the_terminal(line: tuple[int, int]) -> None:
    keys, console = line
    reader = _Reader(console)
    with reading(reader):
        pass
    reader.close()
    reader.start_application_mode()
    with reading(reader):
        os.write(keys, b"x")
        assert reader.key() == "x"
    reader.close()


def test_a_terminal_that_is_gone_ends_it() -> None:
    keys, console = pty.openpty()
    reader = _Reader(console)
    thread = Thread(target=reader.run_input_thread)
    thread.start()
    os.close(keys)
    thread.join(60)
    assert not thread.is_alive()
    os.close(console)
