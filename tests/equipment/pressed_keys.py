"""Keys pressed as people press them: looked at, and pressed again when they went with a form that was closing."""

from __future__ import annotations

import time

from tests.equipment.terminal import Terminal

ENTER, TAB = "\r", "\t"
ESCAPE = "\x1b[27u"
"""Escape as terminals with unambiguous keys send it: it never joins with the key that follows."""


def arrives(terminal: Terminal, text: str, seconds: float = 3.0) -> bool:
    """Whether `text` comes to stand on the screen soon."""
    deadline = time.monotonic() + seconds
    while text not in terminal.text and time.monotonic() < deadline:
        terminal.pump(0.02)
    return text in terminal.text


def reach(terminal: Terminal, key: str, text: str) -> None:
    """Press `key` until `text` stands on the screen; escape in between.

    Each time it is waited for longer: on a slow machine the escape would take away what was about to come.
    """
    for again in range(4):
        terminal.send(key)
        if arrives(terminal, text, 3.0 * 2**again):
            return
        terminal.send(ESCAPE)
        terminal.settle(0.1)
    terminal.wait_for(text)


def close_form(terminal: Terminal) -> None:
    """Escape until no form is open."""
    for _ in range(10):
        terminal.send(ESCAPE)
        terminal.settle(0.1, at_most=1.0)
        if "· esc " not in terminal.text:
            return
    terminal.wait_gone("· esc ")


def leave(terminal: Terminal) -> None:
    """Out of whatever is open, and out of the console with status 0.

    Keys that come while a form looks whether it may act do nothing, and say so; they are pressed again as people would.
    """
    for _ in range(10):
        for key in (ESCAPE, ESCAPE, ESCAPE, "q"):
            terminal.send(key)
            terminal.settle(0.1, at_most=1.0)
        if terminal.ends(3.0):
            break
    assert terminal.wait_exit() == 0, terminal.text
