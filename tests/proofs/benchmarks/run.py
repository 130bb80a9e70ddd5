"""What one run of the benchmark shares: its scale, its folder, and the peers that are there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.proofs.benchmarks.peers import Peers


@dataclass(frozen=True, slots=True)
class Run:
    """One run.

    Attributes:
        folder: Temporary folder for everything that is measured.
        quick: A few rounds on small teams: to see that it works, not to quote.
    """

    folder: Path
    peers: Peers
    quick: bool

    @property
    def sizes(self) -> tuple[int, ...]:
        """Numbers of messages for the stores."""
        return (100, 1000) if self.quick else (100, 1_000, 10_000, 100_000)

    @property
    def screen_sizes(self) -> tuple[int, ...]:
        """Numbers of messages for what is seen on a terminal."""
        return (1_000,) if self.quick else (1_000, 10_000, 100_000)

    def rounds(self, number: int) -> int:
        """`number` of rounds, fewer when quick."""
        return max(2, number // 8) if self.quick else number

    @property
    def budget(self) -> float:
        """Seconds one contestant may use in one discipline."""
        return 3.0 if self.quick else 40.0
