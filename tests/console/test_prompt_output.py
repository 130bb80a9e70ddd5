"""Pictures reach a terminal whole and in order, whether it takes them at once or not, and nobody waits for it."""

from __future__ import annotations

import os
import pty
import tty
from collections.abc import Iterator
from io import TextIOWrapper

import pytest
from team_console.console.driver import Output, PromptOutput, sparing
from textual.drivers._writer_thread import WriterThread
from textual.drivers.headless_driver import HeadlessDriver
from textual.drivers.linux_driver import LinuxDriver


@pytest.fixture
def ends() -> Iterator[tuple[int, TextIOWrapper]]:
    """Both ends of a terminal: what shows it, and the file a program writes to."""
    screen, program = pty.openpty()
    tty.setraw(program)
    with open(program, "w", encoding="utf-8", errors="backslashreplace") as file:
        yield screen, file
    os.close(screen)


def read_to(screen: int, end: str) -> str:
    """What came up to and with `end`."""
    known = b""
    while not known.endswith(end.encode()):
        known += os.read(screen, 1 << 16)
    return known.decode()


def test_a_terminal_that_takes_all_is_written_at_once(ends: tuple[int, TextIOWrapper]) -> None:
    screen, file = ends
    output = Output(file)
    output.open()
    assert output.write_now("── a picture") is None
    assert read_to(screen, "picture") == "── a picture"
    output.close()


def test_a_terminal_that_stops_taking_keeps_the_order_and_stops_nobody(ends: tuple[int, TextIOWrapper]) -> None:
    screen, file = ends
    output = Output(file)
    output.open()
    thread = WriterThread(output)  # type: ignore[arg-type]
    written, handed = [], 0
    for number in range(1 << 20):
        text = f"{number}─"
        written.append(text)
        left = output.write_now(text)
        if left is not None:
            thread.write(left)
            handed += 1
        if handed == 20:
            break
    assert 20 < len(written) < 1 << 20
    thread.start()  # only now, so that it cannot have finished before the rest came
    assert read_to(screen, written[-1]) == "".join(written)
    thread.stop()
    assert output.write_now("and on") is None
    assert read_to(screen, "on") == "and on"
    output.close()


def test_writing_without_waiting_is_nobody_elses_business(ends: tuple[int, TextIOWrapper]) -> None:
    _, file = ends
    output = Output(file)
    output.open()
    output.write_now("a picture")
    assert os.get_blocking(file.fileno())
    output.close()


@pytest.mark.parametrize("error", [PermissionError(13, "it is another user's"), OSError(19, "it has no name here")])
def test_a_terminal_that_cannot_be_opened_again_is_left_to_the_thread(
    ends: tuple[int, TextIOWrapper], error: OSError, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(fd: int) -> str:
        raise error

    screen, file = ends
    monkeypatch.setattr(os, "ttyname", refuse)
    output = Output(file)
    output.open()
    assert output.write_now("a picture") == "a picture"
    output.write("a picture")
    assert read_to(screen, "picture") == "a picture"


def test_another_terminal_of_the_same_name_is_not_written_to(
    ends: tuple[int, TextIOWrapper], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a container, whose `/dev/pts` numbers its terminals for itself."""
    _, file = ends
    monkeypatch.setattr(os, "ttyname", lambda fd: "/dev/null")
    output = Output(file)
    output.open()
    assert output.write_now("a picture") == "a picture"


def test_only_a_driver_with_a_terminal_writes_so() -> None:
    assert issubclass(sparing(LinuxDriver), PromptOutput)
    assert not issubclass(sparing(HeadlessDriver), PromptOutput)
