"""The tests would notice if a protection were missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.proofs.mutants.__main__ import copy_source, is_line_noticed, is_noticed
from tests.proofs.mutants.mutants import MUTANTS
from tests.proofs.mutants.protections import LINES

pytestmark = pytest.mark.slow

_QUICK = ("file fsync", "id check on adding")


@pytest.mark.parametrize("name", _QUICK)
def test_a_protection_that_is_switched_off_is_missed(name: str) -> None:
    # Some of them; `python -m tests.proofs.mutants` switches off every one.
    assert name in MUTANTS
    assert is_noticed(name)


def test_a_line_that_is_switched_off_in_a_copy_of_the_source_is_missed(tmp_path: Path) -> None:
    copy_source(tmp_path)
    (line,) = [line for line in LINES if line.name == "fingerprint of what was seen"]
    assert is_line_noticed(line, tmp_path)
