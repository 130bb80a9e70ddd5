"""The list of protections keeps up with the code: each place to switch one off is there, exactly once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mutants.protections import MUTANTS, Mutant

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.protection)
def test_the_place_is_there_once_and_so_is_the_test(mutant: Mutant) -> None:
    assert (ROOT / mutant.file).read_text(encoding="utf-8").count(mutant.old) == 1
    for one in mutant.tests:
        file, _, name = one.partition("::")
        assert (ROOT / file).is_file()
        assert not name or f"def {name}(" in (ROOT / file).read_text(encoding="utf-8")
