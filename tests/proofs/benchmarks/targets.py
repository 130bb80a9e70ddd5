"""Figures with what they may be at most: every table of them says of each row whether it is met.

Limits of time were set on a machine where a bare Python takes `REFERENCE` milliseconds; on another one they are as much
longer or shorter as its bare Python takes. Ratios, memory and counts are the same everywhere.
"""

from __future__ import annotations

import os
import sys
from functools import cache

from tests.proofs.benchmarks.table import Table, number

REFERENCE = 24.0
"""Milliseconds that a bare Python, `python -I -c pass`, takes where the limits were set; 21 to 27 were measured."""
_TIMES = frozenset(("ms", "s"))
_STARTS = 7


class Targets:
    """A table of measured figures, each with its limit.

    Args:
        bare: Milliseconds of a bare Python in the same run, measured as the figures are; else its processor time.
    """

    def __init__(self, title: str, bare: float | None = None) -> None:
        self.table = Table(title, ("what", "measured", "at most", "at most here", "met"))
        took = bare_python() if bare is None else bare
        self._scale = took / REFERENCE
        self.table.notes.append(
            f"A bare Python takes {number(took)} ms here and took {number(REFERENCE)} ms where the limits were set. "
            f"A time is met within {number(self._scale)} times its limit; ratios, memory and counts are not scaled."
        )

    def add(self, what: str, measured: float, limit: float, unit: str) -> None:
        """One figure; `unit` stands behind all numbers."""
        here = limit * self._scale if unit in _TIMES else limit
        met = "yes" if measured <= here else "NO"
        self.table.add(what, *(f"{number(value)} {unit}" for value in (measured, limit, here)), met)


@cache
def bare_python() -> float:
    """Milliseconds of processor time of a Python that does nothing: the least of several starts."""
    return min(_start() for _ in range(_STARTS))


def _start() -> float:
    words = (sys.executable, "-I", "-c", "pass")
    _, _, used = os.wait4(os.posix_spawn(words[0], words, os.environ), 0)
    return (used.ru_utime + used.ru_stime) * 1e3
