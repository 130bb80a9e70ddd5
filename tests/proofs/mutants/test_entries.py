"""Every protection that can be switched off is still where its entry says, and the tests that it names exist."""

from __future__ import annotations

import pytest

from tests.conftest import ROOT
from tests.proofs.mutants.mutants import MUTANTS, Mutant
from tests.proofs.mutants.protections import LINES
from tests.trust.test_forgeries import CASES


def test_each_line_that_is_to_be_switched_off_stands_there_once() -> None:
    assert [line.name for line in LINES if (ROOT / line.file).read_text().count(line.old) != 1] == []


@pytest.mark.parametrize("mutant", MUTANTS.values(), ids=list(MUTANTS))
def test_what_a_mutant_replaces_is_there(mutant: Mutant) -> None:
    with pytest.MonkeyPatch.context() as patch:
        mutant.patch(patch)


def test_the_tests_that_are_to_notice_exist() -> None:
    named = [line.tests for line in LINES] + [mutant.tests for mutant in MUTANTS.values()]
    assert [test for tests in named for test in tests if not _exists(test)] == []


def test_the_forgeries_that_are_to_notice_are_tried_in_every_run() -> None:
    ids = {str(case.id) for case in CASES}
    named = [test for line in LINES for test in line.tests if "test_forgeries.py::" in test and "[" in test]
    assert named
    assert [test for test in named if test.partition("[")[2].removesuffix("]") not in ids] == []


def _exists(test: str) -> bool:
    path, _, name = test.partition("::")
    function = name.partition("[")[0]
    text = (ROOT / path).read_text() if (ROOT / path).is_file() else ""
    return bool(text) and (not function or f"def {function}(" in text)
