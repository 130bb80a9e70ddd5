"""The tests would notice if a protection were missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.proofs.mutants.__main__ import copy_source, is_guard_noticed, is_noticed

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", ["file fsync", "id check on adding"])
def test_a_protection_that_is_switched_off_is_missed(name: str) -> None:
    # Some of them; `python -m tests.proofs.mutants` switches off every one.
    assert is_noticed(name)


def test_a_statement_that_is_switched_off_in_a_copy_of_the_source_is_missed(tmp_path: Path) -> None:
    copy_source(tmp_path)
    assert is_guard_noticed("seen-question", tmp_path)
