"""Starts a coroutine as a worker of the screen."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from textual.dom import DOMNode


def start_worker(
    node: DOMNode,
    work: Callable[..., Coroutine[Any, Any, None]],
    *arguments: object,
    group: str,
    exit_on_error: bool = False,
) -> None:
    """Run `work` with its arguments as a worker of `node`.

    It is called when the worker begins: an app that is told to end before would leave a coroutine that nobody awaits,
    and Python says so on the terminal.
    """
    begun: Any = partial(work, *arguments)
    # Without a description Textual writes all arguments out as text: a view of 10,000 messages takes 0.6 s.
    node.run_worker(begun, group=group, description=group, exit_on_error=exit_on_error)
