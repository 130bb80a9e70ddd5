"""Output of a hook: one JSON object, written whole or not at all; and whether anybody still waits for it."""

from __future__ import annotations

import json
import os
import select

from team_console.console.clients.events import Reply

OUT, ERR = 1, 2
"""Descriptors of the two outputs."""


def print_reply(reply: Reply) -> bool:
    """Write the answer to standard output; False when its reader is gone."""
    return _write(OUT, json.dumps(reply, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n")


def print_words(words: str) -> bool:
    """Write what wakes a session to standard error; False when its reader is gone."""
    return _write(ERR, words.encode("utf-8", "backslashreplace") + b"\n")


def wait_until_unread(descriptor: int) -> None:
    """Return when whoever started this process is gone: the other end of an output was closed.

    Waits for ever where that output is no pipe or terminal that could tell.
    """
    poll = select.poll()
    poll.register(descriptor, 0)  # nothing is asked for: that the reader is gone is told all the same
    while not poll.poll():
        pass


def is_read(descriptor: int) -> bool:
    """Whether somebody still holds the other end of an output, as far as that can be told."""
    poll = select.poll()
    poll.register(descriptor, 0)
    try:
        return not poll.poll(0)
    except OSError:
        return False


def _write(descriptor: int, data: bytes) -> bool:
    try:
        while data:
            data = data[os.write(descriptor, data) :]
    except OSError:
        return False
    return True
