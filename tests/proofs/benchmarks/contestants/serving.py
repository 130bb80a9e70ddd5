"""Takes orders on standard input and answers with seconds: the part that all contestants share.

Imports nothing but the standard library, so that peers can run it in an environment of their own.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any, Protocol

from tests.proofs.benchmarks.data import Letter, letter


class Store(Protocol):
    """What a contestant must do; each call is one measurement unless it says otherwise."""

    def fill(self, count: int) -> None:
        """Not measured: hold the letters 0 to `count`."""

    def send(self, item: Letter) -> None:
        """Store one more message durably."""

    def other(self, item: Letter) -> None:
        """Not measured: another writer stores one more message, behind the back of `send` and `reload`."""

    def reload(self) -> int:
        """Look again; returns how many messages are known now."""

    def cold(self) -> int:
        """Open and read everything as if for the first time; returns how many messages that were."""


def serve(make: Callable[[Path], Store]) -> None:
    """Answer `{"op": ..., "count": n}` lines until standard input ends. `make` gets the folder to work in."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    store = make(folder)
    following = 0
    for line in sys.stdin:
        order = json.loads(line)
        if order["op"] == "fill":
            following = order["count"]
            store.fill(following)
            answer: dict[str, Any] = {"seconds": 0.0, "count": following}
        elif order["op"] == "cold":
            answer = _in_child(store.cold)
        else:
            answer, following = _step(store, order["op"], following)
        print(json.dumps(answer | {"expected": following}), flush=True)


def _step(store: Store, op: str, number: int) -> tuple[dict[str, Any], int]:
    store.other(letter(number))
    number += 1
    if op == "reload":
        return _timed(store.reload), number
    toast = letter(number)
    return _timed(lambda: store.send(toast)), number + 1


def _timed(act: Callable[[], Any]) -> dict[str, Any]:
    """The collector rests for every contestant alike: one that made many objects would set it off again and again."""
    gc.collect()
    gc.disable()
    try:
        start = perf_counter()
        count = act()
        return {"seconds": perf_counter() - start, "count": count}
    finally:
        gc.enable()


def _in_child(act: Callable[[], int]) -> dict[str, Any]:
    """Measure in a fork, so that nothing is warm from the time before and its memory goes away with it."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.write(writer, json.dumps(_timed(act)).encode())
            status = 0
        finally:
            os._exit(status)
    os.close(writer)
    with open(reader, "rb") as file:
        data = file.read()
    os.waitpid(child, 0)
    answer: dict[str, Any] = json.loads(data)
    return answer
