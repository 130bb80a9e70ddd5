"""Measured figures beside what they must be: one line each, met or not."""

from __future__ import annotations

from dataclasses import dataclass

from tests.benchmarks.table import Table, number

COLUMNS = ("", "measured", "target", "met")


@dataclass(frozen=True, slots=True)
class Target:
    """A figure and the most it may be, in the unit its name ends with; `peer` is what the target was made from."""

    name: str
    value: float | None
    most: float
    peer: str = ""

    @property
    def is_met(self) -> bool:
        """Whether it was measured and is not above."""
        return self.value is not None and self.value <= self.most

    def cells(self) -> tuple[str, ...]:
        """Its line."""
        target = f"{number(self.most)}{f' ({self.peer})' if self.peer else ''}"
        if self.value is None:
            return self.name, "left out", target, "-"
        return self.name, number(self.value), target, "yes" if self.is_met else "NO"


def target_table(title: str, targets: list[Target]) -> Table:
    """A table of targets, which says at the end how many are met."""
    table = Table(title, COLUMNS)
    for target in targets:
        table.add(*target.cells())
    measured = [target for target in targets if target.value is not None]
    table.notes.append(f"{sum(target.is_met for target in measured)} of {len(measured)} met.")
    return table
