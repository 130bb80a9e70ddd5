"""Figures with what they may be at most: every table of them says of each row whether it is met."""

from __future__ import annotations

from tests.benchmarks.table import Table, number


class Targets:
    """A table of measured figures, each with its limit."""

    def __init__(self, title: str) -> None:
        self.table = Table(title, ("what", "measured", "at most", "met"))

    def add(self, what: str, measured: float, limit: float, unit: str) -> None:
        """One figure; `unit` stands behind both numbers."""
        met = "yes" if measured <= limit else "NO"
        self.table.add(what, f"{number(measured)} {unit}", f"{number(limit)} {unit}", met)
