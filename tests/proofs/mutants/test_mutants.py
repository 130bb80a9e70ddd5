"""The tests would notice if a protection were missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.proofs.mutants.__main__ import is_noticed
from tests.proofs.mutants.copied import copy_source


@pytest.mark.slow
def test_a_protection_that_is_switched_off_is_missed(tmp_path: Path) -> None:
    # One of them; `python -m tests.proofs.mutants` switches off every one.
    copy_source(tmp_path)
    assert is_noticed("recorded-commit-finished", tmp_path)
