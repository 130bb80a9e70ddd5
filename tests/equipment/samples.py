"""Samples of combinations: each subject with some of its variants in every run, with all of them when asked.

`EXHAUSTIVE=1 make test-all` tries every combination.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from itertools import product
from typing import TypeVar

S = TypeVar("S")
V = TypeVar("V")

EXHAUSTIVE = bool(os.environ.get("EXHAUSTIVE"))


def rotated(subjects: Iterable[S], variants: Sequence[V], count: int = 1) -> list[tuple[S, V]]:
    """Every subject with `count` of the variants, each subject beginning at the next one; the same in every run."""
    if EXHAUSTIVE:
        return list(product(subjects, variants))
    turns = ((place, subject, step) for place, subject in enumerate(subjects) for step in range(count))
    return [(subject, variants[(place * count + step) % len(variants)]) for place, subject, step in turns]


def sampled(values: Iterable[S], count: int) -> list[S]:
    """`count` of the values, the first of them and others at even distances; the same in every run."""
    every = list(values)
    return every if EXHAUSTIVE else every[:: max(1, -(-len(every) // count))]
