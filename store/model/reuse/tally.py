"""Tally of what comes and goes."""

from __future__ import annotations

from collections import Counter
from typing import TypeVar

KeyT = TypeVar("KeyT")


class Tally(Counter[KeyT]):
    """How often each key is there; one that is there no more is not kept."""

    def count(self, key: KeyT, step: int) -> int:
        """It came or went as many times as `step` says; returns how often it is there now."""
        number = self.get(key, 0) + step
        if number:
            self[key] = number
        else:
            self.pop(key, None)
        return number
