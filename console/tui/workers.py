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
    node.run_worker(partial(work, *arguments), group=group, exit_on_error=exit_on_error)  # type: ignore[arg-type]
