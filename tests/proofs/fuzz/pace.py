"""Processor time counted in the work of this machine at this moment, so that a slow or shared core fails nothing."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

import yaml

ResultT = TypeVar("ResultT")

KNOWN_SECONDS = 0.05
"""What `reference` takes on the machine whose seconds are the limit: a virtual one of 2 cores with 2.5 GHz."""
_TEXT = "".join(f"- message_id: MSG-{number}\n  payload: {{a: [b, 'c', \"d\"]}}\n" for number in range(80))
_TRIES = 3


def reference() -> None:
    """Work of the kind that is judged: YAML events, in plain Python."""
    for _ in yaml.parse(_TEXT, Loader=yaml.SafeLoader):
        pass


def timed(work: Callable[[], ResultT]) -> tuple[ResultT, float]:
    """What `work` returns, and the seconds of processor time it took of this process."""
    begin = time.process_time()
    result = work()
    return result, time.process_time() - begin


def slowness() -> float:
    """How many times slower than the known machine this one is just now, at least 1."""
    return max(1.0, timed(reference)[1] / KNOWN_SECONDS)


def is_too_slow(taken: float, limit: float, again: Callable[[], object]) -> bool:
    """Whether work that took `taken` seconds takes more than `limit` seconds of the known machine each time `again`."""
    for _ in range(_TRIES):
        if taken <= limit:
            return False
        before = slowness()
        again_taken = timed(again)[1]
        taken = again_taken / max(before, slowness())
    return taken > limit
