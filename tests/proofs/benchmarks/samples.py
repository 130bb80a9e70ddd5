"""Measured values and their spread; contestants take turns, so that a busy moment hits all of them alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median, quantiles
from time import perf_counter


@dataclass(frozen=True, slots=True)
class Samples:
    """Values of one contestant in one discipline, in the unit of the discipline."""

    values: tuple[float, ...]

    @property
    def median(self) -> float:
        """The middle value."""
        return median(self.values)

    def quantile(self, percent: int) -> float:
        """The value that `percent` of 100 do not exceed, interpolated."""
        if len(self.values) == 1:
            return self.values[0]
        return quantiles(self.values, n=100, method="inclusive")[percent - 1]

    def times(self, factor: float) -> Samples:
        """The same in another unit."""
        return Samples(tuple(value * factor for value in self.values))


def take_turns(
    contestants: Mapping[str, Callable[[], float]], *, rounds: int, budget: float, warm_up: bool = True
) -> dict[str, Samples]:
    """Call each contestant once per round; one that has used `budget` seconds of its own sits out the rest.

    The first call of each is not counted with `warm_up`, unless it alone used up the budget.
    """
    values: dict[str, list[float]] = {name: [] for name in contestants}
    spent = dict.fromkeys(contestants, 0.0)
    for _ in range(rounds + warm_up):
        for name, measure in contestants.items():
            if values[name] and spent[name] > budget:
                continue
            start = perf_counter()
            values[name].append(measure())
            spent[name] += perf_counter() - start
    return {name: Samples(tuple(some[warm_up:] or some)) for name, some in values.items()}
