"""A line of the source that is a protection, and what switches it off."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Line:
    """One protection switched off in a copy of the source.

    Attributes:
        old, new: What stands once in `file`, and what it becomes.
        tests: Node ids of tests that rely on it.
    """

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
