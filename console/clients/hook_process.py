"""Process of a hook: its outputs, the client that started it, and the signals that end it."""

from __future__ import annotations

import os
import select
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

OUT, ERR = 1, 2
"""Descriptors of the two outputs."""


def write_line(descriptor: int, text: str) -> bool:
    """Write an output at once and as a whole; False when its reader is gone."""
    data = f"{text}\n".encode("utf-8", "backslashreplace")
    try:
        while data:
            data = data[os.write(descriptor, data) :]
    except OSError:
        return False
    return True


def has_reader(descriptor: int, milliseconds: int | None = 0) -> bool:
    """Return whether somebody still holds the other end of an output, as far as that can be told within this time."""
    poll = select.poll()
    poll.register(descriptor, 0)  # nothing is asked for: that the reader is gone is told all the same
    try:
        # guard: no-mail-for-closed-output
        return not poll.poll(milliseconds)
    except OSError:
        return False


_ENDING = {signal.SIGTERM, signal.SIGHUP}


@contextmanager
def signals_blocked() -> Iterator[None]:
    """Let no signal end the block in the middle; one that comes counts in the next wait."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {*_ENDING, signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def signals_end_wait(descriptor: int = OUT) -> Iterator[None]:
    """Let what ends the process end the wait in the block in order: as an interrupt, which the wait knows.

    The client sends SIGTERM when its own dialog was answered or dismissed, and when it ends. Killed, it can tell
    nobody; then the other end of our output is closed.

    Args:
        descriptor: The output that the client reads.
    """

    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have started us with it ignored
    for number in _ENDING:
        signal.signal(number, lambda *_: signal.raise_signal(signal.SIGINT))

    def end_with_client() -> None:  # killed, it cannot tell us
        while has_reader(descriptor, None):  # for ever where the output is no pipe or terminal that could tell
            pass
        # guard: asker-ends-with-client
        os.kill(os.getpid(), signal.SIGTERM)

    # Before the signals are let in: the thread must not take them.
    threading.Thread(target=end_with_client, name="client", daemon=True).start()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
