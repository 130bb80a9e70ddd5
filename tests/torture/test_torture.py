"""Under kills, stops, failing writes and programs that do not lock, every promise holds; and the judge can see."""

from __future__ import annotations

import os
import shutil

import pytest

from tests.torture.run import torture

pytestmark = pytest.mark.slow

_SECONDS = 20.0 if "CI" in os.environ else 8.0
"""`python -m tests.torture --seconds 1800` is the long run."""


def test_nothing_is_lost_doubled_or_left_behind() -> None:
    outcome = torture(seconds=_SECONDS, seed=11, patience=60)
    assert not outcome.verdict.failures, f"{outcome}\n" + "\n".join(outcome.verdict.failures[:20])
    assert outcome.harm["SIGKILL"] > 3
    assert len(outcome.receipts.sent) > 20
    assert outcome.receipts.got
    assert outcome.receipts.acked
    assert outcome.receipts.answered


def test_a_store_in_the_order_of_the_source_is_found_out() -> None:
    # On a machine that has little time for it, the first run may end before anything goes wrong.
    assert any("delivered" in _broken(seconds) for seconds in (6, 12, 24))


def _broken(seconds: float) -> set[str]:
    """The first words of the promises that were broken."""
    outcome = torture(seconds=seconds, seed=11, store="broken")
    shutil.rmtree(outcome.root.parent)
    return {failure.partition(" ")[0] for failure in outcome.verdict.failures}
