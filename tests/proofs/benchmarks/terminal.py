"""A terminal that knows when each byte came."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter

from tests.equipment.terminal import Terminal


class TimedTerminal(Terminal):
    """A program on a terminal, whose answers are timed.

    Attributes:
        started: When the program was started.
        came: When something came last.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self.started = self.came = perf_counter()
        super().__init__(command, cwd=Path("/"), env=environment)

    def pump(self, seconds: float) -> bool:
        """Take what the program wrote; False when there was nothing.

        Raises:
            RuntimeError: The program ended.
        """
        if super().pump(seconds):
            self.came = perf_counter()
            return True
        if self._ended():
            raise RuntimeError(f"the program on the terminal ended; its last words: {self.text[-600:]}")
        return False

    def seconds_until(self, shows: Callable[[str], bool], since: float) -> float:
        """Seconds from `since` until the screen satisfied `shows`."""
        self.wait_until(lambda: shows(self.text), "what is waited for")
        return self.came - since

    def rest(self, quiet: float, first: float | None = None) -> tuple[float, int]:
        """Wait until nothing comes for `quiet` seconds (`first` for the first byte); when that came, and bytes."""
        start, size = perf_counter(), len(self.output)
        answered = self.pump(first or quiet)
        took = self.came - start
        while answered and self.pump(quiet):
            pass
        return took, len(self.output) - size

    def pressed(self, key: str, times: int) -> tuple[float, float]:
        """Median milliseconds until the first answer to a key, and median bytes until all is drawn."""
        bursts = []
        for _ in range(times):
            self.send(key)
            bursts.append(self.rest(0.15, 2.0))
        return median(took * 1e3 for took, _ in bursts[1:]), median(float(size) for _, size in bursts[1:])

    def watch(self, seconds: float) -> None:
        """Look on for so long."""
        end = perf_counter() + seconds
        while (left := end - perf_counter()) > 0:
            self.pump(left)
