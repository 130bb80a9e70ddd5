"""A short form of `python -m tests.proofs.races`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.proofs.races.race import MOMENTS, STORES, run_races

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("kind", STORES)
def test_nothing_is_approved_that_was_not_on_the_screen(kind: str, tmp_path: Path) -> None:
    tally = run_races(kind, 20, tmp_path, seed=1)
    print(tally)
    assert tally.unseen == []
    assert set(tally.by_moment) == set(MOMENTS)
    assert tally.approved > 5
    assert tally.asked_again >= tally.by_moment["after the look"] > 0  # the other moments meet a look by luck
