"""The thread that reads keys sleeps until there is something to read, and ends when it is told to."""

from __future__ import annotations

import os
import pty
import select
from collections.abc import Iterator
from contextlib import contextmanager
from queue import Queue
from threading import Event, Thread
from typing import cast

from team_console.console.terminal import patience
from team_console.console.terminal.driver import sparing
from team_console.console.terminal.patience import INPUT_THREAD, PatientEvent
from textual import constants
from textual.driver import Driver


@contextmanager
def asking(event: PatientEvent) -> Iterator[Queue[bool]]:
    """Answers that a thread with the name of the toolkit's input thread gets to one question after the other."""
    answers: Queue[bool] = Queue()

    def ask() -> None:
        while not event.is_set():
            answers.put(False)
        answers.put(True)

    event._awake_until = 0.0
    thread = Thread(target=ask, name=INPUT_THREAD)
    thread.start()
    try:
        yield answers
    finally:
        event.set()
        thread.join(60)
        assert not thread.is_alive()
        event.close()


def test_it_sleeps_until_a_key_and_wakes_for_it() -> None:
    keys, console = pty.openpty()
    with asking(PatientEvent(console)) as answers:
        assert answers.empty()
        os.write(keys, b"x\n")
        assert answers.get(timeout=60) is False
    os.close(keys)
    os.close(console)


def test_it_ends_at_once_when_it_is_told_to() -> None:
    keys, console = pty.openpty()
    event = PatientEvent(console)
    with asking(event) as answers:
        event.set()
        assert answers.get(timeout=60) is True
    os.close(keys)
    os.close(console)


def test_other_threads_are_answered_without_waiting() -> None:
    keys, console = pty.openpty()
    event = PatientEvent(console)
    event._awake_until = 0.0
    assert not event.is_set()
    event.set()
    assert event.is_set()
    event.clear()
    assert not event.is_set()
    assert select.select([event._woken], [], [], 0)[0] == [], "a thread that begins anew must not be woken at once"
    event.close()
    os.close(keys)
    os.close(console)


def test_an_escape_is_told_from_a_sequence_before_it_sleeps_again() -> None:
    assert patience._AWAKE > constants.ESCAPE_DELAY + 0.1, "the thread looks every 0.1 s while it is awake"


class _BareDriver(Driver):
    """As much of the toolkit's driver as the waiting needs."""

    def __init__(self, fileno: int) -> None:
        self.fileno = fileno
        self.exit_event = Event()

    def write(self, data: str) -> None:
        """Nothing is shown."""

    def start_application_mode(self) -> None:
        """The terminal is the console's."""

    def disable_input(self) -> None:
        """Keys are not read."""

    def stop_application_mode(self) -> None:
        """The terminal is given back."""

    def close(self) -> None:
        """The terminal is given away."""


def test_keys_are_waited_for_again_after_the_terminal_was_given_to_an_editor() -> None:
    keys, console = pty.openpty()
    driver = sparing(_BareDriver)(console)  # type: ignore[arg-type]
    driver.start_application_mode()
    driver.close()
    driver.start_application_mode()
    with asking(cast("_BareDriver", driver).exit_event) as answers:  # type: ignore[arg-type]
        os.write(keys, b"x\n")
        assert answers.get(timeout=60) is False
    os.close(keys)
    os.close(console)
