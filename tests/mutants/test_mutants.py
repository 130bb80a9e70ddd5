"""The tests would notice if a protection were missing."""

from __future__ import annotations

import pytest

from tests.mutants.__main__ import _is_noticed
from tests.mutants.mutants import MUTANTS

_QUICK = ("file fsync", "folder fsync", "id check on adding", "undoing a dead receiver", "lock inode check")


@pytest.mark.parametrize("name", _QUICK)
def test_a_protection_that_is_switched_off_is_missed(name: str) -> None:
    # Some of them; `python -m tests.mutants` switches off every one.
    assert name in MUTANTS
    assert _is_noticed(name)
